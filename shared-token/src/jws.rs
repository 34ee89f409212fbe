//! Compact JWS (RFC 7515) with one algorithm: what the three token kinds share.
//!
//! The verifier decides algorithm and type; a header is only compared with them. Header members beyond `alg`,
//! `typ` and `kid` are refused, `crit` and `jwk` among them: a token of ours has none. Unknown *claims* are
//! ignored (RFC 7519 §4), so that a new edge and an old origin can run side by side.

use crate::base64url;
use crate::ids::EventId;
use crate::jwks::KeySet;
use crate::keys::KeyRing;
use crate::thumbprint::Thumbprint;
use ed25519_dalek::Signature;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::ops::Deref;

/// Clock skew allowed on `iat` and `nbf`. `exp` has none: a slot ends when its token does.
pub const SKEW_SECS: u64 = 30;

/// Longest token read. The largest we sign: `iss` 256 + `sub` 5 + 255 (510 if every byte needs an escape) +
/// `aud` 64 + `jkt` 43 + ids 2 × 22 + numbers and member names 250 ≈ 1.2 kB of claims, 1.6 kB in base64url,
/// plus a header of 150 and a signature of 86.
pub const MAX_TOKEN_BYTES: usize = 2048;
const MAX_PAYLOAD_BYTES: usize = MAX_TOKEN_BYTES / 4 * 3;
/// `{"alg":"EdDSA","typ":"admission+jwt","kid":"…64…"}` is 120 bytes; the rest is room for white space.
const MAX_HEADER_BYTES: usize = 192;

/// Why a token was refused. Precise for logs; outside, one answer for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// Longer than [`MAX_TOKEN_BYTES`].
    #[error("the token is too long")]
    TooLong,
    /// Not three canonical base64url segments with a header of exactly `alg`, `typ` and `kid`.
    #[error("the token is malformed")]
    Malformed,
    /// `alg` is not `EdDSA`.
    #[error("the token names another algorithm")]
    WrongAlgorithm,
    /// `typ` is not that of the kind of token expected here.
    #[error("the token is of another type")]
    WrongType,
    /// No key of the set has this `kid`.
    #[error("the token names an unknown key")]
    UnknownKey,
    /// The signature does not verify.
    #[error("the signature is wrong")]
    BadSignature,
    /// Signed by us, but the claims do not have the expected shape.
    #[error("the claims are malformed")]
    BadClaims,
    /// `iss` is another issuer.
    #[error("the token is of another issuer")]
    WrongIssuer,
    /// `aud` is another event.
    #[error("the token is for another event")]
    WrongAudience,
    /// `exp` has come.
    #[error("the token has expired")]
    Expired,
    /// `iat` or `nbf` lie more than [`SKEW_SECS`] ahead.
    #[error("the token is not valid yet")]
    NotYetValid,
}

/// What a verifier knows and a token must match.
#[derive(Debug, Clone, Copy)]
pub struct Expected<'a> {
    /// The stable issuer of this deployment.
    pub iss: &'a str,
    /// The event at hand.
    pub aud: &'a EventId,
    /// Unix seconds.
    pub now: u64,
}

/// Whether an expired token is an error. Only session reads have a use for [`Expiry::Ignored`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expiry {
    /// `exp` must lie ahead.
    Enforced,
    /// Signature, type, issuer and start are still checked.
    Ignored,
}

/// Proof of possession: the key the bearer must prove (RFC 7800, RFC 9449 §6.1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confirmation {
    /// Thumbprint of the bearer's key.
    pub jkt: Thumbprint,
}

/// Claims whose signature, type, issuer, audience and time were checked. Only verification makes one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified<C> {
    claims: C,
}

impl<C> Verified<C> {
    /// The claims by value.
    #[must_use]
    pub fn into_claims(self) -> C {
        self.claims
    }
}

impl<C> Deref for Verified<C> {
    type Target = C;

    fn deref(&self) -> &C {
        &self.claims
    }
}

/// The claims every kind has, so that one function checks them.
pub(crate) trait Registered: Serialize + DeserializeOwned {
    /// The `typ` header of this kind.
    const TYP: &'static str;
    fn iss(&self) -> &str;
    fn aud(&self) -> &EventId;
    fn exp(&self) -> u64;
    /// The later of `iat` and `nbf`.
    fn starts(&self) -> u64;
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Header<'a> {
    alg: &'a str,
    typ: &'a str,
    kid: &'a str,
}

