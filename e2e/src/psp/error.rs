//! Stripe-shaped errors.

use serde_json::{Value, json};

/// An error as the provider words it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApiError {
    /// No key or the wrong one.
    Unauthorized,
    /// A parameter that is missing, unknown or malformed.
    Parameter {
        /// `parameter_missing`, `parameter_unknown` or `parameter_invalid`.
        code: &'static str,
        /// The parameter's name as sent.
        param: String,
        /// What is wrong with it.
        message: String,
    },
    /// Nothing has that id or path.
    NotFound(String),
    /// The object's state refuses this command.
    State {
        /// Machine-readable code.
        code: &'static str,
        /// What the state is and what was asked.
        message: String,
    },
    /// The card was declined.
    Declined {
        /// The issuer's reason.
        decline_code: &'static str,
        /// The intent as it stands after the decline.
        intent: Value,
    },
    /// The same idempotency key with other parameters.
    KeyReused,
    /// The first request with this key is still running.
    KeyInUse,
    /// The provider failed.
    Internal,
    /// The provider is down.
    Outage,
}

impl ApiError {
    /// A missing parameter.
    #[must_use]
    pub fn missing(param: &str) -> Self {
        let message = format!("Missing required param: {param}.");
        Self::Parameter { code: "parameter_missing", param: param.to_owned(), message }
    }

    /// A malformed parameter.
    #[must_use]
    pub fn invalid(param: &str, message: impl Into<String>) -> Self {
        Self::Parameter { code: "parameter_invalid", param: param.to_owned(), message: message.into() }
    }

    /// A parameter this call does not have.
    #[must_use]
    pub fn unknown(param: &str) -> Self {
        let message = format!("Received unknown parameter: {param}");
        Self::Parameter { code: "parameter_unknown", param: param.to_owned(), message }
    }

    /// The HTTP status.
    #[must_use]
    pub fn status(&self) -> u16 {
        match self {
            Self::Unauthorized => 401,
            Self::Parameter { .. } | Self::State { .. } | Self::KeyReused => 400,
            Self::NotFound(_) => 404,
            Self::Declined { .. } => 402,
            Self::KeyInUse => 409,
            Self::Internal => 500,
            Self::Outage => 503,
        }
    }

    /// The JSON body.
    #[must_use]
    pub fn body(&self) -> Value {
        let error = match self {
            Self::Unauthorized => {
                json!({"type": "invalid_request_error", "message": "Invalid API Key provided."})
            }
            Self::Parameter { code, param, message } => {
                json!({"type": "invalid_request_error", "code": code, "param": param, "message": message})
            }
            Self::NotFound(message) => {
                json!({"type": "invalid_request_error", "code": "resource_missing", "message": message})
            }
            Self::State { code, message } => {
                json!({"type": "invalid_request_error", "code": code, "message": message})
            }
            Self::Declined { decline_code, intent } => json!({
                "type": "card_error", "code": "card_declined", "decline_code": decline_code,
                "message": "Your card was declined.", "payment_intent": intent,
            }),
            Self::KeyReused => json!({
                "type": "idempotency_error",
                "message": "Keys for idempotent requests can only be used with the same parameters and endpoint they \
                            were first used with.",
            }),
            Self::KeyInUse => json!({
                "type": "invalid_request_error", "code": "idempotency_key_in_use",
                "message": "There is currently another in-progress request using this Idempotency-Key.",
            }),
            Self::Internal => json!({"type": "api_error", "message": "An unknown error occurred."}),
            Self::Outage => json!({"type": "api_error", "message": "The service is unavailable."}),
        };
        json!({"error": error})
    }
}
