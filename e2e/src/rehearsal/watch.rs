//! Watching the sale from the operator's chair: the cap at every look, and a line of numbers as they change.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::fan::Crowd;
use crate::stack::Info;

/// How often the operator looks. Reading the objects costs each lane a call, so not more often.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How often a line is printed at most.
const PRINT_EVERY: Duration = Duration::from_secs(2);

/// The highest numbers any look has seen.
#[derive(Debug, Default)]
pub struct Peak {
    /// Live sessions.
    pub active: AtomicU64,
    /// Live sessions and admission tokens not yet redeemed.
    pub inside: AtomicU64,
    /// Looks that were answered.
    pub looks: AtomicU64,
}

/// Looks and prints until the task is aborted.
pub(super) async fn watch(
    info: Info,
    event: String,
    cap: u64,
    fans: usize,
    crowd: Arc<Crowd>,
    peak: Arc<Peak>,
) {
    let Ok(http) = reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(5)).build() else {
        return;
    };
    let url = format!("{}/admin/v1/events/{event}/stats", info.edge);
    let started = Instant::now();
    let mut ticks = interval(LOOK_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut printed, mut last) = (started, String::new());
    loop {
        ticks.tick().await;
        // A killed edge answers nothing; the next look will.
        let Some(stats) = look(&http, &url, &info.admin_token).await else { continue };
        let number = |name: &str| stats[name].as_u64().unwrap_or(0);
        let (active, granted) = (number("active"), number("granted"));
        peak.looks.fetch_add(1, Ordering::Relaxed);
        peak.active.fetch_max(active, Ordering::Relaxed);
        peak.inside.fetch_max(active + granted, Ordering::Relaxed);
        if active + granted > cap {
            crowd.told.breach(format!("overshoot: {active} active and {granted} granted, the cap is {cap}"));
        }
        let line = numbers(&stats, cap, fans, &crowd);
        if line != last && printed.elapsed() >= PRINT_EVERY {
            println!("{:>5.0} s  {line}", started.elapsed().as_secs_f64());
            (printed, last) = (Instant::now(), line);
        }
    }
}

async fn look(http: &reqwest::Client, url: &str, token: &str) -> Option<Value> {
    http.get(url).bearer_auth(token).send().await.ok()?.error_for_status().ok()?.json().await.ok()
}

fn numbers(stats: &Value, cap: u64, fans: usize, crowd: &Crowd) -> String {
    let counts = &crowd.counts;
    format!(
        "{:<12} in line {:>5}  serving {:>5}  inside {:>4}/{cap}  admitted {:>5}  holds {:>5}  bookings {:>5}  \
         seats sold {:>5}  done {:>5}/{fans}",
        stats["phase"].as_str().unwrap_or("?"),
        stats["queued"].as_u64().unwrap_or(0),
        stats["serving"].as_u64().unwrap_or(0),
        stats["active"].as_u64().unwrap_or(0) + stats["granted"].as_u64().unwrap_or(0),
        counts.admitted.get(),
        counts.holds.get(),
        counts.bookings.get(),
        counts.seats.get(),
        counts.finished.get(),
    )
}
