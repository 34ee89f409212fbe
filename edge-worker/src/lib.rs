//! The edge Worker: the waiting room and the gate in front of a booking service.
//!
//! Scope: I/O around the rules of `edge-core`: requests and answers (`http`), the objects' shells and the calls to them
//! (`objects`), the calls to an origin (`origin`), what one isolate remembers (`events`, `sessions`, `joins`, `copied`).
//!
//! Not here: rules. Who is next, which route is protected and whether a session still shops are decided in `edge-core`;
//! tokens and proofs are checked in `shared-token`.
//!
//! Invariant: no state is about one request. What outlives a handler is keyed by event, token or key, so two requests
//! in one isolate cannot meet each other's answers.

mod clock;
mod config;
mod copied;
mod events;
mod http;
mod joins;
mod objects;
mod origin;
mod problem;
mod random;
mod sessions;
mod telemetry;

use worker::{Context, Env, event};

/// Every request enters here. The macro stands in this file alone: its word `event` is not ours.
#[event(fetch)]
async fn fetch(request: web_sys::Request, env: Env, _context: Context) -> worker::Result<web_sys::Response> {
    Ok(http::respond(request, &env).await?)
}
