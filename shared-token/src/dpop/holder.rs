//! The client's half of DPoP: keys that make proofs, for native clients and tests.

use crate::base64url;
use crate::jwks::Jwk;
use crate::jws::to_json;
use crate::thumbprint::Thumbprint;
use ed25519_dalek::Signer;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::fmt;

/// A private key of a client.
pub struct HolderKey(Private);

enum Private {
    Ed25519(ed25519_dalek::SigningKey),
    P256(p256::ecdsa::SigningKey),
}

impl HolderKey {
    /// An Ed25519 key from its seed.
    #[must_use]
    pub fn ed25519(seed: &[u8; 32]) -> Self {
        Self(Private::Ed25519(ed25519_dalek::SigningKey::from_bytes(seed)))
    }

    /// A P-256 key from its scalar; `None` for the one in 2³² that is zero or beyond the group's order.
    #[must_use]
    pub fn p256(scalar: &[u8; 32]) -> Option<Self> {
        p256::ecdsa::SigningKey::from_slice(scalar).ok().map(|key| Self(Private::P256(key)))
    }

    /// The public key.
    #[must_use]
    pub fn jwk(&self) -> Jwk {
        match &self.0 {
            Private::Ed25519(key) => Jwk::Ed25519 { x: key.verifying_key().to_bytes() },
            Private::P256(key) => {
                // Uncompressed SEC1: 0x04 ‖ x ‖ y.
                let point = key.verifying_key().to_sec1_point(false);
                let (mut x, mut y) = ([0; 32], [0; 32]);
                for (to, from) in x.iter_mut().chain(&mut y).zip(point.as_bytes().iter().skip(1)) {
                    *to = *from;
                }
                Jwk::P256 { x, y }
            }
        }
    }

    /// The public key's thumbprint.
    #[must_use]
    pub fn thumbprint(&self) -> Thumbprint {
        self.jwk().thumbprint()
    }

    const fn alg(&self) -> &'static str {
        match &self.0 {
            Private::Ed25519(_) => "EdDSA",
            Private::P256(_) => "ES256",
        }
    }

    fn sign_bytes(&self, message: &[u8]) -> [u8; 64] {
        match &self.0 {
            Private::Ed25519(key) => key.sign(message).to_bytes(),
            Private::P256(key) => {
                let signature: p256::ecdsa::Signature = key.sign(message);
                signature.to_bytes().into()
            }
        }
    }
}

impl fmt::Debug for HolderKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "HolderKey({})", self.thumbprint())
    }
}

/// The request a proof is made for.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// `htm`.
    pub method: &'a str,
    /// `htu`; query and fragment are left out of the proof.
    pub url: &'a str,
    /// `iat`, Unix seconds; by the server's clock, taken from `server_time`.
    pub iat: u64,
    /// A fresh id.
    pub jti: &'a str,
    /// The token sent with the request, if any.
    pub access_token: Option<&'a str>,
}

#[derive(Serialize)]
struct ProofClaims<'a> {
    jti: &'a str,
    htm: &'a str,
    htu: &'a str,
    iat: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    ath: Option<String>,
}

/// Makes the proof for `request`. Signatures are deterministic (RFC 8032, RFC 6979): no randomness is needed.
#[must_use]
pub fn sign(key: &HolderKey, request: &Request<'_>) -> String {
    let header =
        format!(r#"{{"typ":"dpop+jwt","alg":"{}","jwk":{}}}"#, key.alg(), key.jwk().canonical_json());
    let claims = ProofClaims {
        jti: request.jti,
        htm: request.method,
        htu: request.url.split(['?', '#']).next().unwrap_or_default(),
        iat: request.iat,
        ath: request.access_token.map(|token| base64url::encode(&Sha256::digest(token))),
    };
    let mut proof = base64url::encode(header.as_bytes());
    proof.push('.');
    base64url::encode_into(&to_json(&claims), &mut proof);
    let signature = key.sign_bytes(proof.as_bytes());
    proof.push('.');
    base64url::encode_into(&signature, &mut proof);
    proof
}
