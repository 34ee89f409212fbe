//! The Room: the one object of an event that decides.
//!
//! Scope: the event's phase, the draw and the later batches, who is let in and who is invited, stock, the published
//! documents. It never meets a fan: lanes report to it once a second and obey it once a second.
//!
//! A second goes: [`Room::begin_tick`] makes a command for every lane; the host delivers them and hands every answer to
//! [`Room::absorb`]; [`Room::decide`] draws, closes a batch, grants and invites; the host stores
//! [`Room::take_writes`] and only then delivers [`Room::grant_round`].
//!
//! Invariants: Σ(granted − ended − returned) over the lanes never exceeds the cap in force when a grant was made;
//! numbers of lanes are merged by maximum, so loss, repetition and reordering of messages cannot mint capacity; what
//! is published was stored before; positions, `serving`, the transcript and the batches never go back or change.
//!
//! Not here: clocks, storage, HTTP; the multiplicative controller (a later issue: [`release`] has its place).

mod book;
mod config;
mod documents;
mod invitations;
mod pace;
mod phase;
mod release;
mod state;
mod stock;
mod tick;

pub use book::Book;
pub use config::{Created, etag_of};
pub use phase::{Refused, Stage};
pub use state::{Memory, Restored, Room, Writes};
pub use stock::{Pressure, Stock};

/// An ended session is named in the gate's document as soon as the Room hears of it; a gate that cannot get a document
/// younger than this asks the lane.
pub const GATE_DOCUMENT_LASTS_MS: u64 = 1_800;
/// A freed slot is granted again only when every document that did not name its session has lost its force. With a
/// second until the Room hears of the ending and a second until the next tick, a slot is back within four seconds.
pub const FREED_SLOT_RESTS_MS: u64 = 1_900;
/// An invitation unanswered for this long no longer counts.
pub const INVITATION_LASTS_MS: u64 = 10_000;
/// What lanes said of their askers counts for this long.
pub const REPORT_LASTS_MS: u64 = 3_000;
/// Time between ticks.
pub const TICK_MS: u64 = 1_000;
