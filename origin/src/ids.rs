//! Opaque identifiers with a prefix that names their kind, so that a mixed-up id is seen at the border.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
pub use shared_token::ids::{EventId, Subject};

/// Longest identifier accepted from outside. Ours have 31 characters; the rest is room for imported ones.
pub const ID_MAX_LEN: usize = 64;

/// 128 random bits cannot be guessed and do not collide; in base 32 they take 26 characters.
const RANDOM_BYTES: usize = 16;
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The text is not an identifier of the expected kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a valid identifier")]
pub struct InvalidId;

fn is_id(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= ID_MAX_LEN
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// Random text of 26 characters from Crockford's alphabet.
///
/// The operating system's generator is asked directly; if it fails there is no safe identifier to make, and the
/// error goes to the caller.
pub fn random_text() -> Result<String, getrandom::Error> {
    let mut bytes = [0u8; RANDOM_BYTES];
    getrandom::fill(&mut bytes)?;
    let mut value = u128::from_be_bytes(bytes);
    let mut text = [0u8; 26];
    for slot in text.iter_mut().rev() {
        *slot = ALPHABET[(value & 31) as usize];
        value >>= 5;
    }
    Ok(text.iter().map(|b| char::from(*b)).collect())
}

macro_rules! opaque_id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// What every identifier of this kind begins with.
            pub const PREFIX: &'static str = $prefix;

            /// A fresh random identifier.
            pub fn fresh() -> Result<Self, getrandom::Error> {
                Ok(Self(format!("{}{}", $prefix, random_text()?)))
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;
            fn from_str(text: &str) -> Result<Self, InvalidId> {
                if is_id(text) && text.starts_with($prefix) { Ok(Self(text.to_owned())) } else { Err(InvalidId) }
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidId;
            fn try_from(text: String) -> Result<Self, InvalidId> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

opaque_id!(
    /// A venue: one imported seating plan.
    VenueId,
    "ven_"
);
opaque_id!(
    /// A hold of seats by one shopper.
    HoldId,
    "hold_"
);
opaque_id!(
    /// An order: one attempt to buy what a hold keeps.
    OrderId,
    "ord_"
);
opaque_id!(
    /// A booking: seats sold.
    BookingId,
    "bk_"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fresh_ids_parse_and_differ() {
        let (a, b) = (HoldId::fresh().unwrap(), HoldId::fresh().unwrap());
        assert_ne!(a, b);
        assert_eq!(a.as_str().parse::<HoldId>().unwrap(), a);
        assert_eq!(a.as_str().len(), 31);
    }

    #[test]
    fn foreign_or_hostile_text_is_refused() {
        for text in ["", "ord_x", "hold_{x}", "hold_a b", &format!("hold_{}", "a".repeat(60))] {
            assert_eq!(text.parse::<HoldId>(), Err(InvalidId), "{text}");
        }
    }
}
