//! The OpenAPI document and the pages behind problem types.

use axum::{extract::Path, response::IntoResponse};
use utoipa::OpenApi;

use crate::{
    bookings, events, holds, invariants, orders, payments, pressure,
    problem::{Kind, Problem},
    seat_map, seating,
};

/// The whole service; each domain describes its own routes.
#[derive(OpenApi)]
#[openapi(info(title = "Fairgate origin", description = "Catalogue, seats, holds, orders and bookings."))]
pub struct Docs;

/// The document of all domains.
pub fn docs() -> utoipa::openapi::OpenApi {
    let mut docs = Docs::openapi();
    docs.merge(events::http::Docs::openapi());
    docs.merge(seating::http::Docs::openapi());
    docs.merge(seat_map::http::Docs::openapi());
    docs.merge(holds::http::Docs::openapi());
    docs.merge(orders::http::Docs::openapi());
    docs.merge(bookings::http::Docs::openapi());
    docs.merge(payments::http::Docs::openapi());
    docs.merge(invariants::http::Docs::openapi());
    docs.merge(pressure::Docs::openapi());
    docs
}

/// `GET /openapi.json`.
pub async fn document() -> impl IntoResponse {
    axum::Json(docs())
}

/// `GET /problems/{slug}`: what a problem's `type` points at.
pub async fn problem_page(Path(slug): Path<String>) -> Result<String, Problem> {
    let kind = Kind::ALL.iter().find(|kind| kind.slug() == slug).ok_or(Kind::NotFound)?;
    Ok(format!("{}\n\nHTTP {}. See docs/problems.md for causes and remedies.\n", kind.title(), kind.status()))
}
