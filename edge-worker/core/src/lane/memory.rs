//! A lane's state: what is stored, what is rebuilt, what may be forgotten.

use std::collections::{BTreeSet, HashMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::{Entry, SILENCE_STOPS_ISSUING_MS, State};
use crate::wire::{Ended, Instant, LaneSeal, LaneSetup, LaneStatus, Phase, Slot, Totals};

/// The stored row of a lane beside its places.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// The event.
    pub setup: LaneSetup,
    /// Totals. `joined` and `joined_late` are derived from the rows when a lane is restored.
    pub totals: Totals,
    /// The sealed share of the draw.
    pub seal: Option<LaneSeal>,
    /// Batches the Room had closed.
    pub batches: u32,
    /// State of the room as last heard.
    pub phase: Phase,
    /// Number of the newest tick heard.
    pub tick: u64,
}

/// What a lane is rebuilt from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// The stored row.
    pub memory: Memory,
    /// Places issued or active.
    pub hot: Vec<Entry>,
    /// Places of the draw's numbering: the highest slot plus one.
    pub joined: u64,
    /// Places of the later numbering: the highest slot plus one.
    pub joined_late: u64,
    /// Demoted places of the later numbering.
    pub late_demoted: Vec<u32>,
    /// Stored endings, in order.
    pub ended: Vec<Ended>,
}

/// What a decision changed. Written as one transaction before anything is answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Writes {
    /// Places given or moved on, whole rows by slot; the last of a slot counts.
    pub entries: Vec<Entry>,
    /// New endings.
    pub ended: Vec<Ended>,
    /// Stored endings up to this number are no longer named.
    pub forget_ended: Option<u64>,
    /// The lane's own row, if it changed.
    pub memory: Option<Memory>,
}

/// A fan's ask, remembered until it is served or ten seconds old.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Asker {
    pub(super) slot: Slot,
    pub(super) jti: String,
    pub(super) jkt: Option<String>,
    pub(super) position: u64,
    pub(super) at: Instant,
}

/// A lane.
#[derive(Clone, Debug)]
pub struct Lane {
    pub(super) memory: Memory,
    /// Issued and active places by identity: bounded by the cap, so it is kept whole.
    pub(super) hot: HashMap<String, Entry>,
    /// Identity of each live session.
    pub(super) sessions: HashMap<String, String>,
    pub(super) late_demoted: BTreeSet<u32>,
    pub(super) ended: VecDeque<Ended>,
    /// Forgotten in a crash: fans ask again.
    pub(super) asking: HashMap<String, Asker>,
    /// When the newest tick was heard by this process.
    pub(super) heard: Option<Instant>,
    pub(super) writes: Writes,
    pub(super) memory_changed: bool,
}

impl Lane {
    /// A lane of a new event.
    pub fn new(setup: LaneSetup) -> Self {
        let memory = Memory {
            setup,
            totals: Totals::default(),
            seal: None,
            batches: 0,
            phase: Phase::Scheduled,
            tick: 0,
        };
        let restored = Restored {
            memory,
            hot: Vec::new(),
            joined: 0,
            joined_late: 0,
            late_demoted: Vec::new(),
            ended: Vec::new(),
        };
        let mut lane = Self::restore(restored);
        lane.memory_changed = true;
        lane
    }

    /// A lane as its storage says.
    pub fn restore(restored: Restored) -> Self {
        let mut memory = restored.memory;
        memory.totals.joined = restored.joined;
        memory.totals.joined_late = restored.joined_late;
        let mut lane = Self {
            memory,
            hot: HashMap::new(),
            sessions: HashMap::new(),
            late_demoted: restored.late_demoted.into_iter().collect(),
            ended: restored.ended.into(),
            asking: HashMap::new(),
            heard: None,
            writes: Writes::default(),
            memory_changed: false,
        };
        for entry in restored.hot {
            lane.keep_hot(&entry);
        }
        lane
    }

    /// The event as this lane knows it.
    pub fn setup(&self) -> &LaneSetup {
        &self.memory.setup
    }

    /// What changed since the last call. To be stored before any answer leaves.
    pub fn take_writes(&mut self) -> Writes {
        let mut writes = std::mem::take(&mut self.writes);
        if std::mem::take(&mut self.memory_changed) {
            writes.memory = Some(self.memory.clone());
        }
        writes
    }

    /// When the newest tick was heard by this process.
    pub fn heard(&self) -> Option<Instant> {
        self.heard
    }

    /// The lane's numbers.
    pub fn status(&self) -> LaneStatus {
        let active = self.hot.values().filter(|entry| matches!(entry.state, State::Active(_))).count();
        LaneStatus {
            totals: self.memory.totals,
            asking: self.asking.len() as u64,
            issued: (self.hot.len() - active) as u64,
            active: active as u64,
        }
    }

    /// Whether tokens may be handed out: the Room was heard of lately, and it did not say to stop.
    pub(super) fn may_issue(&self, now: Instant) -> bool {
        let heard = self.heard.is_some_and(|heard| now.since(heard) < SILENCE_STOPS_ISSUING_MS);
        heard && matches!(self.memory.phase, Phase::Open | Phase::ReturnsOnly | Phase::SoldOut)
    }

    /// Moves a place on: to the indexes and to the writes.
    pub(super) fn store(&mut self, entry: Entry) {
        if let Some(State::Active(active)) = self.hot.remove(&entry.identity).map(|old| old.state) {
            self.sessions.remove(&active.sid);
        }
        self.keep_hot(&entry);
        self.writes.entries.push(entry);
    }

    fn keep_hot(&mut self, entry: &Entry) {
        match &entry.state {
            State::Waiting | State::Spent => return,
            State::Issued(_) => {}
            State::Active(active) => {
                self.sessions.insert(active.sid.clone(), entry.identity.clone());
            }
        }
        self.hot.insert(entry.identity.clone(), entry.clone());
    }
}
