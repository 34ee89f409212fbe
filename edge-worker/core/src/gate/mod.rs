//! What the Worker decides in front of everything else, without I/O.
//!
//! Scope: which route a request meets (`routes`), what a client sent that must never break us (`cookies`,
//! `return_to`, `address`), what an isolate may remember and for how long (`recent`, `rate`, `freshness`, `copies`), whether a
//! verified session shops now (`standing`), and how a fan is told to poll (`polling`).
//!
//! Not here: signatures and proofs (`shared-token`), requests, responses, clocks. The unit of time is stated by each
//! name: `_ms` for an isolate's own bookkeeping, seconds for token claims.

mod address;
mod cookies;
mod copies;
mod freshness;
mod polling;
mod rate;
mod recent;
mod return_to;
mod routes;
mod standing;

pub use address::{ClientAddress, Prefix};
pub use cookies::cookie;
pub use copies::Copy;
pub use freshness::{ADMIT_MAX_AGE_MS, Freshness, ROUTES_MAX_AGE_MS, Use};
pub use polling::{Eta, Outlook, Scene, outlook};
pub use rate::RateLimiter;
pub use recent::Recent;
pub use return_to::{own_target, percent_encode};
pub use routes::{RouteTable, Rule, glob, plain_path};
pub use standing::{Sighting, Standing, standing};
