//! A lane: the share of an event's fans whose identities hash to it.
//!
//! Scope: places, asks, admission tokens and sessions of those fans. A place moves
//! `waiting → issued → active → spent`; *asked* is a note in memory, since a fan who is not served asks again within
//! seconds. The host looks rows up, calls one method, and writes what [`Lane::take_writes`] returns before it answers.
//!
//! Invariants: one identity has at most one place that is not spent; a grant is applied once, by its number; totals
//! only grow and are written before they are sent; nothing is issued while no tick was heard for
//! [`SILENCE_STOPS_ISSUING_MS`].
//!
//! Not here: who is let in (`room`), the order (`draw`), signing (`shared-token`).

mod admission;
mod entry;
mod hashing;
mod join;
mod memory;
mod seal;
mod session;
mod tick;

pub use entry::{Active, Entry, Issued, State};
pub use hashing::lane_of;
pub use memory::{Lane, Memory, Restored, Writes};
pub use seal::{SealRow, seal_of};
pub use tick::{Found, Needs};

/// Life of an admission token.
pub const ADMISSION_SECONDS: u64 = 120;
/// A slot outlives its token by this much, so that no clock's skew lets a token outlive its slot.
pub const SLOT_OUTLIVES_TOKEN_SECONDS: u64 = 30;
/// A lane that has not heard a tick for this long issues nothing, which bounds how late a pause can act.
pub const SILENCE_STOPS_ISSUING_MS: u64 = 5_000;
/// A lane that has not heard a tick for this long wakes the Room.
pub const SILENCE_WAKES_ROOM_MS: u64 = 3_000;
/// A fan who has not asked again for this long is gone: the page asks every 1.5 s, so this forgives six lost calls.
pub const ASK_LASTS_MS: u64 = 10_000;
/// When a waiting fan asks again.
pub const ASK_AGAIN_MS: u64 = 1_500;
/// Askers in one report: at 60,000 admissions a minute over 16 lanes a tick serves 63 of them.
pub const REPORTED_ASKERS: usize = 512;
/// How long an ended session is named: twice as long as an isolate trusts a confirmation.
pub const ENDED_NAMED_MS: u64 = 60_000;
