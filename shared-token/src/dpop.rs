//! DPoP proofs (RFC 9449): the bearer of a token holds the key it names.
//!
//! Ed25519 (`alg` `EdDSA`, or `Ed25519` as RFC 9864 spells it) and P-256 (`ES256`), since a browser has one or
//! the other. Claims are compared before the signature is checked: a wrong URL, a stale proof or a foreign key
//! costs a hash, not a curve operation, and nothing read from the proof leaves this module unless the signature
//! holds. Remembering `jti` is the host's business.

mod holder;
mod url;

pub use holder::{HolderKey, Request, sign};

use crate::base64url;
use crate::jwks::Jwk;
use crate::jws::{Segments, from_object, split};
use crate::thumbprint::Thumbprint;
use p256::ecdsa::signature::Verifier;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use subtle::ConstantTimeEq;

/// Age and lead the contract allows a proof, in seconds.
pub const MAX_AGE_SECS: u64 = 60;
/// Longest proof read: a header of 200 with its key, a signature of 64, and 2 kB for URL and `jti`, in base64url.
pub const MAX_PROOF_BYTES: usize = 4096;
/// Longest `jti`: hosts keep them for two minutes.
pub const MAX_JTI_BYTES: usize = 128;
const MAX_HEADER_BYTES: usize = 512;
const MAX_PAYLOAD_BYTES: usize = MAX_PROOF_BYTES / 4 * 3;

/// What the request at hand requires of its proof.
#[derive(Debug, Clone, Copy)]
pub struct Expected<'a> {
    /// The request's method.
    pub method: &'a str,
    /// The URLs under which the request may have been sent: each public origin with the request's path.
    pub url_candidates: &'a [&'a str],
    /// Unix seconds.
    pub now: u64,
    /// Allowed distance of `iat` from `now` either way, usually [`MAX_AGE_SECS`].
    pub max_age: u64,
    /// The token presented beside the proof, whose hash `ath` must be.
    pub access_token: Option<&'a str>,
    /// The key the proof must be made by, where a token names one.
    pub jkt: Option<&'a Thumbprint>,
}

/// A proof that held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// Thumbprint of the key.
    pub jkt: Thumbprint,
    /// The proof's id, at most [`MAX_JTI_BYTES`].
    pub jti: String,
    /// When it was made, by the client's clock.
    pub iat: u64,
    /// The key.
    pub jwk: Jwk,
}

/// Why a proof was refused. Precise for logs; outside, one answer for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DpopError {
    /// Longer than [`MAX_PROOF_BYTES`].
    #[error("the proof is too long")]
    TooLong,
    /// Not a compact JWS with a header of exactly `typ`, `alg` and a public `jwk`, and the claims RFC 9449 asks.
    #[error("the proof is malformed")]
    Malformed,
    /// `typ` is not `dpop+jwt`.
    #[error("the proof is of another type")]
    WrongType,
    /// `alg` does not fit the key.
    #[error("the algorithm does not fit the key")]
    WrongAlgorithm,
    /// `htm` is another method.
    #[error("the proof is for another method")]
    WrongMethod,
    /// `htu` is none of the request's URLs.
    #[error("the proof is for another URL")]
    WrongUrl,
    /// `iat` is too old.
    #[error("the proof is too old")]
    TooOld,
    /// `iat` lies too far ahead.
    #[error("the proof is from the future")]
    FromTheFuture,
    /// `ath` is missing or another token's.
    #[error("the proof is for another token")]
    WrongToken,
    /// Another key than the token names.
    #[error("the proof is by another key")]
    WrongKey,
    /// The signature does not verify, or the key is no usable point.
    #[error("the signature is wrong")]
    BadSignature,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Header<'a> {
    typ: &'a str,
    alg: &'a str,
    jwk: Jwk,
}

#[derive(Deserialize)]
struct Claims<'a> {
    #[serde(borrow)]
    jti: Cow<'a, str>,
    #[serde(borrow)]
    htm: Cow<'a, str>,
    // JSON writers may escape the slashes.
    #[serde(borrow)]
    htu: Cow<'a, str>,
    iat: u64,
    ath: Option<&'a str>,
}

