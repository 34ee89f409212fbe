//! Background work. Every job may run on any number of processes at once; what must not be done twice is guarded
//! where it is written (scripts, row locks), not by electing a leader.

mod tending;

use std::{future::Future, time::Duration};

use tokio::{sync::watch, task::JoinSet};

use self::tending::Tended;
use crate::{AppState, pressure};

/// The running jobs of this process.
pub struct Work(JoinSet<()>);

impl Work {
    /// Waits until every job has finished its current step.
    pub async fn finish(mut self) {
        while let Some(ended) = self.0.join_next().await {
            if let Err(error) = ended {
                tracing::error!(%error, "a job ended badly");
            }
        }
    }
}

/// Expiries become visible within this time of their instant, plus the step itself.
const EXPIRE_EVERY: Duration = Duration::from_millis(250);
/// The ledger of holds lags about this much.
const LEDGER_EVERY: Duration = Duration::from_millis(500);
const RECONCILE_EVERY: Duration = Duration::from_secs(5);
/// An event that another process created is tended after this time at most.
const EVENTS_EVERY: Duration = Duration::from_secs(2);
const PRESSURE_EVERY: Duration = Duration::from_secs(1);

/// Starts the jobs of a process with the driver role.
pub fn start(state: &AppState) -> Work {
    let tended = Tended::default();
    let mut work = JoinSet::new();
    add(&mut work, state, EVENTS_EVERY, {
        let tended = tended.clone();
        move |state| {
            let tended = tended.clone();
            async move { tended.refresh(&state).await }
        }
    });
    add(&mut work, state, EXPIRE_EVERY, {
        let tended = tended.clone();
        move |state| {
            let tended = tended.clone();
            async move { tended.expire(&state).await }
        }
    });
    add(&mut work, state, LEDGER_EVERY, {
        let tended = tended.clone();
        move |state| {
            let tended = tended.clone();
            async move { tended.write_behind(&state).await }
        }
    });
    add(&mut work, state, RECONCILE_EVERY, {
        move |state| {
            let tended = tended.clone();
            async move { tended.reconcile(&state).await }
        }
    });
    work.spawn(crate::orders::jobs::run(state.clone()));
    work.spawn(crate::payments::jobs::run(state.clone()));
    work.spawn(crate::payments::jobs::clean(state.clone()));
    Work(work)
}

/// Starts what a process that answers requests does besides: posting its pressure.
pub fn start_posting(state: &AppState) -> Work {
    let mut work = JoinSet::new();
    add(&mut work, state, PRESSURE_EVERY, |state| async move { pressure::post(&state).await });
    Work(work)
}

fn add<F, Fut>(work: &mut JoinSet<()>, state: &AppState, pause: Duration, step: F)
where
    F: Fn(AppState) -> Fut + Send + 'static,
    Fut: Future<Output = ()> + Send + 'static,
{
    let state = state.clone();
    let stopping = state.stopping.subscribe();
    work.spawn(repeat(stopping, pause, move || step(state.clone())));
}

/// Runs `step` again and again with `pause` between, until the process stops.
pub async fn repeat<F, Fut>(mut stopping: watch::Receiver<bool>, pause: Duration, mut step: F)
where
    F: FnMut() -> Fut,
    Fut: Future<Output = ()>,
{
    while !*stopping.borrow_and_update() {
        step().await;
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            changed = stopping.changed() => if changed.is_err() { return },
        }
    }
}
