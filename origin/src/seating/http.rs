//! Layouts and the import of plans over HTTP.

use std::sync::Arc;

use axum::{
    Json, Router,
    body::Bytes,
    extract::{DefaultBodyLimit, Path, State, rejection::BytesRejection},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use http::{HeaderMap, StatusCode};
use serde::Deserialize;
use utoipa::OpenApi;

use super::{
    import::{self, Format, Imported},
    store,
};
use crate::{
    AppState,
    admitted::Operator,
    body::{Params, refuse_bytes},
    config::PLAN_MAX_BYTES,
    problem::{Kind, Problem, Refusal},
    seat_map::{Body, cacheable, find_event},
};

/// The description of these routes.
#[derive(OpenApi)]
#[openapi(paths(layout, immutable_layout, import_venue))]
pub struct Docs;

/// Fans' routes.
pub fn router() -> Router<AppState> {
    Router::new()
        .route("/v1/events/{event}/layout", get(layout))
        .route("/v1/layouts/{layout}", get(immutable_layout))
}

/// Operators' routes.
pub fn admin_router() -> Router<AppState> {
    Router::new().route("/admin/v1/venues", post(import_venue).layer(DefaultBodyLimit::max(PLAN_MAX_BYTES)))
}

/// An event's layout: seats in index order, areas, categories with prices.
#[utoipa::path(get, path = "/v1/events/{event}/layout", tag = "seat map", params(("event" = String, Path)),
    responses((status = 200, description = "the layout"), (status = 304, description = "unchanged"),
              (status = 404, description = "unknown-event")))]
async fn layout(
    State(state): State<AppState>,
    Path(event): Path<String>,
    headers: HeaderMap,
) -> Refusal<Response> {
    let on_shelf = find_event(&state, &event).await?;
    let layout = &on_shelf.layout;
    let etag = format!("\"{}\"", layout.layout_id);
    Ok(cacheable(&headers, &etag, "application/json", "public, max-age=60", &layout.body))
}

/// A layout by its content's hash, for ever.
#[utoipa::path(get, path = "/v1/layouts/{layout}", tag = "seat map", params(("layout" = String, Path)),
    responses((status = 200, description = "the layout, immutable"), (status = 404, description = "not-found")))]
async fn immutable_layout(
    State(state): State<AppState>,
    Path(layout): Path<String>,
    headers: HeaderMap,
) -> Refusal<Response> {
    let body = match state.events.layout(&layout) {
        Some(layout) => layout,
        None => {
            let stored = store::load_layout(&state.db, &layout).await?.ok_or(Kind::NotFound)?;
            Arc::new(super::Layout { layout_id: layout.clone(), body: Body::new(stored) })
        }
    };
    let etag = format!("\"{layout}\"");
    Ok(cacheable(&headers, &etag, "application/json", "public, max-age=31536000, immutable", &body.body))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ImportQuery {
    format: String,
}

/// Imports a seating plan as a venue.
#[utoipa::path(post, path = "/admin/v1/venues", tag = "operators",
    params(("format" = String, Query, description = "`seatsio` or `csv`")), request_body = String,
    responses((status = 201, description = "imported", body = Imported),
              (status = 422, description = "plan-invalid with every fault, or not-supported")))]
async fn import_venue(
    _: Operator,
    State(state): State<AppState>,
    Params(query): Params<ImportQuery>,
    body: Result<Bytes, BytesRejection>,
) -> Refusal<Response> {
    let format: Format = query.format.parse().map_err(Problem::from)?;
    let body = body.map_err(|rejection| refuse_bytes(&rejection))?;
    let imported = import::import(&state.db, format, &body).await?;
    Ok((StatusCode::CREATED, Json(imported)).into_response())
}
