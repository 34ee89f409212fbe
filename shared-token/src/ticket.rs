//! Tickets: a fan's place in line (`ticket+jwt`). The place is the ticket; whoever holds the published
//! documents can compute its position.

use crate::ids::{EventId, Subject};
use crate::jwks::KeySet;
use crate::jws::{self, Confirmation, Registered, TokenError, Verified};
use crate::keys::KeyRing;
use serde::{Deserialize, Serialize};

pub use crate::jws::Expected;

/// Where in line: the lane, its batch and the slot within.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place {
    /// Index of the lane.
    pub lane: u16,
    /// 0 for everybody who registered before the sale, later joins 1 and on.
    pub batch: u32,
    /// Slot in the lane; runs on through batches 1 and later.
    pub slot: u32,
}

/// What a ticket says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    /// The stable issuer.
    pub iss: String,
    /// The event.
    pub aud: EventId,
    /// The incarnation of the event: a re-created event honours nothing old.
    pub inc: String,
    /// Whose it is.
    pub sub: Subject,
    /// Fixed per place: the same place again is the same `jti`.
    pub jti: String,
    /// Issued at, Unix seconds.
    pub iat: u64,
    /// Ends with the room.
    pub exp: u64,
    /// The key the bearer must prove; absent for fans without JavaScript.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cnf: Option<Confirmation>,
    /// The place.
    pub place: Place,
}

impl Registered for Claims {
    const TYP: &'static str = "ticket+jwt";

    fn iss(&self) -> &str {
        &self.iss
    }

    fn aud(&self) -> &EventId {
        &self.aud
    }

    fn exp(&self) -> u64 {
        self.exp
    }

    fn starts(&self) -> u64 {
        self.iat
    }
}

/// Signs a ticket with the ring's first key.
#[must_use]
pub fn sign(claims: &Claims, ring: &KeyRing) -> String {
    jws::sign(claims, ring)
}

/// Verifies a ticket: signature, type, issuer, event and time.
///
/// # Errors
/// [`TokenError`] names the first check that failed.
pub fn verify(token: &str, keys: &KeySet, expected: &Expected<'_>) -> Result<Verified<Claims>, TokenError> {
    jws::verify(token, keys, expected.iss, expected.now, Some(expected.aud), jws::Expiry::Enforced)
}

/// Verifies a ticket that may have run out: a place lasts until its event closes, which may have been put off since
/// the ticket was signed.
///
/// # Errors
/// As [`verify`], except [`TokenError::Expired`].
pub fn verify_even_expired(
    token: &str,
    keys: &KeySet,
    expected: &Expected<'_>,
) -> Result<Verified<Claims>, TokenError> {
    jws::verify(token, keys, expected.iss, expected.now, Some(expected.aud), jws::Expiry::Ignored)
}
