//! The Room object: an alarm that ticks, and answers from memory.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use edge_core::draw::transcript::RecordError;
use edge_core::room::{self as rules, Created};
use edge_core::wire::{
    Action, Document, Instant, LaneStatus, PhaseAnswer, PutConfig, PutConfigAnswer, RoomCommand, RoomReply,
};
use futures::future::join_all;
use worker::{DurableObject, Env, Request, Response, State, durable_object};

use super::room_documents::{found, written};
use super::room_store as store;
use super::room_tick::within_timeout;
use super::storage::StorageError;
use super::{LaneClient, fresh_bytes, fresh_id, reply};
use crate::clock::now;
use crate::telemetry::log;

/// The Room of an event.
#[durable_object(alarm)]
pub struct Room {
    shell: Rc<Shell>,
}

impl DurableObject for Room {
    fn new(state: State, env: Env) -> Self {
        let shell = Shell {
            state,
            env,
            live: RefCell::new(None),
            loaded: Cell::new(false),
            ticked: Cell::new(Instant(0)),
            asking_origin: Cell::new(false),
            published: RefCell::new(None),
            gate: RefCell::new(None),
        };
        Self { shell: Rc::new(shell) }
    }

    async fn fetch(&self, mut request: Request) -> worker::Result<Response> {
        let command = serde_json::from_str(&request.text().await?)?;
        match self.shell.answer(command).await {
            Ok(text) => Response::ok(text),
            Err(failure) => {
                log("room-failed", &failure);
                reply(&RoomReply::Failed(failure.to_string()))
            }
        }
    }

    /// A tick that fails is logged and followed by the next: an error here would make the runtime wait longer and
    /// longer between attempts.
    async fn alarm(&self) -> worker::Result<Response> {
        if let Err(failure) = self.shell.alarm().await {
            log("tick-failed", &failure);
        }
        Response::empty()
    }
}

/// Why a command or a tick failed.
#[derive(Debug)]
pub(super) enum Failure {
    Storage(StorageError),
    Records(RecordError),
    /// No random bytes.
    Randomness,
    /// The stored event id is none.
    Name,
    /// The event was deleted meanwhile.
    Gone,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Storage(error) => write!(f, "storage: {error}"),
            Self::Records(error) => write!(f, "records: {error}"),
            Self::Randomness => f.write_str("no random bytes"),
            Self::Name => f.write_str("the stored event id is none"),
            Self::Gone => f.write_str("the event was deleted meanwhile"),
        }
    }
}

impl From<StorageError> for Failure {
    fn from(error: StorageError) -> Self {
        Self::Storage(error)
    }
}

impl From<worker::Error> for Failure {
    fn from(error: worker::Error) -> Self {
        Self::Storage(error.into())
    }
}

impl From<RecordError> for Failure {
    fn from(error: RecordError) -> Self {
        Self::Records(error)
    }
}

/// What the object holds.
pub(super) struct Shell {
    pub(super) state: State,
    pub(super) env: Env,
    /// The rules' state, rebuilt from the rows when absent.
    pub(super) live: RefCell<Option<rules::Room>>,
    /// Whether the rows were looked at since the object woke up.
    pub(super) loaded: Cell<bool>,
    /// When the last tick began.
    pub(super) ticked: Cell<Instant>,
    pub(super) asking_origin: Cell<bool>,
    /// The document as last written out, and when.
    pub(super) published: RefCell<Option<Document>>,
    /// The answer with the gate's document as last written out, and when. Void as soon as anything changes.
    pub(super) gate: RefCell<Option<(Instant, String)>>,
}

impl Shell {
    async fn answer(self: &Rc<Self>, command: RoomCommand) -> Result<String, Failure> {
        self.load()?;
        if self.live.borrow().is_none() {
            return written(&match command {
                RoomCommand::Put(put) => RoomReply::Put(Box::new(self.create(&put).await?)),
                _ => RoomReply::Absent,
            });
        }
        self.rearm_lost_alarm().await?;
        written(&match command {
            RoomCommand::Put(put) => RoomReply::Put(Box::new(self.replace(&put).await?)),
            RoomCommand::Document => self.document()?,
            RoomCommand::Gate => return self.gate(),
            RoomCommand::Draw => found(store::draw(&self.state)?),
            RoomCommand::Batch { n } => found(store::batch(&self.state, n)?),
            RoomCommand::Config => self.read(|room| RoomReply::Config(Box::new(room.config_answer()))),
            RoomCommand::Act { action, actor } => RoomReply::Act(self.act(action, &actor).await?),
            RoomCommand::Stats => self.stats().await?,
            RoomCommand::Audit => RoomReply::Audit(store::audit(&self.state)?),
            RoomCommand::Delete { actor } => self.delete(&actor).await?,
            RoomCommand::Wake { lane } => self.read(|room| RoomReply::Setup(room.setup(lane))),
        })
    }

