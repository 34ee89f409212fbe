//! Fairgate's origin: the catalogue, seats, holds, orders and bookings of an event, behind the edge.
//!
//! Scope: sells each seat at most once, whatever fails. Postgres is the truth about what is sold and the ledger of
//! everything else; Redis is the fast path of holds. Not in scope: who may enter (the edge decides; this service
//! verifies its sessions) and rendering pages.
//!
//! Each domain is a module with `router()`, pure types, and its SQL in `store.rs`. `lib.rs` only composes them.

pub mod admitted;
pub mod body;
pub mod bookings;
pub mod clock;
pub mod config;
pub mod db;
pub mod events;
pub mod holds;
pub mod idempotency;
pub mod ids;
pub mod invariants;
pub mod jobs;
pub mod openapi;
pub mod orders;
pub mod outward;
pub mod payments;
pub mod pressure;
pub mod problem;
pub mod seat_map;
pub mod seating;
pub mod serve;
pub mod service;
pub mod telemetry;

pub use serve::serve;
pub use service::{AppState, router};
