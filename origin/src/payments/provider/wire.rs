//! Stripe's JSON, read tolerantly: unknown fields and values of later API versions are no errors.

use serde::Deserialize;

use super::{CallError, IntentView, RefundView};

#[derive(Debug, Deserialize)]
pub(super) struct IntentBody {
    pub(super) id: String,
    pub(super) status: String,
    pub(super) client_secret: Option<String>,
    last_payment_error: Option<ErrorBody>,
    latest_charge: Option<Charge>,
}

/// The charge, or only its id where it was not expanded.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Charge {
    Expanded {
        payment_method_details: Option<Details>,
    },
    #[expect(dead_code, reason = "an unexpanded charge is its id, which nobody asks for")]
    Id(String),
}

#[derive(Debug, Deserialize)]
struct Details {
    card: Option<Card>,
}

#[derive(Debug, Deserialize)]
struct Card {
    fingerprint: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ErrorEnvelope {
    pub(super) error: ErrorBody,
}

#[derive(Debug, Deserialize)]
pub(super) struct ErrorBody {
    pub(super) code: Option<String>,
    pub(super) decline_code: Option<String>,
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
}

impl ErrorBody {
    /// The most particular code there is.
    pub(super) fn reason(&self) -> String {
        let codes = [&self.decline_code, &self.code, &self.kind];
        codes.into_iter().flatten().next().cloned().unwrap_or_else(|| "generic_decline".to_owned())
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct RefundBody {
    id: String,
    status: Option<String>,
    #[serde(default)]
    metadata: std::collections::HashMap<String, String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct RefundList {
    pub(super) data: Vec<RefundBody>,
}

impl IntentBody {
    /// What the intent says.
    pub(super) fn view(self) -> Result<IntentView, CallError> {
        let instrument = match self.latest_charge {
            Some(Charge::Expanded { payment_method_details: Some(Details { card: Some(card) }) }) => {
                card.fingerprint
            }
            _ => None,
        };
        match self.status.as_str() {
            "requires_payment_method" | "requires_confirmation" => match self.last_payment_error {
                Some(error) => Ok(IntentView::Declined { code: error.reason() }),
                None => Ok(IntentView::Unconfirmed),
            },
            "requires_action" => Ok(IntentView::ActionRequired),
            "processing" => Ok(IntentView::Processing),
            "requires_capture" => Ok(IntentView::Authorized { instrument }),
            "succeeded" => Ok(IntentView::Captured { instrument }),
            "canceled" => Ok(IntentView::Canceled),
            other => Err(CallError::Nonsense(format!("intent {} is {other}", self.id))),
        }
    }
}

impl RefundBody {
    /// What the refund says. `pending` and `requires_action` are on their way.
    pub(super) fn view(mut self) -> RefundView {
        let status = self.status.as_deref().unwrap_or("pending");
        RefundView {
            succeeded: status == "succeeded",
            failed: matches!(status, "failed" | "canceled"),
            refund_id: self.metadata.remove("refund_id"),
            id: self.id,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(json: &str) -> Result<IntentView, CallError> {
        serde_json::from_str::<IntentBody>(json).unwrap().view()
    }

    #[test]
    fn statuses_of_stripe() {
        let card = r#"{"id":"ch_1","payment_method_details":{"card":{"fingerprint":"f","new":1}},"x":[]}"#;
        let json = format!(r#"{{"id":"pi_1","status":"requires_capture","latest_charge":{card}}}"#);
        assert_eq!(view(&json), Ok(IntentView::Authorized { instrument: Some("f".into()) }));
        let json = r#"{"id":"pi_1","status":"succeeded","latest_charge":"ch_1"}"#;
        assert_eq!(view(json), Ok(IntentView::Captured { instrument: None }));
        let declined = r#"{"id":"pi_1","status":"requires_payment_method",
            "last_payment_error":{"type":"card_error","code":"card_declined","decline_code":"insufficient_funds"}}"#;
        assert_eq!(view(declined), Ok(IntentView::Declined { code: "insufficient_funds".into() }));
        let fresh = r#"{"id":"pi_1","status":"requires_payment_method","last_payment_error":null}"#;
        assert_eq!(view(fresh), Ok(IntentView::Unconfirmed));
    }

    #[test]
    fn a_status_of_a_later_version_is_not_guessed_at() {
        assert!(matches!(view(r#"{"id":"pi_1","status":"half_paid"}"#), Err(CallError::Nonsense(_))));
    }
}
