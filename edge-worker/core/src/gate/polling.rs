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
    /// Fans let in during the last minute.
    pub admitted_last_minute: u64,
}

/// The outlook of a fan at `position` (unknown before the draw).
pub fn outlook(scene: &Scene, position: Option<u64>, now: Instant) -> Outlook {
    let ahead = position.map(|position| position.saturating_sub(scene.serving));
    let letting_in = matches!(scene.phase, Phase::Open | Phase::ReturnsOnly);
    let may_ask = letting_in && position.is_some_and(|position| position < scene.serving);
    let eta = match ahead {
        Some(ahead) if letting_in && !may_ask => estimate(ahead, scene.admitted_last_minute),
        _ => None,
    };
    let expected_ms = match scene.phase {
        Phase::Scheduled | Phase::Registration => scene.onsale_at.since(now),
        Phase::Open | Phase::ReturnsOnly => eta.map_or(0, |eta| eta.p50_seconds.saturating_mul(1_000)),
        Phase::Drawing => 0,
        Phase::Paused => CEILING_MS,
        Phase::SoldOut | Phase::Closed => CEILING_MS.saturating_mul(LOOKS),
    };
    let poll_after_ms = if may_ask { FLOOR_MS } else { (expected_ms / LOOKS).clamp(FLOOR_MS, CEILING_MS) };
    Outlook { ahead, eta, may_ask, poll_after_ms }
}

/// From the pace of the last minute; nothing if nobody was let in.
fn estimate(ahead: u64, admitted_last_minute: u64) -> Option<Eta> {
    let seconds = ahead.saturating_add(1).saturating_mul(60).checked_div(admitted_last_minute)?;
    // The pace of the next minutes may be half of the last one's; a minute is what the measurement itself lags.
    Some(Eta { p50_seconds: seconds, p90_seconds: seconds.saturating_mul(2).saturating_add(60) })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn scene(phase: Phase, serving: u64) -> Scene {
        Scene { phase, onsale_at: Instant(600_000), serving, admitted_last_minute: 120 }
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
        let idle = Scene { admitted_last_minute: 0, ..scene(Phase::Open, 0) };
        assert_eq!(outlook(&idle, Some(5), Instant(0)).eta, None);
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
