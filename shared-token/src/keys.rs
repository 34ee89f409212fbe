//! The edge's secrets: signing keys and the key that MAC and hash keys are derived from.
//!
//! Nothing in this module prints a secret: `Debug` shows key ids at most, and no type here serializes.

use crate::base64url;
use crate::jwks::{JwkError, KeySet};
use ed25519_dalek::Signer;
use hmac::{Hmac, KeyInit, Mac};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::fmt;
use subtle::ConstantTimeEq;

/// An Ed25519 key that signs tokens, with the id by which verifiers find it.
pub struct SigningKey {
    kid: Box<str>,
    key: ed25519_dalek::SigningKey,
}

impl SigningKey {
    /// A key from its 32-byte seed.
    #[must_use]
    pub fn from_seed(kid: &str, seed: &[u8; 32]) -> Self {
        Self { kid: kid.into(), key: ed25519_dalek::SigningKey::from_bytes(seed) }
    }

    /// The key's id.
    #[must_use]
    pub fn kid(&self) -> &str {
        &self.kid
    }

    pub(crate) fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.key.sign(message).to_bytes()
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SigningKey").field("kid", &self.kid).finish_non_exhaustive()
    }
}

/// The signing keys of a deployment: the first signs, all verify.
#[derive(Debug)]
pub struct KeyRing {
    signer: SigningKey,
    set: KeySet,
}

impl KeyRing {
    /// A ring that signs with `signer` and also accepts tokens of `others`.
    ///
    /// # Errors
    /// [`JwkError`] when ids are not plain and distinct, or there are too many keys.
    pub fn new(signer: SigningKey, others: &[SigningKey]) -> Result<Self, JwkError> {
        let keys = std::iter::once(&signer).chain(others);
        let set = KeySet::new(keys.map(|key| (key.kid.clone(), key.key.verifying_key())).collect())?;
        Ok(Self { signer, set })
    }

    /// Reads `{"keys":[{"kid":"…","seed":"<base64url, 32 bytes>"}…]}`; the first key signs.
    ///
    /// # Errors
    /// [`JwkError`], without a trace of the input: it is a secret.
    pub fn from_json(json: &str) -> Result<Self, JwkError> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct RawKey {
            kid: String,
            seed: String,
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct RawRing {
            keys: Vec<RawKey>,
        }
        let raw: RawRing = serde_json::from_str(json).map_err(|_| JwkError::Malformed)?;
        let mut keys = Vec::with_capacity(raw.keys.len());
        for key in &raw.keys {
            let seed = base64url::decode_array(&key.seed).ok_or(JwkError::BadCoordinate)?;
            keys.push(SigningKey::from_seed(&key.kid, &seed));
        }
        if keys.is_empty() {
            return Err(JwkError::BadCount);
        }
        let signer = keys.remove(0);
        Self::new(signer, &keys)
    }

    /// The key that signs.
    #[must_use]
    pub fn signer(&self) -> &SigningKey {
        &self.signer
    }

    /// The public halves, for verification.
    #[must_use]
    pub fn key_set(&self) -> &KeySet {
        &self.set
    }

    /// The JWK set document served at `/.well-known/jwks.json`.
    #[must_use]
    pub fn jwks_json(&self) -> String {
        self.set.to_json()
    }
}

/// A symmetric secret of 32 bytes that does not print.
#[derive(Clone)]
pub struct Secret([u8; 32]);

impl Secret {
    /// A secret from raw bytes.
    #[must_use]
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// A secret from its base64url text; `None` unless it is exactly 32 bytes, canonical.
    #[must_use]
    pub fn from_base64url(text: &str) -> Option<Self> {
        base64url::decode_array(text).map(Self)
    }

    /// The bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// A key for one purpose: HMAC-SHA256 under this secret over `label`. Distinct labels give keys that know
    /// nothing of each other.
    #[must_use]
    pub fn derive(&self, label: &str) -> Self {
        let mut mac = hmac(&self.0);
        mac.update(label.as_bytes());
        Self(mac.finalize().into_bytes().into())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(…)")
    }
}

/// HMAC-SHA256 under a 32-byte key.
pub(crate) fn hmac(key: &[u8; 32]) -> Hmac<Sha256> {
    // A block-sized key needs no fallible constructor: HMAC pads shorter keys with zeros (RFC 2104 §2).
    let mut block = [0; 64];
    for (to, from) in block.iter_mut().zip(key) {
        *to = *from;
    }
    Hmac::new(&block.into())
}

/// Compares a presented secret with the configured one in time that depends on neither's content: both are
/// hashed first, so that lengths do not show either. An empty configured secret is nobody's: no request is let in
/// because a deployment forgot to set one.
#[must_use]
pub fn same_secret(presented: &str, configured: &str) -> bool {
    let is_set = !configured.is_empty();
    let presented: [u8; 32] = Sha256::digest(presented).into();
    let configured: [u8; 32] = Sha256::digest(configured).into();
    is_set & bool::from(presented.ct_eq(&configured))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jwks::usable_key;

    /// RFC 8037 A.4 (signing) and A.5 (verifying), over the raw signing input.
    #[test]
    fn signs_and_verifies_as_rfc_8037_does() {
        let input = b"eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc";
        let signature =
            "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";
        let seed = base64url::decode_array("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A").unwrap();
        let signed = SigningKey::from_seed("k1", &seed).sign(input);
        assert_eq!(base64url::encode(&signed), signature);
        let x = base64url::decode_array("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo").unwrap();
        let signature = ed25519_dalek::Signature::from_bytes(&base64url::decode_array(signature).unwrap());
        usable_key(&x).unwrap().verify_strict(input, &signature).unwrap();
    }

    #[test]
    fn an_empty_secret_is_nobodys() {
        assert!(same_secret("s", "s"));
        for (presented, configured) in [("", ""), ("x", ""), ("", "s"), ("S", "s"), ("s ", "s")] {
            assert!(!same_secret(presented, configured), "{presented:?} {configured:?}");
        }
    }

    /// Our constructor pads by hand what the library pads itself.
    #[test]
    fn a_padded_key_is_the_same_key() {
        let key = [0x0b; 32];
        let mut theirs = <Hmac<Sha256> as KeyInit>::new_from_slice(&key).unwrap();
        theirs.update(b"Hi There");
        let mut ours = hmac(&key);
        ours.update(b"Hi There");
        assert_eq!(ours.finalize().into_bytes(), theirs.finalize().into_bytes());
    }
}
