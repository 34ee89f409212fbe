//! Public keys on the wire: single JWKs (a fan's key in a DPoP header) and the JWK set of the edge.

use crate::base64url;
use crate::ids::is_plain;
use crate::thumbprint::Thumbprint;
use ed25519_dalek::VerifyingKey;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use std::fmt;

/// Most keys in a set: rotation needs two or three, and every extra one is a key that may still sign.
pub const MAX_KEYS: usize = 16;
/// Longest `kid`, so that a token header fits its buffer.
pub const MAX_KID_BYTES: usize = 64;

/// A fan's public key, as generated in the browser.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Jwk {
    /// `kty` OKP, `crv` Ed25519.
    Ed25519 {
        /// The encoded point.
        x: [u8; 32],
    },
    /// `kty` EC, `crv` P-256. Being on the curve is checked when the key is used.
    P256 {
        /// Affine x, big-endian.
        x: [u8; 32],
        /// Affine y, big-endian.
        y: [u8; 32],
    },
}

impl Jwk {
    /// The required members in lexical order: input of the thumbprint and the form we publish.
    #[must_use]
    pub fn canonical_json(&self) -> String {
        match self {
            Self::Ed25519 { x } => {
                format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{}"}}"#, base64url::encode(x))
            }
            Self::P256 { x, y } => format!(
                r#"{{"crv":"P-256","kty":"EC","x":"{}","y":"{}"}}"#,
                base64url::encode(x),
                base64url::encode(y)
            ),
        }
    }

    /// RFC 7638 thumbprint of this key.
    #[must_use]
    pub fn thumbprint(&self) -> Thumbprint {
        Thumbprint::of(self)
    }
}

/// Whether a member is there at all, whatever its value.
#[derive(Default)]
struct Present(bool);

impl<'de> Deserialize<'de> for Present {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer)?;
        Ok(Self(true))
    }
}

/// The members we read. Others (`ext`, `key_ops`, `use`) are what WebCrypto adds, and mean nothing here.
#[derive(Deserialize)]
struct RawJwk<'a> {
    #[serde(borrow)]
    kty: Cow<'a, str>,
    #[serde(borrow)]
    crv: Option<Cow<'a, str>>,
    #[serde(borrow)]
    x: Option<Cow<'a, str>>,
    #[serde(borrow)]
    y: Option<Cow<'a, str>>,
    #[serde(borrow)]
    kid: Option<Cow<'a, str>>,
    #[serde(default)]
    d: Present,
}

impl RawJwk<'_> {
    fn coordinate(value: Option<&Cow<'_, str>>) -> Result<[u8; 32], JwkError> {
        value.and_then(|text| base64url::decode_array(text)).ok_or(JwkError::BadCoordinate)
    }

    fn public_key(&self) -> Result<Jwk, JwkError> {
        if self.d.0 {
            return Err(JwkError::PrivateKey);
        }
        match (&*self.kty, self.crv.as_deref()) {
            ("OKP", Some("Ed25519")) => Ok(Jwk::Ed25519 { x: Self::coordinate(self.x.as_ref())? }),
            ("EC", Some("P-256")) => {
                Ok(Jwk::P256 { x: Self::coordinate(self.x.as_ref())?, y: Self::coordinate(self.y.as_ref())? })
            }
            _ => Err(JwkError::UnsupportedKey),
        }
    }
}

impl<'de> Deserialize<'de> for Jwk {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        RawJwk::deserialize(deserializer)?.public_key().map_err(serde::de::Error::custom)
    }
}

impl Serialize for Jwk {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let (crv, kty, x, y) = match self {
            Self::Ed25519 { x } => ("Ed25519", "OKP", x, None),
            Self::P256 { x, y } => ("P-256", "EC", x, Some(y)),
        };
        let mut members = serializer.serialize_struct("Jwk", if y.is_some() { 4 } else { 3 })?;
        members.serialize_field("crv", crv)?;
        members.serialize_field("kty", kty)?;
        members.serialize_field("x", &base64url::encode(x))?;
        if let Some(y) = y {
            members.serialize_field("y", &base64url::encode(y))?;
        }
        members.end()
    }
}

