//! Holds: a shopper keeps seats for a while, all or none, within a cap.
//!
//! The engine decides (`engine/`), HTTP asks (`http.rs`), Postgres remembers (`store.rs`, `ledger.rs`). An order takes
//! over a hold by a claim, which has no timer; the seats are then either sold or given back.

pub(crate) mod alternatives;
pub mod engine;
mod hold;
pub mod http;
pub mod ledger;
pub mod store;

pub use engine::{Engine, Sale};
pub use hold::{
    Claim, EngineError, ExtendOutcome, Held, HeldSeat, Hold, HoldOutcome, HoldRequest, HoldState,
    ReleaseOutcome, SeatVersion, Unclaimed,
};
pub use http::router;
