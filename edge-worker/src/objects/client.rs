//! Typed calls to the objects: the only place that knows their names and how a command travels.

use edge_core::wire::{
    Action, Ask, AskAnswer, AuditEntry, ConfigAnswer, Document, Ending, Extended, GateDocument, Join,
    JoinAnswer, LaneCommand, LaneReply, LaneSetup, LaneStatus, Liveness, PhaseAnswer, PutConfig,
    PutConfigAnswer, Redeem, RedeemAnswer, Report, RoomCommand, RoomReply, Stats, Tick,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use shared_token::ids::EventId;
use wasm_bindgen::JsValue;
use worker::{Env, Method, Request, RequestInit, Stub};

/// Binding of the Room's namespace.
const ROOM_BINDING: &str = "ROOM";
/// Binding of the lanes' namespace.
const LANE_BINDING: &str = "LANE";
/// Objects read nothing of the address; the runtime wants one.
const ADDRESS: &str = "https://object.internal/";

/// A call that brought no answer. The outcome of a command that changes something is then unknown; every such command
/// may be repeated.
#[derive(Debug)]
pub(crate) enum CallError {
    /// The object could not be reached or died.
    Unreachable(worker::Error),
    /// The object answered that it failed.
    Failed(String),
    /// The answer is not one to this command.
    Garbled(String),
}

impl std::fmt::Display for CallError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unreachable(error) => write!(f, "object unreachable: {error}"),
            Self::Failed(text) => write!(f, "object failed: {text}"),
            Self::Garbled(text) => write!(f, "object answered out of turn: {text}"),
        }
    }
}

impl From<worker::Error> for CallError {
    fn from(error: worker::Error) -> Self {
        Self::Unreachable(error)
    }
}

/// Name of an event's Room.
fn room_name(event: &EventId) -> String {
    event.as_str().to_owned()
}

/// Name of one of an event's lanes. Event ids contain no colon.
fn lane_name(event: &EventId, lane: u16) -> String {
    format!("{event}:{lane}")
}

async fn call<C: Serialize, R: DeserializeOwned>(stub: &Stub, command: &C) -> Result<R, CallError> {
    let body = serde_json::to_string(command).map_err(|error| CallError::Garbled(error.to_string()))?;
    let mut init = RequestInit::new();
    init.with_method(Method::Post).with_body(Some(JsValue::from_str(&body)));
    let request = Request::new_with_init(ADDRESS, &init)?;
    let mut response = stub.fetch_with_request(request).await?;
    let text = response.text().await?;
    if response.status_code() != 200 {
        return Err(CallError::Failed(text));
    }
    serde_json::from_str(&text).map_err(|error| CallError::Garbled(error.to_string()))
}

/// Calls to one lane of an event.
pub(crate) struct LaneClient {
    stub: Stub,
}

/// Takes the one variant that answers a command.
macro_rules! expect_reply {
    ($reply:expr, $pattern:pat => $value:expr) => {
        match $reply {
            $pattern => Ok($value),
            LaneReply::Failed(text) => Err(CallError::Failed(text)),
            other => Err(CallError::Garbled(format!("{other:?}"))),
        }
    };
}

impl LaneClient {
    /// The lane of this number; see `edge_core::lane::lane_of`.
    pub(crate) fn new(env: &Env, event: &EventId, lane: u16) -> Result<Self, CallError> {
        let stub = env.durable_object(LANE_BINDING)?.get_by_name(&lane_name(event, lane))?;
        Ok(Self { stub })
    }

    async fn call(&self, command: LaneCommand) -> Result<LaneReply, CallError> {
        call(&self.stub, &command).await
    }

    /// Gives the identity its place. Durable when it answers; repeating it changes nothing.
    pub(crate) async fn join(&self, join: Join) -> Result<JoinAnswer, CallError> {
        expect_reply!(self.call(LaneCommand::Join(join)).await?, LaneReply::Join(answer) => answer)
    }

    /// Asks for admission. Call it only for a position below `serving`.
    pub(crate) async fn ask(&self, ask: Ask) -> Result<AskAnswer, CallError> {
        expect_reply!(self.call(LaneCommand::Ask(ask)).await?, LaneReply::Ask(answer) => answer)
    }

    /// Burns an admission token for a session.
    pub(crate) async fn redeem(&self, redeem: Redeem) -> Result<RedeemAnswer, CallError> {
        expect_reply!(self.call(LaneCommand::Redeem(redeem)).await?, LaneReply::Redeem(answer) => answer)
    }

    /// Whether the session lives.
    pub(crate) async fn confirm(&self, sid: &str) -> Result<Liveness, CallError> {
        let command = LaneCommand::Confirm { sid: sid.to_owned() };
        expect_reply!(self.call(command).await?, LaneReply::Session(answer) => answer)
    }

    /// Ends the session; ending an ended one changes nothing.
    pub(crate) async fn end(&self, sid: &str, ending: Ending) -> Result<Liveness, CallError> {
        let command = LaneCommand::End { sid: sid.to_owned(), ending };
        expect_reply!(self.call(command).await?, LaneReply::Session(answer) => answer)
    }

