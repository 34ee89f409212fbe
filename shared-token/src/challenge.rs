//! Stateless challenges: a price that only the asker can pay, remembered by nobody.
//!
//! A sealed challenge is `version ‖ policy_version ‖ puzzles ‖ difficulty ‖ salt ‖ expires_at ‖ MAC` in base64url.
//! Event and key are under the MAC but not inside: the opener names them, so a challenge of another event or
//! key is as forged as a made-up one. Every field under the MAC is preceded by its length, so no two
//! challenges share an input. Integers are big-endian.

use crate::base64url;
use crate::ids::EventId;
use crate::keys;
use crate::pow::SALT_BYTES;
use crate::thumbprint::Thumbprint;
use hmac::Mac;
use subtle::ConstantTimeEq;

const VERSION: u8 = 1;
/// Separates this MAC from every other use of the same key.
const LABEL: &[u8] = b"fairgate-challenge-v1";
/// version 1 + policy version 4 + puzzles 1 + difficulty 8 + salt 16 + expiry 8.
const BODY_BYTES: usize = 38;
const MAC_BYTES: usize = 32;

/// What a fan has to solve, and until when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Challenge {
    /// The event it opens.
    pub event: EventId,
    /// The key it is bound to.
    pub jkt: Thumbprint,
    /// The policy that set the price.
    pub policy_version: u32,
    /// Number of puzzles, each to be solved.
    pub puzzles: u8,
    /// Expected number of hashes a puzzle.
    pub difficulty: u64,
    /// 16 random bytes, never used twice.
    pub salt: [u8; SALT_BYTES],
    /// Unix seconds.
    pub expires_at: u64,
}

/// Why a challenge was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ChallengeError {
    /// Not a sealed challenge at all.
    #[error("the challenge is malformed")]
    Malformed,
    /// Not sealed by us, or for another event or key.
    #[error("the challenge was not issued here for this event and key")]
    Forged,
    /// Too late.
    #[error("the challenge has expired")]
    Expired,
}

/// Seals a challenge under `key`.
#[must_use]
pub fn seal(challenge: &Challenge, key: &[u8; 32]) -> String {
    let mut body = [0; BODY_BYTES];
    body[0] = VERSION;
    body[1..5].copy_from_slice(&challenge.policy_version.to_be_bytes());
    body[5] = challenge.puzzles;
    body[6..14].copy_from_slice(&challenge.difficulty.to_be_bytes());
    body[14..30].copy_from_slice(&challenge.salt);
    body[30..38].copy_from_slice(&challenge.expires_at.to_be_bytes());
    let mut sealed = [0; BODY_BYTES + MAC_BYTES];
    sealed[..BODY_BYTES].copy_from_slice(&body);
    sealed[BODY_BYTES..].copy_from_slice(&mac(&body, key, &challenge.event, &challenge.jkt));
    base64url::encode(&sealed)
}

/// Opens a challenge that must have been sealed under `key` for `event` and `jkt`.
///
/// # Errors
/// [`ChallengeError`]; expiry is only looked at once the MAC holds.
pub fn open(
    sealed: &str,
    key: &[u8; 32],
    event: &EventId,
    jkt: &Thumbprint,
    now: u64,
) -> Result<Challenge, ChallengeError> {
    let sealed: [u8; BODY_BYTES + MAC_BYTES] =
        base64url::decode_array(sealed).ok_or(ChallengeError::Malformed)?;
    let (body, tag) = sealed.split_first_chunk::<BODY_BYTES>().ok_or(ChallengeError::Malformed)?;
    if !bool::from(mac(body, key, event, jkt).ct_eq(tag)) {
        return Err(ChallengeError::Forged);
    }
    let mut reader = Reader(body);
    let [version] = reader.take()?;
    if version != VERSION {
        return Err(ChallengeError::Malformed);
    }
    let policy_version = u32::from_be_bytes(reader.take()?);
    let [puzzles] = reader.take()?;
    let difficulty = u64::from_be_bytes(reader.take()?);
    let salt = reader.take()?;
    let expires_at = u64::from_be_bytes(reader.take()?);
    if expires_at <= now {
        return Err(ChallengeError::Expired);
    }
    Ok(Challenge { event: event.clone(), jkt: *jkt, policy_version, puzzles, difficulty, salt, expires_at })
}

/// Takes fields of fixed size off the front.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], ChallengeError> {
        let (field, rest) = self.0.split_first_chunk().ok_or(ChallengeError::Malformed)?;
        self.0 = rest;
        Ok(*field)
    }
}

fn mac(body: &[u8; BODY_BYTES], key: &[u8; 32], event: &EventId, jkt: &Thumbprint) -> [u8; MAC_BYTES] {
    let mut mac = keys::hmac(key);
    for field in [LABEL, event.as_str().as_bytes(), jkt.as_bytes(), body] {
        // Four bytes of length: every field here is below 100 bytes.
        mac.update(&u32::try_from(field.len()).unwrap_or(u32::MAX).to_be_bytes());
        mac.update(field);
    }
    mac.finalize().into_bytes().into()
}
