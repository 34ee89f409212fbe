//! The payment simulator: a payment provider in Stripe's API shape, strict where real providers are.
//!
//! Scope: payment intents with manual or automatic capture, refunds, fingerprinted idempotency, signed webhooks that
//! may be late, doubled, shuffled or lost, and a ledger that an outside sweep can compare with bookings.
//! Non-scope: customers, invoices, disputes, payouts.
//!
//! [`book`], [`intent`], [`idempotency`], [`command`] and [`webhook`] are pure: time and random bytes are arguments.
//! [`http`], [`delivery`] and [`journal`] are the host.

pub mod book;
pub mod clock;
pub mod command;
pub mod delivery;
pub mod dice;
pub mod error;
pub mod exchange;
pub mod form;
pub mod http;
pub mod idempotency;
pub mod intent;
pub mod journal;
pub mod method;
pub mod provider;
pub mod refund;
mod shown;
pub mod webhook;

pub use http::{Config, serve};
