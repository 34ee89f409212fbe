//! `POST …/queue`: a place in line for a key that has paid in work. Checks run cheapest first; one lane call at most.

use std::borrow::Cow;

use edge_core::wire::{Instant, Join, JoinAnswer, Phase};
use serde::{Deserialize, Serialize};
use shared_token::challenge::{self, ChallengeError};
use shared_token::ids::{EventId, Subject, random_id};
use shared_token::jwks::Jwk;
use shared_token::jws::Confirmation;
use shared_token::pow;
use shared_token::thumbprint::Thumbprint;
use shared_token::ticket::{self, Place};

use super::me::outlook_of;
use super::reply::Reply;
use super::{Answer, Call};
use crate::events::{EventState, event_state};
use crate::gate_view::GateView;
use crate::joins::{self, Known};
use crate::problem::{Kind, Problem};
use crate::random;
use crate::sessions::{heard, lane_for};
use crate::telemetry::{Counter, count};

/// A challenge of 100 characters, 64 nonces of 20, a key, and room for signals.
const BODY_BYTES: usize = 16 * 1024;

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow)]
    challenge: Cow<'a, str>,
    #[serde(borrow)]
    nonces: Vec<Cow<'a, str>>,
    jwk: Jwk,
}

#[derive(Serialize)]
struct Placed<'a> {
    ticket: &'a str,
    place: Place,
    position: Option<u64>,
    ahead_of_you: Option<u64>,
    poll_after_ms: u64,
    server_time: Instant,
}

pub(super) async fn join(call: &Call<'_>, event: &EventId) -> Answer {
    let proof = call.proof_header()?;
    joins::limit_prefix(call)?;
    let body = call.request.body(BODY_BYTES).await?;
    let body: Body<'_> = serde_json::from_slice(&body)
        .map_err(|error| Problem::new(Kind::Malformed, format!("The body does not fit: {error}.")))?;
    let jkt = Thumbprint::of(&body.jwk);
    let state = event_state(event);
    let gate = state.gate(call).await?;
    check_phase(&gate, call.now)?;
    check_work(call, event, &jkt, &body)?;
    call.verify_proof(&proof, None, Some(&jkt))?;
    if let Some(known) = joins::known(event, &jkt, &gate.document.inc, call.now) {
        count(Counter::JoinRepeats);
        return placed(call, &state, &gate, &known, false).await;
    }
    joins::limit_key(&jkt, call.now)?;
    let sub = Subject::Key(jkt);
    let question = Join {
        identity: sub.to_string(),
        jkt: Some(jkt.to_string()),
        demoted: false,
        jti: random_id(&random::bytes()?),
    };
    let lane = lane_for(call.env, &call.config, &gate, &sub, event)?;
    count(Counter::Joins);
    let (known, created) = match heard(lane.join(question)).await? {
        JoinAnswer::Joined { place, jti, inc, issued_at, created } => {
            let claims = ticket::Claims {
                iss: call.config.issuer.clone(),
                aud: event.clone(),
                inc,
                sub,
                jti,
                iat: issued_at,
                exp: gate.document.config.closes_at.seconds(),
                cnf: Some(Confirmation { jkt }),
                place,
            };
            (Known { ticket: ticket::sign(&claims, &call.config.keys), inc: claims.inc, place }, created)
        }
        JoinAnswer::NotOpen { opens_at } => return Err(not_open(opens_at, call.now).into()),
        JoinAnswer::Closed => return Err(closed().into()),
        JoinAnswer::KeyBarred => {
            return Err(Problem::new(Kind::Denied, "This key has been barred from the event.").into());
        }
        JoinAnswer::NoEvent => {
            return Err(Problem::new(Kind::UnknownEvent, "This event is not configured here.").into());
        }
    };
    joins::remember(event, &jkt, &known, call.now);
    placed(call, &state, &gate, &known, created).await
}

/// What the isolate knows without asking; the lane's own clock has the last word.
fn check_phase(gate: &GateView, now: Instant) -> Result<(), Problem> {
    let config = &gate.document.config;
    if gate.document.phase == Phase::Closed || now >= config.closes_at {
        return Err(closed());
    }
    if gate.document.phase == Phase::Scheduled && now < config.registration_opens_at {
        return Err(not_open(config.registration_opens_at, now));
    }
    Ok(())
}

fn closed() -> Problem {
    Problem::new(Kind::RoomClosed, "The sale is over.")
}

fn not_open(opens_at: Instant, now: Instant) -> Problem {
    Problem::new(Kind::RegistrationNotOpen, "Registration has not opened yet.")
        .retry_after(opens_at.since(now).div_ceil(1000).max(1))
        .with("registration_opens_at", opens_at.to_string())
}

fn check_work(call: &Call<'_>, event: &EventId, jkt: &Thumbprint, body: &Body<'_>) -> Result<(), Problem> {
    let key = call.config.challenge_key.as_bytes();
    let challenge = challenge::open(&body.challenge, key, event, jkt, call.now.seconds()).map_err(
        |error| match error {
            ChallengeError::Expired => {
                Problem::new(Kind::ChallengeExpired, "The challenge has run out; fetch another.")
            }
            error => Problem::new(Kind::Malformed, format!("No usable challenge: {error}.")),
        },
    )?;
    let nonces: Option<Vec<u64>> = body.nonces.iter().map(|text| decimal(text)).collect();
    let nonces = nonces
        .ok_or_else(|| Problem::new(Kind::Malformed, "`nonces` must be decimal strings of 64 bits."))?;
    pow::verify(&challenge.salt, challenge.difficulty, challenge.puzzles, &nonces).map_err(|error| {
        count(Counter::WorkRefused);
        Problem::new(Kind::WorkInvalid, format!("The proof of work does not hold: {error}."))
    })
}

/// Digits only: `u64::from_str` would take a plus sign.
fn decimal(text: &str) -> Option<u64> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}

async fn placed(
    call: &Call<'_>,
    state: &EventState,
    gate: &GateView,
    known: &Known,
    created: bool,
) -> Answer {
    let position = state.position(call.env, gate, known.place).await?;
    let outlook = outlook_of(gate, position, call.now);
    let placed = Placed {
        ticket: &known.ticket,
        place: known.place,
        position,
        ahead_of_you: outlook.ahead,
        poll_after_ms: outlook.poll_after_ms,
        server_time: call.now,
    };
    let lives_secs = gate.document.config.closes_at.since(call.now) / 1000;
    let cookie = call.config.place_cookie(state.id());
    let secure = if call.config.local { "" } else { "; Secure" };
    Reply::json(if created { 201 } else { 200 }, &placed)
        .header(
            "Set-Cookie",
            format!(
                "{cookie}={}{secure}; HttpOnly; SameSite=Lax; Path=/; Max-Age={lives_secs}",
                known.ticket
            ),
        )
        .try_into()
}

#[cfg(test)]
mod tests {
    use super::decimal;

    #[test]
    fn a_nonce_is_digits() {
        assert_eq!(decimal("18446744073709551615"), Some(u64::MAX));
        for text in ["", "+1", "-1", "1e3", " 1", "18446744073709551616", "0x10"] {
            assert_eq!(decimal(text), None, "{text:?}");
        }
    }
}