pub(crate) fn sign<C: Registered>(claims: &C, ring: &KeyRing) -> String {
    let signer = ring.signer();
    let header = format!(r#"{{"alg":"EdDSA","typ":"{}","kid":"{}"}}"#, C::TYP, signer.kid());
    let payload = to_json(claims);
    let mut token = String::with_capacity((header.len() + payload.len() + 64).div_ceil(3) * 4 + 8);
    base64url::encode_into(header.as_bytes(), &mut token);
    token.push('.');
    base64url::encode_into(&payload, &mut token);
    let signature = signer.sign(token.as_bytes());
    token.push('.');
    base64url::encode_into(&signature, &mut token);
    token
}

/// JSON of a claims structure of this crate.
#[expect(
    clippy::expect_used,
    reason = "strings, integers and options always serialize; a map key never fails"
)]
pub(crate) fn to_json<T: Serialize>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).expect("claims serialize")
}

/// Reads a JSON object. Serde would also take a list of a structure's members in order, which JOSE does not know.
pub(crate) fn from_object<'a, T: Deserialize<'a>>(json: &'a [u8]) -> Option<T> {
    if json.first() == Some(&b'{') { serde_json::from_slice(json).ok() } else { None }
}

/// The three segments of a compact JWS, and the part that is signed.
pub(crate) struct Segments<'a> {
    pub(crate) header: &'a str,
    pub(crate) payload: &'a str,
    pub(crate) signature: &'a str,
    pub(crate) signed: &'a str,
}

/// Splits at the last and the first dot. Further dots end up in a segment, where base64url refuses them.
pub(crate) fn split(token: &str) -> Option<Segments<'_>> {
    let (signed, signature) = token.rsplit_once('.')?;
    let (header, payload) = signed.split_once('.')?;
    Some(Segments { header, payload, signature, signed })
}

pub(crate) fn verify<C: Registered>(
    token: &str,
    keys: &KeySet,
    iss: &str,
    now: u64,
    aud: Option<&EventId>,
    expiry: Expiry,
) -> Result<Verified<C>, TokenError> {
    let claims = authentic::<C>(token, keys)?;
    if claims.iss() != iss {
        return Err(TokenError::WrongIssuer);
    }
    if aud.is_some_and(|aud| claims.aud() != aud) {
        return Err(TokenError::WrongAudience);
    }
    if claims.starts() > now.saturating_add(SKEW_SECS) {
        return Err(TokenError::NotYetValid);
    }
    if expiry == Expiry::Enforced && claims.exp() <= now {
        return Err(TokenError::Expired);
    }
    Ok(Verified { claims })
}

/// Checks form, header and signature; only then are the claims read. Buffers live on the stack.
fn authentic<C: Registered>(token: &str, keys: &KeySet) -> Result<C, TokenError> {
    if token.len() > MAX_TOKEN_BYTES {
        return Err(TokenError::TooLong);
    }
    let segments = split(token).ok_or(TokenError::Malformed)?;
    let mut buffer = [0; MAX_HEADER_BYTES];
    let header = base64url::decode(segments.header, &mut buffer).ok_or(TokenError::Malformed)?;
    let header: Header<'_> = from_object(header).ok_or(TokenError::Malformed)?;
    if header.alg != "EdDSA" {
        return Err(TokenError::WrongAlgorithm);
    }
    if header.typ != C::TYP {
        return Err(TokenError::WrongType);
    }
    let key = keys.find(header.kid).ok_or(TokenError::UnknownKey)?;
    let signature = base64url::decode_array(segments.signature).ok_or(TokenError::Malformed)?;
    key.verify_strict(segments.signed.as_bytes(), &Signature::from_bytes(&signature))
        .map_err(|_| TokenError::BadSignature)?;
    let mut buffer = [0; MAX_PAYLOAD_BYTES];
    let payload = base64url::decode(segments.payload, &mut buffer).ok_or(TokenError::Malformed)?;
    from_object(payload).ok_or(TokenError::BadClaims)
}
