//! What a caller may choose about a stack.

use std::path::{Path, PathBuf};

/// Whether Redis is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedisChoice {
    /// When a `redis-server` is installed.
    Auto,
    /// Always; its absence is an error.
    Always,
    /// Never: holds run on Postgres.
    Never,
}

/// How much of a stack is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// All five parts and the demo event.
    Everything,
    /// Postgres and Redis alone, for the origin's own tests.
    Stores,
}

/// The demo event's sale.
#[derive(Debug, Clone)]
pub struct Sale {
    /// Seconds until the on-sale, at the edge and at the origin. `None`: the edge opens in an hour or when the operator
    /// says `/open`, and the origin sells from the start, so that opening by hand is enough.
    pub onsale_in_secs: Option<u64>,
    /// `total_active_users`: the hard cap of shoppers.
    pub cap: u32,
    /// `new_users_per_minute`.
    pub rate_per_minute: u32,
    /// Life of a shopping session.
    pub session_secs: u32,
    /// Life of a hold.
    pub hold_secs: u32,
    /// How many lanes take the crowd.
    pub lanes: u16,
    /// Proof-of-work puzzles in a challenge.
    pub puzzles: u8,
    /// Expected hashes in a puzzle.
    pub difficulty: u64,
}

impl Default for Sale {
    fn default() -> Self {
        Self {
            onsale_in_secs: None,
            cap: 200,
            rate_per_minute: 4000,
            session_secs: 900,
            hold_secs: 600,
            lanes: 16,
            puzzles: 32,
            // 32 × 1,024 hashes: about 10 ms natively and in a browser; a demo must not heat the machine.
            difficulty: 1024,
        }
    }
}

/// Everything `Stack::up` needs to know.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where state, logs and data live. Made if absent, owned by the stack alone.
    pub dir: PathBuf,
    /// How much is started.
    pub scope: Scope,
    /// Whether Redis is started.
    pub redis: RedisChoice,
    /// The seats.io chart of the demo event; the project's own 8,897-seat plan by default.
    pub chart: PathBuf,
    /// The demo event, or `None` for a stack without any.
    pub sale: Option<Sale>,
    /// Whether dropping the `Stack` also removes `dir`.
    pub remove_dir: bool,
}

impl Options {
    /// A stack in `dir` with the defaults of `scripts/stack up`.
    #[must_use]
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self {
            dir: dir.into(),
            scope: Scope::Everything,
            redis: RedisChoice::Auto,
            chart: repository().join("e2e/fixtures/seatsio-sampleChartWithZones.json"),
            sale: Some(Sale::default()),
            remove_dir: false,
        }
    }

    /// A stack for one test, in a directory of its own under `.fairgate/tests` that goes away with it.
    #[must_use]
    pub fn for_test(name: &str) -> Self {
        let dir = repository().join(".fairgate/tests").join(format!("{name}-{}", std::process::id()));
        Self { remove_dir: true, ..Self::new(dir) }
    }
}

/// The root of the checkout this crate was built in.
#[must_use]
pub fn repository() -> &'static Path {
    const CRATE: &str = env!("CARGO_MANIFEST_DIR");
    let here = Path::new(CRATE);
    here.parent().unwrap_or(here)
}
