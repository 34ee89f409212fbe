//! The invariants and support's claims over HTTP, for operators.

use std::time::Duration;

use axum::{
    Json, Router,
    extract::{Path, State},
    response::{IntoResponse, Response},
    routing::get,
};
use serde::Serialize;
use utoipa::{OpenApi, ToSchema};

use super::{
    check::{self, Invariants, Ledger, Shown},
    store::{self, SupportClaim},
};
use crate::{
    AppState,
    admitted::Operator,
    ids::EventId,
    problem::{Kind, Refusal},
};

/// The stores are read one after the other while sales go on; what differs for this many looks in a row is wrong.
const LOOKS: u32 = 5;
const LOOK_PAUSE: Duration = Duration::from_millis(200);
/// Claims of one answer.
const CLAIMS_MAX: i64 = 1000;

/// This domain's part of the OpenAPI document.
#[derive(OpenApi)]
#[openapi(paths(invariants, claims))]
pub struct Docs;

/// Operators' routes.
pub fn router() -> Router<AppState> {
    Router::new()
        .route("/admin/v1/events/{event}/invariants", get(invariants))
        .route("/admin/v1/claims", get(claims))
}

/// Checks an event's promises now.
#[utoipa::path(get, path = "/admin/v1/events/{event}/invariants", tag = "operators", params(("event" = String, Path)),
    responses((status = 200, body = Invariants), (status = 404, description = "unknown-event")))]
async fn invariants(
    State(state): State<AppState>,
    _: Operator,
    Path(event): Path<String>,
) -> Refusal<Response> {
    let event: EventId = event.parse().map_err(|_| Kind::UnknownEvent)?;
    for _ in 1..LOOKS {
        let (ledger, shown) = look(&state, &event).await?;
        let verdict = check::judge(ledger, shown.as_ref());
        if verdict.ok {
            return Ok(Json(verdict).into_response());
        }
        tokio::time::sleep(LOOK_PAUSE).await;
    }
    let (ledger, shown) = look(&state, &event).await?;
    Ok(Json(check::judge(ledger, shown.as_ref())).into_response())
}

async fn look(state: &AppState, event: &EventId) -> Refusal<(Ledger, Option<Shown>)> {
    let ledger = store::read(&state.db, event).await?.ok_or(Kind::UnknownEvent)?;
    let shown = match state.holds.read_map(event, u64::from(u32::MAX)).await {
        Ok(map) => Some(Shown { available: map.available, sold: map.sold, blocked: map.blocked }),
        Err(error) => {
            tracing::warn!(%event, %error, "the hold store could not be read");
            None
        }
    };
    Ok((ledger, shown))
}

/// A claim for support: money whose whereabouts the provider did not tell in time.
#[derive(Serialize, ToSchema)]
struct ClaimBody {
    claim_id: String,
    order_id: String,
    event: String,
    /// Minor units.
    amount: i64,
    currency: String,
    payment_ref: String,
    reason: String,
    created_at: String,
}

impl From<SupportClaim> for ClaimBody {
    fn from(claim: SupportClaim) -> Self {
        Self {
            claim_id: claim.claim_id,
            order_id: claim.order_id,
            event: claim.event_id,
            amount: claim.amount,
            currency: claim.currency,
            payment_ref: claim.payment_ref,
            reason: claim.reason,
            created_at: claim.created_at.to_rfc3339_opts(chrono::SecondsFormat::Micros, true),
        }
    }
}

#[derive(Serialize, ToSchema)]
struct ClaimsBody {
    claims: Vec<ClaimBody>,
}

/// Open claims, oldest first.
#[utoipa::path(get, path = "/admin/v1/claims", tag = "operators", responses((status = 200, body = ClaimsBody)))]
async fn claims(State(state): State<AppState>, _: Operator) -> Refusal<Response> {
    let open = store::open_claims(&state.db, CLAIMS_MAX).await?;
    Ok(Json(ClaimsBody { claims: open.into_iter().map(ClaimBody::from).collect() }).into_response())
}
