//! Payment method tokens: what each test card does.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::error::ApiError;

/// Longest a `pm_sim_slow_<ms>` card may take.
const SLOWEST_MS: u64 = 60_000;

/// A card as the provider shows it after a payment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card {
    /// The token it was paid with.
    pub token: String,
    /// Equal for two tokens of one physical card.
    pub fingerprint: String,
}

/// What confirming with a token does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behaviour {
    /// Authorizes and answers.
    Authorize,
    /// The issuer declines with this code.
    Decline(&'static str),
    /// Authorizes, then never answers.
    HangCharged,
    /// Neither authorizes nor answers.
    HangUncharged,
    /// Authorizes, then answers 500.
    FailCharged,
    /// Is `processing` for this long, then authorizes and answers.
    Slow(Duration),
    /// Needs a step by the client.
    Challenge,
}

/// Reads a token.
///
/// # Errors
/// No such payment method.
pub fn resolve(token: &str) -> Result<(Card, Behaviour), ApiError> {
    let behaviour = match token {
        "pm_card_visa" => Behaviour::Authorize,
        "pm_card_visa_chargeDeclined" => Behaviour::Decline("generic_decline"),
        "pm_card_visa_chargeDeclinedInsufficientFunds" => Behaviour::Decline("insufficient_funds"),
        "pm_sim_hang_charged" => Behaviour::HangCharged,
        "pm_sim_hang_uncharged" => Behaviour::HangUncharged,
        "pm_sim_500_charged" => Behaviour::FailCharged,
        "pm_sim_3ds" => Behaviour::Challenge,
        other => {
            numbered(other).ok_or_else(|| ApiError::NotFound(format!("No such PaymentMethod: '{other}'")))?
        }
    };
    let digest = Sha256::digest(token.as_bytes());
    let fingerprint = hex::encode(digest.get(..8).unwrap_or_default());
    Ok((Card { token: token.to_owned(), fingerprint }, behaviour))
}

fn numbered(token: &str) -> Option<Behaviour> {
    let digits = |text: &str| text.parse::<u64>().ok().filter(|n| n.to_string() == text);
    if let Some(rest) = token.strip_prefix("pm_sim_card_") {
        return digits(rest).map(|_| Behaviour::Authorize);
    }
    let ms = digits(token.strip_prefix("pm_sim_slow_")?)?;
    (ms <= SLOWEST_MS).then(|| Behaviour::Slow(Duration::from_millis(ms)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbered_cards_have_their_own_fingerprints() {
        let (one, behaviour) = resolve("pm_sim_card_1").unwrap();
        let (two, _) = resolve("pm_sim_card_2").unwrap();
        assert_eq!(behaviour, Behaviour::Authorize);
        assert_ne!(one.fingerprint, two.fingerprint);
        assert_eq!(one.fingerprint, resolve("pm_sim_card_1").unwrap().0.fingerprint);
    }

    #[test]
    fn unknown_tokens_are_refused() {
        for token in ["", "pm_sim_card_", "pm_sim_card_x", "pm_sim_card_01", "pm_sim_slow_60001", "tok_visa"]
        {
            assert!(resolve(token).is_err(), "{token}");
        }
        assert_eq!(resolve("pm_sim_slow_8000").unwrap().1, Behaviour::Slow(Duration::from_secs(8)));
    }
}
