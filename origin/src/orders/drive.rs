//! Driving an order to its end: ask the provider, write what it said, do the next step.
//!
//! Any process may drive any order it has leased; each step may be repeated. A worker that dies leaves a lease that runs
//! out, and a state from which the next one goes on.

use tokio::sync::watch;

use super::{
    next::{self, Step},
    order::{Failure, InvalidTransition, Order, OrderEvent, OrderState},
    refunding, resolve, sale,
    sale::SaleError,
    store::{self, Due, Lease},
};
use crate::{
    AppState, db,
    holds::{Claim, EngineError, Sale, SeatVersion, store as claims},
    ids::{BookingId, random_text},
    payments::{Authorization, CallError, IntentId, IntentView, NewIntent, Released, Taken},
};

/// Seats that come back from a failed payment are kept for at least this long, within the hold's own limit.
const RETURNED_HOLD_SECS: u32 = 60;

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
    seen: &'r watch::Sender<OrderState>,
    shown_sold: bool,
}

/// Drives a leased order as far as it goes now. `seen` learns of every state a buyer may be told of.
pub async fn drive(state: &AppState, mut order: Order, lease: &Lease, seen: &watch::Sender<OrderState>) {
    let mut run = Run { state, lease, seen, shown_sold: false };
    loop {
        let id = order.order_id.clone();
        match run.advance(order.clone()).await {
            Ok(Advanced::On(next)) => {
                run.tell(&next);
                order = next;
            }
            Ok(Advanced::Rest(last)) => {
                run.tell(&last);
                return;
            }
            Err(DriveError::LeaseGone) => {
                tracing::debug!(order = %id, "somebody else goes on");
                return;
            }
            Err(error) => {
                tracing::warn!(order = %id, status = order.state.status(), %error, "will be tried again");
                run.postpone(&order).await;
                return;
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

    /// A failed order is told of only once its hold can be tried again.
    fn tell(&self, order: &Order) {
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
                        store::forget_keys(tx, &row.order_id).await?;
                    }
                    OrderState::Claim { intent, .. } | OrderState::RefundFailed { intent, .. } => {
                        let claim = row.claim_id.clone().unwrap_or_default();
                        store::open_support_claim(tx, &row, &claim, intent, row.state.status()).await?;
                    }
                    _ if row.claim_id.is_some() => store::settle_support_claim(tx, &row.order_id).await?,
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

    async fn pay(&self, order: Order) -> Result<Advanced, DriveError> {
        let (event, id) = (order.event.clone(), order.order_id.clone());
        match self.state.holds.claim_for_sale(&event, &order.hold, &id).await {
            Ok(Claim::Claimed) => {}
            Ok(Claim::HoldGone | Claim::SeatsLost(_)) => {
                return self.record(order, OrderEvent::HoldLost).await;
            }
            Ok(Claim::ClaimedBy(other)) => {
                tracing::warn!(order = %id, %other, "the hold is still claimed by another order");
                return self.record(order, OrderEvent::CreationFailed).await;
            }
            Err(error) => {
                tracing::warn!(order = %id, %error, "no seats claimed");
                return self.record(order, OrderEvent::CreationFailed).await;
            }
        }
        let wanted = NewIntent { order: &id, event: &event, amount: order.total };
        let created = match self.state.payments.create(&wanted, &format!("{id}:create")).await {
            Ok(created) => created,
            Err(error) => {
                tracing::warn!(order = %id, %error, "no intent created");
                return self.record(order, OrderEvent::CreationFailed).await;
            }
        };
        let mut order = applied(order, OrderEvent::IntentCreated(created.id.clone()))?;
        order.client_secret = created.client_secret;
        let Advanced::On(mut order) = self.save(order, Due::Leased).await? else {
            return Err(DriveError::LeaseGone);
        };
        let key = format!("{id}:authorize");
        match self.state.payments.confirm(&created.id, &order.payment_method, &key).await {
            Authorization::Authorized { instrument } => {
                order.instrument = instrument;
                self.record(order, OrderEvent::PaymentAuthorized).await
            }
            Authorization::Declined { code } => self.record(order, OrderEvent::PaymentDeclined(code)).await,
            Authorization::ActionRequired => {
                let (_, deadline) = self.bound(&order).await?;
                self.rest(order, OrderEvent::ActionRequired(deadline)).await
            }
            Authorization::Unknown => {
                let (since, deadline) = self.bound(&order).await?;
                self.rest(order, OrderEvent::OutcomeUnknown { since, deadline }).await
            }
        }
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

    async fn sell(&mut self, order: Order) -> Result<Advanced, DriveError> {
        let booking = BookingId::fresh()?;
        let sold = applied(order.clone(), OrderEvent::SeatsSold(booking.clone()))?;
        let (row, lease) = (sold.clone(), self.lease.clone());
        let outcome = db::transact("sell", &self.state.db, move |tx| {
            let (row, booking, lease) = (row.clone(), booking.clone(), lease.clone());
            Box::pin(async move { sale::sell(tx, &row, &booking, &lease).await })
        })
        .await;
        match outcome {
            Ok(seats) => {
                self.shown_sold = match self.mark_sold(&sold, seats).await {
                    Ok(()) => true,
                    Err(error) => {
                        tracing::warn!(order = %sold.order_id, %error, "the sale is not shown yet");
                        false
                    }
                };
                Ok(Advanced::On(sold))
            }
            Err(SaleError::Lost(loss)) => {
                tracing::info!(order = %order.order_id, ?loss, "lost");
                self.record(order, OrderEvent::SeatsLost(loss)).await
            }
            Err(SaleError::LeaseGone) => Err(DriveError::LeaseGone),
            Err(SaleError::Database(error)) => Err(error.into()),
        }
    }

    async fn mark_sold(&self, order: &Order, seats: Vec<SeatVersion>) -> Result<(), EngineError> {
        let sale = Sale {
            order: order.order_id.clone(),
            hold: order.hold.clone(),
            identity: order.identity.clone(),
            seats,
        };
        self.state.holds.mark_sold(&order.event, &sale).await
    }

    async fn show_sold(&mut self, order: &Order) -> Result<(), DriveError> {
        if !self.shown_sold {
            let seats = sale::sold_seats(&self.state.db, &order.event, &order.order_id).await?;
            if !seats.is_empty() {
                self.mark_sold(order, seats).await?;
            }
            self.shown_sold = true;
        }
        Ok(())
    }

    async fn capture(&mut self, mut order: Order, intent: &IntentId) -> Result<Advanced, DriveError> {
        if let Err(error) = self.show_sold(&order).await {
            // Money first: it waits for nobody's map.
            tracing::warn!(order = %order.order_id, %error, "the sale is not shown yet");
        }
        // A retry reads first and uses a key of its own: the stored answer of the first may be a 500 for ever.
        let (taken, key) = if order.tries == 0 {
            (false, format!("{}:capture", order.order_id))
        } else {
            let taken = matches!(self.state.payments.read(intent).await?, IntentView::Captured { .. });
            (taken, format!("{}:capture:{}", order.order_id, order.tries))
        };
        if !taken && self.state.payments.capture(intent, order.total, &key).await? == Taken::Refused {
            match self.state.payments.read(intent).await? {
                IntentView::Captured { .. } => {}
                IntentView::Canceled => {
                    order.claim_id = Some(fresh_claim()?);
                    return self.rest(order, OrderEvent::GivenUp).await;
                }
                _ => return Err(DriveError::NotYet("the capture was refused")),
            }
        }
        let mut order = applied(order, OrderEvent::PaymentCaptured)?;
        order.tries = 0;
        let due = if self.shown_sold { Due::Never } else { Due::After(next::pause(&order)) };
        self.save(order, due).await
    }

    async fn void(&self, mut order: Order, intent: &IntentId) -> Result<Advanced, DriveError> {
        let key = attempt_key(&order, "void");
        if self.state.payments.cancel(intent, &key).await? == Released::Refused {
            match self.state.payments.read(intent).await? {
                IntentView::Canceled => {}
                IntentView::Captured { .. } => {
                    order.claim_id = Some(fresh_claim()?);
                    return self.rest(order, OrderEvent::GivenUp).await;
                }
                _ => return Err(DriveError::NotYet("the void was refused")),
            }
        }
        self.record(order, OrderEvent::IntentCanceled).await
    }

    /// Gives the claim up and closes the intent, so that no old page can pay it later.
    async fn give_back(&self, order: Order, intent: Option<&IntentId>) -> Result<Advanced, DriveError> {
        let unclaimed = self.unclaim(&order).await;
        self.seen.send_replace(order.state.clone());
        unclaimed?;
        if let Some(intent) = intent {
            let key = attempt_key(&order, "close");
            if self.state.payments.cancel(intent, &key).await? == Released::Refused {
                match self.state.payments.read(intent).await? {
                    IntentView::Canceled => {}
                    _ => return Err(DriveError::NotYet("the intent is not closed")),
                }
            }
        }
        self.save(order, Due::Never).await
    }

    pub(super) async fn unclaim(&self, order: &Order) -> Result<(), EngineError> {
        let holds = &self.state.holds;
        holds.unclaim(&order.event, &order.hold, &order.order_id, RETURNED_HOLD_SECS).await.map(drop)
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
