//! `POST …/session` burns an admission token for a session; `DELETE` ends it.

use edge_core::wire::{Ending, Instant, Redeem, RedeemAnswer};
use serde::Serialize;
use shared_token::ids::EventId;
use shared_token::jws::{Expected, TokenError};
use shared_token::{admission, session};

use super::gate::presented;
use super::reply::Reply;
use super::{Answer, Call};
use crate::events::event_state;
use crate::gate_view::GateView;
use crate::joins;
use crate::problem::{Kind, Problem};
use crate::sessions::{Session, heard, lane_for};

#[derive(Serialize)]
struct Entered<'a> {
    session_token: &'a str,
    expires_at: Instant,
    server_time: Instant,
}

pub(super) async fn enter(call: &Call<'_>, event: &EventId) -> Answer {
    let token = call.request.header("X-Admission-Token").ok_or_else(|| unusable("it is missing"))?;
    let proof = call.proof_header()?;
    let gate = event_state(event).gate(call).await?;
    let claims = admission_claims(call, event, &gate, &token)?;
    let jkt = claims.cnf.as_ref().map(|cnf| cnf.jkt);
    let jkt = jkt.ok_or_else(|| Problem::new(Kind::ProofFailed, "This admission token names no key."))?;
    call.verify_proof(&proof, None, Some(&jkt))?;
    let lane = lane_for(call.env, &call.config, &gate, &claims.sub, event)?;
    let question =
        Redeem { identity: claims.sub.to_string(), jti: claims.jti.clone(), jkt: Some(jkt.to_string()) };
    match heard(lane.redeem(question)).await? {
        RedeemAnswer::Admitted { sid, batch, iat, exp, created } => {
            let session = session::Claims {
                iss: claims.iss,
                aud: claims.aud,
                inc: claims.inc,
                sub: claims.sub,
                sid,
                batch,
                iat,
                exp,
                cnf: claims.cnf,
            };
            joins::forget(event, &jkt);
            entered(call, session, created)
        }
        RedeemAnswer::Used => {
            Err(Problem::new(Kind::AdmissionUsed, "This admission token has been used.").into())
        }
        RedeemAnswer::Expired => Err(unusable(TokenError::Expired).into()),
    }
}

/// The claims of the token presented. Its `exp` is the lane's to judge: a fan whose answer was lost may ask again for
/// the session the token opened, which lives longer than the token.
fn admission_claims(
    call: &Call<'_>,
    event: &EventId,
    gate: &GateView,
    token: &str,
) -> Result<admission::Claims, Problem> {
    let expected = Expected { iss: &call.config.issuer, aud: event, now: call.now.seconds() };
    let verified =
        admission::verify_even_expired(token, call.config.keys.key_set(), &expected).map_err(unusable)?;
    if verified.inc != gate.document.inc {
        return Err(unusable("the event was created anew since"));
    }
    Ok(verified.into_claims())
}

fn unusable(why: impl std::fmt::Display) -> Problem {
    Problem::new(Kind::AdmissionInvalid, format!("No usable admission token: {why}."))
}

fn entered(call: &Call<'_>, claims: session::Claims, created: bool) -> Answer {
    let token = session::sign(&claims, &call.config.keys);
    let entered = Entered {
        session_token: &token,
        expires_at: Instant(claims.exp.saturating_mul(1000)),
        server_time: call.now,
    };
    let reply = Reply::json(if created { 201 } else { 200 }, &entered)
        .header("Set-Cookie", call.session_cookie(claims.aud.as_str(), &token));
    Session::remember(&token, claims, call.now.0);
    reply.try_into()
}

impl Call<'_> {
    /// The cookie that carries a session. Lax: a click from an e-mail arrives with it.
    pub(crate) fn session_cookie(&self, event: &str, token: &str) -> String {
        let name = self.config.session_cookie(event);
        let secure = if self.config.local { "" } else { " Secure;" };
        format!("{name}={token};{secure} HttpOnly; SameSite=Lax; Path=/")
    }
}

pub(super) async fn leave(call: &Call<'_>, event: &EventId) -> Answer {
    let gate = event_state(event).gate(call).await?;
    let session = presented(call, event)
        .ok_or_else(|| Problem::new(Kind::AdmissionRequired, "There is no session of this event to end."))?;
    // A session of an earlier incarnation has nothing left to end.
    if session.claims.inc == gate.document.inc {
        session.end(call.env, &call.config, &gate, Ending::Left).await?;
        if let Some(cnf) = &session.claims.cnf {
            joins::forget(event, &cnf.jkt);
        }
    }
    Reply::empty(204).header("Cache-Control", "no-store").try_into()
}
