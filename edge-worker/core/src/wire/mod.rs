//! What crosses a border: the operator's configuration, the published documents and the calls to the objects.
//!
//! Everything here is plain data. Outside data becomes a type in one place (`EventConfig::parse`); calls between our
//! own objects are typed commands, so a wrong field is a compile error and not a runtime surprise.

mod documents;
mod event_config;
mod event_reader;
mod instant;
mod lane_calls;
mod reader;
mod room_calls;
mod ticks;
mod transcript;

pub use documents::{
    DrawDocument, Ended, GateDocument, Inventory, Outcomes, Poll, RoomDocument, Stats, StatsController,
    StatsLane,
};
pub use event_config::{Admission, EventConfig, MAX_LANES, Pow, Proof, Protect, Route};
pub use instant::Instant;
pub use lane_calls::{
    Ask, AskAnswer, Ending, Extended, Join, JoinAnswer, LaneCommand, LaneReply, LaneStatus, Liveness, Redeem,
    RedeemAnswer,
};
pub use reader::Fault;
pub use room_calls::{
    Action, AuditEntry, ConfigAnswer, Document, PhaseAnswer, PutConfig, PutConfigAnswer, RoomCommand,
    RoomReply,
};
pub use shared_token::ticket::Place;
pub use ticks::{Asking, Grant, LaneSetup, Report, Slot, Tick, Totals};
pub use transcript::{BatchLane, BatchRecord, Beacon, LaneSeal, Transcript};

use serde::{Deserialize, Serialize};

/// What a fan sees of the room's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Registration has not opened.
    Scheduled,
    /// Fans register for the draw.
    Registration,
    /// The order is being drawn.
    Drawing,
    /// Fans are let in.
    Open,
    /// An operator stopped letting in; joining continues.
    Paused,
    /// Nothing is for sale now, but holds are outstanding.
    ReturnsOnly,
    /// Nothing is for sale and nothing is held.
    SoldOut,
    /// The sale is over.
    Closed,
}

/// The strong entity tag of a document, quoted: of its bytes, so equal documents have equal tags after any restart.
pub fn entity_tag(bytes: &[u8]) -> String {
    // 96 bits: no two versions of a document will ever meet.
    format!("\"{}\"", hex::encode(&crate::draw::sha256(&[bytes])[..12]))
}
