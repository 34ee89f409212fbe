//! Authority as types: a handler that takes a [`Shopper`], [`Buyer`], [`ProvenBuyer`] or [`Operator`] cannot run
//! without one.
//!
//! Invariant: this service reads no cookie, and `Authorization` only for operators. Who a fan is comes from the
//! session the edge forwards as `Fairgate-Session`, or from a DPoP proof; that the call came through the edge at
//! all is checked before any of this ([`require_edge`]), since only the edge knows revoked sessions.

mod keys;
mod operator;
mod sessions;

use axum::{
    extract::{FromRequestParts, RawPathParams, Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, header, request::Parts};
use shared_token::{
    dpop,
    ids::{EventId, Subject},
    jws::Expiry,
    keys::same_secret,
    session,
    thumbprint::Thumbprint,
};

pub use keys::{EdgeKeys, KeysError};
pub use operator::Operator;
pub use sessions::Sessions;

use crate::{
    AppState,
    problem::{Kind, Problem},
};

/// The edge's own secret.
pub const EDGE_HEADER: &str = "fairgate-edge";
/// The session, verified and forwarded by the edge, verified again here.
pub const SESSION_HEADER: &str = "fairgate-session";

/// The value of a header that must be text and stand at most once.
pub(crate) fn single<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

/// Middleware of every `/v1` route: the caller must be the edge.
pub async fn require_edge(State(state): State<AppState>, request: Request, next: Next) -> Response {
    if is_edge(&state, request.headers()) {
        next.run(request).await
    } else {
        Problem::new(Kind::EdgeRequired).into_response()
    }
}

/// Does the caller know the edge's secret?
pub fn is_edge(state: &AppState, headers: &HeaderMap) -> bool {
    let presented = single(headers, EDGE_HEADER).unwrap_or_default();
    same_secret(presented, state.config.edge_secret.expose())
}

/// A shopper with a live session of the event in the path.
#[derive(Clone, Debug)]
pub struct Shopper {
    /// The event of both the path and the session.
    pub event: EventId,
    /// Who it is, the same across sessions.
    pub subject: Subject,
    /// The session.
    pub sid: String,
    /// When the session ends unless prolonged, Unix seconds.
    pub exp: u64,
}

impl FromRequestParts<AppState> for Shopper {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        let event = path_event(parts, state).await?.ok_or(Kind::UnknownEvent)?;
        let token = single(&parts.headers, SESSION_HEADER).ok_or(Kind::AdmissionRequired)?;
        let claims = state.sessions.verify(token, state.clock.unix(), Expiry::Enforced).await?;
        if claims.aud != event {
            return Err(Kind::WrongEvent.into());
        }
        Ok(Self { event, subject: claims.sub.clone(), sid: claims.sid.clone(), exp: claims.exp })
    }
}

/// Somebody who may read their own orders and bookings: by a session, even one that has ended, or by a DPoP proof
/// alone (then the identity is the key).
#[derive(Clone, Debug)]
pub struct Buyer {
    /// Who it is.
    pub subject: Subject,
    /// The event of the session; none for a proof alone.
    pub event: Option<EventId>,
    /// The session, even one that has ended; none for a proof alone.
    pub sid: Option<String>,
}

impl FromRequestParts<AppState> for Buyer {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        match buyer_session(parts, state).await? {
            Some((_, claims)) => Ok(Self {
                subject: claims.sub.clone(),
                event: Some(claims.aud.clone()),
                sid: Some(claims.sid.clone()),
            }),
            None => {
                let jkt = verify_proof(parts, state, None)?;
                Ok(Self { subject: Subject::Key(jkt), event: None, sid: None })
            }
        }
    }
}

/// A [`Buyer`] who has shown, for this very request, possession of the key: what cancelling a booking takes.
///
/// A fan without JavaScript has no key (`form:` subjects); for them the session has to do.
#[derive(Clone, Debug)]
pub struct ProvenBuyer {
    /// Who it is.
    pub subject: Subject,
}

impl FromRequestParts<AppState> for ProvenBuyer {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        match buyer_session(parts, state).await? {
            Some((token, claims)) => {
                if let Some(confirmation) = &claims.cnf {
                    verify_proof(parts, state, Some((&token, &confirmation.jkt)))?;
                }
                Ok(Self { subject: claims.sub.clone() })
            }
            None => Ok(Self { subject: Subject::Key(verify_proof(parts, state, None)?) }),
        }
    }
}

async fn buyer_session(
    parts: &mut Parts,
    state: &AppState,
) -> Result<Option<(String, std::sync::Arc<session::Claims>)>, Problem> {
    let event = path_event(parts, state).await?;
    let Some(token) = single(&parts.headers, SESSION_HEADER).map(str::to_owned) else { return Ok(None) };
    let claims = state.sessions.verify(&token, state.clock.unix(), Expiry::Ignored).await?;
    if event.is_some_and(|event| event != claims.aud) {
        return Err(Kind::WrongEvent.into());
    }
    Ok(Some((token, claims)))
}

/// Verifies the request's proof; one sent along with a session must be for that very token (`ath`) and by its key.
fn verify_proof(
    parts: &Parts,
    state: &AppState,
    session: Option<(&str, &Thumbprint)>,
) -> Result<Thumbprint, Problem> {
    let now = state.clock.unix();
    let refused = || {
        Problem::new(Kind::ProofOfPossessionFailed)
            .with("server_time", state.clock.now().to_rfc3339_opts(chrono::SecondsFormat::Secs, true))
    };
    let proof = single(&parts.headers, "dpop").ok_or_else(refused)?;
    let path = parts.uri.path();
    let urls: Vec<String> =
        state.config.public_origins.iter().map(|o| format!("{}{path}", o.trim_end_matches('/'))).collect();
    let candidates: Vec<&str> = urls.iter().map(String::as_str).collect();
    let expected = dpop::Expected {
        method: parts.method.as_str(),
        url_candidates: &candidates,
        now,
        max_age: dpop::MAX_AGE_SECS,
        access_token: session.map(|(token, _)| token),
        jkt: session.map(|(_, jkt)| jkt),
    };
    match dpop::verify(proof, &expected) {
        Ok(proof) => Ok(proof.jkt),
        Err(error) => {
            tracing::info!(%error, "proof refused");
            Err(refused())
        }
    }
}

/// The `{event}` of the matched route, if the route has one.
async fn path_event(parts: &mut Parts, state: &AppState) -> Result<Option<EventId>, Problem> {
    let params = RawPathParams::from_request_parts(parts, state).await.map_err(|_| Kind::Malformed)?;
    match params.iter().find(|(name, _)| *name == "event") {
        Some((_, text)) => text.parse().map(Some).map_err(|_| Kind::UnknownEvent.into()),
        None => Ok(None),
    }
}

/// The token of `Authorization: Bearer`.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = single(headers, header::AUTHORIZATION.as_str())?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}
