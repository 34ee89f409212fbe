//! What survives a crash: the rows the object shells keep, in memory.

use std::collections::{BTreeMap, HashMap};

use edge_core::lane::{self, Entry, Found, Lane, SealRow, State, seal_of};
use edge_core::room::{self, Room};
use edge_core::wire::{BatchRecord, Ended, Instant, Slot, Tick, Transcript};

/// Storage of one lane.
#[derive(Clone, Default)]
pub(crate) struct LaneDisk {
    pub(crate) entries: BTreeMap<Slot, Entry>,
    memory: Option<lane::Memory>,
    ended: Vec<Ended>,
}

impl LaneDisk {
    pub(crate) fn apply(&mut self, writes: lane::Writes) {
        for entry in writes.entries {
            let clash = self.entries.values().any(|other| {
                other.slot != entry.slot && other.identity == entry.identity && other.visit == entry.visit
            });
            assert!(!clash, "(identity, visit) is unique");
            self.entries.insert(entry.slot, entry);
        }
        self.ended.extend(writes.ended);
        if let Some(seq) = writes.forget_ended {
            self.ended.retain(|ended| ended.seq > seq);
        }
        if let Some(memory) = writes.memory {
            self.memory = Some(memory);
        }
    }

    pub(crate) fn restore(&self) -> Option<Lane> {
        let joined = |late| self.entries.keys().filter(|slot| slot.late == late).count() as u64;
        Some(Lane::restore(lane::Restored {
            memory: self.memory.clone()?,
            hot: self
                .entries
                .values()
                .filter(|e| matches!(e.state, State::Issued(_) | State::Active(_)))
                .cloned()
                .collect(),
            joined: joined(false),
            joined_late: joined(true),
            late_demoted: self
                .entries
                .values()
                .filter(|e| e.slot.late && e.demoted)
                .map(|e| e.slot.slot)
                .collect(),
            ended: self.ended.clone(),
        }))
    }

    pub(crate) fn last_of(&self, identity: &str) -> Option<&Entry> {
        self.entries.values().filter(|entry| entry.identity == identity).max_by_key(|entry| entry.visit)
    }

    pub(crate) fn find(&self, lane: &Lane, tick: &Tick, mut fresh_id: impl FnMut() -> String) -> Found {
        let needs = lane.needs(tick);
        let entries: HashMap<Slot, Entry> =
            needs.slots.iter().filter_map(|slot| Some((*slot, self.entries.get(slot)?.clone()))).collect();
        let rows = self.entries.values().filter(|entry| !entry.slot.late);
        let rows = rows.map(|entry| SealRow { jti: entry.jti.clone(), demoted: entry.demoted });
        let fresh_ids = needs.slots.iter().map(|_| fresh_id()).collect();
        Found { entries, seal: needs.seal.then(|| seal_of(rows)), fresh_ids }
    }

    /// Slots in use: tokens out and sessions alive.
    pub(crate) fn occupied(&self) -> u64 {
        let used = |entry: &&Entry| matches!(entry.state, State::Issued(_) | State::Active(_));
        self.entries.values().filter(used).count() as u64
    }
}

/// Storage of the Room.
#[derive(Clone, Default)]
pub(crate) struct RoomDisk {
    memory: Option<room::Memory>,
    books: BTreeMap<u16, edge_core::room::Book>,
    pub(crate) transcript: Option<Transcript>,
    pub(crate) batches: Vec<BatchRecord>,
    ended: Vec<(String, Instant)>,
}

impl RoomDisk {
    pub(crate) fn apply(&mut self, writes: room::Writes) {
        self.memory = writes.memory.or(self.memory.take());
        self.books.extend(writes.books);
        if let Some(transcript) = writes.transcript {
            assert!(self.transcript.is_none(), "the draw is written once");
            self.transcript = Some(transcript);
        }
        for batch in writes.batches {
            assert_eq!(batch.n as usize, self.batches.len() + 1, "batches are numbered without gaps");
            self.batches.push(batch);
        }
        self.ended.extend(writes.ended);
        if let Some(before) = writes.forget_ended_before {
            self.ended.retain(|(_, heard)| *heard >= before);
        }
    }

    pub(crate) fn restore(&self, now: Instant) -> Option<Room> {
        let restored = room::Restored {
            memory: self.memory.clone()?,
            books: self.books.values().cloned().collect(),
            transcript: self.transcript.clone(),
            ended: self.ended.clone(),
        };
        Some(Room::restore(restored, now).expect("own records"))
    }
}
