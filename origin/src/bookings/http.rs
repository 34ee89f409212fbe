//! Bookings over HTTP.

use axum::{
    Json, Router,
    extract::{Path, State},
    response::{IntoResponse, Response},
    routing::get,
};
use http::{HeaderValue, header};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, OpenApi, ToSchema};

use super::{booking::Booking, cancel::cancel, cursor::Cursor, store};
use crate::{
    AppState,
    admitted::{Buyer, ProvenBuyer},
    body::Params,
    ids::{BookingId, EventId},
    problem::{Kind, Problem, Refusal},
};

/// Bookings of one page unless asked otherwise, and at most.
const PAGE: u32 = 20;
const PAGE_MAX: u32 = 100;

/// This domain's part of the OpenAPI document.
#[derive(OpenApi)]
#[openapi(paths(list, read, give_back))]
pub struct Docs;

/// Fans' routes.
pub fn router() -> Router<AppState> {
    Router::new()
        .route("/v1/users/me/bookings", get(list))
        .route("/v1/events/{event}/bookings/{booking}", get(read).delete(give_back))
}

/// A booking as its buyer sees it.
#[derive(Serialize, ToSchema)]
pub struct BookingBody {
    booking_id: String,
    order_id: String,
    event: String,
    seat_ids: Vec<String>,
    /// General admission; not sold by this release.
    areas: Vec<String>,
    /// Stays; not sold by this release.
    stays: Vec<String>,
    /// Minor units.
    total: i64,
    currency: String,
    /// `confirmed`, `canceled`, `refund_pending` or `refunded`.
    status: &'static str,
    created_at: String,
}

impl From<Booking> for BookingBody {
    fn from(booking: Booking) -> Self {
        Self {
            booking_id: booking.booking_id.to_string(),
            order_id: booking.order_id.to_string(),
            event: booking.event.to_string(),
            seat_ids: booking.seat_ids,
            areas: Vec::new(),
            stays: Vec::new(),
            total: booking.total,
            currency: booking.currency,
            status: booking.status.as_str(),
            created_at: booking.created_at.to_rfc3339_opts(chrono::SecondsFormat::Micros, true),
        }
    }
}

/// A page of bookings, newest first.
#[derive(Serialize, ToSchema)]
pub struct BookingsBody {
    bookings: Vec<BookingBody>,
    /// Send as `cursor` for the next page; null at the end.
    next_cursor: Option<String>,
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct PageParams {
    /// 1 to 100, 20 unless given.
    limit: Option<u32>,
    /// From the last page's `next_cursor`.
    cursor: Option<String>,
}

/// A buyer's bookings.
#[utoipa::path(get, path = "/v1/users/me/bookings", params(PageParams), responses((status = 200, body = BookingsBody)))]
async fn list(
    State(state): State<AppState>,
    buyer: Buyer,
    Params(params): Params<PageParams>,
) -> Refusal<Response> {
    let limit = params.limit.unwrap_or(PAGE);
    if limit == 0 || limit > PAGE_MAX {
        return Err(Problem::new(Kind::Malformed).detail("limit must be between 1 and 100"));
    }
    let cursor = params.cursor.as_deref().map(str::parse::<Cursor>).transpose();
    let cursor = cursor.map_err(|_| Problem::new(Kind::Malformed).detail("not a cursor of this list"))?;
    let identity = buyer.subject.to_string();
    let mut page = store::page(&state.db, &identity, cursor.as_ref(), i64::from(limit) + 1).await?;
    let more = page.len() > limit as usize;
    page.truncate(limit as usize);
    let last = page.last().filter(|_| more);
    let next = last.map(|b| Cursor { created_at: b.created_at, booking: b.booking_id.clone() }.to_string());
    let link = next
        .as_ref()
        .map(|cursor| format!("</v1/users/me/bookings?limit={limit}&cursor={cursor}>; rel=\"next\""));
    let body =
        BookingsBody { bookings: page.into_iter().map(BookingBody::from).collect(), next_cursor: next };
    let mut response = private(&body);
    if let Some(link) = link.and_then(|link| HeaderValue::from_str(&link).ok()) {
        response.headers_mut().insert(header::LINK, link);
    }
    Ok(response)
}

/// One booking of the buyer's.
#[utoipa::path(get, path = "/v1/events/{event}/bookings/{booking}",
    params(("event" = String, Path), ("booking" = String, Path)),
    responses((status = 200, body = BookingBody), (status = 404)))]
async fn read(
    State(state): State<AppState>,
    buyer: Buyer,
    Path((event, booking)): Path<(String, String)>,
) -> Refusal<Response> {
    let booking = own(&state, &buyer.subject.to_string(), &event, &booking).await?;
    Ok(private(&BookingBody::from(booking)))
}

/// Cancels a booking and refunds it; again answers what became of it.
#[utoipa::path(delete, path = "/v1/events/{event}/bookings/{booking}",
    params(("event" = String, Path), ("booking" = String, Path)),
    responses((status = 200, body = BookingBody), (status = 404), (status = 503)))]
async fn give_back(
    State(state): State<AppState>,
    buyer: ProvenBuyer,
    Path((event, booking)): Path<(String, String)>,
) -> Refusal<Response> {
    let booking = own(&state, &buyer.subject.to_string(), &event, &booking).await?;
    let canceled = cancel(&state, booking).await?;
    Ok(private(&BookingBody::from(canceled)))
}

/// The booking if it exists, of that event and that buyer; otherwise nobody learns which was wrong.
async fn own(state: &AppState, identity: &str, event: &str, booking: &str) -> Result<Booking, Problem> {
    let event: EventId = event.parse().map_err(|_| Kind::NotFound)?;
    let booking: BookingId = booking.parse().map_err(|_| Kind::NotFound)?;
    let found = store::load(&state.db, &booking).await?;
    found.filter(|b| b.event == event && b.identity == identity).ok_or_else(|| Kind::NotFound.into())
}

fn private<T: Serialize>(body: &T) -> Response {
    ([(header::CACHE_CONTROL, "private, no-store")], Json(body)).into_response()
}