    /// Lets something act on the Room, if there is one: whatever was written out before is void.
    pub(super) fn change<R>(&self, act: impl FnOnce(&mut rules::Room) -> R) -> Option<R> {
        *self.gate.borrow_mut() = None;
        self.live.borrow_mut().as_mut().map(act)
    }

    /// Rebuilds the Room from its rows after a start or a failed write.
    pub(super) fn load(&self) -> Result<(), Failure> {
        if !self.loaded.get() {
            let room = store::load(&self.state)?.map(|restored| rules::Room::restore(restored, now()));
            *self.live.borrow_mut() = room.transpose()?;
            *self.gate.borrow_mut() = None;
            self.loaded.set(true);
        }
        Ok(())
    }

    pub(super) fn read(&self, reply: impl FnOnce(&rules::Room) -> RoomReply) -> RoomReply {
        self.live.borrow().as_ref().map_or(RoomReply::Absent, reply)
    }

    /// Decides and writes; nothing is awaited in between. `None` if there is no event here.
    pub(super) fn decide<R>(
        &self,
        decision: impl FnOnce(&mut rules::Room) -> R,
    ) -> Result<Option<R>, Failure> {
        self.load()?;
        let decided = self.change(|room| (decision(room), room.take_writes()));
        let Some((result, writes)) = decided else { return Ok(None) };
        *self.published.borrow_mut() = None;
        store::write(&self.state, &writes).map_err(|error| {
            // The rows are as they were; what was decided is forgotten and rebuilt from them.
            self.loaded.set(false);
            Failure::Storage(error)
        })?;
        Ok(Some(result))
    }

    async fn replace(self: &Rc<Self>, put: &PutConfig) -> Result<PutConfigAnswer, Failure> {
        let answer = self.decide(|room| room.replace(put, now()))?.ok_or(Failure::Gone)?;
        self.tick().await?;
        Ok(answer)
    }

    async fn create(self: &Rc<Self>, put: &PutConfig) -> Result<PutConfigAnswer, Failure> {
        let (Some(inc), Some(secret)) = (fresh_id(), fresh_bytes()) else { return Err(Failure::Randomness) };
        let created = Created { inc, secret, now: now() };
        let (room, answer) = match rules::Room::create(put, created) {
            Ok(created) => created,
            Err(refusal) => return Ok(*refusal),
        };
        store::create(&self.state)?;
        *self.live.borrow_mut() = Some(room);
        self.decide(|_| ())?;
        // Lanes know the event before anybody can join it.
        self.tick().await?;
        self.arm().await?;
        Ok(answer)
    }

    async fn act(self: &Rc<Self>, action: Action, actor: &str) -> Result<PhaseAnswer, Failure> {
        match self.decide(|room| room.act(action, actor, now()))? {
            Some(Ok(_)) => {}
            Some(Err(refused)) => return Ok(PhaseAnswer::Refused { from: refused.from, action }),
            None => return Err(Failure::Gone),
        }
        self.tick().await?;
        self.arm().await?;
        let phase = self.live.borrow().as_ref().map(|room| room.phase(now()));
        phase.map(|phase| PhaseAnswer::Done { phase }).ok_or(Failure::Gone)
    }

    /// The operator's numbers, with every lane asked now.
    async fn stats(&self) -> Result<RoomReply, Failure> {
        let lanes = self.live.borrow().as_ref().map(|room| room.config().lanes);
        let (Some(event), Some(lanes)) = (self.event()?, lanes) else { return Ok(RoomReply::Absent) };
        let calls = (0..lanes).map(async |lane| -> Option<(u16, LaneStatus)> {
            let client = LaneClient::new(&self.env, &event, lane);
            let status = within_timeout(async { client?.status().await }).await?;
            Some((lane, status.ok()?))
        });
        let statuses: Vec<_> = join_all(calls).await.into_iter().flatten().collect();
        Ok(self.read(|room| RoomReply::Stats(Box::new(room.stats(&statuses, now())))))
    }

    /// Removes the lanes' rows, then the Room's own. A lane that cannot be reached keeps rows of an incarnation nobody
    /// honours, and drops them when it hears of a newer one.
    async fn delete(&self, actor: &str) -> Result<RoomReply, Failure> {
        let target = self.live.borrow().as_ref().map(|room| (room.inc().to_owned(), room.config().lanes));
        let (Some(event), Some((inc, lanes))) = (self.event()?, target) else { return Ok(RoomReply::Absent) };
        *self.live.borrow_mut() = None;
        *self.published.borrow_mut() = None;
        *self.gate.borrow_mut() = None;
        self.state.storage().delete_alarm().await?;
        self.state.storage().delete_all().await?;
        log("event-deleted", &format!("{event} by {actor}"));
        let calls = (0..lanes).map(async |lane| {
            let client = LaneClient::new(&self.env, &event, lane);
            if within_timeout(async { client?.erase(&inc).await }).await.is_none_or(|erased| erased.is_err())
            {
                log("lane-not-erased", &format!("{event} lane {lane}"));
            }
        });
        join_all(calls).await;
        Ok(RoomReply::Deleted)
    }
}
