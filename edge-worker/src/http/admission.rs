//! `POST …/admission`: may I come in now? Only an invited fan reaches a lane.

use edge_core::wire::{Ask, AskAnswer, Instant, Phase};
use serde::Serialize;
use shared_token::admission::{self, Claims};
use shared_token::ids::EventId;
use shared_token::ticket;

use super::me::{outlook_of, ticket};
use super::reply::Reply;
use super::{Answer, Call};
use crate::events::event_state;
use crate::problem::{Kind, Problem};
use crate::sessions::{heard, lane_for};

#[derive(Serialize)]
struct Wait {
    position: Option<u64>,
    poll_after_ms: u64,
    server_time: Instant,
}

#[derive(Serialize)]
struct Granted {
    admission_token: String,
    expires_at: Instant,
    server_time: Instant,
}

pub(super) async fn ask(call: &Call<'_>, event: &EventId) -> Answer {
    let token = call.request.credential(&["dpop", "bearer"]);
    let token =
        token.ok_or_else(|| Problem::new(Kind::TicketInvalid, "Send `Authorization: DPoP <ticket>`."))?;
    let proof = call.proof_header()?;
    let state = event_state(event);
    let gate = state.gate(call).await?;
    let ticket = ticket(call, event, &gate, &token)?;
    // A fan without JavaScript has no key and is admitted by another way.
    let jkt = ticket.cnf.as_ref().map(|cnf| cnf.jkt);
    let jkt = jkt.ok_or_else(|| Problem::new(Kind::ProofFailed, "This ticket names no key."))?;
    call.verify_proof(&proof, Some(&token), Some(&jkt))?;
    if gate.document.phase == Phase::Closed {
        return Err(closed().into());
    }
    let position = state.position(call.env, &gate, ticket.place).await?;
    let invited = position.filter(|position| *position < gate.document.serving);
    let Some(invited) = invited else {
        return match gate.document.phase {
            Phase::SoldOut => Err(sold_out().into()),
            _ => wait(call, position, outlook_of(&gate, position, call.now).poll_after_ms),
        };
    };
    let question = Ask {
        identity: ticket.sub.to_string(),
        jti: ticket.jti.clone(),
        jkt: Some(jkt.to_string()),
        position: invited,
    };
    let lane = lane_for(call.env, &call.config, &gate, &ticket.sub, event)?;
    match heard(lane.ask(question)).await? {
        AskAnswer::Wait { poll_after_ms } => wait(call, position, poll_after_ms),
        AskAnswer::Granted { jti, iat, exp } => granted(call, &ticket, jti, iat, exp),
        AskAnswer::AlreadyAdmitted => refuse(Kind::AlreadyAdmitted, "This place has a live session."),
        AskAnswer::PlaceMoved => refuse(Kind::PlaceMoved, "This place was moved to another key."),
        AskAnswer::PlaceSpent => {
            refuse(Kind::PlaceSpent, "This place has been used; join again for a new one.")
        }
        AskAnswer::SoldOut => Err(sold_out().into()),
        AskAnswer::Closed => Err(closed().into()),
        AskAnswer::Unknown => refuse(Kind::TicketInvalid, "The line does not know this place; join again."),
    }
}

fn refuse(kind: Kind, detail: &'static str) -> Answer {
    Err(Problem::new(kind, detail).into())
}

fn closed() -> Problem {
    Problem::new(Kind::RoomClosed, "The sale is over.")
}

fn sold_out() -> Problem {
    Problem::new(Kind::SoldOut, "Everything is sold.")
}

fn wait(call: &Call<'_>, position: Option<u64>, poll_after_ms: u64) -> Answer {
    let wait = Wait { position, poll_after_ms, server_time: call.now };
    Reply::json(202, &wait).header("Retry-After", poll_after_ms.div_ceil(1000).to_string()).try_into()
}

/// Signing is deterministic: the same grant is the same token, whoever asks again wherever.
fn granted(call: &Call<'_>, ticket: &ticket::Claims, jti: String, iat: u64, exp: u64) -> Answer {
    let claims = Claims {
        iss: call.config.issuer.clone(),
        aud: ticket.aud.clone(),
        inc: ticket.inc.clone(),
        sub: ticket.sub.clone(),
        jti,
        iat,
        nbf: iat,
        exp,
        cnf: ticket.cnf.clone(),
    };
    let granted = Granted {
        admission_token: admission::sign(&claims, &call.config.keys),
        expires_at: Instant(exp.saturating_mul(1000)),
        server_time: call.now,
    };
    Reply::json(200, &granted).try_into()
}
