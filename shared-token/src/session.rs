//! Sessions: an admitted shopper (`session+jwt`), verified at every protected request.

use crate::ids::{EventId, Subject};
use crate::jwks::KeySet;
use crate::jws::{self, Confirmation, Registered, TokenError, Verified};
use crate::keys::KeyRing;
use serde::{Deserialize, Serialize};

pub use crate::jws::{Expected, Expiry};

/// What a session says.
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
    /// The session; a reissued token of it keeps this id.
    pub sid: String,
    /// The batch of the place it came from.
    pub batch: u32,
    /// Issued at, Unix seconds.
    pub iat: u64,
    /// Expires at.
    pub exp: u64,
    /// The key the bearer must prove; absent for fans without JavaScript.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cnf: Option<Confirmation>,
}

impl Registered for Claims {
    const TYP: &'static str = "session+jwt";

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

/// Signs a session with the ring's first key.
#[must_use]
pub fn sign(claims: &Claims, ring: &KeyRing) -> String {
    jws::sign(claims, ring)
}

/// Verifies a session: signature, type, issuer, event and time.
///
/// # Errors
/// [`TokenError`] names the first check that failed.
pub fn verify(token: &str, keys: &KeySet, expected: &Expected<'_>) -> Result<Verified<Claims>, TokenError> {
    jws::verify(token, keys, expected.iss, expected.now, Some(expected.aud), Expiry::Enforced)
}

/// Verifies a session that may have ended: a buyer still reads own orders after shopping.
///
/// # Errors
/// As [`verify`], except [`TokenError::Expired`].
pub fn verify_even_expired(
    token: &str,
    keys: &KeySet,
    expected: &Expected<'_>,
) -> Result<Verified<Claims>, TokenError> {
    jws::verify(token, keys, expected.iss, expected.now, Some(expected.aud), Expiry::Ignored)
}

/// Verifies a session where the event is not known in advance (`/v1/users/me/bookings`): the caller takes it
/// from the claims.
///
/// # Errors
/// As [`verify`], except [`TokenError::WrongAudience`], and [`TokenError::Expired`] only if enforced.
pub fn verify_any_audience(
    token: &str,
    keys: &KeySet,
    iss: &str,
    now: u64,
    expiry: Expiry,
) -> Result<Verified<Claims>, TokenError> {
    jws::verify(token, keys, iss, now, None, expiry)
}
