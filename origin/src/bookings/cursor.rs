//! The place in a list of bookings: creation time in microseconds and the id, since several bookings may be of one
//! moment. Opaque to clients.

use std::{fmt, str::FromStr};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use chrono::{DateTime, Utc};

use crate::ids::BookingId;

/// Longest cursor read: 20 digits, a dot and an id of 64 in base 64 are 114 characters.
const MAX_LEN: usize = 128;

/// Bookings after this one follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// When the last booking of the page was made.
    pub created_at: DateTime<Utc>,
    /// Which it was.
    pub booking: BookingId,
}

/// Not a cursor of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a cursor")]
pub struct InvalidCursor;

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = format!("{}.{}", self.created_at.timestamp_micros(), self.booking);
        f.write_str(&URL_SAFE_NO_PAD.encode(plain))
    }
}

impl FromStr for Cursor {
    type Err = InvalidCursor;

    fn from_str(text: &str) -> Result<Self, InvalidCursor> {
        if text.len() > MAX_LEN {
            return Err(InvalidCursor);
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| InvalidCursor)?;
        let plain = std::str::from_utf8(&bytes).map_err(|_| InvalidCursor)?;
        let (micros, booking) = plain.split_once('.').ok_or(InvalidCursor)?;
        let micros = micros.parse().map_err(|_| InvalidCursor)?;
        Ok(Self {
            created_at: DateTime::from_timestamp_micros(micros).ok_or(InvalidCursor)?,
            booking: booking.parse().map_err(|_| InvalidCursor)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_microseconds() {
        let cursor = Cursor {
            created_at: DateTime::from_timestamp_micros(1_800_000_000_123_456).unwrap(),
            booking: "bk_1".parse().unwrap(),
        };
        assert_eq!(cursor.to_string(), "MTgwMDAwMDAwMDEyMzQ1Ni5ia18x");
        assert_eq!(cursor.to_string().parse(), Ok(cursor));
    }

    #[test]
    fn what_is_not_ours_is_refused() {
        for text in ["", "!", "MTgw", "eC5ia18x", &"A".repeat(200)] {
            assert_eq!(text.parse::<Cursor>(), Err(InvalidCursor), "{text}");
        }
    }
}
