//! `GET …/queue/me`: where a fan stands, computed from the ticket and published documents. Reaches no lane.

use std::rc::Rc;

use edge_core::gate::{Eta, Outlook, Scene, outlook};
use edge_core::wire::{Instant, Phase};
use serde::Serialize;
use shared_token::ids::EventId;
use shared_token::ticket::Claims;

use super::reply::Reply;
use super::{Answer, Call};
use crate::events::event_state;
use crate::gate_view::GateView;
use crate::problem::{Kind, Problem};
use crate::sessions::verify_ticket;

#[derive(Serialize)]
struct Standing {
    phase: Phase,
    position: Option<u64>,
    ahead_of_you: Option<u64>,
    eta: Option<Eta>,
    may_ask: bool,
    poll_after_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    server_time: Instant,
}

pub(super) async fn me(call: &Call<'_>, event: &EventId) -> Answer {
    let token = call.request.credential(&["bearer", "dpop"]).ok_or_else(|| no_ticket("it is missing"))?;
    let state = event_state(event);
    let gate = state.gate(call).await?;
    let ticket = ticket(call, event, &gate, &token)?;
    let position = state.position(call.env, &gate, ticket.place).await?;
    let outlook = outlook_of(&gate, position, call.now);
    let reason = match gate.document.phase {
        Phase::Drawing => Some("drawing"),
        Phase::Paused => Some("paused"),
        Phase::ReturnsOnly => Some("returns_only"),
        Phase::SoldOut => Some("sold_out"),
        Phase::Closed => Some("closed"),
        Phase::Scheduled | Phase::Registration | Phase::Open => None,
    };
    let standing = Standing {
        phase: gate.document.phase,
        position,
        ahead_of_you: outlook.ahead,
        eta: outlook.eta,
        may_ask: outlook.may_ask,
        poll_after_ms: outlook.poll_after_ms,
        reason,
        server_time: call.now,
    };
    let wait_secs = outlook.poll_after_ms.div_ceil(1000);
    Reply::json(200, &standing).header("Retry-After", wait_secs.to_string()).try_into()
}

/// What this fan is told about waiting.
pub(super) fn outlook_of(gate: &GateView, position: Option<u64>, now: Instant) -> Outlook {
    let document = &gate.document;
    let scene = Scene {
        phase: document.phase,
        onsale_at: document.config.onsale_at,
        serving: document.serving,
        admitted_per_minute: document.admitted_per_minute,
        rate_limit_per_minute: document.config.admission.new_users_per_minute,
    };
    outlook(&scene, position, now)
}

/// The ticket presented, if it is one of this event as it stands. It counts until the event closes, which may have been
/// moved since it was signed.
pub(super) fn ticket(
    call: &Call<'_>,
    event: &EventId,
    gate: &GateView,
    token: &str,
) -> Result<Rc<Claims>, Problem> {
    let ticket = verify_ticket(token, &call.config, event, call.now.seconds()).map_err(no_ticket)?;
    if ticket.inc != gate.document.inc {
        return Err(no_ticket("the event was created anew since"));
    }
    if call.now >= gate.document.config.closes_at {
        return Err(Problem::new(Kind::RoomClosed, "The sale is over."));
    }
    Ok(ticket)
}

fn no_ticket(why: impl std::fmt::Display) -> Problem {
    Problem::new(Kind::TicketInvalid, format!("No usable ticket: {why}."))
}
