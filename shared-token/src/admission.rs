//! Admission tokens: single use, two minutes (`admission+jwt`). Burning them is the lane's work.

use crate::ids::{EventId, Subject};
use crate::jwks::KeySet;
use crate::jws::{self, Confirmation, Registered, TokenError, Verified};
use crate::keys::KeyRing;
use serde::{Deserialize, Serialize};

pub use crate::jws::Expected;

/// What an admission token says.
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
    /// Burned on first use.
    pub jti: String,
    /// Issued at, Unix seconds.
    pub iat: u64,
    /// Not before.
    pub nbf: u64,
    /// Expires at; the slot returns 30 s later.
    pub exp: u64,
    /// The key the bearer must prove; absent for fans without JavaScript.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cnf: Option<Confirmation>,
}

impl Registered for Claims {
    const TYP: &'static str = "admission+jwt";

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
        self.iat.max(self.nbf)
    }
}

/// Signs an admission token with the ring's first key.
#[must_use]
pub fn sign(claims: &Claims, ring: &KeyRing) -> String {
    jws::sign(claims, ring)
}

/// Verifies an admission token: signature, type, issuer, event and time.
///
/// # Errors
/// [`TokenError`] names the first check that failed.
pub fn verify(token: &str, keys: &KeySet, expected: &Expected<'_>) -> Result<Verified<Claims>, TokenError> {
    jws::verify(token, keys, expected.iss, expected.now, Some(expected.aud), jws::Expiry::Enforced)
}

/// Verifies an admission token that may have run out: whoever used it in time may ask again for the session it
/// opened, which lives longer. Whether it was used in time is for its lane to say.
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
