//! The Durable Objects and the typed calls to them.
//!
//! An object file is a shell: decode the command, let `edge-core` decide, write, reply. Rules live in `edge-core`.

pub(crate) mod client;

pub(crate) use client::{CallError, LaneClient, RoomClient};
