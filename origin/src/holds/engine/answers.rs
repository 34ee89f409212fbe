//! What scripts answer: a word, then values. Anything else is a fault of ours and an error, never a guess.

use chrono::{DateTime, Utc};
use redis::Value;

use super::keys::Keys;
use crate::holds::EngineError;

pub(super) struct Answer {
    pub(super) word: String,
    pub(super) rest: Vec<Value>,
    pub(super) keys: Keys,
}

pub(super) fn impossible(what: impl Into<String>) -> EngineError {
    EngineError::Impossible(what.into())
}

pub(super) fn text(value: &Value) -> Result<String, EngineError> {
    match value {
        Value::BulkString(bytes) => {
            String::from_utf8(bytes.clone()).map_err(|_| impossible("text is not UTF-8"))
        }
        Value::SimpleString(text) => Ok(text.clone()),
        Value::Int(number) => Ok(number.to_string()),
        other => Err(impossible(format!("expected text, got {other:?}"))),
    }
}

pub(super) fn number<T: std::str::FromStr>(text: &str) -> Result<T, EngineError> {
    text.parse().map_err(|_| impossible(format!("expected a number, got {text:?}")))
}

pub(super) fn instant(millis: &str) -> Result<DateTime<Utc>, EngineError> {
    DateTime::from_timestamp_millis(number(millis)?).ok_or_else(|| impossible("an instant out of range"))
}

/// Numbers joined by commas; empty text is no numbers.
pub(super) fn list<T: std::str::FromStr>(csv: &str) -> Result<Vec<T>, EngineError> {
    csv.split(',').filter(|item| !item.is_empty()).map(number).collect()
}

pub(super) fn csv<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(",")
}

impl Answer {
    pub(super) fn parse(value: Value, keys: Keys) -> Result<Self, EngineError> {
        let Value::Array(mut items) = value else { return Err(impossible("expected an array")) };
        if items.is_empty() {
            return Err(impossible("expected a word"));
        }
        let word = text(&items.remove(0))?;
        Ok(Self { word, rest: items, keys })
    }

    pub(super) fn text(&self, at: usize) -> Result<String, EngineError> {
        self.rest.get(at).ok_or_else(|| impossible(format!("{}: too short", self.word))).and_then(text)
    }

    pub(super) fn texts(&self) -> Result<Vec<String>, EngineError> {
        self.rest.iter().map(text).collect()
    }

    pub(super) fn bytes(&self, at: usize) -> Result<Vec<u8>, EngineError> {
        match self.rest.get(at) {
            Some(Value::BulkString(bytes)) => Ok(bytes.clone()),
            _ => Err(impossible(format!("{}: expected bytes", self.word))),
        }
    }

    /// The map version of a sequence in this answer's generation.
    pub(super) fn version(&self, sequence: &str) -> Result<u64, EngineError> {
        Ok(crate::seat_map::version::join(self.keys.generation(), number(sequence)?))
    }

    pub(super) fn unexpected<T>(self) -> Result<T, EngineError> {
        Err(impossible(format!("unexpected word {:?}", self.word)))
    }
}