/// Why a JWK or a set of them was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum JwkError {
    /// Not JSON of the right shape.
    #[error("not a JSON web key")]
    Malformed,
    /// A private key where a public one belongs: whoever sent it has given it away.
    #[error("the key carries its private part")]
    PrivateKey,
    /// Another kind of key than Ed25519 and P-256.
    #[error("unsupported key type or curve")]
    UnsupportedKey,
    /// A coordinate is missing, of the wrong length, or not canonical base64url.
    #[error("a coordinate is missing or malformed")]
    BadCoordinate,
    /// A point of small order, for which signatures prove nothing, or none at all.
    #[error("the key is not a usable point")]
    WeakKey,
    /// A `kid` is missing, malformed or used twice.
    #[error("key ids must be present, plain and distinct")]
    BadKid,
    /// No key of the set can verify our tokens, or there are more than [`MAX_KEYS`].
    #[error("the set has no usable key, or too many")]
    BadCount,
}

/// Verify-only keys, found by `kid`.
#[derive(Clone, PartialEq, Eq)]
pub struct KeySet {
    keys: Vec<(Box<str>, VerifyingKey)>,
}

impl fmt::Debug for KeySet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.kids()).finish()
    }
}

impl KeySet {
    /// Reads a JWK set (RFC 7517). Keys of kinds we do not use are skipped, as the RFC asks; a key of ours that
    /// is damaged refuses the whole set, since half a rotation is worse than a loud failure.
    ///
    /// # Errors
    /// [`JwkError`] names the first fault.
    pub fn from_json(json: &str) -> Result<Self, JwkError> {
        #[derive(Deserialize)]
        struct RawSet<'a> {
            #[serde(borrow)]
            keys: Vec<RawJwk<'a>>,
        }
        let raw: RawSet<'_> = serde_json::from_str(json).map_err(|_| JwkError::Malformed)?;
        let mut set = Vec::new();
        for key in &raw.keys {
            match key.public_key() {
                Ok(Jwk::Ed25519 { x }) => {
                    let kid = key.kid.as_deref().ok_or(JwkError::BadKid)?;
                    set.push((kid.into(), usable_key(&x)?));
                }
                Ok(Jwk::P256 { .. }) | Err(JwkError::UnsupportedKey) => {}
                Err(error) => return Err(error),
            }
        }
        Self::new(set)
    }

    /// A set of keys with plain, distinct ids.
    pub(crate) fn new(keys: Vec<(Box<str>, VerifyingKey)>) -> Result<Self, JwkError> {
        if keys.is_empty() || keys.len() > MAX_KEYS {
            return Err(JwkError::BadCount);
        }
        for (index, (kid, _)) in keys.iter().enumerate() {
            if !is_plain(kid, MAX_KID_BYTES) || keys.iter().take(index).any(|(earlier, _)| earlier == kid) {
                return Err(JwkError::BadKid);
            }
        }
        Ok(Self { keys })
    }

    /// The key named `kid`. A handful of keys: a scan beats a map.
    pub(crate) fn find(&self, kid: &str) -> Option<&VerifyingKey> {
        self.keys.iter().find(|(name, _)| **name == *kid).map(|(_, key)| key)
    }

    /// The ids of the keys, in order.
    pub fn kids(&self) -> impl Iterator<Item = &str> {
        self.keys.iter().map(|(kid, _)| &**kid)
    }

    /// The JWK set document served at `/.well-known/jwks.json`.
    #[must_use]
    pub fn to_json(&self) -> String {
        let keys: Vec<String> = self
            .keys
            .iter()
            .map(|(kid, key)| {
                format!(
                    r#"{{"kty":"OKP","crv":"Ed25519","x":"{}","kid":"{kid}","alg":"EdDSA","use":"sig"}}"#,
                    base64url::encode(key.as_bytes())
                )
            })
            .collect();
        format!(r#"{{"keys":[{}]}}"#, keys.join(","))
    }
}

/// Decompresses an Ed25519 key and refuses points of small order.
pub(crate) fn usable_key(x: &[u8; 32]) -> Result<VerifyingKey, JwkError> {
    let key = VerifyingKey::from_bytes(x).map_err(|_| JwkError::WeakKey)?;
    if key.is_weak() { Err(JwkError::WeakKey) } else { Ok(key) }
}
