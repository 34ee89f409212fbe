//! What can happen to an order.

use chrono::{DateTime, Utc};

use crate::{ids::BookingId, payments::IntentId};

/// What happened to an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OrderEvent {
    /// The provider created the intent, which is about to be confirmed.
    IntentCreated(IntentId),
    /// No intent could be created or no seats claimed.
    CreationFailed,
    /// The hold was over when its seats were to be claimed.
    HoldLost,
    /// The money is held (or taken already).
    PaymentAuthorized,
    /// The issuer said no.
    PaymentDeclined(String),
    /// The client has a step to do until this instant.
    ActionRequired(DateTime<Utc>),
    /// The outcome is not known; it is waited for until `deadline`.
    OutcomeUnknown {
        /// Since when.
        since: DateTime<Utc>,
        /// Until when.
        deadline: DateTime<Utc>,
    },
    /// The intent is closed without money.
    IntentCanceled,
    /// The bound is over and the provider does not answer.
    GivenUp,
    /// The seats are sold.
    SeatsSold(BookingId),
    /// The seats are not.
    SeatsLost(Loss),
    /// The money is taken.
    PaymentCaptured,
    /// The money is being given back.
    RefundBegun,
    /// The money is back.
    RefundSucceeded,
    /// It will not be.
    RefundFailed,
}

/// The event cannot happen in that state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an order that is {from} cannot take {event}")]
pub struct InvalidTransition {
    /// The state it was in.
    pub from: &'static str,
    /// The event.
    pub event: String,
}

/// Why an order lost what it had paid for. Its money is given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// The seats are not for sale to it any more.
    SeatsReassigned,
    /// The buyer would own more than one may.
    LimitExceeded,
    /// The card would have bought more than one may.
    InstrumentLimitExceeded,
    /// The event is not on sale any more.
    EventNotOnSale,
}

impl Loss {
    /// The word stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SeatsReassigned => "seats_reassigned",
            Self::LimitExceeded => "limit_exceeded",
            Self::InstrumentLimitExceeded => "instrument_limit_exceeded",
            Self::EventNotOnSale => "event_not_on_sale",
        }
    }

    /// The loss of a stored word.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::SeatsReassigned, Self::LimitExceeded, Self::InstrumentLimitExceeded, Self::EventNotOnSale]
            .into_iter()
            .find(|loss| loss.as_str() == text)
    }
}

/// Why an order failed before it had any money.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The issuer declined, with this code.
    Declined(String),
    /// No intent could be created, or no seats claimed: a fault of ours or the provider's.
    Unavailable,
    /// The outcome stayed unknown until the intent was canceled.
    TimedOut,
}
