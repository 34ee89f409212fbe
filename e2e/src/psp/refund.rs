//! Refunds.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Money given back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refund {
    /// `re_…`.
    pub id: String,
    /// The intent whose money it is.
    pub payment_intent: String,
    /// Minor units.
    pub amount: u64,
    /// Lower-case ISO 4217 code.
    pub currency: String,
    /// Unix seconds.
    pub created: u64,
    /// The merchant's own fields.
    pub metadata: BTreeMap<String, String>,
}

impl Refund {
    /// The provider's JSON.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "id": self.id, "object": "refund", "payment_intent": self.payment_intent, "amount": self.amount,
            "currency": self.currency, "created": self.created, "metadata": self.metadata, "status": "succeeded",
        })
    }
}
