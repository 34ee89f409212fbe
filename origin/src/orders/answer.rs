//! What a buyer is told of an order.

use axum::{
    Json,
    response::{IntoResponse, Response},
};
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    event::{Failure, Loss},
    order::{Order, OrderState},
};
use crate::problem::{Kind, Problem};

/// How long a client waits before it asks again about an open order.
const POLL_SECS: u64 = 1;

/// A purchase whose sale is committed.
#[derive(Serialize, ToSchema)]
pub(super) struct PurchasedBody {
    booking_id: String,
    order_id: String,
    /// The provider's name of the payment.
    payment_ref: String,
    /// The order's status; capture may follow.
    status: &'static str,
}

/// A purchase whose outcome is open.
#[derive(Serialize, ToSchema)]
pub(super) struct PendingBody {
    order_id: String,
    status: &'static str,
    polling_url: String,
    /// With `requires_action`: what the client continues with at the provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    client_secret: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    claim_id: Option<String>,
}

/// An order as its buyer sees it.
#[derive(Serialize, ToSchema)]
pub(super) struct OrderBody {
    order_id: String,
    status: &'static str,
    event: String,
    hold_id: String,
    seat_ids: Vec<String>,
    /// Minor units.
    total: i64,
    currency: String,
    created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    booking_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    payment_ref: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decline_code: Option<String>,
    /// Why it failed or lost its seats.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_secret: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    claim_id: Option<String>,
}

impl From<&Order> for OrderBody {
    fn from(order: &Order) -> Self {
        let (decline_code, reason) = match &order.state {
            OrderState::PaymentFailed { failure: Failure::Declined(code), .. } => {
                (Some(code.clone()), Some("declined"))
            }
            OrderState::PaymentFailed { failure: Failure::Unavailable, .. } => (None, Some("unavailable")),
            OrderState::PaymentFailed { failure: Failure::TimedOut, .. } => (None, Some("timed_out")),
            OrderState::Voiding { loss, .. } | OrderState::Voided { loss, .. } => (None, Some(loss.as_str())),
            _ => (None, None),
        };
        Self {
            order_id: order.order_id.to_string(),
            status: order.state.status(),
            event: order.event.to_string(),
            hold_id: order.hold.to_string(),
            seat_ids: order.seat_ids.clone(),
            total: order.total.minor,
            currency: order.total.currency.code().to_owned(),
            created_at: order.created_at.to_rfc3339_opts(chrono::SecondsFormat::Micros, true),
            booking_id: order.state.booking().map(ToString::to_string),
            payment_ref: order.state.intent().map(ToString::to_string),
            decline_code,
            reason,
            client_secret: client_secret(order),
            claim_id: order.claim_id.clone(),
        }
    }
}

/// Where an order is read.
pub(super) fn polling_url(order: &Order) -> String {
    format!("/v1/events/{}/orders/{}", order.event, order.order_id)
}

fn client_secret(order: &Order) -> Option<String> {
    match order.state {
        OrderState::RequiresAction { .. } => order.client_secret.clone(),
        _ => None,
    }
}

/// Does this order show the buyer that the seats are theirs?
pub(super) fn is_confirmed(state: &OrderState) -> bool {
    matches!(state, OrderState::Confirmed { .. } | OrderState::Captured { .. })
}

/// What one buyer may have of an event, and has.
#[derive(Clone, Copy, Debug)]
pub(super) struct TicketLimit {
    pub(super) limit: u32,
    pub(super) used: u32,
}

/// The answer to a purchase that ended up with this order; `tickets` tells a buyer above the limit of it.
pub(super) fn purchase(order: &Order, tickets: TicketLimit) -> Response {
    match &order.state {
        OrderState::PaymentFailed { failure: Failure::Declined(code), .. } => refuse(
            Problem::new(Kind::PaymentFailed)
                .with("decline_code", code.as_str())
                .detail("the card was declined"),
            order,
        ),
        OrderState::PaymentFailed { failure: Failure::TimedOut, .. } => refuse(
            Problem::new(Kind::PaymentFailed)
                .with("decline_code", "processing_error")
                .detail("the payment was not completed in time and was canceled"),
            order,
        ),
        OrderState::PaymentFailed { failure: Failure::Unavailable, .. } => refuse(
            Problem::new(Kind::PaymentProviderUnavailable)
                .detail("no payment was begun and the hold is kept")
                .retry_after(2),
            order,
        ),
        OrderState::Expired { .. } => refuse(Problem::new(Kind::HoldExpired), order),
        OrderState::Voiding { loss, .. } | OrderState::Voided { loss, .. } => lost(order, *loss, tickets),
        state => match (state.booking(), state.intent()) {
            (Some(booking), Some(intent)) => {
                let body = PurchasedBody {
                    booking_id: booking.to_string(),
                    order_id: order.order_id.to_string(),
                    payment_ref: intent.to_string(),
                    status: state.status(),
                };
                (StatusCode::CREATED, [(header::LOCATION, polling_url(order))], Json(body)).into_response()
            }
            _ => pending(order),
        },
    }
}

fn lost(order: &Order, loss: Loss, tickets: TicketLimit) -> Response {
    let problem = match loss {
        Loss::LimitExceeded => {
            Problem::new(Kind::LimitExceeded).with("limit", tickets.limit).with("used", tickets.used)
        }
        Loss::InstrumentLimitExceeded => {
            Problem::new(Kind::LimitExceeded).with("scope", "payment_instrument")
        }
        Loss::SeatsReassigned => Problem::new(Kind::SeatsReassigned),
        Loss::EventNotOnSale => Problem::new(Kind::EventNotOnSale),
    };
    let money = if order.state.has_failed() { "voided" } else { "voiding" };
    refuse(problem.with("money", money).detail("the payment is released; nothing was taken"), order)
}

fn refuse(problem: Problem, order: &Order) -> Response {
    problem.with("order_id", order.order_id.as_str()).into_response()
}

fn pending(order: &Order) -> Response {
    let body = PendingBody {
        order_id: order.order_id.to_string(),
        status: order.state.status(),
        polling_url: polling_url(order),
        client_secret: client_secret(order),
        claim_id: order.claim_id.clone(),
    };
    let headers = [(header::LOCATION, polling_url(order)), (header::RETRY_AFTER, POLL_SECS.to_string())];
    (StatusCode::ACCEPTED, headers, Json(body)).into_response()
}

/// The order itself.
pub(super) fn order(order: &Order) -> Response {
    let mut response = Json(OrderBody::from(order)).into_response();
    let open = matches!(order.state, OrderState::PaymentUnknown { .. } | OrderState::RequiresAction { .. });
    if open || order.state.is_open() {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(POLL_SECS));
    }
    response
}
