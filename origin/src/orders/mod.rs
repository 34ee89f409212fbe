//! Orders: a purchase as a saga in the database, resumable by any process.
//!
//! `order.rs` says what may happen, `next.rs` what is to be done, `drive.rs` does it, `purchase.rs` begins it for a
//! buyer and waits a while, `jobs.rs` goes on with what nobody waits for. Order of things: order row and claim row
//! durable → seats claimed → intent created and its id stored → confirmed (money held) → one transaction sells →
//! captured. A loser is voided.

mod answer;
mod drive;
mod event;
pub mod http;
pub mod jobs;
mod next;
mod order;
mod purchase;
pub(crate) mod records;
mod refunding;
mod resolve;
mod rows;
pub mod sale;
mod steps;
pub mod store;

pub use drive::drive;
pub use event::{Failure, InvalidTransition, Loss, OrderEvent};
pub use http::router;
pub use order::{Order, OrderState};
pub use store::Lease;
