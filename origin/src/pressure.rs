//! `/internal/pressure`: how the edge learns how busy the origin is and what is left to sell.
//!
//! Every process that answers requests posts the sums of its window once a second; whoever is asked adds them up.

use axum::{Json, Router, extract::State, routing::get};
use serde::{Deserialize, Serialize};
use utoipa::{OpenApi, ToSchema};

use crate::{
    AppState,
    admitted::Operator,
    body::Params,
    events::EventStatus,
    problem::Refusal,
    seat_map::find_event,
    telemetry::{Merged, WINDOW_SECS},
};

const BOARD: &str = "pressure";
/// A note older than this is of a process that stopped or hangs; after a minute it is taken down.
const NOTE_FRESH_MS: i64 = 5_000;
const NOTE_DEAD_MS: i64 = 60_000;

/// The description of these routes.
#[derive(OpenApi)]
#[openapi(paths(pressure))]
pub struct Docs;

/// Machines' routes.
pub fn router() -> Router<AppState> {
    Router::new().route("/internal/pressure", get(pressure))
}

#[derive(Serialize, Deserialize)]
struct Note {
    at_ms: i64,
    sums: Merged,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PressureQuery {
    event: String,
}

/// How busy all processes are together, and what an event has left.
#[derive(Debug, Serialize, ToSchema)]
pub struct Pressure {
    p50_ms: Option<f64>,
    p99_ms: Option<f64>,
    error_rate: f64,
    pool_wait_ms: u64,
    window_s: u64,
    available: u32,
    held: u32,
    sold: u32,
    status: EventStatus,
}

/// Pressure over the last seconds, merged over all processes.
#[utoipa::path(get, path = "/internal/pressure", tag = "operators", params(("event" = String, Query)),
    responses((status = 200, description = "pressure and stock", body = Pressure),
              (status = 404, description = "unknown-event")))]
async fn pressure(
    _: Operator,
    State(state): State<AppState>,
    Params(query): Params<PressureQuery>,
) -> Refusal<Json<Pressure>> {
    let on_shelf = find_event(&state, &query.event).await?;
    let counts = state.maps.current(&on_shelf).await?.counts();
    let sums = merged(&state).await;
    Ok(Json(Pressure {
        p50_ms: sums.quantile_ms(0.5),
        p99_ms: sums.quantile_ms(0.99),
        error_rate: sums.error_rate(),
        pool_wait_ms: sums.pool_wait_ms,
        window_s: WINDOW_SECS,
        available: counts.available,
        held: counts.held,
        sold: counts.sold,
        status: on_shelf.event.status,
    }))
}

/// Own sums of this moment and the fresh notes of the others.
async fn merged(state: &AppState) -> Merged {
    let mut sums = state.telemetry.window.sum(state.clock.instant());
    let now = state.clock.now().timestamp_millis();
    for (process, text) in state.holds.notes(BOARD).await.unwrap_or_default() {
        let note = serde_json::from_str::<Note>(&text).ok();
        match note {
            Some(note) if process != state.process && now - note.at_ms < NOTE_FRESH_MS => {
                sums.add(&note.sums)
            }
            Some(note) if now - note.at_ms < NOTE_DEAD_MS => {}
            _ => {
                if let Err(error) = state.holds.take_down(BOARD, &process).await {
                    tracing::debug!(%error, "an old note stays for now");
                }
            }
        }
    }
    sums
}

/// Probes the pool and posts this process' sums.
pub(crate) async fn post(state: &AppState) {
    let began = state.clock.instant();
    let waited = state.db.acquire().await.map(drop);
    let now = state.clock.instant();
    state.telemetry.window.record_pool_wait(now, now.duration_since(began));
    if let Err(error) = waited {
        tracing::warn!(%error, "no database connection within the time limit");
    }
    let note = Note { at_ms: state.clock.now().timestamp_millis(), sums: state.telemetry.window.sum(now) };
    let Ok(text) = serde_json::to_string(&note) else { return };
    if let Err(error) = state.holds.post(BOARD, &state.process, &text).await {
        tracing::debug!(%error, "pressure was not posted");
    }
}
