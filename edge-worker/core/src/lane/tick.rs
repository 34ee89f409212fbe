//! The Room's command of one second, and the lane's report.

use std::collections::HashMap;

use super::{ADMISSION_SECONDS, ASK_LASTS_MS, Entry, Issued, Lane, REPORTED_ASKERS, State};
use crate::draw::Bitmap;
use crate::wire::{Asking, Grant, Instant, LaneSeal, LaneSetup, Report, Slot, Tick};

/// What the host looks up before [`Lane::tick`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Rows of these places.
    pub slots: Vec<Slot>,
    /// The seal of the draw's rows (see `seal_of`).
    pub seal: bool,
}

/// What the host found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The rows that exist.
    pub entries: HashMap<Slot, Entry>,
    /// The seal, if it was needed.
    pub seal: Option<LaneSeal>,
    /// A fresh random id for every place needed: the ids of admission tokens.
    pub fresh_ids: Vec<String>,
}

impl Lane {
    /// Whether the tick is about another incarnation, created later, so that everything here is void.
    pub fn is_superseded_by(&self, setup: &LaneSetup) -> bool {
        setup.inc != self.memory.setup.inc && setup.created_at > self.memory.setup.created_at
    }

    /// What must be looked up for this tick.
    pub fn needs(&self, tick: &Tick) -> Needs {
        if tick.inc != self.memory.setup.inc {
            return Needs::default();
        }
        Needs {
            slots: self.unapplied(tick).map(|grant| grant.slot).collect(),
            seal: tick.seal && self.memory.seal.is_none(),
        }
    }

    /// Obeys the tick and reports.
    pub fn tick(&mut self, tick: &Tick, found: Found, now: Instant) -> Report {
        if tick.inc == self.memory.setup.inc {
            self.obey(tick, found, now);
        }
        self.report(tick)
    }

    fn obey(&mut self, tick: &Tick, found: Found, now: Instant) {
        if let Some(setup) = tick.setup.as_ref().filter(|setup| setup.version > self.memory.setup.version) {
            self.memory.setup = setup.clone();
            self.memory_changed = true;
        }
        if tick.number > self.memory.tick {
            self.memory.tick = tick.number;
            self.heard = Some(now);
            if self.memory.phase != tick.phase || self.memory.batches < tick.batches {
                self.memory.phase = tick.phase;
                self.memory.batches = self.memory.batches.max(tick.batches);
                self.memory_changed = true;
            }
            // What stands in a batch has its class in the batch's record.
            self.late_demoted = self.late_demoted.split_off(&tick.late_seen);
        }
        if let Some(seal) = found.seal.filter(|_| tick.seal && self.memory.seal.is_none()) {
            self.memory.seal = Some(seal);
            self.memory_changed = true;
        }
        self.asking.retain(|_, asker| now.since(asker.at) < ASK_LASTS_MS);
        self.sweep(now);
        // A tick that arrives after a later one may grant what a pause has withheld since. The Room sends it again.
        if tick.number < self.memory.tick {
            return;
        }
        let grants: Vec<Grant> = self.unapplied(tick).copied().collect();
        // Without an id there is no token: what is left is applied when the Room sends it again.
        for (grant, fresh_id) in grants.into_iter().zip(found.fresh_ids) {
            self.apply(grant, &found.entries, now, fresh_id);
        }
    }

    /// Grants that continue where this lane stands. What was applied is skipped, what comes after a gap waits.
    fn unapplied<'a>(&self, tick: &'a Tick) -> impl Iterator<Item = &'a Grant> + use<'a> {
        let applied = self.memory.totals.applied;
        let new = tick.grants.iter().filter(move |grant| grant.seq > applied);
        (applied.saturating_add(1)..)
            .zip(new)
            .take_while(|(next, grant)| *next == grant.seq)
            .map(|(_, grant)| grant)
    }

    /// Applies one grant: the place gets its token, or, if it is not waiting any more, the grant comes back unused.
    fn apply(&mut self, grant: Grant, entries: &HashMap<Slot, Entry>, now: Instant, fresh_id: String) {
        self.memory.totals.applied = grant.seq;
        self.memory_changed = true;
        let waiting = entries
            .get(&grant.slot)
            .filter(|entry| entry.state == State::Waiting && !self.hot.contains_key(&entry.identity));
        let Some(entry) = waiting else {
            self.memory.totals.returned += 1;
            return;
        };
        let mut entry = entry.clone();
        self.asking.remove(&entry.identity);
        let iat = now.seconds();
        entry.state =
            State::Issued(Issued { jti: fresh_id, iat, exp: iat.saturating_add(ADMISSION_SECONDS) });
        self.store(entry);
    }

    fn report(&self, tick: &Tick) -> Report {
        let mut asking: Vec<Asking> =
            self.asking.values().map(|asker| Asking { position: asker.position, slot: asker.slot }).collect();
        asking.sort_unstable();
        asking.truncate(REPORTED_ASKERS);
        let late = u32::try_from(self.memory.totals.joined_late).unwrap_or(u32::MAX);
        let classes = (tick.late_seen..late).map(|slot| self.late_demoted.contains(&slot));
        Report {
            inc: self.memory.setup.inc.clone(),
            tick: tick.number,
            setup_version: self.memory.setup.version,
            totals: self.memory.totals,
            asking,
            late_class1: Bitmap::of(classes).encode(),
            late_from: tick.late_seen,
            ended: self.ended.iter().filter(|ended| ended.seq > tick.ended_seen).cloned().collect(),
            seal: self.memory.seal.clone().filter(|_| tick.seal),
        }
    }
}
