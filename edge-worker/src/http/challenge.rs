//! `GET …/challenge?jkt=…`: the price of a place. Stateless: nothing is stored until a fan has paid.

use edge_core::wire::Instant;
use serde::Serialize;
use shared_token::challenge::{Challenge, seal};
use shared_token::ids::{EventId, random_id};
use shared_token::thumbprint::Thumbprint;

use super::reply::Reply;
use super::{Answer, Call};
use crate::events::event_state;
use crate::problem::{Kind, Problem};
use crate::random;

/// How long a challenge may be solved: ten minutes let the slowest phone finish 32 puzzles of a high price.
const CHALLENGE_SECS: u64 = 600;
/// Number of the policy that set the price; there is none beyond the event's `pow` yet.
const POLICY_VERSION: u32 = 0;

#[derive(Serialize)]
struct Offer {
    challenge: String,
    algorithm: &'static str,
    puzzles: u8,
    difficulty: u64,
    salt: String,
    expires_at: Instant,
    server_time: Instant,
}

pub(super) async fn challenge(call: &Call<'_>, event: &EventId) -> Answer {
    let jkt = call.request.param("jkt").and_then(|text| text.parse::<Thumbprint>().ok());
    let jkt = jkt
        .ok_or_else(|| Problem::new(Kind::Malformed, "`jkt` must be the RFC 7638 thumbprint of your key."))?;
    let gate = event_state(event).gate(call).await?;
    let pow = &gate.document.config.pow;
    let salt = random::bytes()?;
    let expires_at = call.now.seconds().saturating_add(CHALLENGE_SECS);
    let challenge = Challenge {
        event: event.clone(),
        jkt,
        policy_version: POLICY_VERSION,
        puzzles: pow.puzzles,
        difficulty: pow.difficulty,
        salt,
        expires_at,
    };
    let offer = Offer {
        challenge: seal(&challenge, call.config.challenge_key.as_bytes()),
        algorithm: "sha256",
        puzzles: pow.puzzles,
        difficulty: pow.difficulty,
        // The text of 16 bytes in base64url, as for random ids.
        salt: random_id(&salt),
        expires_at: Instant(expires_at.saturating_mul(1000)),
        server_time: call.now,
    };
    Reply::json(200, &offer).try_into()
}
