//! Keeping seats back: a block. Seats somebody holds or owns cannot be blocked.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, State},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    AppState,
    admitted::Operator,
    body, db,
    events::store,
    holds::{HeldSeat, HoldOutcome, HoldRequest, SeatVersion},
    ids::random_text,
    problem::{Kind, Problem, Refusal},
    seat_map::find_event,
};

/// One script call takes this many seats; larger blocks are asked for in parts.
const SEATS_MAX: usize = 500;
/// The operator's own hold lasts only until Postgres has committed.
const HOLD_SECONDS: u32 = 30;

/// Seats to keep back.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BlockSeats {
    seat_ids: Vec<String>,
}

/// What was kept back.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Blocked {
    blocked: usize,
    seat_ids: Vec<String>,
}

/// Blocks seats, all or none.
#[utoipa::path(post, path = "/admin/v1/events/{event}/block", tag = "operators", params(("event" = String, Path)),
    request_body = BlockSeats,
    responses((status = 200, description = "blocked", body = Blocked), (status = 404, description = "unknown-seats"),
              (status = 409, description = "seats-unavailable")))]
pub(super) async fn block(
    _: Operator,
    State(state): State<AppState>,
    Path(event): Path<String>,
    body::Json(request): body::Json<BlockSeats>,
) -> Refusal<Json<Blocked>> {
    let on_shelf = find_event(&state, &event).await?;
    let event = on_shelf.event.event_id.clone();
    let mut indices = crate::holds::http::seat_indices(&on_shelf.plan, &request.seat_ids, SEATS_MAX)?;
    indices.sort_unstable();
    // The operator holds the seats first, so that no shopper can take one between here and the commit.
    let hold = HoldRequest {
        event: event.clone(),
        identity: "operator:block".into(),
        seats: indices.iter().map(|index| HeldSeat { index: *index, price: 0 }).collect(),
        currency: on_shelf.event.currency.clone(),
        hold_seconds: HOLD_SECONDS,
        hold_max_seconds: HOLD_SECONDS,
        limit: u32::MAX,
        idempotency_key: random_text().map_err(|error| Problem::internal(&error))?,
        fingerprint: "0".into(),
    };
    let held = match state.holds.hold(&hold).await? {
        HoldOutcome::Held(held) => held,
        HoldOutcome::SeatsTaken(taken) => {
            let taken: Vec<String> = taken.into_iter().map(|index| on_shelf.plan.seat_id(index)).collect();
            return Err(Problem::new(Kind::SeatsUnavailable).with("taken", taken));
        }
        HoldOutcome::LimitExceeded { .. } | HoldOutcome::KeyReused => return Err(Kind::Internal.into()),
    };
    let seats = Arc::new(indices);
    let (id, blocked) = (event.clone(), seats.clone());
    let versions = db::transact("block_seats", &state.db, move |tx| {
        let (id, seats) = (id.clone(), blocked.clone());
        Box::pin(async move { store::block_seats(tx, &id, &seats).await })
    })
    .await;
    let versions: Vec<SeatVersion> = match versions {
        Ok(Some(versions)) => versions,
        Ok(None) => {
            state.holds.release(&held.hold).await?;
            return Err(Kind::SeatsUnavailable.into());
        }
        Err(error) => {
            state.holds.release(&held.hold).await?;
            return Err(error.into());
        }
    };
    state.holds.mark_blocked(&event, &held.hold, &versions).await?;
    Ok(Json(Blocked { blocked: versions.len(), seat_ids: request.seat_ids }))
}
