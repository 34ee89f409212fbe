//! RFC 7638 thumbprints: the name of a fan's key.

use crate::base64url;
use crate::ids::InvalidId;
use crate::jwks::Jwk;
use crate::text::serde_as_text;
use sha2::{Digest, Sha256};
use std::fmt;
use std::str::FromStr;

/// The SHA-256 thumbprint of a public key, written as 43 base64url characters (`jkt`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Thumbprint([u8; 32]);

impl Thumbprint {
    /// Thumbprint of `jwk`: SHA-256 over the required members in lexical order, without white space.
    #[must_use]
    pub fn of(jwk: &Jwk) -> Self {
        Self(Sha256::digest(jwk.canonical_json()).into())
    }

    /// The 32 bytes of the digest.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl From<[u8; 32]> for Thumbprint {
    fn from(digest: [u8; 32]) -> Self {
        Self(digest)
    }
}

impl FromStr for Thumbprint {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        base64url::decode_array(text).map(Self).ok_or(InvalidId::new("key thumbprint"))
    }
}

impl fmt::Display for Thumbprint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&base64url::encode(&self.0))
    }
}

impl fmt::Debug for Thumbprint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Thumbprint({self})")
    }
}

serde_as_text!(Thumbprint);
