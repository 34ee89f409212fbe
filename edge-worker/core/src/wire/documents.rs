//! What the Room publishes: to fans, to the gate, to operators.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{EventConfig, Instant, Phase};

/// The document every fan polls: the same bytes for everyone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoomDocument {
    /// The event.
    pub event: String,
    /// What the event is called: the heading of the waiting room, which asks nobody else.
    pub title: String,
    /// State of the room.
    pub phase: Phase,
    /// The Room's clock when it wrote this.
    pub server_time: Instant,
    /// Start of registration.
    pub registration_opens_at: Instant,
    /// The draw.
    pub onsale_at: Instant,
    /// The end.
    pub closes_at: Instant,
    /// Positions below this are invited to ask for admission.
    pub serving: u64,
    /// Fans in line who have not been let in.
    pub queued: u64,
    /// How many fans a minute may be let in.
    pub admit_rate_per_minute: u64,
    /// Grows with every change other than `server_time`.
    pub version: u64,
    /// How to poll.
    pub poll: Poll,
    /// The draw's public values.
    pub draw: DrawDocument,
    /// Stock, as far as the origin told; null before it did.
    pub inventory: Option<Inventory>,
    /// The operator's words by language.
    pub message: BTreeMap<String, String>,
}

/// How to poll.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Poll {
    /// Shortest sensible interval.
    pub floor_ms: u64,
    /// Longest sensible interval.
    pub ceiling_ms: u64,
    /// Share by which a client varies its interval.
    pub jitter: f64,
}

/// The draw's public values; what is not yet known is null.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrawDocument {
    /// SHA-256 of the secret, hex.
    pub commitment: String,
    /// Always `swap-or-not-90-sha256`.
    pub algorithm: String,
    /// Root over the lane roots, hex.
    pub cohort_root: Option<String>,
    /// The beacon round that will seed the draw.
    pub beacon_round: Option<u64>,
    /// Places drawn.
    pub count: Option<u64>,
    /// Seed, hex.
    pub seed: Option<String>,
    /// Whether nobody could have chosen the outcome.
    pub verifiable: Option<bool>,
}

/// Stock of the event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inventory {
    /// For sale now.
    pub available: u64,
    /// In somebody's hold.
    pub held: u64,
    /// Sold.
    pub sold: u64,
}

/// What the gate needs, one second old at most. Internal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GateDocument {
    /// The event.
    pub event: String,
    /// Its incarnation: tokens of another are worth nothing.
    pub inc: String,
    /// The Room's clock when it wrote this.
    pub generated_at: Instant,
    /// State of the room.
    pub phase: Phase,
    /// The configuration.
    pub config: EventConfig,
    /// Positions below this may ask.
    pub serving: u64,
    /// Whether the draw's transcript is published.
    pub drawn: bool,
    /// Batches closed so far; `batch(1..=batches)` exist.
    pub batches: u32,
    /// Fans really let in a minute, as measured lately; unknown until it was.
    pub admitted_per_minute: Option<u64>,
    /// Sessions that ended within the last 60 s.
    pub ended: Vec<String>,
}

/// A session that ended, as a lane reports it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// Number of this ending in its lane, from 1.
    pub seq: u64,
    /// The session.
    pub sid: String,
    /// When, by the lane's clock.
    pub at: Instant,
}

/// How sessions ended. Every field only grows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcomes {
    /// The fan left.
    pub left: u64,
    /// The purchase was done.
    pub completed: u64,
    /// An operator or the origin ended it.
    pub revoked: u64,
    /// Nobody did: it ran out.
    pub expired: u64,
}

impl Outcomes {
    /// All endings.
    pub fn total(&self) -> u64 {
        self.left.saturating_add(self.completed).saturating_add(self.revoked).saturating_add(self.expired)
    }
}

/// The operator's numbers, read from the objects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    /// State of the room.
    pub phase: Phase,
    /// Live sessions.
    pub active: u64,
    /// Admission tokens granted and neither redeemed nor returned.
    pub granted: u64,
    /// `total_active_users`.
    pub cap: u64,
    /// Positions below this may ask.
    pub serving: u64,
    /// Fans in line who have not been let in.
    pub queued: u64,
    /// Places ever given.
    pub joined_total: u64,
    /// Sessions ever started.
    pub admitted_total: u64,
    /// Sessions ended by a purchase.
    pub completed_total: u64,
    /// Sessions ended by the fan.
    pub left_total: u64,
    /// Sessions that ran out.
    pub expired_total: u64,
    /// Sessions revoked.
    pub revoked_total: u64,
    /// Grants that came back unused.
    pub returned_total: u64,
    /// What limits letting in.
    pub controller: StatsController,
    /// One entry a lane.
    pub lanes: Vec<StatsLane>,
}

/// What limits letting in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StatsController {
    /// The cap in force.
    pub cap: u64,
    /// New shoppers a minute in force.
    pub rate_per_minute: u64,
    /// Share of invited fans who answer, as measured.
    pub show_rate: f64,
    /// Why the limits are what they are.
    pub reason: String,
    /// Stock as last told by the origin.
    pub inventory: Option<Inventory>,
    /// Age of that, if there is any.
    pub pressure_age_ms: Option<u64>,
}

/// One lane's numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatsLane {
    /// Lane.
    pub lane: u16,
    /// Places ever given.
    pub joined: u64,
    /// Fans asking now.
    pub asking: u64,
    /// Tokens granted and neither redeemed nor returned.
    pub granted: u64,
    /// Live sessions.
    pub active: u64,
    /// Since the lane last answered.
    pub silent_ms: Option<u64>,
}
