//! Idempotency keys as strict as a real provider's: a key belongs to one endpoint and one set of parameters, and the
//! answer of whatever began to execute is kept, also a 500.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::ApiError;

/// Longest key a provider takes.
pub const MAX_KEY_CHARS: usize = 255;

/// An answer as it was given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// JSON body.
    pub body: Value,
}

/// What is known about a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Endpoint and parameters of the first request.
    pub fingerprint: String,
    /// Its answer; none while it runs.
    pub answer: Option<Answer>,
}

/// What to do with a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Begun {
    /// Execute it.
    Fresh,
    /// Give this answer again.
    Replay(Answer),
}

/// All keys ever used.
#[derive(Clone, Debug, Default)]
pub struct Keys(HashMap<String, Entry>);

impl Keys {
    /// Looks a key up and claims it if it is new.
    ///
    /// # Errors
    /// Too long, used for something else, or still running. Fingerprint before in-progress: another body under a
    /// running key is a mistake, not a race.
    pub fn begin(&mut self, key: &str, fingerprint: &str) -> Result<Begun, ApiError> {
        if key.is_empty() || key.chars().count() > MAX_KEY_CHARS {
            return Err(ApiError::invalid("Idempotency-Key", "Keys have 1 to 255 characters."));
        }
        let Some(entry) = self.0.get(key) else {
            self.0.insert(key.to_owned(), Entry { fingerprint: fingerprint.to_owned(), answer: None });
            return Ok(Begun::Fresh);
        };
        if entry.fingerprint != fingerprint {
            return Err(ApiError::KeyReused);
        }
        entry.answer.clone().map(Begun::Replay).ok_or(ApiError::KeyInUse)
    }

    /// Stores the answer; returns the entry to be persisted.
    pub fn finish(&mut self, key: &str, answer: Answer) -> Option<&Entry> {
        let entry = self.0.get_mut(key)?;
        entry.answer = Some(answer);
        Some(entry)
    }

    /// Forgets a key whose request never began to execute.
    pub fn abandon(&mut self, key: &str) {
        self.0.remove(key);
    }

    /// Restores an entry from the journal.
    pub fn restore(&mut self, key: String, entry: Entry) {
        self.0.insert(key, entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16) -> Answer {
        Answer { status, body: Value::Null }
    }

    #[test]
    fn replays_also_a_stored_500() {
        let mut keys = Keys::default();
        assert_eq!(keys.begin("k", "f").unwrap(), Begun::Fresh);
        keys.finish("k", answer(500));
        assert_eq!(keys.begin("k", "f").unwrap(), Begun::Replay(answer(500)));
    }

    #[test]
    fn another_body_is_an_error_even_while_the_first_runs() {
        let mut keys = Keys::default();
        keys.begin("k", "f").unwrap();
        assert_eq!(keys.begin("k", "g"), Err(ApiError::KeyReused));
        assert_eq!(keys.begin("k", "f"), Err(ApiError::KeyInUse));
    }

    #[test]
    fn an_abandoned_key_is_new_again() {
        let mut keys = Keys::default();
        keys.begin("k", "f").unwrap();
        keys.abandon("k");
        assert_eq!(keys.begin("k", "g").unwrap(), Begun::Fresh);
        assert!(keys.begin(&"x".repeat(256), "f").is_err());
    }
}
