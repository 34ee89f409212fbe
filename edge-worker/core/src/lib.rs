//! The rules of the edge, without I/O.
//!
//! Scope: everything the waiting room decides. `wire` holds what crosses a border (operators' configuration,
//! published documents, the calls between Worker, `Room` and `Lane`), `draw` the verifiable order, `room` and `lane`
//! the two state machines. Time and random bytes are arguments, so the same code runs in an object at the edge, in a
//! unit test and in a simulation that loses, repeats and reorders every message.
//!
//! Not here: storage, HTTP, cryptographic tokens (`shared-token`), clocks.
#![forbid(unsafe_code)]

pub mod draw;
pub mod gate;
pub mod lane;
pub mod room;
pub mod wire;
