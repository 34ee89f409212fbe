//! Calls to the Room: documents for the Worker, commands of operators, a lane's cry for a tick.

use serde::{Deserialize, Serialize};

use super::{EventConfig, Fault, Instant, LaneSetup, Phase, Stats};

/// A published document, ready to be served.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// JSON text.
    pub body: String,
    /// Strong entity tag, quoted.
    pub etag: String,
    /// The Room's clock when it was written.
    pub generated_at: Instant,
}

/// An operator's act on the state of the room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Stop letting in.
    Pause,
    /// Go on letting in.
    Resume,
    /// Draw now and let in.
    Open,
    /// End the sale.
    Close,
}

/// Create or replace an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PutConfig {
    /// The event.
    pub event: String,
    /// The operator's document as it arrived.
    pub body: String,
    /// The `If-Match` header.
    pub if_match: Option<String>,
    /// Who, for the audit.
    pub actor: String,
}

/// Answer to [`PutConfig`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PutConfigAnswer {
    /// The event is new.
    Created(ConfigAnswer),
    /// The event changed.
    Replaced(ConfigAnswer),
    /// The document is faulty, or changes what cannot change any more.
    Invalid {
        /// Every fault.
        faults: Vec<Fault>,
    },
    /// The event exists: say which version you replace (`If-Match`).
    MatchRequired,
    /// `If-Match` names another version.
    MatchFailed {
        /// The version that stands.
        etag: String,
    },
}

/// A configuration as it stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConfigAnswer {
    /// The configuration.
    pub config: EventConfig,
    /// Its entity tag, quoted.
    pub etag: String,
}

/// Answer to an [`Action`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhaseAnswer {
    /// Done, or already so.
    Done {
        /// State now.
        phase: Phase,
    },
    /// Not possible from this state.
    Refused {
        /// State.
        from: Phase,
        /// What was wanted.
        action: Action,
    },
}

/// One line of the audit. Never changed, never removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// When.
    pub at: Instant,
    /// Who.
    pub actor: String,
    /// What.
    pub action: String,
    /// Its content.
    pub detail: serde_json::Value,
}

/// A command to the Room.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoomCommand {
    /// The document every fan polls.
    Document,
    /// The document the gate works by.
    Gate,
    /// The draw's transcript.
    Draw,
    /// The record of one batch.
    Batch {
        /// Its number.
        n: u32,
    },
    /// See [`PutConfig`].
    Put(PutConfig),
    /// The configuration.
    Config,
    /// See [`Action`].
    Act {
        /// What.
        action: Action,
        /// Who.
        actor: String,
    },
    /// The operator's numbers.
    Stats,
    /// The audit, oldest first.
    Audit,
    /// Remove the event and its objects.
    Delete {
        /// Who.
        actor: String,
    },
    /// A lane has not heard a tick, or knows no event.
    Wake {
        /// The lane.
        lane: u16,
    },
}

/// Answer to a [`RoomCommand`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoomReply {
    /// To `Document`, `Draw`, `Batch`.
    Document(Document),
    /// To `Gate`.
    Gate(Box<super::GateDocument>),
    /// To `Put`.
    Put(Box<PutConfigAnswer>),
    /// To `Config`.
    Config(Box<ConfigAnswer>),
    /// To `Act`.
    Act(PhaseAnswer),
    /// To `Stats`.
    Stats(Box<Stats>),
    /// To `Audit`.
    Audit(Vec<AuditEntry>),
    /// To `Delete`.
    Deleted,
    /// To `Wake`.
    Setup(LaneSetup),
    /// There is no such event, draw or batch.
    Absent,
    /// The Room failed; the text is for the log.
    Failed(String),
}