    /// Prolongs the session to `seconds` after `exp`, the presented token's expiry, within the event's bound.
    pub(crate) async fn extend(&self, sid: &str, exp: u64, seconds: u64) -> Result<Extended, CallError> {
        let command = LaneCommand::Extend { sid: sid.to_owned(), exp, seconds };
        expect_reply!(self.call(command).await?, LaneReply::Extend(answer) => answer)
    }

    /// The Room's command of one second.
    pub(super) async fn tick(&self, tick: Tick) -> Result<Report, CallError> {
        expect_reply!(self.call(LaneCommand::Tick(tick)).await?, LaneReply::Report(report) => report)
    }

    /// The lane's numbers.
    pub(super) async fn status(&self) -> Result<LaneStatus, CallError> {
        expect_reply!(self.call(LaneCommand::Status).await?, LaneReply::Status(status) => status)
    }

    /// Removes everything of that incarnation.
    pub(super) async fn erase(&self, inc: &str) -> Result<(), CallError> {
        let command = LaneCommand::Erase { inc: inc.to_owned() };
        expect_reply!(self.call(command).await?, LaneReply::Erased => ())
    }
}

/// Calls to the Room of an event. `None` means there is no such event (or draw, or batch).
pub(crate) struct RoomClient {
    stub: Stub,
    event: EventId,
}

/// Takes the one variant that answers a command, or the absence of its subject.
macro_rules! expect_found {
    ($reply:expr, $pattern:pat => $value:expr) => {
        match $reply {
            $pattern => Ok(Some($value)),
            RoomReply::Absent => Ok(None),
            RoomReply::Failed(text) => Err(CallError::Failed(text)),
            other => Err(CallError::Garbled(format!("{other:?}"))),
        }
    };
}

impl RoomClient {
    /// The Room of this event.
    pub(crate) fn new(env: &Env, event: &EventId) -> Result<Self, CallError> {
        let stub = env.durable_object(ROOM_BINDING)?.get_by_name(&room_name(event))?;
        Ok(Self { stub, event: event.clone() })
    }

    async fn call(&self, command: RoomCommand) -> Result<RoomReply, CallError> {
        call(&self.stub, &command).await
    }

    /// The document every fan polls, as bytes with their entity tag.
    pub(crate) async fn document(&self) -> Result<Option<Document>, CallError> {
        expect_found!(self.call(RoomCommand::Document).await?, RoomReply::Document(document) => document)
    }

    /// The document the gate works by.
    pub(crate) async fn gate_document(&self) -> Result<Option<GateDocument>, CallError> {
        expect_found!(self.call(RoomCommand::Gate).await?, RoomReply::Gate(document) => *document)
    }

    /// The draw's transcript (`wire::Transcript` as JSON), once there is one.
    pub(crate) async fn draw(&self) -> Result<Option<Document>, CallError> {
        expect_found!(self.call(RoomCommand::Draw).await?, RoomReply::Document(document) => document)
    }

    /// One batch (`wire::BatchRecord` as JSON), once it is closed. Immutable.
    pub(crate) async fn batch(&self, n: u32) -> Result<Option<Document>, CallError> {
        expect_found!(self.call(RoomCommand::Batch { n }).await?, RoomReply::Document(document) => document)
    }

    /// Creates or replaces the event.
    pub(crate) async fn put_config(
        &self,
        body: String,
        if_match: Option<String>,
        actor: String,
    ) -> Result<PutConfigAnswer, CallError> {
        let put = PutConfig { event: self.event.as_str().to_owned(), body, if_match, actor };
        let reply = self.call(RoomCommand::Put(put)).await?;
        let answer = expect_found!(reply, RoomReply::Put(answer) => *answer)?;
        answer.ok_or_else(|| CallError::Garbled("absent after a put".to_owned()))
    }

    /// The configuration and its entity tag.
    pub(crate) async fn config(&self) -> Result<Option<ConfigAnswer>, CallError> {
        expect_found!(self.call(RoomCommand::Config).await?, RoomReply::Config(answer) => *answer)
    }

    /// Pause, resume, open, close.
    pub(crate) async fn act(&self, action: Action, actor: String) -> Result<Option<PhaseAnswer>, CallError> {
        let command = RoomCommand::Act { action, actor };
        expect_found!(self.call(command).await?, RoomReply::Act(answer) => answer)
    }

    /// The operator's numbers, read from the objects.
    pub(crate) async fn stats(&self) -> Result<Option<Stats>, CallError> {
        expect_found!(self.call(RoomCommand::Stats).await?, RoomReply::Stats(stats) => *stats)
    }

    /// The audit, oldest first.
    pub(crate) async fn audit(&self) -> Result<Option<Vec<AuditEntry>>, CallError> {
        expect_found!(self.call(RoomCommand::Audit).await?, RoomReply::Audit(entries) => entries)
    }

    /// Removes the event and its objects.
    pub(crate) async fn delete(&self, actor: String) -> Result<Option<()>, CallError> {
        expect_found!(self.call(RoomCommand::Delete { actor }).await?, RoomReply::Deleted => ())
    }

    /// A lane's cry for a tick; brings the set-up.
    pub(super) async fn wake(&self, lane: u16) -> Result<Option<LaneSetup>, CallError> {
        expect_found!(self.call(RoomCommand::Wake { lane }).await?, RoomReply::Setup(setup) => setup)
    }
}
