//! A whole sale with virtual fans, and the sweep of the three invariants from outside.

mod draw_check;
mod overlap;
mod report;
mod stores;
mod watch;

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::Value;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout_at};

use crate::fan::{Crowd, Fan};
use crate::stack::{Info, Part, Stack, StackError};

pub use draw_check::verify as verify_draw;
pub use overlap::{double_promises, peak_sessions};
pub use report::Report;
pub use stores::{StoreError, Stores};
pub use watch::Peak;

/// What kind of evening.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How many fans.
    pub fans: usize,
    /// Decides every fan's plan.
    pub seed: u64,
    /// Kill workerd this long after the opening and start it again.
    pub kill_edge_after: Option<Duration>,
    /// The evening must be over by then, counted from the opening.
    pub patience: Duration,
}

/// Payments are captured after the booking stands; this is how long the last ones may take.
const SETTLE: Duration = Duration::from_secs(60);

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum RehearsalError {
    /// The stack.
    #[error("{0}")]
    Stack(#[from] StackError),
    /// A store could not be read.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// A call to the edge failed.
    #[error("http: {0}")]
    Http(#[from] reqwest::Error),
    /// No random bytes for keys.
    #[error("no random bytes: {0}")]
    Random(#[from] getrandom::Error),
    /// The event is not as a rehearsal needs it.
    #[error("{0}")]
    Event(String),
}

/// Sends the crowd through the demo event of `stack` and sweeps.
pub async fn rehearse(stack: &Stack, settings: &Settings) -> Result<Report, RehearsalError> {
    let info = stack.info();
    let event =
        info.event.clone().ok_or_else(|| RehearsalError::Event("the stack has no demo event".to_owned()))?;
    let (onsale_at, cap) = read_event(&info, &event).await?;
    let crowd = Arc::new(Crowd::new(&info.edge, &event, onsale_at)?);
    let peak = Arc::new(Peak::default());
    let watching = tokio::spawn(watch::watch(
        info.clone(),
        event.clone(),
        cap,
        settings.fans,
        crowd.clone(),
        peak.clone(),
    ));
    let until_sale = (onsale_at - crate::clock::now()).to_std().unwrap_or_default();
    let evening = run_fans(&crowd, settings, Instant::now() + until_sale + settings.patience);
    let (finished, ()) = tokio::try_join!(evening, kill_edge(stack, settings, until_sale))?;
    let settled = settle(&info, &event).await?;
    watching.abort();

    let stores = Stores::read(&info, &event).await?;
    let mut report = Report::sweep(&crowd, &stores, &finished, cap, &peak).await;
    if let Some(unsettled) = settled {
        report.breaches.push(unsettled);
    }
    Ok(report)
}

/// When the sale opens and how many may be inside, from the edge itself.
async fn read_event(info: &Info, event: &str) -> Result<(DateTime<Utc>, u64), RehearsalError> {
    let http = reqwest::Client::builder().no_proxy().build()?;
    let url = format!("{}/admin/v1/events/{event}", info.edge);
    let config: Value =
        http.get(url).bearer_auth(&info.admin_token).send().await?.error_for_status()?.json().await?;
    let onsale = config["onsale_at"].as_str().and_then(|text| DateTime::parse_from_rfc3339(text).ok());
    let cap = config["admission"]["total_active_users"].as_u64();
    match (onsale, cap) {
        (Some(onsale), Some(cap)) => Ok((onsale.to_utc(), cap)),
        _ => Err(RehearsalError::Event(format!("the edge describes the event as {config}"))),
    }
}

/// Runs every fan to the end of its evening and returns those that came through, with their keys.
async fn run_fans(crowd: &Arc<Crowd>, settings: &Settings, end: Instant) -> Result<Vec<Fan>, RehearsalError> {
    let mut fans = JoinSet::new();
    for index in 0..settings.fans {
        let mut fan = Fan::new(settings.seed, index)?;
        let crowd = crowd.clone();
        fans.spawn(async move {
            fan.run(&crowd).await;
            fan
        });
    }
    let mut finished = Vec::with_capacity(settings.fans);
    while let Ok(Some(fan)) = timeout_at(end, fans.join_next()).await {
        match fan {
            Ok(fan) => finished.push(fan),
            Err(error) => crowd.told.breach(format!("a fan's task ended: {error}")),
        }
    }
    if !fans.is_empty() {
        crowd.told.breach(format!("{} fans had not finished when the evening was over", fans.len()));
    }
    Ok(finished)
}

/// SIGKILL in the middle of the sale, then the same edge again on its old state.
async fn kill_edge(stack: &Stack, settings: &Settings, until_sale: Duration) -> Result<(), RehearsalError> {
    let Some(after) = settings.kill_edge_after else { return Ok(()) };
    sleep(until_sale + after).await;
    println!("         SIGKILL to workerd");
    let killed = Instant::now();
    stack.restart(Part::Edge).await?;
    println!("         workerd answers again after {:.1} s", killed.elapsed().as_secs_f64());
    Ok(())
}

/// Waits until no order is in motion; says so when that takes too long.
async fn settle(info: &Info, event: &str) -> Result<Option<String>, RehearsalError> {
    let end = Instant::now() + SETTLE;
    loop {
        let unfinished = Stores::unfinished(info, event).await?;
        if unfinished == 0 {
            return Ok(None);
        }
        if Instant::now() >= end {
            return Ok(Some(format!("{unfinished} orders are still not final after {} s", SETTLE.as_secs())));
        }
        sleep(Duration::from_millis(250)).await;
    }
}
