//! The promises, checked: no seat sold twice, no seat lost, no money without a booking and no booking without money.
//!
//! `check.rs` judges, `store.rs` reads Postgres, `http.rs` asks both stores. Absent: the provider's own ledger, which
//! only an outside check can compare.

mod check;
pub mod http;
mod store;

pub use http::router;
