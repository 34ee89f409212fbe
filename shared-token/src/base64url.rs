//! Canonical base64url: no padding, no alternative alphabet, zero trailing bits.
//!
//! Canonical matters because a token's bytes are used as its identity (caches, `ath`): two spellings of one
//! signature would be two tokens.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// Encodes `bytes` without padding.
pub(crate) fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Appends the encoding of `bytes` to `out`.
pub(crate) fn encode_into(bytes: &[u8], out: &mut String) {
    URL_SAFE_NO_PAD.encode_string(bytes, out);
}

/// Decodes `text` into the front of `buffer`; `None` if it is not canonical or does not fit.
pub(crate) fn decode<'b>(text: &str, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
    let length = URL_SAFE_NO_PAD.decode_slice(text, buffer).ok()?;
    buffer.get(..length)
}

/// Decodes `text` that must stand for exactly `N` bytes.
pub(crate) fn decode_array<const N: usize>(text: &str) -> Option<[u8; N]> {
    // `decode_slice` fails when the bytes do not fit, so only a shorter text is left to refuse.
    let mut bytes = [0; N];
    (URL_SAFE_NO_PAD.decode_slice(text, &mut bytes).ok()? == N).then_some(bytes)
}
