//! Asking for seats.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde::Deserialize;
use utoipa::ToSchema;

use super::{seat_indices, view::HoldMade};
use crate::{
    AppState,
    admitted::Shopper,
    body::{self, FieldError},
    events::OnShelf,
    holds::{Held, HeldSeat, HoldOutcome, HoldRequest, alternatives::alternatives},
    idempotency::{IdempotencyKey, fingerprint},
    problem::{Kind, Problem, Refusal},
};

/// The largest ticket limit an event may have; no hold is larger.
const SEATS_MAX: usize = 100;
/// The edge is asked to let a session live this much longer than its hold: time to press "pay".
const SESSION_MARGIN_SECS: i64 = 60;

/// Seats to hold.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AskHold {
    seat_ids: Option<Vec<String>>,
    /// Not supported yet.
    #[schema(value_type = Option<Object>)]
    best_available: Option<serde::de::IgnoredAny>,
    /// Not supported yet.
    #[schema(value_type = Option<Object>)]
    general_admission: Option<serde::de::IgnoredAny>,
    /// Not supported yet.
    #[schema(value_type = Option<Object>)]
    stay: Option<serde::de::IgnoredAny>,
}

impl AskHold {
    fn seat_ids(self) -> Refusal<Vec<String>> {
        let others = [
            ("best_available", self.best_available.is_some()),
            ("general_admission", self.general_admission.is_some()),
            ("stay", self.stay.is_some()),
        ];
        if let Some((name, _)) = others.iter().find(|(_, given)| *given) {
            return Err(
                Problem::new(Kind::NotSupported).detail(format!("{name} holds are not supported yet"))
            );
        }
        self.seat_ids.ok_or_else(|| body::invalid(&[FieldError::new("/seat_ids", "missing")]))
    }
}

/// Holds seats, all or none.
///
/// An `Idempotency-Key` counts for this buyer, this event and this operation only: the same key at another operation
/// (a purchase, say) is another key.
#[utoipa::path(post, path = "/v1/events/{event}/holds", tag = "holds", request_body = AskHold,
    params(("event" = String, Path), ("Idempotency-Key" = String, Header)),
    responses((status = 201, description = "held; a replay carries `Idempotent-Replayed: true`", body = HoldMade),
              (status = 400, description = "idempotency-key-missing, malformed"),
              (status = 403, description = "admission-required, wrong-event, onsale-not-started"),
              (status = 404, description = "unknown-event, unknown-seats"),
              (status = 409, description = "seats-unavailable with `taken` and `alternatives`, event-not-on-sale"),
              (status = 422, description = "limit-exceeded, idempotency-key-reused, not-supported, invalid"),
              (status = 503, description = "holds-rebuilding, overloaded")))]
pub(super) async fn ask(
    shopper: Shopper,
    State(state): State<AppState>,
    key: IdempotencyKey,
    body::Json(request): body::Json<AskHold>,
) -> Refusal<Response> {
    let on_shelf = state.events.get(&shopper.event).await?.ok_or(Kind::UnknownEvent)?;
    on_shelf.event.check_on_sale(state.clock.now())?;
    let seat_ids = request.seat_ids()?;
    if seat_ids.len() > SEATS_MAX {
        // More than any event's limit, and more than one script call should take.
        let used = state.holds.used(&shopper.event, &shopper.subject.to_string()).await?;
        return Err(limit_exceeded(on_shelf.event.event_ticket_limit, used));
    }
    let indices = seat_indices(&on_shelf.plan, &seat_ids, SEATS_MAX)?;
    let outcome = state.holds.hold(&hold_request(&on_shelf, &shopper, &key, &indices)?).await;
    state.telemetry.holds.with_label_values(&["hold", word(&outcome)]).inc();
    match outcome? {
        HoldOutcome::Held(held) => Ok(made(&on_shelf, &shopper, &held)),
        HoldOutcome::SeatsTaken(taken) => Err(refuse_taken(&state, &on_shelf, &indices, &taken).await),
        HoldOutcome::LimitExceeded { limit, used } => Err(limit_exceeded(limit, used)),
        HoldOutcome::KeyReused => Err(Kind::IdempotencyKeyReused.into()),
    }
}

