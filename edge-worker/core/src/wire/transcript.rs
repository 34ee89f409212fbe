//! The published records of the order: the draw's transcript and the later batches.

use serde::{Deserialize, Serialize};

/// Everything needed to check the draw. Stored before it is published; never changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transcript {
    /// The event.
    pub event: String,
    /// Its incarnation.
    pub inc: String,
    /// SHA-256 of the secret, hex: published before registration opened.
    pub commitment: String,
    /// The secret, hex.
    pub secret: String,
    /// Always `swap-or-not-90-sha256`.
    pub algorithm: String,
    /// Places drawn.
    pub count: u64,
    /// One seal a lane, in lane order.
    pub lanes: Vec<LaneSeal>,
    /// RFC 6962 root over the lane roots, hex.
    pub cohort_root: String,
    /// The public randomness, if one was used.
    pub beacon: Option<Beacon>,
    /// Whether nobody could have chosen the outcome: false without a beacon.
    pub verifiable: bool,
    /// The seed of the shuffle, hex.
    pub seed: String,
}

/// What one lane sealed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneSeal {
    /// Slots.
    pub count: u64,
    /// base64url bitmap of the demoted slots, LSB first, empty if there are none.
    pub class1: String,
    /// RFC 6962 root over the leaves, hex.
    pub root: String,
}

/// A round of public randomness.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beacon {
    /// Hash of the chain, hex.
    pub chain: String,
    /// Round number.
    pub round: u64,
    /// Randomness of the round, hex.
    pub randomness: String,
    /// Its signature, hex.
    pub signature: String,
}

/// A batch of late arrivals. Immutable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchRecord {
    /// Number, from 1.
    pub n: u32,
    /// First position of the batch.
    pub base: u64,
    /// One interval a lane, in lane order; empty where a lane was silent or had no arrivals.
    pub lanes: Vec<BatchLane>,
    /// SHA-256(draw seed ‖ u64_be n), hex.
    pub seed: String,
}

/// One lane's share of a batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchLane {
    /// First slot.
    pub from: u32,
    /// One past the last slot.
    pub to: u32,
    /// base64url bitmap of the demoted slots counted from `from`, LSB first, empty if there are none.
    pub class1: String,
}
