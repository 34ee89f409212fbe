//! The OpenAPI document and the pages behind problem types.

use axum::{extract::Path, response::IntoResponse};
use utoipa::OpenApi;

use crate::problem::{Kind, Problem};

/// The whole service; each domain describes its own routes.
#[derive(OpenApi)]
#[openapi(info(title = "Fairgate origin", description = "Catalogue, seats, holds, orders and bookings."))]
pub struct Docs;

/// The document of all domains.
pub fn docs() -> utoipa::openapi::OpenApi {
    Docs::openapi()
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
