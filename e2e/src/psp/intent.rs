//! A payment intent: a state machine that refuses wrong transitions.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::error::ApiError;
use super::method::Card;

/// When money moves after an authorization.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Capture {
    /// By a later capture call.
    Manual,
    /// At once.
    Automatic,
}

/// Where an intent stands. Money is in the variants that have any.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum State {
    /// Created, or declined and open for another card.
    RequiresPaymentMethod {
        /// The last decline.
        declined: Option<String>,
    },
    /// The client has a step to do.
    RequiresAction {
        /// The card to be authenticated.
        card: Card,
    },
    /// The issuer has not answered.
    Processing {
        /// The card being asked.
        card: Card,
    },
    /// Authorized, nothing captured.
    RequiresCapture {
        /// The card that holds the money.
        card: Card,
    },
    /// Captured.
    Succeeded {
        /// The card that paid.
        card: Card,
        /// Captured minor units; the rest of the authorization was released.
        captured: u64,
        /// Refunded minor units, never above `captured`.
        refunded: u64,
    },
    /// Closed without money.
    Canceled {
        /// Whether an authorization was released by it.
        voided: bool,
    },
}

/// A payment intent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intent {
    /// `pi_…`.
    pub id: String,
    /// Requested minor units.
    pub amount: u64,
    /// Lower-case ISO 4217 code.
    pub currency: String,
    /// Manual or automatic.
    pub capture: Capture,
    /// The merchant's own fields.
    pub metadata: BTreeMap<String, String>,
    /// Unix seconds.
    pub created: u64,
    /// What the buyer's client may see the intent with.
    pub client_secret: String,
    /// Where it stands.
    pub state: State,
}

impl Intent {
    /// The status word.
    #[must_use]
    pub fn status(&self) -> &'static str {
        match self.state {
            State::RequiresPaymentMethod { .. } => "requires_payment_method",
            State::RequiresAction { .. } => "requires_action",
            State::Processing { .. } => "processing",
            State::RequiresCapture { .. } => "requires_capture",
            State::Succeeded { .. } => "succeeded",
            State::Canceled { .. } => "canceled",
        }
    }

    /// May it be confirmed now?
    ///
    /// # Errors
    /// The state refuses.
    pub fn check_confirmable(&self) -> Result<(), ApiError> {
        match self.state {
            State::RequiresPaymentMethod { .. } | State::RequiresAction { .. } => Ok(()),
            _ => Err(self.unexpected("confirm")),
        }
    }

    /// The issuer authorized: money is held, or taken where capture is automatic.
    ///
    /// # Errors
    /// The state refuses.
    pub fn authorize(&mut self, card: Card) -> Result<(), ApiError> {
        match self.state {
            State::RequiresPaymentMethod { .. } | State::RequiresAction { .. } | State::Processing { .. } => {
                self.state = match self.capture {
                    Capture::Manual => State::RequiresCapture { card },
                    Capture::Automatic => State::Succeeded { card, captured: self.amount, refunded: 0 },
                };
                Ok(())
            }
            _ => Err(self.unexpected("authorize")),
        }
    }

    /// The issuer was asked and has not answered.
    ///
    /// # Errors
    /// The state refuses.
    pub fn process(&mut self, card: Card) -> Result<(), ApiError> {
        self.check_confirmable()?;
        self.state = State::Processing { card };
        Ok(())
    }

    /// The client has a step to do.
    ///
    /// # Errors
    /// The state refuses.
    pub fn challenge(&mut self, card: Card) -> Result<(), ApiError> {
        self.check_confirmable()?;
        self.state = State::RequiresAction { card };
        Ok(())
    }

    /// The issuer declined: open for another card.
    ///
    /// # Errors
    /// The state refuses.
    pub fn decline(&mut self, code: &str) -> Result<(), ApiError> {
        self.check_confirmable()?;
        self.state = State::RequiresPaymentMethod { declined: Some(code.to_owned()) };
        Ok(())
    }

    /// The client did its step, or failed it.
    ///
    /// # Errors
    /// No step was asked for.
    pub fn authenticate(&mut self, passed: bool) -> Result<(), ApiError> {
        let State::RequiresAction { card } = &self.state else { return Err(self.unexpected("authenticate")) };
        let card = card.clone();
        if passed { self.authorize(card) } else { self.decline("authentication_required") }
    }

    /// Takes the held money, all of it or less; what is not taken is released.
    ///
    /// # Errors
    /// Nothing is held, or the amount exceeds it.
    pub fn capture(&mut self, amount: Option<u64>) -> Result<(), ApiError> {
        let State::RequiresCapture { card } = &self.state else { return Err(self.unexpected("capture")) };
        let captured = amount.unwrap_or(self.amount);
        if captured == 0 || captured > self.amount {
            let message = format!("The payment has {} to capture, {captured} was asked.", self.amount);
            return Err(ApiError::State { code: "amount_too_large", message });
        }
        self.state = State::Succeeded { card: card.clone(), captured, refunded: 0 };
        Ok(())
    }

    /// Closes the intent and releases what is held. Captured money cannot be released.
    ///
    /// # Errors
    /// It succeeded, is canceled, or the issuer is being asked right now.
    pub fn cancel(&mut self) -> Result<(), ApiError> {
        let voided = match self.state {
            State::RequiresPaymentMethod { .. } | State::RequiresAction { .. } => false,
            State::RequiresCapture { .. } => true,
            _ => return Err(self.unexpected("cancel")),
        };
        self.state = State::Canceled { voided };
        Ok(())
    }

    /// Gives captured money back; the sum never exceeds what was captured. Returns the amount.
    ///
    /// # Errors
    /// Nothing was captured, or less is left.
    pub fn refund(&mut self, amount: Option<u64>) -> Result<u64, ApiError> {
        let status = self.status();
        let State::Succeeded { captured, refunded, .. } = &mut self.state else {
            let message =
                format!("This PaymentIntent ({status}) does not have a successful charge to refund.");
            return Err(ApiError::State { code: "payment_intent_unexpected_state", message });
        };
        let left = captured.saturating_sub(*refunded);
        if left == 0 {
            let message = "The charge has already been refunded.".to_owned();
            return Err(ApiError::State { code: "charge_already_refunded", message });
        }
        let amount = amount.unwrap_or(left);
        if amount == 0 || amount > left {
            let message =
                format!("Refund amount ({amount}) is greater than unrefunded amount on charge ({left})");
            return Err(ApiError::State { code: "amount_too_large", message });
        }
        *refunded = refunded.saturating_add(amount);
        Ok(amount)
    }

    fn unexpected(&self, verb: &str) -> ApiError {
        let message =
            format!("You cannot {verb} this PaymentIntent because it has a status of {}.", self.status());
        ApiError::State { code: "payment_intent_unexpected_state", message }
    }
}

#[cfg(test)]
#[path = "intent_tests.rs"]
mod tests;
