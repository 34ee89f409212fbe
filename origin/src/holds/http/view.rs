//! Holds as clients see them.

use chrono::{DateTime, SecondsFormat, Utc};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    holds::{Held, Hold, HoldState},
    seating::Plan,
};

/// A hold just made, and the same bytes again at a replay.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct HoldMade {
    hold_id: String,
    seat_ids: Vec<String>,
    areas: Vec<String>,
    stays: Vec<String>,
    expires_at: String,
    /// Seconds from the moment it was made.
    expires_in: i64,
    total: i64,
    currency: String,
    /// Map version of each seat's change, in the order of `seat_ids`.
    versions: Vec<u64>,
    /// Own holds this one took the place of.
    replaced: Vec<String>,
}

/// A hold as it stands.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct HoldView {
    hold_id: String,
    /// `live`, `purchasing` or `sold`.
    status: &'static str,
    seat_ids: Vec<String>,
    seats: Vec<SeatPrice>,
    areas: Vec<String>,
    stays: Vec<String>,
    total: i64,
    currency: String,
    created_at: String,
    expires_at: String,
    expires_in: i64,
    max_expires_at: String,
    extended: bool,
    order_id: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
struct SeatPrice {
    seat_id: String,
    price: i64,
}

fn instant(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// Whole seconds, rounded up, not negative.
fn seconds_until(at: DateTime<Utc>, now: DateTime<Utc>) -> i64 {
    ((at - now).num_milliseconds().max(0) + 999) / 1000
}

fn ids(plan: &Plan, hold: &Hold) -> Vec<String> {
    hold.seats.iter().map(|seat| plan.seat_id(seat.index)).collect()
}

impl HoldMade {
    pub(super) fn new(plan: &Plan, held: &Held) -> Self {
        let hold = &held.hold;
        Self {
            hold_id: hold.hold_id.to_string(),
            seat_ids: ids(plan, hold),
            areas: Vec::new(),
            stays: Vec::new(),
            expires_at: instant(hold.expires_at),
            expires_in: seconds_until(hold.expires_at, held.at),
            total: hold.total,
            currency: hold.currency.clone(),
            versions: vec![held.version; hold.seats.len()],
            replaced: held.replaced.iter().map(ToString::to_string).collect(),
        }
    }
}

impl HoldView {
    pub(super) fn new(plan: &Plan, hold: &Hold, now: DateTime<Utc>) -> Self {
        let (status, order_id) = match &hold.state {
            HoldState::Claimed(order) => ("purchasing", Some(order.to_string())),
            HoldState::Sold(order) => ("sold", Some(order.to_string())),
            HoldState::Live | HoldState::Released | HoldState::Expired => ("live", None),
        };
        Self {
            hold_id: hold.hold_id.to_string(),
            status,
            seat_ids: ids(plan, hold),
            seats: hold
                .seats
                .iter()
                .map(|seat| SeatPrice { seat_id: plan.seat_id(seat.index), price: seat.price })
                .collect(),
            areas: Vec::new(),
            stays: Vec::new(),
            total: hold.total,
            currency: hold.currency.clone(),
            created_at: instant(hold.created_at),
            expires_at: instant(hold.expires_at),
            expires_in: seconds_until(hold.expires_at, now),
            max_expires_at: instant(hold.max_expires_at),
            extended: hold.extended,
            order_id,
        }
    }
}
