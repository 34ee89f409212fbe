//! `scripts/bench`: what the edge and the origin do, as ratios against denominators measured in the same run.
//!
//! Absolute figures depend on the machine and on what else it does; a ratio against a bare worker, a bare Durable
//! Object or a raw script, measured by the same load generator in the same minute, is what can be compared. Every pair
//! is measured in turns and the median of the rounds is reported.

mod bare;
mod error;
mod gate;
mod holds;
mod joins;
mod load;
mod report;
mod sale;
mod seat_map;
mod upstream;

use std::path::Path;
use std::time::Duration;

pub use error::BenchError;
pub use report::{Figure, Report};

use crate::stack::{Options, Sale, Stack};

/// How long and how hard to press.
#[derive(Debug, Clone)]
pub struct Effort {
    /// Rounds of each pair; the median counts.
    pub rounds: usize,
    /// Length of one timed round.
    pub round: Duration,
    /// Joins of one round (each needs a challenge and a key of its own, prepared beforehand).
    pub joins: usize,
    /// Holds of one round, of two seats each.
    pub holds: usize,
    /// Connections of the load generator.
    pub connections: usize,
    /// Connections of the join rounds: a join waits for its lane's commit, which it shares with whoever joins at the
    /// same moment, so what a lane can do shows only under a crowd.
    pub joiners: usize,
}

impl Default for Effort {
    fn default() -> Self {
        Self {
            rounds: 3,
            round: Duration::from_secs(4),
            joins: 3000,
            holds: 1200,
            connections: 32,
            joiners: 256,
        }
    }
}

/// Lanes of the bench's events, and objects of the bare echo.
const LANES: u16 = 4;

/// Starts a stack and the denominators in `dir`, measures everything, and stops them.
pub async fn run(dir: &Path, effort: &Effort) -> Result<Report, BenchError> {
    let mut options = Options::new(dir.join("stack"));
    options.sale = Some(Sale {
        // The shoppers of the hold bench enter at once; the controller is not what is measured.
        cap: 20_000,
        rate_per_minute: 600_000,
        lanes: LANES,
        puzzles: 32,
        difficulty: 1,
        ..Sale::default()
    });
    let stack = Stack::up(options).await?;
    let info = stack.info();
    let upstream = upstream::serve().await?;
    let map_bytes = seat_map::size(&info).await?;
    let bare = bare::Bare::start(&dir.join("bare"), upstream.address, map_bytes, LANES).await?;

    let mut report = Report::default();
    report.extend(gate::measure(&info, &bare, &upstream, effort).await?);
    report.extend(joins::measure(&info, &bare, effort).await?);
    report.extend(seat_map::measure(&info, &bare, effort).await?);
    report.extend(holds::measure(&info, effort).await?);
    stack.down().await?;
    Ok(report)
}