/// Verifies a proof for the request described by `expected`.
///
/// # Errors
/// [`DpopError`] names the first check that failed.
pub fn verify(proof: &str, expected: &Expected<'_>) -> Result<Proof, DpopError> {
    if proof.len() > MAX_PROOF_BYTES {
        return Err(DpopError::TooLong);
    }
    let segments = split(proof).ok_or(DpopError::Malformed)?;
    let mut buffer = [0; MAX_HEADER_BYTES];
    let header = base64url::decode(segments.header, &mut buffer).ok_or(DpopError::Malformed)?;
    let header: Header<'_> = from_object(header).ok_or(DpopError::Malformed)?;
    if header.typ != "dpop+jwt" {
        return Err(DpopError::WrongType);
    }
    let jkt = header.jwk.thumbprint();
    if expected.jkt.is_some_and(|expected| *expected != jkt) {
        return Err(DpopError::WrongKey);
    }
    let mut buffer = [0; MAX_PAYLOAD_BYTES];
    let payload = base64url::decode(segments.payload, &mut buffer).ok_or(DpopError::Malformed)?;
    let claims: Claims<'_> = from_object(payload).ok_or(DpopError::Malformed)?;
    check_claims(&claims, expected)?;
    check_signature(&segments, header.alg, &header.jwk)?;
    Ok(Proof { jkt, jti: claims.jti.into_owned(), iat: claims.iat, jwk: header.jwk })
}

fn check_claims(claims: &Claims<'_>, expected: &Expected<'_>) -> Result<(), DpopError> {
    if claims.jti.is_empty() || claims.jti.len() > MAX_JTI_BYTES {
        return Err(DpopError::Malformed);
    }
    if claims.htm != expected.method {
        return Err(DpopError::WrongMethod);
    }
    if !expected.url_candidates.iter().any(|candidate| url::same_target(&claims.htu, candidate)) {
        return Err(DpopError::WrongUrl);
    }
    if claims.iat > expected.now.saturating_add(expected.max_age) {
        return Err(DpopError::FromTheFuture);
    }
    if claims.iat.saturating_add(expected.max_age) < expected.now {
        return Err(DpopError::TooOld);
    }
    let Some(token) = expected.access_token else { return Ok(()) };
    let ath: [u8; 32] = claims.ath.and_then(base64url::decode_array).ok_or(DpopError::WrongToken)?;
    let hash: [u8; 32] = Sha256::digest(token).into();
    if bool::from(hash.ct_eq(&ath)) { Ok(()) } else { Err(DpopError::WrongToken) }
}

fn check_signature(segments: &Segments<'_>, alg: &str, jwk: &Jwk) -> Result<(), DpopError> {
    let message = segments.signed.as_bytes();
    let signature: [u8; 64] = base64url::decode_array(segments.signature).ok_or(DpopError::Malformed)?;
    match (jwk, alg) {
        (Jwk::Ed25519 { x }, "EdDSA" | "Ed25519") => {
            let key = ed25519_dalek::VerifyingKey::from_bytes(x).map_err(|_| DpopError::BadSignature)?;
            // Strict: points of small order and non-canonical encodings are refused.
            key.verify_strict(message, &ed25519_dalek::Signature::from_bytes(&signature))
                .map_err(|_| DpopError::BadSignature)
        }
        (Jwk::P256 { x, y }, "ES256") => {
            let point = p256::Sec1Point::from_affine_coordinates(&(*x).into(), &(*y).into(), false);
            let key =
                p256::ecdsa::VerifyingKey::from_sec1_point(&point).map_err(|_| DpopError::BadSignature)?;
            let signature =
                p256::ecdsa::Signature::from_slice(&signature).map_err(|_| DpopError::BadSignature)?;
            key.verify(message, &signature).map_err(|_| DpopError::BadSignature)
        }
        _ => Err(DpopError::WrongAlgorithm),
    }
}
