//! Purchases and orders over HTTP.

use axum::{
    Router,
    extract::{Path, State},
    response::Response,
    routing::{get, post},
};
use http::{HeaderValue, header};
use serde::Deserialize;
use utoipa::{OpenApi, ToSchema};

use super::{
    answer::{self, OrderBody, PendingBody, PurchasedBody, TicketLimit},
    event::Loss,
    order::Order,
    purchase::{self, Purchase},
    records::PurchaseKey,
    sale, store,
};
use crate::{
    AppState,
    admitted::{Buyer, Shopper},
    body::{self, FieldError},
    idempotency::{IdempotencyKey, fingerprint},
    ids::{HoldId, OrderId},
    problem::{Kind, Refusal},
    seat_map::find_event,
};

/// Longest payment method token taken; Stripe's have 27 characters.
const TOKEN_MAX: usize = 255;
/// A session in which a payment is open is kept this much longer: as long as an outcome is waited for by default.
const EXTEND_SECS: u32 = 300;
/// By this the edge is told to end or prolong the session.
const COMMAND_HEADER: &str = "fairgate-command";

/// This domain's part of the OpenAPI document.
#[derive(OpenApi)]
#[openapi(paths(buy, read))]
pub struct Docs;

/// Fans' routes.
pub fn router() -> Router<AppState> {
    Router::new()
        .route("/v1/events/{event}/holds/{hold}/purchase", post(buy))
        .route("/v1/events/{event}/orders/{order}", get(read))
}

/// A request to buy what a hold keeps.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PurchaseBody {
    /// The provider's token of the payment method.
    payment_method_token: String,
}

/// Buys what a hold keeps.
#[utoipa::path(post, path = "/v1/events/{event}/holds/{hold}/purchase", tag = "orders", request_body = PurchaseBody,
    params(("event" = String, Path), ("hold" = String, Path), ("Idempotency-Key" = String, Header)),
    responses((status = 201, body = PurchasedBody), (status = 202, body = PendingBody),
              (status = 402, description = "payment-failed"), (status = 409, description = "seats-reassigned"),
              (status = 410, description = "hold-expired"), (status = 422, description = "limit-exceeded"),
              (status = 503, description = "payment-provider-unavailable")))]
async fn buy(
    State(state): State<AppState>,
    shopper: Shopper,
    Path((_event, hold)): Path<(String, String)>,
    key: IdempotencyKey,
    body::Json(wanted): body::Json<PurchaseBody>,
) -> Refusal<Response> {
    let hold: HoldId = hold.parse().map_err(|_| Kind::NotFound)?;
    let token = wanted.payment_method_token;
    if token.is_empty() || token.len() > TOKEN_MAX || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        let fault = FieldError::new("/payment_method_token", "1 to 255 printable characters");
        return Err(body::invalid(&[fault]));
    }
    let identity = shopper.subject.to_string();
    let asked = ["POST purchase", shopper.event.as_str(), hold.as_str(), &token];
    let key = PurchaseKey { fingerprint: fingerprint(asked), key: key.as_str().to_owned() };
    let sid = shopper.sid;
    let wanted = Purchase { event: shopper.event, hold, identity, sid, payment_method: token, key };
    let purchased = purchase::purchase(&state, &wanted).await?;
    let event = find_event(&state, wanted.event.as_str()).await?;
    let used = match purchased.order.state.loss() {
        Some(Loss::LimitExceeded) => sale::bought(&state.db, &wanted.event, &wanted.identity).await?,
        _ => 0,
    };
    let limit = TicketLimit { limit: event.event.event_ticket_limit, used };
    let mut response = answer::purchase(&purchased.order, limit);
    if purchased.replayed {
        response.headers_mut().insert("idempotent-replayed", HeaderValue::from_static("true"));
    }
    finish(&state, &purchased.order, Some(&wanted.sid), response).await
}

/// The buyer's order, also after the session has ended.
#[utoipa::path(get, path = "/v1/events/{event}/orders/{order}", tag = "orders",
    params(("event" = String, Path), ("order" = String, Path)),
    responses((status = 200, body = OrderBody), (status = 404, description = "not-found")))]
async fn read(
    State(state): State<AppState>,
    buyer: Buyer,
    Path((event, order)): Path<(String, String)>,
) -> Refusal<Response> {
    let order: OrderId = order.parse().map_err(|_| Kind::NotFound)?;
    let (order, _) = store::load(&state.db, &order).await?.ok_or(Kind::NotFound)?;
    if order.identity != buyer.subject.to_string() || order.event.as_str() != event {
        return Err(Kind::NotFound.into());
    }
    finish(&state, &order, buyer.sid.as_deref(), answer::order(&order)).await
}

/// Headers every answer about an order carries, and the command to the edge.
///
/// Every answer that shows the order confirmed to the session it was placed in ends that session, which may be done
/// again: the first answer may get lost. A later session of the buyer's is none of this order's business.
async fn finish(
    state: &AppState,
    order: &Order,
    presented: Option<&str>,
    mut response: Response,
) -> Refusal<Response> {
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    let command = if answer::is_confirmed(&order.state) {
        let event = find_event(state, order.event.as_str()).await?;
        let its_own = presented.is_some() && presented == order.sid.as_deref();
        (its_own && event.event.end_session_on_purchase).then(|| HeaderValue::from_static("complete"))
    } else if response.status() == http::StatusCode::ACCEPTED {
        HeaderValue::from_str(&format!("extend={EXTEND_SECS}")).ok()
    } else {
        None
    };
    if let Some(command) = command {
        response.headers_mut().insert(COMMAND_HEADER, command);
    }
    Ok(response)
}
