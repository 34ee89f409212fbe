//! Letting in: how many, and who.
//!
//! Headroom is what the cap leaves; the allowance spreads grants over time; stock and pauses stop them. A controller
//! that lowers cap and rate under pressure belongs into [`Room::limits`] and nowhere else.

use super::{REPORT_LASTS_MS, Room};
use crate::wire::{Asking, Instant, Phase};

/// One user in units of the allowance: a rate of one a minute earns one unit a millisecond.
const USER: u64 = 60_000;
/// What the allowance saves up at most: two seconds of the rate, so that a late tick loses nothing and a quiet minute
/// is not followed by a flood.
const SAVED_MS: u64 = 2_000;

/// The limits in force, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    pub(super) cap: u64,
    pub(super) rate_per_minute: u64,
    pub(super) reason: &'static str,
}

/// A smooth rate: earns with time, pays per grant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowance {
    units: u64,
    at: Instant,
}

impl Allowance {
    pub(super) fn new(now: Instant) -> Self {
        Self { units: 0, at: now }
    }

    /// Earns up to `now`.
    pub(super) fn earn(&mut self, rate_per_minute: u64, now: Instant) {
        let most = rate_per_minute.saturating_mul(SAVED_MS).max(USER);
        let earned = rate_per_minute.saturating_mul(now.since(self.at));
        self.units = self.units.saturating_add(earned).min(if rate_per_minute == 0 { 0 } else { most });
        self.at = self.at.max(now);
    }

    /// Users it pays for.
    pub(super) fn users(&self) -> u64 {
        self.units / USER
    }

    pub(super) fn pay(&mut self, users: u64) {
        self.units = self.units.saturating_sub(users.saturating_mul(USER));
    }
}

impl Room {
    /// Cap and rate in force.
    pub(super) fn limits(&self, now: Instant) -> Limits {
        let admission = &self.memory.config.admission;
        let reason = match self.phase(now) {
            Phase::Paused => "paused by an operator",
            Phase::SoldOut => "sold out",
            Phase::ReturnsOnly => "nothing for sale until a hold returns",
            Phase::Open if now < self.rests_until => "restarted: freed slots are resting",
            Phase::Open if self.occupied() > admission.total_active_users => "cap lowered: sessions drain",
            Phase::Open => "fixed cap",
            Phase::Scheduled | Phase::Registration | Phase::Drawing => "not open yet",
            Phase::Closed => "closed",
        };
        Limits { cap: admission.total_active_users, rate_per_minute: admission.new_users_per_minute, reason }
    }

    /// Slots taken: granted and neither ended (with its rest over) nor returned.
    pub(super) fn occupied(&self) -> u64 {
        self.lanes.iter().fold(0, |sum, view| sum.saturating_add(view.occupied()))
    }

    /// Lets rested slots go.
    pub(super) fn release_rested(&mut self, now: Instant) {
        while let Some((heard, lane, total)) = self.resting.front().copied() {
            if now.since(heard) < super::FREED_SLOT_RESTS_MS {
                break;
            }
            self.resting.pop_front();
            if let Some(view) = self.lanes.get_mut(usize::from(lane)) {
                view.released = view.released.max(total);
            }
        }
    }

    /// How many may be granted now.
    pub(super) fn grantable(&self, now: Instant) -> u64 {
        if self.phase(now) != Phase::Open || now < self.rests_until {
            return 0;
        }
        self.limits(now).cap.saturating_sub(self.occupied())
    }

    /// Grants to the lowest positions among those who ask, as many as there is room for. Returns how many asked.
    pub(super) fn grant(&mut self, now: Instant) -> u64 {
        if self.phase(now) == Phase::Open {
            self.allowance.earn(self.limits(now).rate_per_minute, now);
        } else {
            self.allowance = Allowance::new(now);
            self.pace.forget();
        }
        let mut asking = self.askers(now);
        let asked = asking.len() as u64;
        let room = self.grantable(now).min(self.allowance.users());
        asking.truncate(usize::try_from(room).unwrap_or(usize::MAX));
        let granted = asking.len() as u64;
        for (asker, lane) in asking {
            if let Some(view) = self.lanes.get_mut(usize::from(lane)) {
                view.grant(asker);
            }
        }
        self.allowance.pay(granted);
        self.pace.note(granted, now);
        asked - granted
    }

    /// Who asks, lowest position first, each once. A place already granted but not yet acknowledged does not ask.
    fn askers(&mut self, now: Instant) -> Vec<(Asking, u16)> {
        let serving = self.memory.serving;
        let mut all = Vec::new();
        for (lane, view) in (0_u16..).zip(&self.lanes) {
            if view.heard.is_none_or(|heard| now.since(heard) > REPORT_LASTS_MS) {
                continue;
            }
            let waiting = view.asking.iter().filter(|asking| {
                asking.position < serving && !view.book.outbox.iter().any(|grant| grant.slot == asking.slot)
            });
            all.extend(waiting.map(|asking| (*asking, lane)));
        }
        for (asking, _) in &all {
            self.invitations.answered(asking.position);
        }
        all.sort_unstable();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_smooth_and_exact_over_a_minute() {
        let mut allowance = Allowance::new(Instant(0));
        let mut users = 0;
        for second in 1..=60 {
            // Ticks come up to 400 ms late; nothing is lost and nothing floods.
            allowance.earn(4_000, Instant(second * 1_000 + (second % 3) * 200));
            let now = allowance.users();
            assert!(now <= 4_000 * 2 / 60, "{now} at {second}");
            allowance.pay(now);
            users += now;
        }
        assert!((3_990..=4_000).contains(&users), "{users}");
    }

    #[test]
    fn a_slow_rate_still_lets_single_users_in() {
        let mut allowance = Allowance::new(Instant(0));
        allowance.earn(6, Instant(9_000));
        assert_eq!(allowance.users(), 0);
        allowance.earn(6, Instant(10_000));
        assert_eq!(allowance.users(), 1);
        allowance.earn(6, Instant(100_000));
        assert_eq!(allowance.users(), 1, "a quiet minute is not saved up");
    }

    #[test]
    fn a_clock_stepping_back_earns_nothing_twice() {
        let mut allowance = Allowance::new(Instant(10_000));
        allowance.earn(60, Instant(5_000));
        allowance.earn(60, Instant(10_000));
        assert_eq!(allowance.users(), 0);
    }
}
