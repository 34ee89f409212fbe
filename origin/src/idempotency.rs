//! `Idempotency-Key`: required where it is an argument of a handler, with a fingerprint of what was asked.

use axum::extract::FromRequestParts;
use http::request::Parts;
use sha2::{Digest, Sha256};

use crate::{
    AppState,
    admitted::single,
    problem::{Kind, Problem},
};

/// Longest key taken, as at payment providers.
const MAX_CHARS: usize = 255;

/// The client's key of a request: a structured-field string, or the same without quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// The text, without quotes.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Hash of what a request asked for: the same key for anything else is refused. Parts are length-prefixed, so that no
/// two lists of parts run together.
pub fn fingerprint<'p>(parts: impl IntoIterator<Item = &'p str>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        hash.update(part.as_bytes());
    }
    hex::encode(hash.finalize())
}

impl FromRequestParts<AppState> for IdempotencyKey {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &AppState) -> Result<Self, Problem> {
        if !parts.headers.contains_key("idempotency-key") {
            return Err(Kind::IdempotencyKeyMissing.into());
        }
        let malformed =
            || Problem::new(Kind::Malformed).detail("Idempotency-Key must be 1 to 255 printable characters");
        single(&parts.headers, "idempotency-key").and_then(parse).map(Self).ok_or_else(malformed)
    }
}

fn parse(text: &str) -> Option<String> {
    let text = text.trim();
    let key = match text.strip_prefix('"') {
        Some(rest) => rest.strip_suffix('"')?,
        None => text,
    };
    let fits = !key.is_empty() && key.len() <= MAX_CHARS;
    (fits && key.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\'))
        .then(|| key.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{fingerprint, parse};

    #[test]
    fn quoted_or_not_is_the_same_key() {
        assert_eq!(parse("\"a-1\""), Some("a-1".into()));
        assert_eq!(parse(" a-1 "), Some("a-1".into()));
    }

    #[test]
    fn what_is_no_key_is_refused() {
        for text in ["", "\"\"", "\"", "\"a", "a b", "a\"b", &"x".repeat(256)] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn fingerprints_tell_parts_apart() {
        assert_eq!(fingerprint(["a", "b"]), fingerprint(["a", "b"]));
        for other in [["ab", ""], ["a", "c"], ["b", "a"]] {
            assert_ne!(fingerprint(["a", "b"]), fingerprint(other));
        }
    }
}
