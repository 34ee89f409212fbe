//! Holds over HTTP.

mod ask;
mod manage;
mod view;

use std::collections::HashSet;

use axum::{
    Router,
    routing::{get, post},
};

use unicode_normalization::UnicodeNormalization;
use utoipa::OpenApi;

use crate::{
    AppState,
    body::{self, FieldError},
    problem::{Kind, Problem, Refusal},
    seating::Plan,
};

/// The description of these routes.
#[derive(OpenApi)]
#[openapi(paths(ask::ask, manage::mine, manage::show, manage::extend, manage::release))]
pub struct Docs;

/// Fans' routes.
pub fn router() -> Router<AppState> {
    Router::new()
        .route("/v1/events/{event}/holds", post(ask::ask))
        .route("/v1/events/{event}/holds/mine", get(manage::mine))
        .route("/v1/events/{event}/holds/{hold}", get(manage::show).delete(manage::release))
        .route("/v1/events/{event}/holds/{hold}/extend", post(manage::extend))
}

/// The indices of distinct, known seats, in the order given.
pub fn seat_indices(plan: &Plan, seat_ids: &[String], max: usize) -> Refusal<Vec<u32>> {
    if seat_ids.is_empty() || seat_ids.len() > max {
        return Err(body::invalid(&[FieldError::new("/seat_ids", format!("1 to {max} seats"))]));
    }
    let mut unknown = Vec::new();
    let mut seen = HashSet::with_capacity(seat_ids.len());
    let mut indices = Vec::with_capacity(seat_ids.len());
    for (n, seat_id) in seat_ids.iter().enumerate() {
        // Plans are stored in NFC, and keyboards and file systems disagree about accents.
        let seat_id: String = seat_id.nfc().collect();
        match plan.index_of(&seat_id) {
            Some(index) if seen.insert(index) => indices.push(index),
            Some(_) => {
                let fault = FieldError::new(format!("/seat_ids/{n}"), format!("{seat_id} stands twice"));
                return Err(body::invalid(&[fault]));
            }
            None => unknown.push(seat_id),
        }
    }
    if unknown.is_empty() {
        Ok(indices)
    } else {
        Err(Problem::new(Kind::UnknownSeats).with("seat_ids", unknown))
    }
}
