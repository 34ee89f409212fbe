//! How fast fans are really let in: measured over the last minute, unknown until there is enough to measure.

use std::collections::VecDeque;

use super::TICK_MS;
use crate::wire::Instant;

/// What the measurement looks back on: long enough to be smooth, short enough to follow a sale.
const WINDOW_MS: u64 = 60_000;
/// A shorter look back says nothing: a few ticks, so that one crowded or empty second is not taken for the pace.
const MEASURABLE_MS: u64 = 5_000;

/// Grants of the last minute.
#[derive(Clone, Debug, Default)]
pub(super) struct Pace {
    /// Since when there is something to measure: a tick before the first grant, whose second it was.
    since: Option<Instant>,
    grants: VecDeque<(Instant, u64)>,
}

impl Pace {
    /// Notes the grants of one tick.
    pub(super) fn note(&mut self, granted: u64, now: Instant) {
        if granted > 0 {
            self.since.get_or_insert(Instant(now.0.saturating_sub(TICK_MS)));
            self.grants.push_back((now, granted));
        }
        while self.grants.front().is_some_and(|(at, _)| now.since(*at) >= WINDOW_MS) {
            self.grants.pop_front();
        }
    }

    /// Starts anew: what was measured before a stop says nothing of what follows it.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Fans let in a minute, never above `most`. Unknown until it was measured, and while nobody is let in.
    pub(super) fn per_minute(&self, most: u64, now: Instant) -> Option<u64> {
        let measured_ms = now.since(self.since?).min(WINDOW_MS);
        let grants = self.grants.iter().filter(|(at, _)| now.since(*at) < WINDOW_MS);
        let granted: u64 = grants.map(|(_, granted)| granted).sum();
        if measured_ms < MEASURABLE_MS || granted == 0 {
            return None;
        }
        let pace = granted.saturating_mul(60_000).div_ceil(measured_ms);
        Some(pace.min(most)).filter(|pace| *pace > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `per_second` fans from second 1 on.
    fn steady(per_second: u64, seconds: u64) -> Pace {
        let mut pace = Pace::default();
        for second in 1..=seconds {
            pace.note(per_second, Instant(second * 1_000));
        }
        pace
    }

    #[test]
    fn unknown_until_measured_then_right_from_the_start() {
        assert_eq!(Pace::default().per_minute(6_000, Instant(60_000)), None);
        for second in 1..=90 {
            let measured = steady(10, second).per_minute(6_000, Instant(second * 1_000));
            assert_eq!(measured, (second >= 5).then_some(600), "second {second}");
        }
    }

    #[test]
    fn never_above_the_configured_rate_and_unknown_when_nobody_comes_in() {
        let pace = steady(200, 10);
        assert_eq!(pace.per_minute(4_000, Instant(10_000)), Some(4_000));
        assert_eq!(pace.per_minute(0, Instant(10_000)), None);
        assert_eq!(
            pace.per_minute(4_000, Instant(75_000)),
            None,
            "the last one came in more than a minute ago"
        );
    }

    #[test]
    fn a_trickle_is_measured_over_the_whole_minute() {
        let mut pace = steady(10, 60);
        pace.note(0, Instant(150_000));
        assert_eq!(pace.per_minute(6_000, Instant(150_000)), None);
        pace.note(1, Instant(160_000));
        assert_eq!(pace.per_minute(6_000, Instant(160_000)), Some(1));
    }

    #[test]
    fn a_stop_starts_the_measurement_anew() {
        let mut pace = steady(10, 60);
        pace.forget();
        pace.note(10, Instant(300_000));
        assert_eq!(pace.per_minute(6_000, Instant(300_500)), None);
        pace.note(50, Instant(304_000));
        assert_eq!(pace.per_minute(6_000, Instant(304_000)), Some(720));
    }
}
