//! What a fan is told about waiting: how often to look, how long it may take, whether to ask.

use serde::Serialize;

use crate::wire::{Instant, Phase};

/// Shortest interval: what an invited fan keeps while asking.
const FLOOR_MS: u64 = 2_000;
/// Longest interval: a fan whose turn comes earlier than thought loses no more than this.
const CEILING_MS: u64 = 30_000;
/// Looks a fan takes until the expected moment.
const LOOKS: u64 = 8;

/// How long a fan may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Eta {
    /// As likely shorter as longer.
    pub p50_seconds: u64,
    /// Nine in ten wait no longer.
    pub p90_seconds: u64,
}

/// What a fan is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outlook {
    /// Fans in front who have not been invited.
    pub ahead: Option<u64>,
    /// Unknown stays unknown.
    pub eta: Option<Eta>,
    /// Whether asking for admission makes sense now.
    pub may_ask: bool,
    /// When to look again.
    pub poll_after_ms: u64,
}

/// What the published documents say, as far as it matters to one fan.
#[derive(Clone, Copy, Debug)]
pub struct Scene {
    /// State of the room.
    pub phase: Phase,
    /// The draw.
    pub onsale_at: Instant,
    /// Positions below this may ask.
    pub serving: u64,
    /// Fans really let in a minute, if that was measured.
    pub admitted_per_minute: Option<u64>,
    /// Fans let in a minute at most.
    pub rate_limit_per_minute: u64,
}

/// The outlook of a fan at `position` (unknown before the draw).
pub fn outlook(scene: &Scene, position: Option<u64>, now: Instant) -> Outlook {
    let ahead = position.map(|position| position.saturating_sub(scene.serving));
    let letting_in = matches!(scene.phase, Phase::Open | Phase::ReturnsOnly);
    let may_ask = letting_in && position.is_some_and(|position| position < scene.serving);
    let eta = match ahead {
        Some(ahead) if letting_in && !may_ask => {
            scene.admitted_per_minute.and_then(|pace| estimate(ahead, pace))
        }
        _ => None,
    };
    let expected_ms = match scene.phase {
        Phase::Scheduled | Phase::Registration => scene.onsale_at.since(now),
        Phase::Open | Phase::ReturnsOnly => match eta {
            Some(eta) => eta.p50_seconds.saturating_mul(1_000),
            // Nobody's turn comes before the configured rate allows it.
            None => ahead.and_then(|ahead| time_ms(ahead, scene.rate_limit_per_minute)).unwrap_or(0),
        },
        Phase::Drawing => 0,
        Phase::Paused => CEILING_MS,
        Phase::SoldOut | Phase::Closed => CEILING_MS.saturating_mul(LOOKS),
    };
    let poll_after_ms = if may_ask { FLOOR_MS } else { (expected_ms / LOOKS).clamp(FLOOR_MS, CEILING_MS) };
    Outlook { ahead, eta, may_ask, poll_after_ms }
}

/// From the measured pace; nothing if nobody is let in.
fn estimate(ahead: u64, per_minute: u64) -> Option<Eta> {
    let seconds = time_ms(ahead.saturating_add(1), per_minute)? / 1_000;
    // The pace of the next minutes may be half of the last one's; a minute is what the measurement itself lags.
    Some(Eta { p50_seconds: seconds, p90_seconds: seconds.saturating_mul(2).saturating_add(60) })
}

/// What so many fans take at this pace.
fn time_ms(fans: u64, per_minute: u64) -> Option<u64> {
    fans.saturating_mul(60_000).checked_div(per_minute)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn scene(phase: Phase, serving: u64) -> Scene {
        Scene {
            phase,
            onsale_at: Instant(600_000),
            serving,
            admitted_per_minute: Some(120),
            rate_limit_per_minute: 600,
        }
    }

    #[test]
    fn before_the_draw_nothing_is_known_and_polling_is_slow() {
        let far = outlook(&scene(Phase::Registration, 0), None, Instant(0));
        assert_eq!((far.ahead, far.eta, far.may_ask, far.poll_after_ms), (None, None, false, CEILING_MS));
        let near = outlook(&scene(Phase::Registration, 0), None, Instant(599_000));
        assert_eq!(near.poll_after_ms, FLOOR_MS);
    }

    #[test]
    fn an_invited_fan_asks_and_the_others_wait() {
        let open = scene(Phase::Open, 100);
        assert!(outlook(&open, Some(99), Instant(0)).may_ask);
        let next = outlook(&open, Some(100), Instant(0));
        assert_eq!((next.ahead, next.may_ask), (Some(0), false));
        let later = outlook(&open, Some(1_300), Instant(0));
        assert_eq!(later.eta, Some(Eta { p50_seconds: 600, p90_seconds: 1_260 }));
        assert_eq!(later.poll_after_ms, CEILING_MS);
    }

    #[test]
    fn nobody_asks_while_paused_and_unknown_stays_unknown() {
        let paused = outlook(&scene(Phase::Paused, 100), Some(5), Instant(0));
        assert_eq!((paused.may_ask, paused.eta), (false, None));
        let unmeasured = Scene { admitted_per_minute: None, ..scene(Phase::Open, 0) };
        assert_eq!(outlook(&unmeasured, Some(5), Instant(0)).eta, None);
    }

    #[test]
    fn before_the_pace_is_measured_polling_goes_by_the_rate_nobody_outruns() {
        let unmeasured = Scene { admitted_per_minute: None, ..scene(Phase::Open, 0) };
        let polls = |ahead| outlook(&unmeasured, Some(ahead), Instant(0)).poll_after_ms;
        assert_eq!((polls(10), polls(800), polls(100_000)), (FLOOR_MS, 10_000, CEILING_MS));
        let stopped = Scene { rate_limit_per_minute: 0, ..unmeasured };
        assert_eq!(outlook(&stopped, Some(800), Instant(0)).poll_after_ms, FLOOR_MS);
    }

    proptest! {
        #[test]
        fn ahead_never_goes_up(position in 0_u64..10_000, serving in 0_u64..10_000, more in 0_u64..10_000) {
            let before = outlook(&scene(Phase::Open, serving), Some(position), Instant(0));
            let after = outlook(&scene(Phase::Open, serving + more), Some(position), Instant(0));
            prop_assert!(after.ahead <= before.ahead);
            prop_assert!(after.may_ask >= before.may_ask);
            for look in [before, after] {
                prop_assert!((FLOOR_MS..=CEILING_MS).contains(&look.poll_after_ms));
            }
        }
    }
}
