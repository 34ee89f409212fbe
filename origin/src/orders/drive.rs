//! Driving an order to its end: ask the provider, write what it said, do the next step.
//!
//! Any process may drive any order it has leased; each step may be repeated. A worker that dies leaves a lease that runs
//! out, and a state from which the next one goes on.

use tokio::sync::watch;

use super::{
    event::{Failure, InvalidTransition, OrderEvent},
    next::{self, Step},
    order::{Order, OrderState},
    records, refunding, resolve,
    store::{self, Due, Lease},
};
use crate::{
    AppState, db,
    holds::{EngineError, store as claims},
    ids::random_text,
    payments::CallError,
};

/// Why a step was not done. It is tried again after a pause.
#[derive(Debug, thiserror::Error)]
pub(super) enum DriveError {
    /// Postgres failed.
    #[error("the ledger: {0}")]
    Database(#[from] sqlx::Error),
    /// The hold store failed.
    #[error("the hold store: {0}")]
    Holds(#[from] EngineError),
    /// The provider failed.
    #[error("the provider: {0}")]
    Provider(#[from] CallError),
    /// Somebody else works on the order now.
    #[error("the lease is gone")]
    LeaseGone,
    /// The event's row is gone, which the schema forbids.
    #[error("the event is gone")]
    EventGone,
    /// The provider neither did nor refused it for good.
    #[error("no outcome yet: {0}")]
    NotYet(&'static str),
    /// A fault of ours.
    #[error(transparent)]
    Transition(#[from] InvalidTransition),
    /// No random bytes.
    #[error("no random bytes: {0}")]
    Random(#[from] getrandom::Error),
}

/// What a step leaves.
pub(super) enum Advanced {
    /// Saved under the lease: the next step follows.
    On(Order),
    /// Saved without it: somebody looks again when it is due, or never.
    Rest(Order),
}

/// One worker on one order.
pub(super) struct Run<'r> {
    pub(super) state: &'r AppState,
    pub(super) lease: &'r Lease,
    pub(super) seen: &'r watch::Sender<OrderState>,
    pub(super) shown_sold: bool,
}

/// Drives a leased order as far as it goes now. `seen` learns of every state a buyer may be told of. Answers whether
/// every step was committed; otherwise the order is tried again.
pub async fn drive(
    state: &AppState,
    mut order: Order,
    lease: &Lease,
    seen: &watch::Sender<OrderState>,
) -> bool {
    let mut run = Run { state, lease, seen, shown_sold: false };
    loop {
        let id = order.order_id.clone();
        match run.advance(order.clone()).await {
            Ok(Advanced::On(next)) => {
                run.reached(&order, &next);
                order = next;
            }
            Ok(Advanced::Rest(last)) => {
                run.reached(&order, &last);
                return true;
            }
            Err(DriveError::LeaseGone) => {
                tracing::debug!(order = %id, "somebody else goes on");
                return false;
            }
            Err(error) => {
                tracing::warn!(order = %id, status = order.state.status(), %error, "will be tried again");
                run.postpone(&order).await;
                return false;
            }
        }
    }
}

impl Run<'_> {
    async fn advance(&mut self, order: Order) -> Result<Advanced, DriveError> {
        match next::step(&order.state) {
            Step::Pay => self.pay(order).await,
            Step::Resolve(intent) => resolve::resolve(self, order, &intent).await,
            Step::Sell => self.sell(order).await,
            Step::Void(intent) => self.void(order, &intent).await,
            Step::Capture(intent, _) => self.capture(order, &intent).await,
            Step::ShowSold(_) => {
                self.show_sold(&order).await?;
                self.save(order, Due::Never).await
            }
            Step::GiveBack(intent) => self.give_back(order, intent.as_ref()).await,
            Step::Refund(intent, booking) => refunding::refund(self, order, &intent, &booking).await,
            Step::ShowFreed => refunding::show_freed(self, order).await,
            Step::Watch(intent) => resolve::watch(self, order, &intent).await,
        }
    }

    /// Counts a change of state, and tells of it; of a failed order only once its hold can be tried again.
    fn reached(&self, before: &Order, order: &Order) {
        if before.state.status() != order.state.status() {
            self.state.telemetry.orders.with_label_values(&[order.state.status()]).inc();
        }
        if !order.state.has_failed() {
            self.seen.send_replace(order.state.clone());
        }
    }

    /// Leaves the row's state alone: a write that was reported as failed may have landed, and whoever goes on must find
    /// what stands there, not what this worker believed.
    async fn postpone(&self, order: &Order) {
        if let Err(error) =
            store::postpone(&self.state.db, &order.order_id, self.lease, next::pause(order)).await
        {
            // The lease runs out by itself.
            tracing::warn!(%error, "not postponed");
        }
    }

    /// Writes the state with everything that goes along with it.
    pub(super) async fn save(&self, order: Order, due: Due) -> Result<Advanced, DriveError> {
        let (row, lease) = (order.clone(), self.lease.clone());
        let saved = db::transact("save_order", &self.state.db, move |tx| {
            let (row, lease) = (row.clone(), lease.clone());
            Box::pin(async move {
                if !store::save(tx, &row, &lease, due).await? {
                    return Ok(false);
                }
                if !row.state.keeps_claim() {
                    claims::drop_claim(tx, &row.order_id).await?;
                }
                match &row.state {
                    OrderState::PaymentFailed { failure: Failure::Unavailable, .. } => {
                        records::forget_keys(tx, &row.order_id).await?;
                    }
                    OrderState::Claim { intent, .. } | OrderState::RefundFailed { intent, .. } => {
                        let claim = row.claim_id.clone().unwrap_or_default();
                        records::open_support_claim(tx, &row, &claim, intent, row.state.status()).await?;
                    }
                    _ if row.claim_id.is_some() => records::settle_support_claim(tx, &row.order_id).await?,
                    _ => {}
                }
                Ok::<_, sqlx::Error>(true)
            })
        })
        .await?;
        match (saved, due) {
            (false, _) => Err(DriveError::LeaseGone),
            (true, Due::Leased) => Ok(Advanced::On(order)),
            (true, Due::After(_) | Due::Never) => Ok(Advanced::Rest(order)),
        }
    }

    /// Applies an event and writes the new state; the same worker goes on.
    pub(super) async fn record(&self, order: Order, event: OrderEvent) -> Result<Advanced, DriveError> {
        self.save(applied(order, event)?, Due::Leased).await
    }

    /// Applies an event and leaves the order to whoever finds it due.
    pub(super) async fn rest(&self, order: Order, event: OrderEvent) -> Result<Advanced, DriveError> {
        let mut order = applied(order, event)?;
        order.tries = 0;
        let pause = next::pause(&order);
        self.save(order, Due::After(pause)).await
    }

    /// Now, and until when an outcome is waited for.
    pub(super) async fn bound(
        &self,
        order: &Order,
    ) -> Result<(chrono::DateTime<chrono::Utc>, chrono::DateTime<chrono::Utc>), DriveError> {
        let shelved = self.state.events.get(&order.event).await?.ok_or(DriveError::EventGone)?;
        let now = self.state.clock.now();
        Ok((now, now + chrono::Duration::seconds(i64::from(shelved.event.payment_unknown_seconds))))
    }
}

/// The key of a command that may be sent again: what was stored under the first may be a 500 for ever, and the intent's
/// own state machine keeps the command from having an effect twice.
pub(super) fn attempt_key(order: &Order, operation: &str) -> String {
    match order.tries {
        0 => format!("{}:{operation}", order.order_id),
        tries => format!("{}:{operation}:{tries}", order.order_id),
    }
}

/// The order after an event.
pub(super) fn applied(mut order: Order, event: OrderEvent) -> Result<Order, DriveError> {
    order.state = order.state.apply(event)?;
    Ok(order)
}

/// A fresh id for support.
pub(super) fn fresh_claim() -> Result<String, getrandom::Error> {
    Ok(format!("clm_{}", random_text()?))
}