fn limit_exceeded(limit: u32, used: u32) -> Problem {
    Problem::new(Kind::LimitExceeded).with("limit", limit).with("used", used)
}

fn word(outcome: &Result<HoldOutcome, crate::holds::EngineError>) -> &'static str {
    match outcome {
        Ok(HoldOutcome::Held(held)) if held.replayed => "replayed",
        Ok(HoldOutcome::Held(_)) => "held",
        Ok(HoldOutcome::SeatsTaken(_)) => "taken",
        Ok(HoldOutcome::LimitExceeded { .. }) => "limit",
        Ok(HoldOutcome::KeyReused) => "reused",
        Err(_) => "failed",
    }
}

fn hold_request(
    on_shelf: &OnShelf,
    shopper: &Shopper,
    key: &IdempotencyKey,
    indices: &[u32],
) -> Refusal<HoldRequest> {
    let seats = indices.iter().map(|index| {
        on_shelf.plan.price(*index).map(|price| HeldSeat { index: *index, price }).ok_or(Kind::UnknownSeats)
    });
    let asked: Vec<String> = indices.iter().map(ToString::to_string).collect();
    let parts = ["POST holds", shopper.event.as_str()].into_iter().chain(asked.iter().map(String::as_str));
    Ok(HoldRequest {
        event: shopper.event.clone(),
        identity: shopper.subject.to_string(),
        seats: seats.collect::<Result<_, _>>()?,
        currency: on_shelf.event.currency.clone(),
        hold_seconds: on_shelf.event.hold_seconds,
        hold_max_seconds: on_shelf.event.hold_max_seconds,
        limit: on_shelf.event.event_ticket_limit,
        idempotency_key: key.as_str().to_owned(),
        fingerprint: fingerprint(parts),
    })
}

fn made(on_shelf: &Arc<OnShelf>, shopper: &Shopper, held: &Held) -> Response {
    let location = format!("/v1/events/{}/holds/{}", shopper.event, held.hold.hold_id);
    let mut response = (StatusCode::CREATED, Json(HoldMade::new(&on_shelf.plan, held))).into_response();
    let headers = response.headers_mut();
    if let Ok(location) = HeaderValue::from_str(&location) {
        headers.insert(header::LOCATION, location);
    }
    if held.replayed {
        headers.insert("idempotent-replayed", HeaderValue::from_static("true"));
    }
    prolong_session(headers, shopper, held.hold.expires_at);
    response
}

/// Asks the edge to keep the session at least as long as the hold.
pub(super) fn prolong_session(
    headers: &mut HeaderMap,
    shopper: &Shopper,
    expires_at: chrono::DateTime<chrono::Utc>,
) {
    let until = expires_at.timestamp().saturating_add(SESSION_MARGIN_SECS);
    let missing = until.saturating_sub(i64::try_from(shopper.exp).unwrap_or(i64::MAX));
    if missing > 0
        && let Ok(command) = HeaderValue::from_str(&format!("extend={missing}"))
    {
        headers.insert("fairgate-command", command);
    }
}

/// 409 with what is taken, what is free nearby, and a pause that differs from client to client.
async fn refuse_taken(state: &AppState, on_shelf: &OnShelf, wanted: &[u32], taken: &[u32]) -> Problem {
    let ids = |seats: &[u32]| seats.iter().map(|index| on_shelf.plan.seat_id(*index)).collect::<Vec<_>>();
    let mut bytes = [0u8; 8];
    // Without randomness the offers are merely the same for everybody.
    let random = getrandom::fill(&mut bytes).map_or(0, |()| u64::from_le_bytes(bytes));
    let offers: Vec<Vec<String>> = match state.maps.current(on_shelf).await {
        Ok(map) => {
            alternatives(&on_shelf.plan, &map, wanted, random).iter().map(|seats| ids(seats)).collect()
        }
        Err(_) => Vec::new(),
    };
    Problem::new(Kind::SeatsUnavailable)
        .with("taken", ids(taken))
        .with("alternatives", serde_json::json!(offers))
        .retry_after(1 + random % 4)
}
