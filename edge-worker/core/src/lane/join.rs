//! Giving a place.

use std::collections::HashMap;

use super::{Entry, Lane, State};
use crate::wire::{Instant, Join, JoinAnswer, Phase, Slot};

impl Lane {
    /// Gives each identity its place, in the order of arrival. `found` holds the last place of every identity that has
    /// one and learns the new ones, so an identity that stands twice in the batch gets one place.
    pub fn join(
        &mut self,
        joins: &[Join],
        found: &mut HashMap<String, Entry>,
        now: Instant,
    ) -> Vec<JoinAnswer> {
        joins.iter().map(|join| self.join_one(join, found, now)).collect()
    }

    fn join_one(&mut self, join: &Join, found: &mut HashMap<String, Entry>, now: Instant) -> JoinAnswer {
        let setup = &self.memory.setup;
        if self.memory.phase == Phase::Closed || now >= setup.closes_at {
            return JoinAnswer::Closed;
        }
        let last = found.get(&join.identity);
        if let Some(entry) = last.filter(|entry| entry.state != State::Spent) {
            return self.joined(entry, false);
        }
        let sealed = self.memory.seal.is_some();
        if !sealed && now < setup.registration_opens_at {
            return JoinAnswer::NotOpen { opens_at: setup.registration_opens_at };
        }
        let late = sealed || now >= setup.onsale_at;
        let visit = last.map_or(0, |entry| entry.visit.saturating_add(1));
        let Some(entry) = self.allocate(join, late, visit, now) else { return JoinAnswer::Closed };
        let answer = self.joined(&entry, true);
        found.insert(join.identity.clone(), entry.clone());
        self.store(entry);
        answer
    }

    /// The next slot; `None` once the numbering of this lane is used up (4 billion places).
    fn allocate(&mut self, join: &Join, late: bool, visit: u32, now: Instant) -> Option<Entry> {
        let totals = &mut self.memory.totals;
        let next = if late { &mut totals.joined_late } else { &mut totals.joined };
        let slot = u32::try_from(*next).ok().filter(|slot| *slot < u32::MAX)?;
        *next += 1;
        if late && join.demoted {
            self.late_demoted.insert(slot);
        }
        let batch = if late { self.memory.batches.saturating_add(1) } else { 0 };
        Some(Entry {
            slot: Slot { late, slot },
            batch,
            identity: join.identity.clone(),
            visit,
            jti: join.jti.clone(),
            jkt: join.jkt.clone(),
            demoted: join.demoted,
            joined_at: now,
            state: State::Waiting,
        })
    }

    fn joined(&self, entry: &Entry, created: bool) -> JoinAnswer {
        JoinAnswer::Joined {
            place: entry.place(self.memory.setup.lane),
            jti: entry.jti.clone(),
            inc: self.memory.setup.inc.clone(),
            issued_at: entry.joined_at.seconds(),
            created,
        }
    }
}
