//! What Room and lanes tell each other once a second.

use serde::{Deserialize, Serialize};

use super::{Ended, Instant, LaneSeal, Outcomes, Phase};

/// A place's name within its lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "(u8, u32)", into = "(u8, u32)")]
pub struct Slot {
    /// False: a slot of the draw; true: of the later batches.
    pub late: bool,
    /// Number.
    pub slot: u32,
}

impl From<(u8, u32)> for Slot {
    fn from((late, slot): (u8, u32)) -> Self {
        Self { late: late != 0, slot }
    }
}

impl From<Slot> for (u8, u32) {
    fn from(slot: Slot) -> Self {
        (u8::from(slot.late), slot.slot)
    }
}

/// What a lane must know of its event. Pushed by the Room with ticks, pulled by a lane that knows nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneSetup {
    /// Event.
    pub event: String,
    /// Its incarnation.
    pub inc: String,
    /// When that incarnation was created: a later one replaces an earlier one, never the reverse.
    pub created_at: Instant,
    /// Number of the configuration; only grows within an incarnation.
    pub version: u64,
    /// This lane.
    pub lane: u16,
    /// Start of registration.
    pub registration_opens_at: Instant,
    /// The draw.
    pub onsale_at: Instant,
    /// The end.
    pub closes_at: Instant,
    /// Life of a session.
    pub session_seconds: u64,
    /// Life of a session with all extensions.
    pub session_max_seconds: u64,
}

/// One grant: let this place in. Numbered per lane without gaps, so loss, repetition and reordering are visible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// Number in its lane, from 1.
    pub seq: u64,
    /// The place.
    pub slot: Slot,
}

/// The Room's command of one second to one lane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tick {
    /// Only grows; an older one is answered but its phase is ignored.
    pub number: u64,
    /// Incarnation this is about.
    pub inc: String,
    /// Set-up, if the lane's last report was behind.
    pub setup: Option<LaneSetup>,
    /// State of the room.
    pub phase: Phase,
    /// Seal the draw, if that is not done, and report the seal.
    pub seal: bool,
    /// Batches closed so far: late joins belong to the next.
    pub batches: u32,
    /// One past the last late slot the Room has in a batch.
    pub late_seen: u32,
    /// Last ending the Room has stored.
    pub ended_seen: u64,
    /// Grants the lane has not acknowledged, in order.
    pub grants: Vec<Grant>,
}

/// A fan who asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "(u64, Slot)", into = "(u64, Slot)")]
pub struct Asking {
    /// Position in line.
    pub position: u64,
    /// The place.
    pub slot: Slot,
}

impl From<(u64, Slot)> for Asking {
    fn from((position, slot): (u64, Slot)) -> Self {
        Self { position, slot }
    }
}

impl From<Asking> for (u64, Slot) {
    fn from(asking: Asking) -> Self {
        (asking.position, asking.slot)
    }
}

/// Totals of a lane. Every field only grows, so the maximum of two reports is the later one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Places given in the draw's numbering.
    pub joined: u64,
    /// Places given later.
    pub joined_late: u64,
    /// Grants applied: also the number of the last one.
    pub applied: u64,
    /// Admission tokens redeemed.
    pub admitted: u64,
    /// Grants that came back unused.
    pub returned: u64,
    /// Sessions ended, by outcome.
    pub ended: Outcomes,
}

/// A lane's answer to a tick.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Incarnation this is about.
    pub inc: String,
    /// Number of the tick this answers.
    pub tick: u64,
    /// Version of the set-up the lane has.
    pub setup_version: u64,
    /// Totals, stored before they are sent.
    pub totals: Totals,
    /// Fans asking, lowest positions first, bounded.
    pub asking: Vec<Asking>,
    /// Demoted late slots from the tick's `late_seen` up to `totals.joined_late`, base64url bitmap.
    pub late_class1: String,
    /// First slot of that bitmap.
    pub late_from: u32,
    /// Endings after the tick's `ended_seen`, of the last 60 s.
    pub ended: Vec<Ended>,
    /// The sealed share of the draw, if the tick wanted it and there is one.
    pub seal: Option<LaneSeal>,
}

impl Report {
    /// The answer of an object that holds no lane: it is about no incarnation, so the Room sends the set-up again.
    pub fn of_nobody(tick: u64) -> Self {
        Self {
            inc: String::new(),
            tick,
            setup_version: 0,
            totals: Totals::default(),
            asking: Vec::new(),
            late_class1: String::new(),
            late_from: 0,
            ended: Vec::new(),
            seal: None,
        }
    }
}
