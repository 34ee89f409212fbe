//! Holds over HTTP.

use axum::Router;

use crate::AppState;

/// Fans' routes.
pub fn router() -> Router<AppState> {
    Router::new()
}
