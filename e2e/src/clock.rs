//! The one place of this crate that reads the wall clock.

use chrono::{DateTime, Utc};

/// The present instant. Elapsed times use `tokio::time::Instant` instead, which never steps back.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "the host reads the clock in one place")]
pub fn now() -> DateTime<Utc> {
    Utc::now()
}
