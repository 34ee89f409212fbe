//! The catalogue over HTTP.

mod admin;
mod block;
mod catalogue;
mod create;

use axum::{
    Router,
    routing::{get, patch, post},
};

use utoipa::OpenApi;

pub use catalogue::EventView;

use crate::AppState;

/// The description of these routes.
#[derive(OpenApi)]
#[openapi(paths(catalogue::list, catalogue::show, create::create, admin::change, block::block))]
pub struct Docs;

/// Fans' routes.
pub fn router() -> Router<AppState> {
    Router::new().route("/v1/events", get(catalogue::list)).route("/v1/events/{event}", get(catalogue::show))
}

/// Operators' routes.
pub fn admin_router() -> Router<AppState> {
    Router::new()
        .route("/admin/v1/events", post(create::create))
        .route("/admin/v1/events/{event}", patch(admin::change))
        .route("/admin/v1/events/{event}/block", post(block::block))
}
