//! `/internal/pressure`: how the edge learns how busy the origin is and what is left to sell.

use axum::Router;

use crate::AppState;

/// Machines' routes.
pub fn router() -> Router<AppState> {
    Router::new()
}
