//! The driver: leases orders that are due and drives them.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::{Semaphore, watch},
    task::JoinSet,
};

use super::{
    drive,
    store::{self, Lease},
};
use crate::AppState;

/// Pause between looks for due orders: a tenth of the second in which a buyer polls.
const PAUSE: Duration = Duration::from_millis(100);
/// Orders driven at once by a process. Each waits mostly for the provider; a backlog of a thousand unknown payments
/// at one read of 100 ms each is through in four seconds.
const AT_ONCE: usize = 32;

/// Drives due orders until the process stops; then the steps that are under way are finished.
pub async fn run(state: AppState) {
    let mut stopping = state.stopping.subscribe();
    let room = Arc::new(Semaphore::new(AT_ONCE));
    let mut driving = JoinSet::new();
    while !*stopping.borrow_and_update() {
        if let Err(error) = lease_and_drive(&state, &room, &mut driving).await {
            tracing::warn!(%error, "no orders leased");
        }
        while let Some(ended) = driving.try_join_next() {
            if let Err(error) = ended {
                tracing::error!(%error, "an order's worker ended badly; its lease runs out");
            }
        }
        tokio::select! {
            () = tokio::time::sleep(PAUSE) => {}
            changed = stopping.changed() => if changed.is_err() { break },
        }
    }
    while driving.join_next().await.is_some() {}
}

async fn lease_and_drive(
    state: &AppState,
    room: &Arc<Semaphore>,
    driving: &mut JoinSet<()>,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let free = room.available_permits();
    if free == 0 {
        return Ok(());
    }
    let lease = Lease::fresh()?;
    for order in store::lease_due(&state.db, &lease, i64::try_from(free)?).await? {
        let (state, lease, permit) = (state.clone(), lease.clone(), Arc::clone(room).acquire_owned().await?);
        driving.spawn(async move {
            let (seen, _) = watch::channel(order.state.clone());
            drive(&state, order, &lease, &seen).await;
            state.telemetry.jobs.with_label_values(&["orders", "driven"]).inc();
            drop(permit);
        });
    }
    Ok(())
}
