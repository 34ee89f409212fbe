//! An order as a state machine: a transition consumes the state and fails with where it was and what happened.
//!
//! Invariants: a state never goes back from money held or taken to a failure without the money being released; what
//! failed stays failed; `Captured` leaves only by a refund. Absent: time, stores, providers.

use chrono::{DateTime, Utc};

use super::event::{Failure, InvalidTransition, Loss, OrderEvent};
use crate::{
    holds::HeldSeat,
    ids::{BookingId, EventId, HoldId, OrderId},
    payments::{IntentId, Money},
};

/// Where an order stands, with what belongs to that place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OrderState {
    /// The row is durable; seats may be claimed; no intent is known.
    Placed,
    /// The intent exists and may have been confirmed.
    Confirming {
        /// The intent.
        intent: IntentId,
    },
    /// The buyer's client has a step to do.
    RequiresAction {
        /// The intent.
        intent: IntentId,
        /// Until when it is waited for.
        deadline: DateTime<Utc>,
    },
    /// Nobody knows whether the money is held.
    PaymentUnknown {
        /// The intent.
        intent: IntentId,
        /// Since when.
        since: DateTime<Utc>,
        /// Until when it is waited for.
        deadline: DateTime<Utc>,
    },
    /// The money is held; the seats are not sold yet.
    Authorized {
        /// The intent.
        intent: IntentId,
    },
    /// The money is held, the seats are lost: to be voided.
    Voiding {
        /// The intent.
        intent: IntentId,
        /// Why.
        loss: Loss,
    },
    /// The seats are sold; the money is to be taken.
    Confirmed {
        /// The intent.
        intent: IntentId,
        /// The booking.
        booking: BookingId,
    },
    /// Sold and paid.
    Captured {
        /// The intent.
        intent: IntentId,
        /// The booking.
        booking: BookingId,
    },
    /// Failed without money.
    PaymentFailed {
        /// The intent, if one was created.
        intent: Option<IntentId>,
        /// Why.
        failure: Failure,
    },
    /// The hold was over before anything began, or the buyer's step never came.
    Expired {
        /// The intent, if one was created.
        intent: Option<IntentId>,
    },
    /// Lost its seats; the money was released.
    Voided {
        /// The intent.
        intent: IntentId,
        /// Why.
        loss: Loss,
    },
    /// The money is on its way back.
    RefundPending {
        /// The intent.
        intent: IntentId,
        /// The booking.
        booking: BookingId,
    },
    /// The money is back.
    Refunded {
        /// The intent.
        intent: IntentId,
        /// The booking.
        booking: BookingId,
    },
    /// The provider cannot give the money back: support has to.
    RefundFailed {
        /// The intent.
        intent: IntentId,
        /// The booking.
        booking: BookingId,
    },
    /// The provider did not tell within the bound; the seats are free, support is told, the money is watched.
    Claim {
        /// The intent.
        intent: IntentId,
        /// The booking, if the seats were sold and only the money is missing.
        booking: Option<BookingId>,
    },
}

