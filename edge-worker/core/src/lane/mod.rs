//! A lane: the share of an event's fans whose identities hash to it.
//!
//! Scope: places, asks, admission tokens and sessions of those fans.

mod hashing;

pub use hashing::lane_of;
