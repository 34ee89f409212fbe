//! Stripe's API: payment intents with manual capture, and refunds.
//!
//! The same code talks to Stripe's test mode and to any service of the same shape at `FAIRGATE_PSP_URL`.

use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, StatusCode, header};
use http_body_util::Full;
use serde::de::DeserializeOwned;

use super::{
    Authorization, CallError, CreatedIntent, IntentId, IntentView, NewIntent, RefundView, Released, Taken,
    wire::{ErrorBody, ErrorEnvelope, IntentBody, RefundBody, RefundList},
};
use crate::{config::Secret, outward::Transport, payments::money::Money};

/// Creating, reading, capturing, cancelling and refunding are quick at a provider that works.
const CALL_TIMEOUT: Duration = Duration::from_secs(5);
/// Confirming asks an issuer. Below the 10 s in which a purchase is answered inline, so that an outcome that stays
/// unknown is recorded as such before the buyer is answered.
const CONFIRM_TIMEOUT: Duration = Duration::from_millis(9_000);

/// The adapter. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Stripe {
    transport: Transport,
    base: String,
    key: Option<Secret>,
}

struct Answer {
    status: StatusCode,
    body: Bytes,
}

impl Answer {
    fn parse<T: DeserializeOwned>(&self) -> Result<T, CallError> {
        serde_json::from_slice(&self.body).map_err(|error| CallError::Nonsense(error.to_string()))
    }

    fn error(&self) -> Option<ErrorBody> {
        serde_json::from_slice::<ErrorEnvelope>(&self.body).ok().map(|envelope| envelope.error)
    }

    /// The error of an answer that is not a success. 409 (the first request runs) and 429 leave open what happens
    /// to the command.
    fn refusal(&self) -> CallError {
        let status = self.status.as_u16();
        if self.status.is_server_error() || matches!(status, 409 | 429) {
            return CallError::Unanswered(format!("status {status}"));
        }
        let code = self.error().map(|error| error.reason()).unwrap_or_default();
        CallError::Refused { status, code }
    }
}

impl Stripe {
    /// An adapter for the service at `base`.
    pub fn new(transport: Transport, base: &str, key: Option<Secret>) -> Self {
        Self { transport, base: base.trim_end_matches('/').to_owned(), key }
    }

    /// Creates an intent, unconfirmed. Moves no money, whatever it answers.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn create(&self, intent: &NewIntent<'_>, key: &str) -> Result<CreatedIntent, CallError> {
        let form = [
            ("amount", intent.amount.minor.to_string()),
            ("currency", intent.amount.currency.code().to_ascii_lowercase()),
            ("capture_method", "manual".to_owned()),
            ("payment_method_types[0]", "card".to_owned()),
            ("metadata[order_id]", intent.order.to_string()),
            ("metadata[event_id]", intent.event.to_string()),
        ];
        let answer = self.post("/v1/payment_intents", &form, key, CALL_TIMEOUT).await?;
        let body: IntentBody = success(&answer)?.parse()?;
        let id = body.id.parse().map_err(|_| CallError::Nonsense("intent id".into()))?;
        Ok(CreatedIntent { id, client_secret: body.client_secret })
    }

    /// Confirms an intent, which authorizes. Never fails: what is not known is [`Authorization::Unknown`].
    pub async fn confirm(&self, intent: &IntentId, method: &str, key: &str) -> Authorization {
        let path = format!("/v1/payment_intents/{intent}/confirm");
        let form = [("payment_method", method.to_owned()), ("expand[0]", "latest_charge".to_owned())];
        let answer = match self.post(&path, &form, key, CONFIRM_TIMEOUT).await {
            Ok(answer) => answer,
            Err(error) => {
                tracing::warn!(%intent, %error, "the outcome of a confirmation is unknown");
                return Authorization::Unknown;
            }
        };
        let outcome = authorization(&answer);
        if outcome == Authorization::Unknown {
            tracing::warn!(%intent, status = %answer.status, "the outcome of a confirmation is unknown");
        }
        outcome
    }

    /// Reads an intent.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn read(&self, intent: &IntentId) -> Result<IntentView, CallError> {
        let path = format!("/v1/payment_intents/{intent}?expand%5B0%5D=latest_charge");
        let answer = self.send(Method::GET, &path, None, None, CALL_TIMEOUT).await?;
        success(&answer)?.parse::<IntentBody>()?.view()
    }

    /// Takes the held money.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn capture(&self, intent: &IntentId, amount: Money, key: &str) -> Result<Taken, CallError> {
        let form = [("amount_to_capture", amount.minor.to_string())];
        let path = format!("/v1/payment_intents/{intent}/capture");
        let answer = self.post(&path, &form, key, CALL_TIMEOUT).await?;
        if answer.status == StatusCode::BAD_REQUEST {
            return Ok(Taken::Refused);
        }
        match success(&answer)?.parse::<IntentBody>()?.view()? {
            IntentView::Captured { .. } => Ok(Taken::Captured),
            _ => Ok(Taken::Refused),
        }
    }

    /// Closes an intent and releases what it holds.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn cancel(&self, intent: &IntentId, key: &str) -> Result<Released, CallError> {
        let answer =
            self.post(&format!("/v1/payment_intents/{intent}/cancel"), &[], key, CALL_TIMEOUT).await?;
        if answer.status == StatusCode::BAD_REQUEST {
            return Ok(Released::Refused);
        }
        match success(&answer)?.parse::<IntentBody>()?.view()? {
            IntentView::Canceled => Ok(Released::Canceled),
            _ => Ok(Released::Refused),
        }
    }

    /// Gives captured money back.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn refund(
        &self,
        intent: &IntentId,
        amount: Money,
        refund_id: &str,
        key: &str,
    ) -> Result<RefundView, CallError> {
        let form = [
            ("payment_intent", intent.to_string()),
            ("amount", amount.minor.to_string()),
            ("metadata[refund_id]", refund_id.to_owned()),
        ];
        let answer = self.post("/v1/refunds", &form, key, CALL_TIMEOUT).await?;
        Ok(success(&answer)?.parse::<RefundBody>()?.view())
    }

    /// The refunds of an intent.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn refunds(&self, intent: &IntentId) -> Result<Vec<RefundView>, CallError> {
        let path = format!("/v1/refunds?payment_intent={intent}");
        let answer = self.send(Method::GET, &path, None, None, CALL_TIMEOUT).await?;
        let list: RefundList = success(&answer)?.parse()?;
        Ok(list.data.into_iter().map(RefundBody::view).collect())
    }

    async fn post(
        &self,
        path: &str,
        form: &[(&str, String)],
        key: &str,
        limit: Duration,
    ) -> Result<Answer, CallError> {
        let body = form.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value)));
        self.send(Method::POST, path, Some(body.collect::<Vec<_>>().join("&")), Some(key), limit).await
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<String>,
        key: Option<&str>,
        limit: Duration,
    ) -> Result<Answer, CallError> {
        let secret = self.key.as_ref().ok_or(CallError::NotConfigured)?;
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base))
            .header(header::AUTHORIZATION, format!("Bearer {}", secret.expose()));
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        if body.is_some() {
            request = request.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        }
        // A base URL or key that makes no request was never sent.
        let unsendable = |_| CallError::Refused { status: 0, code: "malformed_configuration".into() };
        let request = request.body(Full::new(Bytes::from(body.unwrap_or_default()))).map_err(unsendable)?;
        let (status, body) = self.transport.send(request, limit).await?;
        Ok(Answer { status, body })
    }
}

