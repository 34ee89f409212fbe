//! A moment, as milliseconds since the epoch inside and RFC 3339 UTC outside.

use std::fmt;

use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A moment in milliseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(pub u64);

/// 9999-12-31T23:59:59.999Z: the last moment RFC 3339 can name.
const LAST_MS: u64 = 253_402_300_799_999;

impl Instant {
    /// Parses an RFC 3339 date-time with any offset.
    pub fn parse(text: &str) -> Option<Self> {
        let parsed = DateTime::parse_from_rfc3339(text).ok()?;
        u64::try_from(parsed.timestamp_millis()).ok().filter(|ms| *ms <= LAST_MS).map(Self)
    }

    /// Whole seconds since the epoch, rounded down: the unit of token claims.
    pub fn seconds(self) -> u64 {
        self.0 / 1000
    }

    /// The moment `ms` milliseconds later.
    pub fn plus_ms(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Milliseconds since `earlier`, zero if it lies in the future.
    pub fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = i64::try_from(self.0.min(LAST_MS)).unwrap_or(i64::MAX);
        let moment = DateTime::<Utc>::from_timestamp_millis(ms).unwrap_or_default();
        f.write_str(&moment.to_rfc3339_opts(SecondsFormat::Millis, true))
    }
}

impl Serialize for Instant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Instant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| de::Error::custom("not an RFC 3339 date-time"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_any_offset_and_writes_utc() {
        let moment = Instant::parse("2027-06-05T21:30:00+02:00").unwrap();
        assert_eq!(moment.to_string(), "2027-06-05T19:30:00.000Z");
        assert_eq!(Instant::parse("1970-01-01T00:00:01.5Z"), Some(Instant(1500)));
    }

    #[test]
    fn refuses_what_is_not_a_moment() {
        for text in ["", "2027-06-05", "2027-06-05T19:30:00", "1969-12-31T23:59:59Z", "yesterday"] {
            assert_eq!(Instant::parse(text), None, "{text}");
        }
    }
}
