//! The gate: every request of an event that no endpoint of ours answers.
//!
//! A protected route needs a live session, and a write a proof by its key; other routes carry along whatever session
//! is correctly signed. Turning somebody away costs no call and no JSON.

use std::rc::Rc;

use edge_core::gate::{Rule, Standing, cookie, percent_encode};
use edge_core::wire::Proof;
use shared_token::ids::EventId;
use wasm_bindgen::JsValue;

use super::prepared::Prepared;
use super::reply::Reply;
use super::{Answer, Call, cors};
use crate::clock;
use crate::events::event_state;
use crate::gate_view::GateView;
use crate::origin;
use crate::problem::{Kind, Problem};
use crate::sessions::Session;
use crate::telemetry::{Counter, count};

/// What a page of another origin may do on routes the origin owns.
pub(super) const FORWARDED_METHODS: &str = "GET, HEAD, POST, PUT, PATCH, DELETE";

pub(super) async fn pass(call: &Call<'_>, event: &EventId) -> Answer {
    if is_preflight(call) {
        return cors::preflight(FORWARDED_METHODS);
    }
    let state = event_state(event);
    let gate = match state.gate_at_hand(call.now.0) {
        Some(gate) => Some(gate),
        None => state.routes_if_any(call).await?,
    };
    let session = presented(call, event);
    // An event only the origin knows has no room and nothing to protect. It may have had one: a fan who bought then
    // still reads that order, by a session that ended.
    let Some(gate) = gate else {
        let session = session.filter(|_| matches!(call.request.method(), "GET" | "HEAD"));
        return origin::forward(call, &call.config.origin, session.as_deref()).await;
    };
    match gate.routes.rule(call.request.method(), call.request.path()) {
        Rule::Open => origin::forward_for(call, &gate, session.as_deref()).await,
        Rule::Session { proof } => {
            let Some(session) = session else { return turn_away(call, event, &gate) };
            if !shops(call, &gate, &session).await? {
                return turn_away(call, event, &gate);
            }
            if proof == Proof::Dpop && !matches!(call.request.method(), "GET" | "HEAD") {
                let jkt = session.claims.cnf.as_ref().map(|cnf| cnf.jkt);
                let jkt = jkt.ok_or_else(|| Problem::new(Kind::ProofFailed, "This session names no key."))?;
                call.fresh_proof(&session.token, &jkt)?;
            }
            count(Counter::GatePassed);
            origin::forward_for(call, &gate, Some(&session)).await
        }
    }
}

/// Whether this is a browser asking what a page of another origin may do.
pub(super) fn is_preflight(call: &Call<'_>) -> bool {
    call.request.method() == "OPTIONS" && call.request.header("Access-Control-Request-Method").is_some()
}

/// The session of this event that the request carries, in `Authorization` or in the event's cookie. Correctly signed;
/// whether it lives is another question.
pub(super) fn presented(call: &Call<'_>, event: &EventId) -> Option<Rc<Session>> {
    let of_event = |token: &str| {
        let session = Session::verify(token, &call.config, call.now.0).ok()?;
        (session.claims.aud == *event).then_some(session)
    };
    let bearer = call.request.credential(&["bearer", "dpop"]);
    bearer.and_then(|token| of_event(&token)).or_else(|| {
        let cookies = call.request.header("Cookie")?;
        of_event(cookie(&cookies, &call.config.session_cookie(event.as_str()))?)
    })
}

/// Whether the session's holder is shopping now, by its lane's word of the last half minute. Now is later than the
/// request's arrival if the gate's view had to be waited for.
async fn shops(call: &Call<'_>, gate: &GateView, session: &Session) -> Result<bool, Problem> {
    let now_ms = clock::now().0;
    match session.standing(gate, now_ms) {
        Standing::Shopping => Ok(true),
        Standing::Confirm => session.confirm(call.env, &call.config, gate, now_ms).await,
        Standing::Ended | Standing::Expired => Ok(false),
    }
}

/// A browser on its way to a page goes to the waiting room and comes back; everything else is told.
fn turn_away(call: &Call<'_>, event: &EventId, gate: &GateView) -> Answer {
    count(Counter::GateRefused);
    if !navigates(call) {
        return Ok(gate.refusal(|| refusal(event))?.respond(call.request.method(), None)?);
    }
    let room = waiting_room(event);
    let reads = matches!(call.request.method(), "GET" | "HEAD");
    // A form cannot be sent again by a redirect, so its address is no place to return to.
    let target =
        if reads { format!("{room}&return_to={}", percent_encode(call.request.target())) } else { room };
    Reply::empty(302).header("Location", target).header("Cache-Control", "no-store").try_into()
}

fn waiting_room(event: &EventId) -> String {
    format!("/waiting-room?event={event}")
}

fn refusal(event: &EventId) -> Result<Prepared, JsValue> {
    let problem = Problem::new(Kind::AdmissionRequired, "This needs a live session of the event.")
        .with("waiting_room", waiting_room(event));
    problem.prepared()
}

fn navigates(call: &Call<'_>) -> bool {
    match call.request.header("Sec-Fetch-Mode") {
        Some(mode) => mode == "navigate",
        None => {
            let accepts_page =
                call.request.header("Accept").is_some_and(|accept| accept.contains("text/html"));
            accepts_page && matches!(call.request.method(), "GET" | "HEAD")
        }
    }
}
