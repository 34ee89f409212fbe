//! The providers' webhooks over HTTP: verified, recorded, acknowledged. What they mean is found out by a job.

use axum::{
    Router,
    body::Bytes,
    extract::{Path, State},
    routing::post,
};
use http::{HeaderMap, StatusCode};
use serde::Deserialize;
use utoipa::OpenApi;

use super::{
    signature,
    store::{self, Webhook},
};
use crate::{
    AppState,
    admitted::single,
    config::Secret,
    problem::{Kind, Problem, Refusal},
};

const STRIPE: &str = "stripe";
/// Longest event id and kind recorded; longer ones are no provider's.
const NAME_MAX: usize = 255;

/// This domain's part of the OpenAPI document.
#[derive(OpenApi)]
#[openapi(paths(receive))]
pub struct Docs;

/// Providers' routes.
pub fn router() -> Router<AppState> {
    Router::new().route("/v1/webhooks/payments/{provider}", post(receive))
}

#[derive(Deserialize)]
struct Received {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    data: Data,
}

#[derive(Deserialize)]
struct Data {
    object: Object,
}

#[derive(Deserialize)]
struct Object {
    id: Option<String>,
    object: Option<String>,
    payment_intent: Option<String>,
}

impl Object {
    /// The intent this object is, or belongs to.
    fn intent(self) -> Option<String> {
        match self.object.as_deref() {
            Some("payment_intent") => self.id,
            _ => self.payment_intent,
        }
    }
}

/// A payment provider tells of an event.
#[utoipa::path(post, path = "/v1/webhooks/payments/{provider}", tag = "payments",
    params(("provider" = String, Path), ("Stripe-Signature" = String, Header)), request_body = String,
    responses((status = 200, description = "recorded"), (status = 400, description = "webhook-signature-invalid"),
              (status = 404, description = "not-found")))]
async fn receive(
    State(state): State<AppState>,
    Path(provider): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Refusal<StatusCode> {
    if provider != STRIPE {
        return Err(Kind::NotFound.into());
    }
    let header = single(&headers, "stripe-signature").ok_or(Kind::WebhookSignatureInvalid)?;
    let secrets: Vec<&str> = state.config.psp_webhook_secrets.iter().map(Secret::expose).collect();
    if let Err(error) = signature::verify(header, &body, &secrets, state.clock.unix()) {
        tracing::warn!(%error, "webhook refused");
        return Err(Problem::new(Kind::WebhookSignatureInvalid).detail(error.to_string()));
    }
    // Signed, so by the provider: what is not of the expected shape is logged, not refused for ever.
    let received: Received = match serde_json::from_slice(&body) {
        Ok(received) => received,
        Err(error) => {
            tracing::error!(%error, "a signed webhook of an unknown shape");
            return Ok(StatusCode::OK);
        }
    };
    if received.id.len() > NAME_MAX || received.kind.len() > NAME_MAX {
        return Ok(StatusCode::OK);
    }
    let intent = received.data.object.intent().and_then(|id| id.parse().ok());
    let webhook =
        Webhook { provider: STRIPE, webhook_id: &received.id, kind: &received.kind, intent: intent.as_ref() };
    store::record(&state.db, &webhook).await?;
    Ok(StatusCode::OK)
}
