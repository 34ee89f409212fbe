//! Intents as the provider shows them: in its API, and in the ledger.

use serde_json::{Value, json};

use super::intent::{Intent, State};
use super::method::Card;

impl Intent {
    /// The card money is or was held on.
    #[must_use]
    pub fn card(&self) -> Option<&Card> {
        match &self.state {
            State::RequiresCapture { card } | State::Succeeded { card, .. } => Some(card),
            _ => None,
        }
    }

    /// The provider's JSON; `expand_charge` shows the charge instead of its id.
    #[must_use]
    pub fn to_json(&self, expand_charge: bool) -> Value {
        let received = match self.state {
            State::Succeeded { captured, .. } => captured,
            _ => 0,
        };
        let capturable = if matches!(self.state, State::RequiresCapture { .. }) { self.amount } else { 0 };
        let last_error = match &self.state {
            State::RequiresPaymentMethod { declined: Some(code) } => {
                json!({"type": "card_error", "code": "card_declined", "decline_code": code})
            }
            _ => Value::Null,
        };
        let next_action = match self.state {
            State::RequiresAction { .. } => json!({"type": "use_stripe_sdk", "use_stripe_sdk": {}}),
            _ => Value::Null,
        };
        json!({
            "id": self.id, "object": "payment_intent", "amount": self.amount, "amount_capturable": capturable,
            "amount_received": received, "capture_method": self.capture, "currency": self.currency,
            "client_secret": self.client_secret, "created": self.created, "livemode": false,
            "metadata": self.metadata, "status": self.status(), "last_payment_error": last_error,
            "next_action": next_action, "latest_charge": self.charge_json(expand_charge),
        })
    }

    fn charge_json(&self, expand: bool) -> Value {
        let Some(card) = self.card() else { return Value::Null };
        let id = format!("ch_{}", self.id.trim_start_matches("pi_"));
        if !expand {
            return Value::String(id);
        }
        let (captured, refunded) = match self.state {
            State::Succeeded { captured, refunded, .. } => (captured, refunded),
            _ => (0, 0),
        };
        json!({
            "id": id, "object": "charge", "amount": self.amount, "amount_captured": captured,
            "amount_refunded": refunded, "captured": captured > 0, "refunded": captured > 0 && refunded == captured,
            "currency": self.currency, "payment_intent": self.id, "payment_method": card.token,
            "payment_method_details": {"type": "card", "card": {"brand": "visa", "fingerprint": card.fingerprint}},
        })
    }

    /// This intent's line of the ledger.
    #[must_use]
    pub fn to_ledger(&self) -> Value {
        let (authorized, captured, voided, refunded) = match self.state {
            State::RequiresCapture { .. } => (self.amount, 0, 0, 0),
            State::Succeeded { captured, refunded, .. } => {
                (self.amount, captured, self.amount.saturating_sub(captured), refunded)
            }
            State::Canceled { voided: true } => (self.amount, 0, self.amount, 0),
            _ => (0, 0, 0, 0),
        };
        json!({
            "id": self.id, "currency": self.currency, "amount": self.amount, "authorized": authorized,
            "captured": captured, "voided": voided, "refunded": refunded, "status": self.status(),
            "metadata": self.metadata,
        })
    }
}
