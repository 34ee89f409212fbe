//! Reading, extending and giving back holds.

use axum::{
    Json,
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;

use super::{ask::prolong_session, view::HoldView};
use crate::{
    AppState,
    admitted::Shopper,
    holds::{ExtendOutcome, Hold, HoldState, ReleaseOutcome, ledger},
    ids::HoldId,
    problem::{Kind, Refusal},
    seat_map::find_event,
};

/// A shopper's own hold.
enum Own {
    /// As the hold store has it.
    Known(Box<Hold>),
    /// It ended, and only the ledger remembers it: the hold store forgets ended holds after an hour, and all holds when
    /// it is lost.
    Ended { given_back: bool },
}

/// The shopper's own hold; anybody else's does not exist for them.
async fn own_hold(state: &AppState, shopper: &Shopper, hold: &str) -> Refusal<Own> {
    let hold: HoldId = hold.parse().map_err(|_| Kind::NotFound)?;
    let identity = shopper.subject.to_string();
    if let Some(found) = state.holds.load_hold(&shopper.event, &hold).await? {
        return if found.identity == identity {
            Ok(Own::Known(Box::new(found)))
        } else {
            Err(Kind::NotFound.into())
        };
    }
    let status = ledger::status_of(&state.db, &shopper.event, &hold, &identity).await?;
    let status = status.ok_or(Kind::NotFound)?;
    Ok(Own::Ended { given_back: matches!(status.as_str(), "released" | "replaced") })
}

/// One own hold.
#[utoipa::path(get, path = "/v1/events/{event}/holds/{hold}", tag = "holds",
    params(("event" = String, Path), ("hold" = String, Path)),
    responses((status = 200, description = "the hold", body = HoldView), (status = 404, description = "not-found"),
              (status = 410, description = "hold-expired")))]
pub(super) async fn show(
    shopper: Shopper,
    State(state): State<AppState>,
    Path((event, hold)): Path<(String, String)>,
) -> Refusal<Response> {
    let on_shelf = find_event(&state, &event).await?;
    let hold = match own_hold(&state, &shopper, &hold).await? {
        Own::Known(hold) => hold,
        Own::Ended { given_back: true } => return Err(Kind::NotFound.into()),
        Own::Ended { given_back: false } => return Err(Kind::HoldExpired.into()),
    };
    match hold.state {
        HoldState::Expired => Err(Kind::HoldExpired.into()),
        HoldState::Released => Err(Kind::NotFound.into()),
        HoldState::Live | HoldState::Claimed(_) | HoldState::Sold(_) => {
            Ok(private(Json(HoldView::new(&on_shelf.plan, &hold, state.clock.now()))))
        }
    }
}

#[derive(Serialize)]
struct Holds {
    holds: Vec<HoldView>,
}

/// All own live holds.
#[utoipa::path(get, path = "/v1/events/{event}/holds/mine", tag = "holds", params(("event" = String, Path)),
    responses((status = 200, description = "`holds`: the live ones, oldest first")))]
pub(super) async fn mine(
    shopper: Shopper,
    State(state): State<AppState>,
    Path(event): Path<String>,
) -> Refusal<Response> {
    let on_shelf = find_event(&state, &event).await?;
    let now = state.clock.now();
    let holds = state.holds.holds_of(&shopper.event, &shopper.subject.to_string()).await?;
    let holds = holds.iter().map(|hold| HoldView::new(&on_shelf.plan, hold, now)).collect();
    Ok(private(Json(Holds { holds })))
}

/// Prolongs a hold, once.
#[utoipa::path(post, path = "/v1/events/{event}/holds/{hold}/extend", tag = "holds",
    params(("event" = String, Path), ("hold" = String, Path)),
    responses((status = 200, description = "prolonged", body = HoldView), (status = 404, description = "not-found"),
              (status = 409, description = "already-extended, hold-in-purchase"),
              (status = 410, description = "hold-expired")))]
pub(super) async fn extend(
    shopper: Shopper,
    State(state): State<AppState>,
    Path((event, hold)): Path<(String, String)>,
) -> Refusal<Response> {
    let on_shelf = find_event(&state, &event).await?;
    let Own::Known(mut hold) = own_hold(&state, &shopper, &hold).await? else {
        return Err(Kind::HoldExpired.into());
    };
    match state.holds.extend(&hold, on_shelf.event.hold_seconds).await? {
        ExtendOutcome::Extended { expires_at, .. } => {
            (hold.expires_at, hold.extended) = (expires_at, true);
            let mut response = private(Json(HoldView::new(&on_shelf.plan, &hold, state.clock.now())));
            prolong_session(response.headers_mut(), &shopper, expires_at);
            Ok(response)
        }
        ExtendOutcome::AlreadyExtended => Err(Kind::AlreadyExtended.into()),
        ExtendOutcome::Claimed => Err(Kind::HoldInPurchase.into()),
        ExtendOutcome::Gone => Err(Kind::HoldExpired.into()),
    }
}

/// Gives a hold back. Again, or after its end, changes nothing.
#[utoipa::path(delete, path = "/v1/events/{event}/holds/{hold}", tag = "holds",
    params(("event" = String, Path), ("hold" = String, Path)),
    responses((status = 204, description = "given back, or over already"), (status = 404, description = "not-found"),
              (status = 409, description = "hold-in-purchase")))]
pub(super) async fn release(
    shopper: Shopper,
    State(state): State<AppState>,
    Path(path): Path<(String, String)>,
) -> Refusal<StatusCode> {
    let (_, hold) = path;
    let Own::Known(hold) = own_hold(&state, &shopper, &hold).await? else {
        return Ok(StatusCode::NO_CONTENT);
    };
    match state.holds.release(&hold).await? {
        ReleaseOutcome::Released | ReleaseOutcome::AlreadyOver => Ok(StatusCode::NO_CONTENT),
        ReleaseOutcome::Claimed => Err(Kind::HoldInPurchase.into()),
    }
}

/// Nobody else's business: not to be cached anywhere.
fn private(body: impl IntoResponse) -> Response {
    let mut response = body.into_response();
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
