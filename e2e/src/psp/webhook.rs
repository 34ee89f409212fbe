//! Events, their signature, and the plan by which delivery goes wrong.

use hmac::{Hmac, KeyInit, Mac};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::Sha256;

use super::dice::Dice;

/// Most attempts for one delivery, doubling from a second: 1 + 2 + … + 128 s is about four minutes, which a test can
/// wait for. A real provider goes on for three days.
pub const MAX_ATTEMPTS: u32 = 8;
/// A reordered event is late by up to this much.
const REORDER_SPREAD_MS: u64 = 2_000;

/// Something that happened to an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// `payment_intent.succeeded` and the like.
    pub kind: &'static str,
    /// The object as it was then.
    pub object: Value,
}

impl Event {
    /// The body of a webhook.
    #[must_use]
    pub fn to_json(&self, id: &str, now: u64) -> Value {
        json!({
            "id": id, "object": "event", "api_version": "2026-10-28", "created": now, "livemode": false,
            "pending_webhooks": 1, "type": self.kind, "data": {"object": self.object},
        })
    }
}

/// What goes wrong with deliveries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Faults {
    /// Every delivery is late by this much.
    pub delay_ms: u64,
    /// The fraction that is sent twice.
    pub duplicate: f64,
    /// The fraction that is overtaken by later ones.
    pub reorder: f64,
    /// The fraction that is never sent.
    pub drop: f64,
}

impl Faults {
    /// Delays in milliseconds after which copies of one event are sent: none, one or two.
    pub fn plan(&self, dice: &mut Dice) -> Vec<u64> {
        if dice.chance(self.drop) {
            return Vec::new();
        }
        let copies = if dice.chance(self.duplicate) { 2 } else { 1 };
        (0..copies)
            .map(|_| {
                let late = if dice.chance(self.reorder) { dice.next_u64() % REORDER_SPREAD_MS } else { 0 };
                self.delay_ms.saturating_add(late)
            })
            .collect()
    }
}

/// `Stripe-Signature` of a body: HMAC-SHA256 over `t.body`.
#[must_use]
pub fn sign(secret: &str, timestamp: u64, body: &[u8]) -> String {
    // HMAC takes keys of any length, so the error type is uninhabited in practice.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.as_bytes()) else { return String::new() };
    mac.update(timestamp.to_string().as_bytes());
    mac.update(b".");
    mac.update(body);
    format!("t={timestamp},v1={}", hex::encode(mac.finalize().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signature_is_pinned() {
        // echo -n '1.{}' | openssl dgst -sha256 -hmac whsec_test
        assert_eq!(
            sign("whsec_test", 1, b"{}"),
            "t=1,v1=7500d5d4be4b3ef07af1fe56f7d522d135cdaa7530de557e67cc1049c52de094"
        );
    }

    #[test]
    fn faults_do_what_they_say() {
        let mut dice = Dice::new(3);
        assert_eq!(Faults::default().plan(&mut dice), [0]);
        assert!(Faults { drop: 1.0, ..Faults::default() }.plan(&mut dice).is_empty());
        assert_eq!(Faults { duplicate: 1.0, delay_ms: 5, ..Faults::default() }.plan(&mut dice), [5, 5]);
    }
}
