//! POST requests, parsed into commands before anything is touched.

use std::collections::BTreeMap;

use super::error::ApiError;
use super::form::Form;
use super::intent::Capture;
use super::method::{self, Behaviour, Card};

/// The provider's own bound on an amount: eight digits.
const MAX_AMOUNT: u64 = 99_999_999;
/// The provider's bound on metadata entries.
const MAX_METADATA: usize = 50;

/// Create an intent, unconfirmed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Create {
    /// Minor units.
    pub amount: u64,
    /// Lower-case ISO 4217 code.
    pub currency: String,
    /// Manual or automatic.
    pub capture: Capture,
    /// The merchant's own fields.
    pub metadata: BTreeMap<String, String>,
}

/// What a POST asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// `POST /v1/payment_intents`
    Create(Create),
    /// `POST /v1/payment_intents/{id}/confirm`
    Confirm {
        /// The intent.
        intent: String,
        /// The card behind the token.
        card: Card,
        /// What that card does.
        behaviour: Behaviour,
        /// Show the charge in the answer.
        expand: bool,
    },
    /// `POST /v1/payment_intents/{id}/capture`
    Capture {
        /// The intent.
        intent: String,
        /// Minor units; none is all.
        amount: Option<u64>,
    },
    /// `POST /v1/payment_intents/{id}/cancel`
    Cancel {
        /// The intent.
        intent: String,
    },
    /// `POST /v1/payment_intents/{id}/_authenticate`: the buyer's client step, for tests.
    Authenticate {
        /// The intent.
        intent: String,
        /// Whether the buyer passed.
        passed: bool,
    },
    /// `POST /v1/refunds`
    Refund {
        /// The intent whose money goes back.
        intent: String,
        /// Minor units; none is all that is left.
        amount: Option<u64>,
        /// The merchant's own fields.
        metadata: BTreeMap<String, String>,
    },
}

impl Command {
    /// Parses path and body.
    ///
    /// # Errors
    /// An unknown path, or a parameter that is missing, malformed or unknown.
    pub fn parse(path: &str, mut form: Form) -> Result<Self, ApiError> {
        let segments: Vec<&str> = path.trim_matches('/').split('/').collect();
        let command = match segments.as_slice() {
            ["v1", "payment_intents"] => create(&mut form)?,
            ["v1", "payment_intents", intent, verb] => on_intent(intent, verb, path, &mut form)?,
            ["v1", "refunds"] => refund(&mut form)?,
            _ => return Err(unrecognized(path)),
        };
        form.finish()?;
        Ok(command)
    }
}

fn unrecognized(path: &str) -> ApiError {
    ApiError::NotFound(format!("Unrecognized request URL (POST: {path})."))
}

fn create(form: &mut Form) -> Result<Command, ApiError> {
    let amount = form.take_u64("amount")?.ok_or_else(|| ApiError::missing("amount"))?;
    if amount == 0 || amount > MAX_AMOUNT {
        return Err(ApiError::invalid("amount", "The amount must be between 1 and 99999999."));
    }
    let currency = form.require("currency")?.to_ascii_lowercase();
    if currency.len() != 3 || !currency.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Err(ApiError::invalid("currency", format!("Invalid currency: {currency}.")));
    }
    let capture = match form.take("capture_method").as_deref() {
        Some("manual") => Capture::Manual,
        None | Some("automatic" | "automatic_async") => Capture::Automatic,
        Some(other) => {
            return Err(ApiError::invalid("capture_method", format!("Invalid capture_method: {other}")));
        }
    };
    let metadata = take_metadata(form)?;
    // Accepted and without effect on what the simulator models.
    form.take("description");
    form.take_map("automatic_payment_methods");
    form.take_map("payment_method_types");
    Ok(Command::Create(Create { amount, currency, capture, metadata }))
}

fn on_intent(intent: &str, verb: &str, path: &str, form: &mut Form) -> Result<Command, ApiError> {
    let intent = intent.to_owned();
    match verb {
        "confirm" => {
            let (card, behaviour) = method::resolve(&form.require("payment_method")?)?;
            form.take("return_url");
            let expand = take_expand(form)?;
            Ok(Command::Confirm { intent, card, behaviour, expand })
        }
        "capture" => Ok(Command::Capture { intent, amount: form.take_u64("amount_to_capture")? }),
        "cancel" => {
            match form.take("cancellation_reason").as_deref() {
                None | Some("duplicate" | "fraudulent" | "requested_by_customer" | "abandoned") => {}
                Some(other) => {
                    return Err(ApiError::invalid("cancellation_reason", format!("Invalid reason: {other}")));
                }
            }
            Ok(Command::Cancel { intent })
        }
        "_authenticate" => {
            let passed = form.take("success").is_none_or(|answer| answer == "true");
            Ok(Command::Authenticate { intent, passed })
        }
        _ => Err(unrecognized(path)),
    }
}

fn refund(form: &mut Form) -> Result<Command, ApiError> {
    let intent = form.require("payment_intent")?;
    let amount = form.take_u64("amount")?;
    form.take("reason");
    Ok(Command::Refund { intent, amount, metadata: take_metadata(form)? })
}

fn take_metadata(form: &mut Form) -> Result<BTreeMap<String, String>, ApiError> {
    let metadata = form.take_map("metadata");
    if metadata.len() > MAX_METADATA {
        return Err(ApiError::invalid("metadata", "Up to 50 keys are allowed."));
    }
    Ok(metadata)
}

/// Takes `expand[]`/`expand[0]`; only the charge can be expanded.
///
/// # Errors
/// Something else is to be expanded.
pub fn take_expand(form: &mut Form) -> Result<bool, ApiError> {
    let wanted = form.take_map("expand");
    if let Some(other) = wanted.values().find(|value| value.as_str() != "latest_charge") {
        return Err(ApiError::invalid("expand", format!("This property cannot be expanded ({other}).")));
    }
    Ok(!wanted.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(path: &str, body: &str) -> Result<Command, ApiError> {
        Command::parse(path, Form::parse(body.as_bytes())?)
    }

    #[test]
    fn creates() {
        let parsed =
            parse("/v1/payment_intents", "amount=4500&currency=EUR&capture_method=manual&metadata[a]=b");
        let Ok(Command::Create(create)) = parsed else { panic!("{parsed:?}") };
        assert_eq!((create.amount, create.currency.as_str(), create.capture), (4500, "eur", Capture::Manual));
    }

    #[test]
    fn refuses_what_a_provider_refuses() {
        for (path, body) in [
            ("/v1/payment_intents", "currency=eur"),
            ("/v1/payment_intents", "amount=0&currency=eur"),
            ("/v1/payment_intents", "amount=100000000&currency=eur"),
            ("/v1/payment_intents", "amount=4.5&currency=eur"),
            ("/v1/payment_intents", "amount=45&currency=euro"),
            ("/v1/payment_intents", "amount=45&currency=eur&confirm=true"),
            ("/v1/payment_intents/pi_1/confirm", ""),
            ("/v1/payment_intents/pi_1/confirm", "payment_method=pm_nope"),
            ("/v1/payment_intents/pi_1/cancel", "cancellation_reason=bored"),
            ("/v1/payment_intents/pi_1/explode", ""),
            ("/v1/refunds", "amount=1"),
            ("/v1/charges", ""),
        ] {
            assert!(parse(path, body).is_err(), "{path} {body}");
        }
    }
}
