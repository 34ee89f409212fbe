//! The lane object: decode, look up, decide, write, reply.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::rc::Rc;

use edge_core::lane::{self as rules, SILENCE_WAKES_ROOM_MS, Writes};
use edge_core::wire::{
    Ask, AskAnswer, Instant, LaneCommand, LaneReply, LaneSetup, LaneStatus, Liveness, Redeem, RedeemAnswer,
    Report, Tick,
};
use shared_token::ids::EventId;
use worker::{DurableObject, Env, Request, Response, State, durable_object};

use super::lane_joins::Queued;
use super::lane_store as store;
use super::storage::StorageError;
use super::{CallError, RoomClient, fresh_id, reply};
use crate::clock::now;
use crate::telemetry::log;

/// One lane of an event.
#[durable_object(fetch)]
pub struct Lane {
    shell: Rc<Shell>,
}

impl DurableObject for Lane {
    fn new(state: State, env: Env) -> Self {
        let shell = Shell {
            state,
            env,
            live: RefCell::new(None),
            loaded: Cell::new(false),
            queue: RefCell::new(Vec::new()),
            woke: Cell::new(now()),
        };
        Self { shell: Rc::new(shell) }
    }

    async fn fetch(&self, mut request: Request) -> worker::Result<Response> {
        let command = serde_json::from_str(&request.text().await?)?;
        let answer = self.shell.answer(command).await.unwrap_or_else(|failure| {
            log("lane-failed", &failure);
            LaneReply::Failed(failure.to_string())
        });
        reply(&answer)
    }
}

/// Why a command was not answered.
#[derive(Debug)]
pub(super) enum Failure {
    Storage(StorageError),
    Room(CallError),
    /// The object has no name that says which lane it is.
    Nameless,
    /// The batch this join stood in was not written.
    NotWritten,
    /// No random bytes.
    Randomness,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Storage(error) => write!(f, "storage: {error}"),
            Self::Room(error) => write!(f, "room: {error}"),
            Self::Nameless => f.write_str("the object's name says neither event nor lane"),
            Self::NotWritten => f.write_str("the batch was not written"),
            Self::Randomness => f.write_str("no random bytes"),
        }
    }
}

impl From<StorageError> for Failure {
    fn from(error: StorageError) -> Self {
        Self::Storage(error)
    }
}

/// What the object holds.
pub(super) struct Shell {
    pub(super) state: State,
    pub(super) env: Env,
    /// The rules' state, rebuilt from the rows when absent.
    pub(super) live: RefCell<Option<rules::Lane>>,
    /// Whether the rows were looked at since the object woke up.
    pub(super) loaded: Cell<bool>,
    pub(super) queue: RefCell<Vec<Queued>>,
    /// When the Room was last woken (or this object woke up).
    pub(super) woke: Cell<Instant>,
}

impl Shell {
    async fn answer(self: &Rc<Self>, command: LaneCommand) -> Result<LaneReply, Failure> {
        Ok(match command {
            LaneCommand::Join(join) => LaneReply::Join(self.join(join).await?),
            LaneCommand::Ask(ask) => LaneReply::Ask(self.ask(&ask)?),
            LaneCommand::Redeem(redeem) => LaneReply::Redeem(self.redeem(&redeem)?),
            LaneCommand::Confirm { sid } => {
                LaneReply::Session(self.session(|lane| lane.confirm(&sid, now()))?)
            }
            LaneCommand::End { sid, ending } => {
                LaneReply::Session(self.session(|lane| lane.end(&sid, ending, now()))?)
            }
            LaneCommand::Extend { sid, exp, seconds } => {
                let extended = self.decide(|lane| lane.extend(&sid, exp, seconds, now()))?;
                LaneReply::Extend(extended.unwrap_or(edge_core::wire::Extended::Ended))
            }
            LaneCommand::Tick(tick) => LaneReply::Report(self.tick(tick)?),
            LaneCommand::Status => LaneReply::Status(self.status()?),
            LaneCommand::Erase { inc } => {
                self.erase(&inc).await?;
                LaneReply::Erased
            }
        })
    }

    /// Rebuilds the lane from its rows after a start or a failed write.
    pub(super) fn load(&self) -> Result<(), Failure> {
        if !self.loaded.get() {
            *self.live.borrow_mut() = store::load(&self.state)?.map(rules::Lane::restore);
            self.loaded.set(true);
        }
        Ok(())
    }

    /// Decides and writes; nothing is awaited in between. `None` if there is no lane here.
    pub(super) fn decide<R>(
        &self,
        decision: impl FnOnce(&mut rules::Lane) -> R,
    ) -> Result<Option<R>, Failure> {
        self.load()?;
        let (result, writes) = {
            let mut live = self.live.borrow_mut();
            let Some(lane) = live.as_mut() else { return Ok(None) };
            (decision(lane), lane.take_writes())
        };
        self.write(&writes)?;
        Ok(Some(result))
    }

    /// A write that fails leaves the rows as they were, so what was decided is forgotten and rebuilt from them.
    fn write(&self, writes: &Writes) -> Result<(), Failure> {
        store::write(&self.state, writes).map_err(|error| {
            self.loaded.set(false);
            Failure::Storage(error)
        })
    }