/// What an answered confirmation says.
fn authorization(answer: &Answer) -> Authorization {
    if answer.status.is_success() {
        return match answer.parse::<IntentBody>().and_then(IntentBody::view) {
            // Captured though manual capture was asked for: the money is there, the saga goes on from reading it.
            Ok(IntentView::Authorized { instrument } | IntentView::Captured { instrument }) => {
                Authorization::Authorized { instrument }
            }
            Ok(IntentView::Declined { code }) => Authorization::Declined { code },
            Ok(IntentView::ActionRequired) => Authorization::ActionRequired,
            Ok(IntentView::Unconfirmed | IntentView::Processing | IntentView::Canceled) | Err(_) => {
                Authorization::Unknown
            }
        };
    }
    match (answer.status.as_u16(), answer.error()) {
        (402, Some(error)) => Authorization::Declined { code: error.reason() },
        // A token the provider does not know, or one it cannot use: nothing was asked of any issuer.
        (400 | 404, Some(error)) if is_about_the_method(&error) => {
            Authorization::Declined { code: error.reason() }
        }
        _ => Authorization::Unknown,
    }
}

fn is_about_the_method(error: &ErrorBody) -> bool {
    matches!(
        error.code.as_deref(),
        Some(
            "resource_missing"
                | "parameter_missing"
                | "parameter_invalid"
                | "parameter_invalid_empty"
                | "payment_method_invalid_parameter"
                | "payment_method_unactivated"
                | "invalid_card_type"
        )
    )
}

fn success(answer: &Answer) -> Result<&Answer, CallError> {
    if answer.status.is_success() { Ok(answer) } else { Err(answer.refusal()) }
}

/// Percent-encodes everything but unreserved characters (RFC 3986), which a form reader takes as well.
fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, body: &str) -> Answer {
        Answer {
            status: StatusCode::from_u16(status).unwrap(),
            body: Bytes::copy_from_slice(body.as_bytes()),
        }
    }

    #[test]
    fn only_a_decline_is_a_decline() {
        let declined =
            r#"{"error":{"type":"card_error","code":"card_declined","decline_code":"generic_decline"}}"#;
        assert_eq!(
            authorization(&answer(402, declined)),
            Authorization::Declined { code: "generic_decline".into() }
        );
        let missing = r#"{"error":{"type":"invalid_request_error","code":"resource_missing"}}"#;
        assert_eq!(
            authorization(&answer(404, missing)),
            Authorization::Declined { code: "resource_missing".into() }
        );
        let state = r#"{"error":{"code":"payment_intent_unexpected_state"}}"#;
        for (status, body) in
            [(500, "{}"), (409, "{}"), (429, "{}"), (502, "<html>"), (200, "{}"), (400, state)]
        {
            assert_eq!(authorization(&answer(status, body)), Authorization::Unknown, "{status} {body}");
        }
    }

    #[test]
    fn forms_are_encoded() {
        assert_eq!(encode("metadata[a]"), "metadata%5Ba%5D");
        assert_eq!(encode("a b&c=ü"), "a%20b%26c%3D%C3%BC");
    }
}
