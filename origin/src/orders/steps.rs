//! The steps of a purchase. Each may be repeated by whoever finds the order.

use super::{
    drive::{Advanced, DriveError, Run, applied, attempt_key, fresh_claim},
    event::OrderEvent,
    next,
    order::Order,
    sale::{self, SaleError},
    store::Due,
};
use crate::{
    db,
    holds::{Claim, EngineError, Sale, SeatVersion},
    ids::BookingId,
    payments::{Authorization, IntentId, IntentView, NewIntent, Released, Taken},
};

/// Seats that come back from a failed payment are kept for at least this long, within the hold's own limit.
const RETURNED_HOLD_SECS: u32 = 60;

impl Run<'_> {
    pub(super) async fn pay(&self, order: Order) -> Result<Advanced, DriveError> {
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

    pub(super) async fn sell(&mut self, order: Order) -> Result<Advanced, DriveError> {
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

    pub(super) async fn show_sold(&mut self, order: &Order) -> Result<(), DriveError> {
        if !self.shown_sold {
            let seats = sale::sold_seats(&self.state.db, &order.event, &order.order_id).await?;
            if !seats.is_empty() {
                self.mark_sold(order, seats).await?;
            }
            self.shown_sold = true;
        }
        Ok(())
    }

    pub(super) async fn capture(
        &mut self,
        mut order: Order,
        intent: &IntentId,
    ) -> Result<Advanced, DriveError> {
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

    pub(super) async fn void(&self, mut order: Order, intent: &IntentId) -> Result<Advanced, DriveError> {
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
    pub(super) async fn give_back(
        &self,
        order: Order,
        intent: Option<&IntentId>,
    ) -> Result<Advanced, DriveError> {
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
