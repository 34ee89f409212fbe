//! Webhooks' effect: the order they are about is looked at again, now.
//!
//! What a webhook says is never trusted: the order's next step reads the object at the provider. It is handled once
//! that step is committed, so a crash in between repeats it, which changes nothing.

use std::time::Duration;

use tokio::sync::watch;

use super::store::{self, DueWebhook};
use crate::{
    AppState,
    ids::random_text,
    orders::{self, Lease, Order, OrderState},
};

/// Pause between looks for webhooks.
const PAUSE: Duration = Duration::from_millis(200);
/// Webhooks taken at once.
const AT_ONCE: i64 = 64;
/// An order another worker has is looked at again after this.
const BUSY_PAUSE: chrono::Duration = chrono::Duration::seconds(2);
/// An order that got nowhere is looked at again after this: as often as its own driver does in the long run.
const FAILED_PAUSE: chrono::Duration = chrono::Duration::seconds(20);
/// Pause between removals of old rows.
const CLEAN_PAUSE: Duration = Duration::from_secs(3600);

type JobError = Box<dyn std::error::Error + Send + Sync>;

/// Handles recorded webhooks until the process stops.
pub async fn run(state: AppState) {
    crate::jobs::repeat(state.stopping.subscribe(), PAUSE, || async {
        if let Err(error) = handle_due(&state).await {
            tracing::warn!(%error, "webhooks are not handled");
        }
    })
    .await;
}

/// Removes old webhooks until the process stops.
pub async fn clean(state: AppState) {
    crate::jobs::repeat(state.stopping.subscribe(), CLEAN_PAUSE, || async {
        if let Err(error) = store::forget_old(&state.db).await {
            tracing::warn!(%error, "old webhooks are not forgotten");
        }
    })
    .await;
}

async fn handle_due(state: &AppState) -> Result<(), JobError> {
    let token = random_text()?;
    let due = store::lease_due(&state.db, &token, AT_ONCE).await?;
    let handling = due.iter().map(|webhook| handle(state, webhook, &token));
    for outcome in futures::future::join_all(handling).await {
        if let Err(error) = outcome {
            tracing::warn!(%error, "a webhook is not handled");
        }
    }
    Ok(())
}

async fn handle(state: &AppState, webhook: &DueWebhook, token: &str) -> Result<(), JobError> {
    let order = match webhook.intent.as_deref().map(str::parse) {
        Some(Ok(intent)) => orders::store::find_by_intent(&state.db, &intent).await?,
        _ => None,
    };
    match order {
        Some(order) if waits_for_the_provider(&order) => {
            let lease = Lease::fresh()?;
            let Some(order) = orders::store::lease_one(&state.db, &order.order_id, &lease).await? else {
                return Ok(store::postpone(&state.db, webhook, token, BUSY_PAUSE).await?);
            };
            let (seen, _) = watch::channel(order.state.clone());
            if !orders::drive(state, order, &lease, &seen).await {
                return Ok(store::postpone(&state.db, webhook, token, FAILED_PAUSE).await?);
            }
        }
        // Nothing of this order depends on what the provider has to tell.
        _ => {}
    }
    store::finish(&state.db, webhook, token).await?;
    state.telemetry.jobs.with_label_values(&["webhooks", "handled"]).inc();
    Ok(())
}

fn waits_for_the_provider(order: &Order) -> bool {
    matches!(
        order.state,
        OrderState::PaymentUnknown { .. }
            | OrderState::RequiresAction { .. }
            | OrderState::Voiding { .. }
            | OrderState::Confirmed { .. }
            | OrderState::RefundPending { .. }
            | OrderState::Claim { .. }
    )
}