impl OrderState {
    /// The word stored and sent.
    pub const fn status(&self) -> &'static str {
        match self {
            Self::Placed | Self::Confirming { .. } => "payment_pending",
            Self::RequiresAction { .. } => "requires_action",
            Self::PaymentUnknown { .. } => "payment_unknown",
            Self::Authorized { .. } | Self::Voiding { .. } => "authorized",
            Self::Confirmed { .. } => "confirmed",
            Self::Captured { .. } => "captured",
            Self::PaymentFailed { .. } => "payment_failed",
            Self::Expired { .. } => "expired",
            Self::Voided { .. } => "voided",
            Self::RefundPending { .. } => "refund_pending",
            Self::Refunded { .. } => "refunded",
            Self::RefundFailed { .. } => "refund_failed",
            Self::Claim { .. } => "claim",
        }
    }

    /// The intent, where there is one.
    pub fn intent(&self) -> Option<&IntentId> {
        match self {
            Self::Placed => None,
            Self::PaymentFailed { intent, .. } | Self::Expired { intent } => intent.as_ref(),
            Self::Confirming { intent }
            | Self::RequiresAction { intent, .. }
            | Self::PaymentUnknown { intent, .. }
            | Self::Authorized { intent }
            | Self::Voiding { intent, .. }
            | Self::Confirmed { intent, .. }
            | Self::Captured { intent, .. }
            | Self::Voided { intent, .. }
            | Self::RefundPending { intent, .. }
            | Self::Refunded { intent, .. }
            | Self::RefundFailed { intent, .. }
            | Self::Claim { intent, .. } => Some(intent),
        }
    }

    /// The booking, where there is one.
    pub fn booking(&self) -> Option<&BookingId> {
        match self {
            Self::Confirmed { booking, .. }
            | Self::Captured { booking, .. }
            | Self::RefundPending { booking, .. }
            | Self::Refunded { booking, .. }
            | Self::RefundFailed { booking, .. } => Some(booking),
            Self::Claim { booking, .. } => booking.as_ref(),
            _ => None,
        }
    }

    /// Why it lost its seats, if it did.
    pub const fn loss(&self) -> Option<Loss> {
        match self {
            Self::Voiding { loss, .. } | Self::Voided { loss, .. } => Some(*loss),
            _ => None,
        }
    }

    /// Has it failed, so that its hold may be tried again by another order?
    pub const fn has_failed(&self) -> bool {
        matches!(self, Self::PaymentFailed { .. } | Self::Expired { .. } | Self::Voided { .. })
    }

    /// Is its outcome still open, so that a buyer who waits may learn more?
    pub const fn is_open(&self) -> bool {
        matches!(
            self,
            Self::Placed | Self::Confirming { .. } | Self::Authorized { .. } | Self::Voiding { .. }
        )
    }

    /// Does it need the claim on its seats? Otherwise the claim row goes in the transaction that brought it here.
    pub const fn keeps_claim(&self) -> bool {
        matches!(
            self,
            Self::Placed
                | Self::Confirming { .. }
                | Self::RequiresAction { .. }
                | Self::PaymentUnknown { .. }
                | Self::Authorized { .. }
        )
    }

    /// Applies an event.
    pub fn apply(self, event: OrderEvent) -> Result<Self, InvalidTransition> {
        use OrderEvent as E;
        use OrderState as S;
        let refused = InvalidTransition { from: self.status(), event: format!("{event:?}") };
        Ok(match (self, event) {
            (S::Placed, E::IntentCreated(intent)) => S::Confirming { intent },
            (S::Placed, E::CreationFailed) => {
                S::PaymentFailed { intent: None, failure: Failure::Unavailable }
            }
            (S::Placed, E::HoldLost) => S::Expired { intent: None },

            (
                S::Confirming { intent }
                | S::RequiresAction { intent, .. }
                | S::PaymentUnknown { intent, .. },
                E::PaymentAuthorized,
            ) => S::Authorized { intent },
            (
                S::Confirming { intent }
                | S::RequiresAction { intent, .. }
                | S::PaymentUnknown { intent, .. },
                E::PaymentDeclined(code),
            ) => S::PaymentFailed { intent: Some(intent), failure: Failure::Declined(code) },
            (S::Confirming { intent } | S::PaymentUnknown { intent, .. }, E::ActionRequired(deadline)) => {
                S::RequiresAction { intent, deadline }
            }
            (S::Confirming { intent }, E::OutcomeUnknown { since, deadline }) => {
                S::PaymentUnknown { intent, since, deadline }
            }
            (S::RequiresAction { intent, deadline }, E::OutcomeUnknown { since, .. }) => {
                S::PaymentUnknown { intent, since, deadline }
            }
            (S::PaymentUnknown { intent, .. } | S::Confirming { intent }, E::IntentCanceled) => {
                S::PaymentFailed { intent: Some(intent), failure: Failure::TimedOut }
            }
            (S::RequiresAction { intent, .. }, E::IntentCanceled) => S::Expired { intent: Some(intent) },
            (S::PaymentUnknown { intent, .. } | S::RequiresAction { intent, .. }, E::GivenUp) => {
                S::Claim { intent, booking: None }
            }

            (S::Authorized { intent }, E::SeatsSold(booking)) => S::Confirmed { intent, booking },
            (S::Authorized { intent }, E::SeatsLost(loss)) => S::Voiding { intent, loss },
            (S::Voiding { intent, loss }, E::IntentCanceled) => S::Voided { intent, loss },
            (S::Voiding { intent, .. }, E::GivenUp) => S::Claim { intent, booking: None },

            (S::Confirmed { intent, booking }, E::PaymentCaptured) => S::Captured { intent, booking },
            (S::Confirmed { intent, booking }, E::GivenUp) => S::Claim { intent, booking: Some(booking) },
            (S::Captured { intent, booking }, E::RefundBegun) => S::RefundPending { intent, booking },
            (S::RefundPending { intent, booking }, E::RefundSucceeded) => S::Refunded { intent, booking },
            (S::RefundPending { intent, booking }, E::RefundFailed) => S::RefundFailed { intent, booking },

            // The provider came back, so support has nothing left to settle.
            (S::Claim { intent, booking: Some(booking) }, E::PaymentCaptured) => {
                S::Captured { intent, booking }
            }
            (S::Claim { intent, booking: None }, E::IntentCanceled) => {
                S::PaymentFailed { intent: Some(intent), failure: Failure::TimedOut }
            }
            _ => return Err(refused),
        })
    }
}

/// An order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// The order; one attempt at a payment.
    pub order_id: OrderId,
    /// Its event.
    pub event: EventId,
    /// The hold it buys.
    pub hold: HoldId,
    /// The buyer: the text of the session's subject.
    pub identity: String,
    /// The session it was placed in; none for orders from before that was kept.
    pub sid: Option<String>,
    /// What it buys.
    pub seats: Vec<HeldSeat>,
    /// The same, as buyers know them.
    pub seat_ids: Vec<String>,
    /// For how much.
    pub total: Money,
    /// The payment method's token.
    pub payment_method: String,
    /// What the buyer's client may see the intent with.
    pub client_secret: Option<String>,
    /// The card's fingerprint, once known.
    pub instrument: Option<String>,
    /// Support's claim, if one was opened.
    pub claim_id: Option<String>,
    /// Where it stands.
    pub state: OrderState,
    /// Consecutive steps that did not get anywhere.
    pub tries: u32,
    /// When it began.
    pub created_at: DateTime<Utc>,
}

#[cfg(test)]
#[path = "order_tests.rs"]
mod tests;
