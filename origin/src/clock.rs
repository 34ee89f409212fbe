//! The one place of this binary that reads a clock. Rules take `now` as an argument.

use std::time::Instant;

use chrono::{DateTime, Utc};

/// The host's clocks. Whether a hold has expired is never asked here: the store that keeps the hold decides.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock;

impl Clock {
    /// Wall clock, UTC.
    #[expect(clippy::disallowed_methods, reason = "the origin's only reading of the wall clock")]
    pub fn now(self) -> DateTime<Utc> {
        Utc::now()
    }

    /// Wall clock as whole Unix seconds, the unit of tokens.
    pub fn unix(self) -> u64 {
        u64::try_from(self.now().timestamp()).unwrap_or(0)
    }

    /// Monotonic clock, for ages and durations only.
    #[expect(clippy::disallowed_methods, reason = "the origin's only reading of the monotonic clock")]
    pub fn instant(self) -> Instant {
        Instant::now()
    }
}