    fn ask(self: &Rc<Self>, ask: &Ask) -> Result<AskAnswer, Failure> {
        self.wake_silent_room();
        self.load()?;
        let known = self.live.borrow().as_ref().is_some_and(|lane| lane.knows(ask));
        let found = if known || self.live.borrow().is_none() {
            None
        } else {
            store::last_of(&self.state, &[&ask.identity])?.remove(&ask.identity)
        };
        let answer = self.decide(|lane| lane.ask(ask, found.as_ref(), now()))?;
        Ok(answer.unwrap_or(AskAnswer::Unknown))
    }

    fn redeem(&self, redeem: &Redeem) -> Result<RedeemAnswer, Failure> {
        let sid = fresh_id().ok_or(Failure::Randomness)?;
        Ok(self.decide(|lane| lane.redeem(redeem, &sid, now()))?.unwrap_or(RedeemAnswer::Used))
    }

    fn session(&self, decision: impl FnOnce(&mut rules::Lane) -> Liveness) -> Result<Liveness, Failure> {
        Ok(self.decide(decision)?.unwrap_or(Liveness::Ended))
    }

    fn status(&self) -> Result<LaneStatus, Failure> {
        Ok(self.decide(|lane| lane.status())?.unwrap_or_default())
    }

    fn tick(&self, tick: Tick) -> Result<Report, Failure> {
        self.load()?;
        if let Some(setup) = &tick.setup {
            let superseded = self.live.borrow().as_ref().map(|lane| lane.is_superseded_by(setup));
            match superseded {
                None => self.adopt(setup.clone())?,
                Some(true) => {
                    store::clear(&self.state)?;
                    self.adopt(setup.clone())?;
                }
                Some(false) => {}
            }
        }
        let needs = self.live.borrow().as_ref().map(|lane| lane.needs(&tick)).unwrap_or_default();
        let mut found = store::find(&self.state, &needs)?;
        found.fresh_ids =
            needs.slots.iter().map(|_| fresh_id().ok_or(Failure::Randomness)).collect::<Result<_, _>>()?;
        let report = self.decide(|lane| lane.tick(&tick, found, now()))?;
        // Without a set-up there is nothing to report on: the Room sends one with its next tick.
        Ok(report.unwrap_or_else(|| Report::of_nobody(tick.number)))
    }

    fn adopt(&self, setup: LaneSetup) -> Result<(), Failure> {
        store::create(&self.state)?;
        let mut lane = rules::Lane::new(setup);
        self.write(&lane.take_writes())?;
        *self.live.borrow_mut() = Some(lane);
        self.loaded.set(true);
        Ok(())
    }

    async fn erase(&self, inc: &str) -> Result<(), Failure> {
        self.load()?;
        let ours = self.live.borrow().as_ref().is_some_and(|lane| lane.setup().inc == inc);
        if ours {
            *self.live.borrow_mut() = None;
            self.state.storage().delete_all().await.map_err(StorageError::from)?;
        }
        Ok(())
    }

    /// Whether this lane knows its event; one that does not asks the Room.
    pub(super) async fn know_event(&self) -> Result<bool, Failure> {
        self.load()?;
        if self.live.borrow().is_some() {
            return Ok(true);
        }
        let (room, lane) = self.room()?;
        let setup = room.wake(lane).await.map_err(Failure::Room)?;
        if let (Some(setup), true) = (setup, self.live.borrow().is_none()) {
            self.adopt(setup)?;
        }
        Ok(self.live.borrow().is_some())
    }

    /// Wakes a Room that has been silent: its alarm may have been lost with a machine.
    pub(super) fn wake_silent_room(self: &Rc<Self>) {
        let heard = self.live.borrow().as_ref().and_then(rules::Lane::heard);
        let last = heard.unwrap_or_default().max(self.woke.get());
        if now().since(last) < SILENCE_WAKES_ROOM_MS {
            return;
        }
        self.woke.set(now());
        self.spawn(|shell| async move {
            let woken = match shell.room() {
                Ok((room, lane)) => room.wake(lane).await.map(|_| ()).map_err(Failure::Room),
                Err(failure) => Err(failure),
            };
            if let Err(failure) = woken {
                log("room-not-woken", &failure);
            }
        });
    }

    /// The Room of this lane's event, and which lane this is: read from the object's name.
    fn room(&self) -> Result<(RoomClient, u16), Failure> {
        let name = self.state.id().name().ok_or(Failure::Nameless)?;
        let (event, lane) = name.rsplit_once(':').ok_or(Failure::Nameless)?;
        let event: EventId = event.parse().map_err(|_| Failure::Nameless)?;
        let lane = lane.parse().map_err(|_| Failure::Nameless)?;
        Ok((RoomClient::new(&self.env, &event).map_err(Failure::Room)?, lane))
    }

    /// Work that belongs to no single request: it goes on when the fan who caused it hangs up.
    pub(super) fn spawn<F: Future<Output = ()> + 'static>(self: &Rc<Self>, work: impl FnOnce(Rc<Self>) -> F) {
        self.state.wait_until(work(Rc::clone(self)));
    }
}
