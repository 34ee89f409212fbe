//! What a hold is, and what its transitions can answer.

use chrono::{DateTime, Utc};

use crate::{
    ids::{EventId, HoldId, OrderId},
    problem::{Kind, Problem},
};

/// One seat of a hold, at the price it was held for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldSeat {
    /// Seat index in the event's layout.
    pub index: u32,
    /// Minor units.
    pub price: i64,
}

/// Where a hold stands, judged by the clock of the store that keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HoldState {
    /// Its seats are kept until `expires_at`.
    Live,
    /// An order is being paid; no timer takes the seats.
    Claimed(OrderId),
    /// Sold to that order.
    Sold(OrderId),
    /// Given back, by its owner or by being replaced.
    Released,
    /// Its time ran out.
    Expired,
}

/// A hold of seats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// The hold.
    pub hold_id: HoldId,
    /// Its event.
    pub event: EventId,
    /// Whose it is: the text of the session's subject.
    pub identity: String,
    /// The random token in its seats' keys; whoever frees a seat must know it.
    pub token: String,
    /// Its seats in the order they were asked for.
    pub seats: Vec<HeldSeat>,
    /// Sum of the prices, minor units.
    pub total: i64,
    /// ISO 4217.
    pub currency: String,
    /// When it began (a replacement keeps the beginning of what it replaced).
    pub created_at: DateTime<Utc>,
    /// When it ends unless extended or claimed.
    pub expires_at: DateTime<Utc>,
    /// No extension and no return from a failed payment reaches beyond this.
    pub max_expires_at: DateTime<Utc>,
    /// Was it extended?
    pub extended: bool,
    /// Where it stands.
    pub state: HoldState,
}

/// One seat's change in Postgres, to be repeated in the hold store. An older version than the store knows is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeatVersion {
    /// Seat index.
    pub index: u32,
    /// `event_seats.version` after the change.
    pub version: i64,
}

/// A request for seats.
#[derive(Clone, Debug)]
pub struct HoldRequest {
    /// The event.
    pub event: EventId,
    /// Who asks.
    pub identity: String,
    /// Distinct seats with their prices.
    pub seats: Vec<HeldSeat>,
    /// ISO 4217.
    pub currency: String,
    /// Length of a fresh hold.
    pub hold_seconds: u32,
    /// Longest life of a hold with everything.
    pub hold_max_seconds: u32,
    /// Seats one identity may have, held and bought.
    pub limit: u32,
    /// The client's key for this request.
    pub idempotency_key: String,
    /// Hash of what was asked.
    pub fingerprint: String,
}

/// A hold that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The hold as it was when made.
    pub hold: Hold,
    /// Map version at which it became visible.
    pub version: u64,
    /// When, by the store's clock.
    pub at: DateTime<Utc>,
    /// Holds of the same identity it took the place of.
    pub replaced: Vec<HoldId>,
    /// True if an earlier request with the same key made it.
    pub replayed: bool,
}

/// What asking for seats can answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HoldOutcome {
    /// All seats are held.
    Held(Box<Held>),
    /// Nothing changed: these seats are somebody else's.
    SeatsTaken(Vec<u32>),
    /// Nothing changed: the identity would have more than `limit`.
    LimitExceeded {
        /// Seats one identity may have.
        limit: u32,
        /// Seats it has, without those this request would have replaced.
        used: u32,
    },
    /// Nothing changed: the key belongs to another request.
    KeyReused,
}

/// What extending a hold can answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExtendOutcome {
    /// It now ends later.
    Extended {
        /// The new end.
        expires_at: DateTime<Utc>,
        /// Map version of the change.
        version: u64,
    },
    /// Once is all.
    AlreadyExtended,
    /// An order has it.
    Claimed,
    /// It is over.
    Gone,
}

/// What releasing a hold can answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReleaseOutcome {
    /// Its seats are free.
    Released,
    /// It was over already.
    AlreadyOver,
    /// An order has it.
    Claimed,
}

/// What claiming a hold for a sale can answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The seats belong to the order, without any timer. Claiming again by the same order answers the same.
    Claimed,
    /// The hold is over or unknown.
    HoldGone,
    /// The hold is there, but these of its seats are not its own any more (blocked by an operator, say).
    SeatsLost(Vec<u32>),
    /// Another order claimed it first.
    ClaimedBy(OrderId),
}

/// What giving up a claim can answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unclaimed {
    /// The hold lives again until this instant.
    Restored(DateTime<Utc>),
    /// Its absolute limit had passed: the seats are free.
    Freed,
    /// The order had no claim.
    NotClaimed,
}

/// Why the hold store did not do it. Nothing is known to have changed, except after [`EngineError::Unavailable`],
/// where the step may have landed; every step is safe to repeat.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The store lost its memory and is being filled from Postgres.
    #[error("the hold store is being rebuilt")]
    Rebuilding,
    /// The store did not answer in time.
    #[error("the hold store is slow or gone: {0}")]
    Unavailable(String),
    /// Too many requests are waiting for the store.
    #[error("too many requests wait for the hold store")]
    Overloaded,
    /// No such event.
    #[error("unknown event")]
    UnknownEvent,
    /// No hold store is configured.
    #[error("no hold store is configured")]
    NotConfigured,
    /// The store answered something a script of ours does not say.
    #[error("impossible answer of the hold store: {0}")]
    Impossible(String),
    /// Postgres failed while the store was being filled.
    #[error("the ledger failed: {0}")]
    Ledger(#[from] sqlx::Error),
}

impl From<EngineError> for Problem {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Rebuilding => Kind::HoldsRebuilding.into(),
            EngineError::Overloaded => Kind::Overloaded.into(),
            EngineError::Unavailable(reason) => {
                tracing::warn!(reason, "the hold store is slow or gone");
                Problem::new(Kind::Overloaded).detail("the hold store is not answering").retry_after(2)
            }
            EngineError::UnknownEvent => Kind::UnknownEvent.into(),
            EngineError::NotConfigured => {
                Problem::new(Kind::NotSupported).detail("no hold store is configured here")
            }
            EngineError::Ledger(error) => error.into(),
            EngineError::Impossible(_) => Problem::internal(&error),
        }
    }
}
