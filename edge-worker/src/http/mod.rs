//! From a request to its answer: the router and one file per endpoint.
//!
//! Paths are matched by hand, most travelled first. What a handler needs is in [`Call`]; what it refuses is a
//! [`Problem`].

mod admin;
mod admission;
mod catalogue;
mod challenge;
mod cors;
mod embedded;
mod gate;
mod health;
mod me;
mod metrics;
pub(crate) mod prepared;
mod problems;
mod proof;
mod queue;
mod records;
pub(crate) mod reply;
pub(crate) mod request;
mod room;
mod session;

use std::rc::Rc;

use edge_core::gate::{Copy, plain_path};
use edge_core::wire::Instant;
use shared_token::ids::EventId;
use wasm_bindgen::JsValue;
use web_sys::Response;
use worker::Env;

use crate::clock;
use crate::config::{self, Config};
use crate::problem::{Kind, Problem};
use crate::telemetry::{Counter, count, log};
use reply::Reply;
use request::Incoming;

/// Everything a handler works with.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    /// Bindings.
    pub(crate) env: &'a Env,
    /// The deployment.
    pub(crate) config: Rc<Config>,
    /// What was sent.
    pub(crate) request: Incoming,
    /// When it arrived.
    pub(crate) now: Instant,
}

/// Why a handler has no answer of its own.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A refusal the client is told about.
    Refused(Problem),
    /// The runtime threw. The client is told nothing, the log everything.
    Threw(JsValue),
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::Refused(problem)
    }
}

impl From<JsValue> for Failure {
    fn from(thrown: JsValue) -> Self {
        Self::Threw(thrown)
    }
}

/// What a handler gives.
pub(crate) type Answer = Result<Response, Failure>;

impl TryFrom<Reply> for Response {
    type Error = Failure;

    fn try_from(reply: Reply) -> Result<Self, Failure> {
        reply.into_response().map_err(Failure::Threw)
    }
}

/// Answers one request, whatever happens.
pub(crate) async fn respond(raw: web_sys::Request, env: Env) -> Result<Response, JsValue> {
    count(Counter::Requests);
    let now = clock::now();
    let config = match config::config(&env) {
        Ok(config) => config,
        Err(error) => {
            log("misconfigured", &error);
            return Problem::new(Kind::Internal, "The edge is not configured.").reply(now).into_response();
        }
    };
    let call = Call { env: &env, config, request: Incoming::new(raw), now };
    let answer = match route(&call).await {
        Ok(response) => response,
        Err(Failure::Refused(problem)) => {
            if problem.kind() == Kind::ProofFailed {
                count(Counter::ProofsRefused);
            }
            problem.reply(now).into_response()?
        }
        Err(Failure::Threw(thrown)) => {
            count(Counter::Failures);
            log("threw", &format!("{thrown:?} at {}", call.request.path()));
            Problem::new(Kind::Internal, "The edge failed to handle this request.")
                .reply(now)
                .into_response()?
        }
    };
    cors::open_to_our_origins(&call, answer)
}

async fn route(call: &Call<'_>) -> Answer {
    let path = call.request.path();
    if let Some(rest) = path.strip_prefix("/v1/events/") {
        let (event, tail) = rest.split_once('/').unwrap_or((rest, ""));
        // An id in another spelling is another event to us and might be the same to an origin: refused.
        return match event.parse::<EventId>() {
            Ok(event) => route_event(call, &event, tail).await,
            Err(_) if event.is_empty() => catalogue::other(call).await,
            Err(_) => Err(Problem::new(Kind::UnknownEvent, "This is not an event id.").into()),
        };
    }
    match path {
        "/healthz" => allow(call, "GET, HEAD", async |_| health::healthz()).await,
        "/.well-known/jwks.json" => allow(call, "GET, HEAD", health::jwks).await,
        "/metrics" => allow(call, "GET, HEAD", metrics::metrics).await,
        "/v1" => catalogue::other(call).await,
        _ if path.starts_with("/v1/") => catalogue::other(call).await,
        _ if path.starts_with("/assets/") => {
            allow(call, "GET, HEAD", async |call| embedded::file(call)).await
        }
        _ if embedded::is_page(path) => allow(call, "GET, HEAD", async |call| embedded::page(call)).await,
        _ => route_rest(call, path).await,
    }
}

