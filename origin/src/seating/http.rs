//! Layouts and the import of plans over HTTP.

use axum::Router;

use crate::AppState;

/// Fans' routes.
pub fn router() -> Router<AppState> {
    Router::new()
}

/// Operators' routes.
pub fn admin_router() -> Router<AppState> {
    Router::new()
}
