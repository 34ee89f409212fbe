//! Background work. Every job may run on any number of processes at once; what must not be done twice is guarded
//! where it is written (scripts, row locks), not by electing a leader.

use std::{future::Future, time::Duration};

use tokio::{sync::watch, task::JoinSet};

use crate::AppState;

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

/// Starts the jobs.
pub fn start(state: &AppState) -> Work {
    let work = JoinSet::new();
    let _ = state;
    Work(work)
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