async fn route_event(call: &Call<'_>, event: &EventId, tail: &str) -> Answer {
    match tail {
        "room" => allow(call, "GET, HEAD", async |call| room::room(call, event).await).await,
        "queue/me" => allow(call, "GET, HEAD", async |call| me::me(call, event).await).await,
        "seatmap" => catalogue::copied(call, event, Copy::Map).await,
        "seatmap/changes" => catalogue::copied(call, event, Copy::Changes).await,
        "layout" => catalogue::copied(call, event, Copy::Layout).await,
        "admission" => allow(call, "POST", async |call| admission::ask(call, event).await).await,
        "challenge" => allow(call, "GET, HEAD", async |call| challenge::challenge(call, event).await).await,
        "queue" => allow(call, "POST", async |call| queue::join(call, event).await).await,
        "session" if call.request.method() == "DELETE" => session::leave(call, event).await,
        "session" => allow(call, "POST, DELETE", async |call| session::enter(call, event).await).await,
        "draw" => allow(call, "GET, HEAD", async |call| records::draw(call, event).await).await,
        _ => match tail.strip_prefix("batches/") {
            Some(n) => allow(call, "GET, HEAD", async |call| records::batch(call, event, n).await).await,
            None if tail.starts_with("layout/") => catalogue::copied(call, event, Copy::Layout).await,
            None => gate::pass(call, event).await,
        },
    }
}

async fn route_rest(call: &Call<'_>, path: &str) -> Answer {
    if let Some(slug) = path.strip_prefix("/problems/") {
        return allow(call, "GET, HEAD", async |call| problems::explain(call, slug).await).await;
    }
    match path.strip_prefix("/admin/v1/events/") {
        Some(rest) => admin::route(call, rest).await,
        None => Err(not_found()),
    }
}

/// Runs the handler if the method is one of `methods`; answers a preflight or refuses otherwise.
async fn allow(
    call: &Call<'_>,
    methods: &'static str,
    handler: impl AsyncFnOnce(&Call<'_>) -> Answer,
) -> Answer {
    let method = call.request.method();
    if methods.split(", ").any(|allowed| allowed == method) {
        return handler(call).await;
    }
    if method == "OPTIONS" {
        return cors::preflight(methods);
    }
    Err(Problem::method_not_allowed(methods).into())
}

/// 404 for an address nobody serves.
pub(crate) fn not_found() -> Failure {
    Problem::new(Kind::NotFound, "The edge serves nothing at this address.").into()
}

/// Whether an origin would surely read this path as we do: what a lenient server might decode into another
/// event's, or into `/admin`, never leaves.
pub(crate) fn reads_the_same(path: &str) -> bool {
    let plain = plain_path(path);
    let head = |path: &str| path.split('/').take(4).map(str::to_owned).collect::<Vec<_>>();
    plain == path || (plain.starts_with("/v1/") && head(&plain) == head(path))
}

#[cfg(test)]
mod tests {
    use super::reads_the_same;

    #[test]
    fn no_spelling_leads_to_another_event_or_to_admin() {
        for path in ["/v1/events/e/holds", "/v1/events/e/%68olds", "/v1/events", "/v1/events/e/a//b"] {
            assert!(reads_the_same(path), "{path}");
        }
        for path in [
            "/v1/%65vents/e/holds",
            "/v1//events/e/holds",
            "/v1/..%2fadmin/v1/events",
            "/v1/x/..%2F..%2F..%2Finternal",
            "/v1/events/%65/holds",
            "/v1/events/a/..%2fb/holds",
            "/v1\\admin",
        ] {
            assert!(!reads_the_same(path), "{path}");
        }
    }
}
