//! `Stripe-Signature`: HMAC-SHA256 over the time and the body exactly as received.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// A webhook older or newer than this is refused: long enough for slow networks, short enough against replay.
pub const TOLERANCE_SECS: u64 = 300;
/// Signatures looked at in one header; a provider sends one per secret in rotation.
const MAX_SIGNATURES: usize = 8;

/// Why a webhook is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// The header is absent or not of the expected form.
    #[error("the signature header is malformed")]
    Malformed,
    /// No signature matches any of our secrets.
    #[error("no signature matches")]
    Forged,
    /// Genuine, but too old or too new.
    #[error("the timestamp is outside the tolerance")]
    OutsideTolerance,
}

/// Verifies `header` over the raw `body` against any of `secrets`.
///
/// # Errors
/// See [`SignatureError`].
pub fn verify(header: &str, body: &[u8], secrets: &[&str], now: u64) -> Result<(), SignatureError> {
    let mut timestamp = None;
    let mut signatures = Vec::new();
    for item in header.split(',') {
        match item.trim().split_once('=') {
            Some(("t", value)) => {
                timestamp = Some(value.parse::<u64>().map_err(|_| SignatureError::Malformed)?)
            }
            Some(("v1", value)) if signatures.len() < MAX_SIGNATURES => {
                signatures.push(hex::decode(value).map_err(|_| SignatureError::Malformed)?);
            }
            // Other schemes may be added by the provider and say nothing to us.
            _ => {}
        }
    }
    let timestamp = timestamp.ok_or(SignatureError::Malformed)?;
    if signatures.is_empty() {
        return Err(SignatureError::Malformed);
    }
    let genuine = secrets.iter().filter(|secret| !secret.is_empty()).any(|secret| {
        // `verify_slice` compares in constant time.
        signatures.iter().any(|signature| {
            mac(secret, timestamp, body).is_some_and(|mac| mac.verify_slice(signature).is_ok())
        })
    });
    if !genuine {
        return Err(SignatureError::Forged);
    }
    if now.abs_diff(timestamp) > TOLERANCE_SECS {
        return Err(SignatureError::OutsideTolerance);
    }
    Ok(())
}

fn mac(secret: &str, timestamp: u64, body: &[u8]) -> Option<Hmac<Sha256>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).ok()?;
    mac.update(timestamp.to_string().as_bytes());
    mac.update(b".");
    mac.update(body);
    Some(mac)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sign(secret: &str, timestamp: u64, body: &[u8]) -> String {
        hex::encode(mac(secret, timestamp, body).unwrap().finalize().into_bytes())
    }

    #[test]
    fn the_signature_is_pinned() {
        let expected = "7500d5d4be4b3ef07af1fe56f7d522d135cdaa7530de557e67cc1049c52de094";
        assert_eq!(sign("whsec_test", 1, b"{}"), expected);
    }

    #[test]
    fn any_signature_by_any_secret_will_do() {
        let header = format!("t=1000,v1={},v1={},v0=zz", "00".repeat(32), sign("old", 1000, b"{}"));
        assert_eq!(verify(&header, b"{}", &["new", "old"], 1000), Ok(()));
        assert_eq!(verify(&header, b"{}", &["new"], 1000), Err(SignatureError::Forged));
        assert_eq!(
            verify(&header, b"{ }", &["old"], 1000),
            Err(SignatureError::Forged),
            "raw bytes are what is signed"
        );
    }

    #[test]
    fn three_hundred_seconds_and_not_one_more() {
        let header = format!("t=1000,v1={}", sign("s", 1000, b"{}"));
        for now in [700, 1000, 1300] {
            assert_eq!(verify(&header, b"{}", &["s"], now), Ok(()));
        }
        for now in [699, 1301] {
            assert_eq!(verify(&header, b"{}", &["s"], now), Err(SignatureError::OutsideTolerance));
        }
    }

    #[test]
    fn malformed_headers_and_empty_secrets_are_refused() {
        for header in ["", "t=1", "v1=00", "t=x,v1=00", "t=1,v1=zz", "t=1,v0=00"] {
            assert_eq!(verify(header, b"", &["s"], 1), Err(SignatureError::Malformed), "{header}");
        }
        let header = format!("t=1,v1={}", sign("", 1, b"{}"));
        assert_eq!(verify(&header, b"{}", &[""], 1), Err(SignatureError::Forged));
    }
}
