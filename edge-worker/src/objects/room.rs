//! The Room object: an alarm that ticks, and answers from memory.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use edge_core::draw::transcript::RecordError;
use edge_core::room::{self as rules, Created};
use edge_core::wire::{
    Action, Document, Instant, LaneStatus, PhaseAnswer, PutConfig, PutConfigAnswer, RoomCommand, RoomReply,
    Tick,
};
use futures::future::{Either, join_all, select};
use shared_token::ids::EventId;
use worker::{Delay, DurableObject, Env, Request, Response, State, durable_object};

use super::pressure;
use super::room_store as store;
use super::storage::StorageError;
use super::{CallError, LaneClient, document_of, fresh_bytes, fresh_id, reply};
use crate::clock::now;
use crate::telemetry::log;

/// A lane that takes longer than this for one answer is passed over; its next report says everything again.
const LANE_TIMEOUT_MS: u64 = 700;
/// A Room that has not ticked for this long has lost its alarm.
const LOST_ALARM_MS: u64 = 3_000;

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
        };
        Self { shell: Rc::new(shell) }
    }

    async fn fetch(&self, mut request: Request) -> worker::Result<Response> {
        let command = serde_json::from_str(&request.text().await?)?;
        let answer = self.shell.answer(command).await.unwrap_or_else(|failure| {
            log("room-failed", &failure);
            RoomReply::Failed(failure.to_string())
        });
        reply(&answer)
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
enum Failure {
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

struct Shell {
    state: State,
    env: Env,
    /// The rules' state, rebuilt from the rows when absent.
    live: RefCell<Option<rules::Room>>,
    /// Whether the rows were looked at since the object woke up.
    loaded: Cell<bool>,
    /// When the last tick began.
    ticked: Cell<Instant>,
    asking_origin: Cell<bool>,
    /// The document as last written out, and when.
    published: RefCell<Option<Document>>,
}

impl Shell {
    async fn answer(self: &Rc<Self>, command: RoomCommand) -> Result<RoomReply, Failure> {
        self.load()?;
        if self.live.borrow().is_none() {
            return Ok(match command {
                RoomCommand::Put(put) => RoomReply::Put(Box::new(self.create(&put).await?)),
                _ => RoomReply::Absent,
            });
        }
        self.rearm_lost_alarm().await?;
        Ok(match command {
            RoomCommand::Put(put) => RoomReply::Put(Box::new(self.replace(&put).await?)),
            RoomCommand::Document => self.document()?,
            RoomCommand::Gate => self.read(|room| RoomReply::Gate(Box::new(room.gate_document(now())))),
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

    /// Rebuilds the Room from its rows after a start or a failed write.
    fn load(&self) -> Result<(), Failure> {
        if !self.loaded.get() {
            let room = store::load(&self.state)?.map(|restored| rules::Room::restore(restored, now()));
            *self.live.borrow_mut() = room.transpose()?;
            self.loaded.set(true);
        }
        Ok(())
    }

    fn read(&self, reply: impl FnOnce(&rules::Room) -> RoomReply) -> RoomReply {
        self.live.borrow().as_ref().map_or(RoomReply::Absent, reply)
    }

    /// Decides and writes; nothing is awaited in between. `None` if there is no event here.
    fn decide<R>(&self, decision: impl FnOnce(&mut rules::Room) -> R) -> Result<Option<R>, Failure> {
        self.load()?;
        let (result, writes) = {
            let mut live = self.live.borrow_mut();
            let Some(room) = live.as_mut() else { return Ok(None) };
            (decision(room), room.take_writes())
        };
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

    async fn alarm(self: &Rc<Self>) -> Result<(), Failure> {
        self.load()?;
        if self.live.borrow().is_none() {
            return Ok(());
        }
        self.arm().await?;
        self.tick().await
    }

    /// Sets the next alarm.
    async fn arm(&self) -> Result<(), Failure> {
        let next = self.live.borrow().as_ref().map(|room| room.next_tick_ms(now()));
        if let Some(ms) = next {
            self.state.storage().set_alarm(Duration::from_millis(ms)).await?;
        }
        Ok(())
    }

    /// An alarm can be lost with a machine; whoever calls next sets it again.
    async fn rearm_lost_alarm(&self) -> Result<(), Failure> {
        if now().since(self.ticked.get()) < LOST_ALARM_MS {
            return Ok(());
        }
        match self.state.storage().get_alarm().await? {
            Some(due) if u64::try_from(due).is_ok_and(|due| due.saturating_add(LOST_ALARM_MS) > now().0) => {}
            _ => self.state.storage().set_alarm(Duration::ZERO).await?,
        }
        Ok(())
    }

    /// One second: commands out, reports in, decide, store, and only then the grants.
    async fn tick(self: &Rc<Self>) -> Result<(), Failure> {
        self.ticked.set(now());
        self.ask_origin();
        let Some((event, commands)) = self.commands(|room| room.begin_tick(now()))? else { return Ok(()) };
        self.deliver(&event, commands).await;
        match self.decide(|room| room.decide(now()))? {
            Some(decided) => decided?,
            None => return Ok(()),
        }
        self.state.storage().sync().await?;
        let Some((event, commands)) = self.commands(|room| room.grant_round(now()))? else { return Ok(()) };
        if !commands.is_empty() {
            self.deliver(&event, commands).await;
            self.decide(|_| ())?;
        }
        Ok(())
    }

    fn commands(
        &self,
        make: impl FnOnce(&mut rules::Room) -> Vec<(u16, Tick)>,
    ) -> Result<Option<(EventId, Vec<(u16, Tick)>)>, Failure> {
        let mut live = self.live.borrow_mut();
        let Some(room) = live.as_mut() else { return Ok(None) };
        let event = room.event().parse().map_err(|_| Failure::Name)?;
        Ok(Some((event, make(room))))
    }

    /// Delivers commands to lanes at the same time and takes in the answers as they come.
    async fn deliver(&self, event: &EventId, commands: Vec<(u16, Tick)>) {
        let calls = commands.into_iter().map(async |(lane, tick)| {
            let client = LaneClient::new(&self.env, event, lane);
            match within_timeout(async { client?.tick(tick).await }).await {
                Some(Ok(report)) => {
                    if let Some(room) = self.live.borrow_mut().as_mut() {
                        room.absorb(lane, report, now());
                    }
                }
                Some(Err(error)) => log("lane-silent", &format!("{lane}: {error}")),
                None => log("lane-silent", &format!("{lane}: no answer in {LANE_TIMEOUT_MS} ms")),
            }
        });
        join_all(calls).await;
    }

    /// Asks the origin for its pressure, beside the tick; one question at a time.
    fn ask_origin(self: &Rc<Self>) {
        if self.asking_origin.replace(true) {
            return;
        }
        let target =
            self.live.borrow().as_ref().map(|room| (room.event().to_owned(), room.config().origin.clone()));
        let shell = Rc::clone(self);
        self.state.wait_until(async move {
            if let Some((event, origin)) = target {
                // Silence leaves everything as it is, until the controller's issue says otherwise.
                if let Some(pressure) = pressure::ask(&shell.env, &event, origin.as_deref()).await
                    && let Some(room) = shell.live.borrow_mut().as_mut()
                {
                    room.absorb_pressure(&pressure, now());
                }
            }
            shell.asking_origin.set(false);
        });
    }

    /// The document every fan polls, written out at most once a second.
    fn document(&self) -> Result<RoomReply, Failure> {
        let fresh = self
            .published
            .borrow()
            .as_ref()
            .filter(|document| now().since(document.generated_at) < rules::TICK_MS)
            .cloned();
        if let Some(document) = fresh {
            return Ok(RoomReply::Document(document));
        }
        let text = self.live.borrow().as_ref().map(|room| serde_json::to_string(&room.document(now())));
        let Some(text) = text.transpose().map_err(|error| StorageError::row("room", &error))? else {
            return Ok(RoomReply::Absent);
        };
        let document = document_of(text, now());
        *self.published.borrow_mut() = Some(document.clone());
        Ok(RoomReply::Document(document))
    }

    /// The operator's numbers, with every lane asked now.
    async fn stats(&self) -> Result<RoomReply, Failure> {
        let lanes = self.live.borrow().as_ref().map(|room| (room.event().parse(), room.config().lanes));
        let Some((event, lanes)) = lanes else { return Ok(RoomReply::Absent) };
        let event: EventId = event.map_err(|_| Failure::Name)?;
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
        let target = self
            .live
            .borrow()
            .as_ref()
            .map(|room| (room.event().parse(), room.inc().to_owned(), room.config().lanes));
        let Some((event, inc, lanes)) = target else { return Ok(RoomReply::Absent) };
        let event: EventId = event.map_err(|_| Failure::Name)?;
        *self.live.borrow_mut() = None;
        *self.published.borrow_mut() = None;
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

fn found(text: Option<String>) -> RoomReply {
    text.map_or(RoomReply::Absent, |text| RoomReply::Document(document_of(text, now())))
}

/// The answer of a lane, unless it takes too long.
async fn within_timeout<T>(call: impl Future<Output = Result<T, CallError>>) -> Option<Result<T, CallError>> {
    let call = std::pin::pin!(call);
    let timeout = std::pin::pin!(Delay::from(Duration::from_millis(LANE_TIMEOUT_MS)));
    match select(call, timeout).await {
        Either::Left((answer, _)) => Some(answer),
        Either::Right(_) => None,
    }
}
