//! What the saga asks of a payment provider, and what a provider can answer.
//!
//! One adapter so far; the second makes the trait.

mod stripe;
mod wire;

use std::{fmt, str::FromStr};

pub use stripe::Stripe;

use super::money::Money;
use crate::{
    ids::{EventId, OrderId},
    outward::Unanswered,
};

/// Longest intent id taken from a provider; Stripe's have 27 characters and grow.
const INTENT_ID_MAX: usize = 255;

/// The provider's name of a payment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IntentId(String);

impl IntentId {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for IntentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Not an intent id: it would not be safe in a URL's path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an intent id")]
pub struct InvalidIntentId;

impl FromStr for IntentId {
    type Err = InvalidIntentId;

    fn from_str(text: &str) -> Result<Self, InvalidIntentId> {
        let fits = !text.is_empty() && text.len() <= INTENT_ID_MAX;
        let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
        if fits && plain { Ok(Self(text.to_owned())) } else { Err(InvalidIntentId) }
    }
}

/// An intent to be created, unconfirmed, captured by hand.
#[derive(Clone, Debug)]
pub struct NewIntent<'a> {
    /// The order it pays; also the attempt, since a retry after a decline is a new order.
    pub order: &'a OrderId,
    /// Its event.
    pub event: &'a EventId,
    /// How much.
    pub amount: Money,
}

/// An intent that was created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreatedIntent {
    /// Its id.
    pub id: IntentId,
    /// What the buyer's client may see it with.
    pub client_secret: Option<String>,
}

/// What confirming an intent came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Authorization {
    /// The money is held.
    Authorized {
        /// The card's fingerprint, if the provider tells.
        instrument: Option<String>,
    },
    /// The issuer, or the provider on its behalf, said no.
    Declined {
        /// Its reason.
        code: String,
    },
    /// The buyer's client has a step to do.
    ActionRequired,
    /// Nobody knows: read it later.
    Unknown,
}

/// An intent as read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IntentView {
    /// No confirmation arrived, or none yet.
    Unconfirmed,
    /// The last confirmation was declined.
    Declined {
        /// The issuer's reason.
        code: String,
    },
    /// The buyer's client has a step to do.
    ActionRequired,
    /// The issuer has not answered.
    Processing,
    /// The money is held.
    Authorized {
        /// The card's fingerprint, if the provider tells.
        instrument: Option<String>,
    },
    /// The money is taken.
    Captured {
        /// The card's fingerprint, if the provider tells.
        instrument: Option<String>,
    },
    /// Closed without money.
    Canceled,
}

/// What capturing came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// The money is ours.
    Captured,
    /// The provider refuses: read the intent.
    Refused,
}

/// What cancelling an intent came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Released {
    /// No money is held and none can be any more.
    Canceled,
    /// The provider refuses: read the intent.
    Refused,
}

/// A refund as read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefundView {
    /// The provider's id of it.
    pub id: String,
    /// Our id of it, from its metadata.
    pub refund_id: Option<String>,
    /// Is the money on its way?
    pub succeeded: bool,
    /// Will it never be?
    pub failed: bool,
}

/// Why a call has no answer. Except for [`CallError::Refused`], whether it had an effect is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// No key is configured.
    #[error("no payment provider is configured")]
    NotConfigured,
    /// No connection, no answer in time, or a 5xx.
    #[error("the payment provider did not answer: {0}")]
    Unanswered(String),
    /// An answer that is not what the provider documents.
    #[error("the payment provider answered nonsense: {0}")]
    Nonsense(String),
    /// The provider refused it as a request; nothing happened.
    #[error("the payment provider refused ({status} {code})")]
    Refused {
        /// HTTP status.
        status: u16,
        /// The provider's code.
        code: String,
    },
}

impl From<Unanswered> for CallError {
    fn from(Unanswered(reason): Unanswered) -> Self {
        Self::Unanswered(reason)
    }
}
