//! Inviting: how far `serving` runs.
//!
//! Fans below `serving` may ask. Enough are invited that those who answer fill what can be granted in the next
//! seconds: no more, since an invitation without a place is a disappointment, and no fewer, since an absent fan must
//! cost nobody anything.

use std::collections::{BTreeSet, VecDeque};

use super::INVITATION_LASTS_MS;
use crate::wire::Instant;

/// Invitations run ahead of the grants by at most this factor.
const MOST_AHEAD: f64 = 2.0;
/// Weight of the newest measurement of the show rate.
const SMOOTHING: f64 = 0.3;
/// Below this many invitations a measurement says nothing.
const MEASURABLE: u64 = 8;
/// How far ahead grants are planned: an invited fan reads the document within about two seconds and asks, the lane
/// reports within one, the grant follows.
pub(super) const PLANNED_MS: u64 = 4_000;

/// Fans invited at the same moment.
#[derive(Clone, Debug)]
struct Tranche {
    at: Instant,
    from: u64,
    to: u64,
    answered: BTreeSet<u64>,
}

impl Tranche {
    fn size(&self) -> u64 {
        self.to - self.from
    }
}

/// The open invitations and the measured show rate.
#[derive(Clone, Debug)]
pub(super) struct Invitations {
    tranches: VecDeque<Tranche>,
    serving: u64,
    show_rate: f64,
}

/// What bounds the invitations of this moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Demand {
    /// Grants possible within [`PLANNED_MS`].
    pub(super) wanted: u64,
    /// Fans who ask and were not granted.
    pub(super) asking: u64,
    /// Positions given.
    pub(super) places: u64,
    /// Whether to run ahead by the show rate.
    pub(super) compensate: bool,
}

impl Invitations {
    pub(super) fn new(serving: u64) -> Self {
        Self { tranches: VecDeque::new(), serving, show_rate: 1.0 }
    }

    /// Share of invited fans who answer, smoothed.
    pub(super) fn show_rate(&self) -> f64 {
        self.show_rate
    }

    /// Notes that this position asked. A second ask of the same position counts nothing.
    pub(super) fn answered(&mut self, position: u64) {
        if let Some(tranche) = self.tranches.iter_mut().find(|t| (t.from..t.to).contains(&position)) {
            tranche.answered.insert(position);
        }
    }

    /// Moves `serving` as far as the demand asks for; it never goes back.
    pub(super) fn advance(&mut self, demand: Demand, now: Instant) -> u64 {
        self.expire(now);
        let open: u64 = self.tranches.iter().map(|t| t.size().saturating_sub(t.answered.len() as u64)).sum();
        let factor = if demand.compensate { (1.0 / self.show_rate).clamp(1.0, MOST_AHEAD) } else { 1.0 };
        let expected = (to_f64(open) / factor).floor();
        let missing = to_f64(demand.wanted) - to_f64(demand.asking) - expected;
        if missing > 0.0 {
            let left = demand.places.saturating_sub(self.serving);
            let invited = to_u64((missing * factor).ceil()).min(left);
            if invited > 0 {
                let (from, to) = (self.serving, self.serving + invited);
                self.tranches.push_back(Tranche { at: now, from, to, answered: BTreeSet::new() });
                self.serving = to;
            }
        }
        self.serving
    }

    /// Closes invitations that went unanswered, and learns from them.
    fn expire(&mut self, now: Instant) {
        while self.tranches.front().is_some_and(|t| now.since(t.at) >= INVITATION_LASTS_MS) {
            let Some(tranche) = self.tranches.pop_front() else { break };
            if tranche.size() >= MEASURABLE {
                let measured = to_f64(tranche.answered.len() as u64) / to_f64(tranche.size());
                self.show_rate += SMOOTHING * (measured - self.show_rate);
            }
        }
        self.show_rate = self.show_rate.clamp(0.01, 1.0);
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of fans stay far below 2^52")]
fn to_f64(count: u64) -> f64 {
    count as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float cast saturates, and it is not negative"
)]
fn to_u64(count: f64) -> u64 {
    count as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demand(wanted: u64, asking: u64) -> Demand {
        Demand { wanted, asking, places: 1_000, compensate: true }
    }

    #[test]
    fn invites_what_is_wanted_and_no_more() {
        let mut invitations = Invitations::new(0);
        assert_eq!(invitations.advance(demand(100, 0), Instant(0)), 100);
        assert_eq!(invitations.advance(demand(100, 0), Instant(1_000)), 100, "a second call");
        for position in 0..40 {
            invitations.answered(position);
            invitations.answered(position);
        }
        // 40 ask, 60 are still expected.
        assert_eq!(invitations.advance(demand(100, 40), Instant(2_000)), 100);
        // 40 were let in: room for 60 more, and those are the ones expected.
        assert_eq!(invitations.advance(demand(60, 0), Instant(3_000)), 100);
    }

    #[test]
    fn an_unanswered_invitation_stops_counting_and_teaches() {
        let mut invitations = Invitations::new(0);
        invitations.advance(demand(100, 0), Instant(0));
        for position in 0..70 {
            invitations.answered(position);
        }
        let serving = invitations.advance(demand(30, 0), Instant(INVITATION_LASTS_MS));
        assert!(invitations.show_rate() < 0.95, "{}", invitations.show_rate());
        assert!(serving >= 130, "30 absent fans are replaced: {serving}");
    }

    #[test]
    fn compensation_never_more_than_doubles_and_can_be_off() {
        for (compensate, most) in [(true, 20), (false, 10)] {
            let mut invitations = Invitations::new(0);
            for round in 0..50 {
                let before = invitations.serving;
                let demand = Demand { wanted: 10, asking: 0, places: 10_000, compensate };
                let serving = invitations.advance(demand, Instant(round * INVITATION_LASTS_MS));
                assert!(serving > before, "never stands still while there is room");
                assert!(serving - before <= most);
            }
        }
    }

    #[test]
    fn nobody_beyond_the_last_place_is_invited() {
        let mut invitations = Invitations::new(0);
        let demand = Demand { wanted: 100, asking: 0, places: 7, compensate: true };
        assert_eq!(invitations.advance(demand, Instant(0)), 7);
        assert_eq!(
            invitations.advance(Demand { wanted: 0, ..demand }, Instant(60_000)),
            7,
            "never goes back"
        );
    }
}
