//! A forger who holds the signing key.
#![expect(clippy::expect_used, reason = "fixed inputs that are valid by construction")]

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::Signer;

/// A compact JWS with any header and payload, properly signed with `seed`.
pub(crate) fn forge(header: &str, payload: &str, seed: &[u8; 32]) -> String {
    let signed = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(payload));
    let signature = ed25519_dalek::SigningKey::from_bytes(seed).sign(signed.as_bytes());
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature.to_bytes()))
}

/// The JSON of a token's header (0) or payload (1).
pub(crate) fn segment(token: &str, index: usize) -> String {
    let text = token.split('.').nth(index).expect("a segment");
    String::from_utf8(URL_SAFE_NO_PAD.decode(text).expect("base64url")).expect("UTF-8")
}
