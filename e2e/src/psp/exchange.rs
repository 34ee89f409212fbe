//! What host and provider hand each other: a moment, a step to take, records to keep.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::ApiError;
use super::idempotency::{Answer, Entry};
use super::intent::Intent;
use super::method::Card;
use super::refund::Refund;

/// What the host brings to a request.
#[derive(Clone, Debug)]
pub struct Moment {
    /// Unix seconds.
    pub now: u64,
    /// Random hexadecimal digits, fresh for each request.
    pub nonce: String,
}

/// A line of the journal: the later one wins.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Record {
    /// An intent as it stands.
    Intent(Box<Intent>),
    /// A refund.
    Refund(Refund),
    /// A key and its answer.
    Key {
        /// The key.
        key: String,
        /// What is known about it.
        entry: Entry,
    },
}

/// What the host does with a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Answers.
    Answer {
        /// Status and body.
        answer: Answer,
        /// From a stored answer.
        replayed: bool,
    },
    /// Keeps the connection open and never answers.
    Hang,
    /// Calls [`Provider::settle`] after the delay and answers with its result.
    Wait {
        /// How long the issuer thinks.
        delay: Duration,
        /// What to settle.
        pending: Pending,
    },
}

/// A confirmation whose issuer has not answered yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    pub(super) key: Option<String>,
    pub(super) intent: String,
    pub(super) card: Card,
    pub(super) expand: bool,
}

/// How an applied command is answered.
pub(super) enum Reply {
    Now(Result<Value, ApiError>),
    Lost(Value),
    Silent,
    After(Duration, Pending),
}
