//! Payments: the provider's adapter, money, and the provider's webhooks.
//!
//! Invariants: no call to a provider inside a transaction; an intent's id is stored before it is confirmed; the
//! outcome of a command that was not answered is read, never guessed and never learned by sending it again. Absent:
//! what an outcome means for an order (`orders/`).

pub mod http;
pub mod jobs;
pub mod money;
pub mod provider;
pub mod signature;
pub mod store;

pub use http::router;
pub use money::{Currency, Money};
pub use provider::{
    Authorization, CallError, CreatedIntent, IntentId, IntentView, NewIntent, RefundView, Released, Stripe,
    Taken,
};
