//! All intents and refunds, and the ledger an outside sweep compares with bookings.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Value, json};

use super::error::ApiError;
use super::intent::Intent;
use super::refund::Refund;

/// Most entries of one list answer.
pub const MAX_PAGE: usize = 100;

/// Everything the provider knows about money.
#[derive(Clone, Debug, Default)]
pub struct Book {
    intents: HashMap<String, Intent>,
    sequence: Vec<String>,
    refunds: BTreeMap<String, Refund>,
}

impl Book {
    /// An intent by id.
    ///
    /// # Errors
    /// No such intent.
    pub fn intent(&self, id: &str) -> Result<&Intent, ApiError> {
        self.intents.get(id).ok_or_else(|| ApiError::NotFound(format!("No such payment_intent: '{id}'")))
    }

    /// An intent to be changed.
    ///
    /// # Errors
    /// No such intent.
    pub fn intent_mut(&mut self, id: &str) -> Result<&mut Intent, ApiError> {
        self.intents.get_mut(id).ok_or_else(|| ApiError::NotFound(format!("No such payment_intent: '{id}'")))
    }

    /// Adds an intent or replaces it by its later state.
    pub fn put_intent(&mut self, intent: Intent) {
        let id = intent.id.clone();
        if self.intents.insert(id.clone(), intent).is_none() {
            self.sequence.push(id);
        }
    }

    /// A refund by id.
    ///
    /// # Errors
    /// No such refund.
    pub fn refund(&self, id: &str) -> Result<&Refund, ApiError> {
        self.refunds.get(id).ok_or_else(|| ApiError::NotFound(format!("No such refund: '{id}'")))
    }

    /// Adds a refund.
    pub fn put_refund(&mut self, refund: Refund) {
        self.refunds.insert(refund.id.clone(), refund);
    }

    /// Refunds of one intent.
    #[must_use]
    pub fn refunds_of(&self, intent: &str) -> Value {
        let data: Vec<Value> = self
            .refunds
            .values()
            .filter(|refund| refund.payment_intent == intent)
            .map(Refund::to_json)
            .collect();
        json!({"object": "list", "data": data, "has_more": false})
    }

    /// Intents from the newest, after `starting_after`, that match all of `metadata`.
    ///
    /// # Errors
    /// The cursor is no intent.
    pub fn list(
        &self,
        limit: usize,
        starting_after: Option<&str>,
        metadata: &BTreeMap<String, String>,
    ) -> Result<Value, ApiError> {
        let end = match starting_after {
            None => self.sequence.len(),
            Some(id) => self
                .sequence
                .iter()
                .position(|known| known == id)
                .ok_or_else(|| ApiError::NotFound(format!("No such payment_intent: '{id}'")))?,
        };
        let mut matching = self
            .sequence
            .iter()
            .take(end)
            .rev()
            .filter_map(|id| self.intents.get(id))
            .filter(|intent| metadata.iter().all(|(key, value)| intent.metadata.get(key) == Some(value)));
        let data: Vec<Value> =
            matching.by_ref().take(limit.min(MAX_PAGE)).map(|i| i.to_json(false)).collect();
        Ok(json!({"object": "list", "data": data, "has_more": matching.next().is_some()}))
    }

    /// The ledger, oldest first.
    #[must_use]
    pub fn ledger(&self) -> Value {
        let lines: Vec<Value> =
            self.sequence.iter().filter_map(|id| self.intents.get(id)).map(Intent::to_ledger).collect();
        json!({"intents": lines})
    }

    /// Everything that is being asked of an issuer right now.
    #[must_use]
    pub fn processing(&self) -> Vec<String> {
        let open = self.intents.values().filter(|intent| intent.status() == "processing");
        open.map(|intent| intent.id.clone()).collect()
    }
}
