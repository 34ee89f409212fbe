//! The Room's second: the alarm, commands to the lanes, and what comes back.

use std::rc::Rc;
use std::time::Duration;

use edge_core::room as rules;
use edge_core::wire::Tick;
use futures::future::{Either, join_all, select};
use shared_token::ids::EventId;
use worker::Delay;

use super::pressure::{self, Word};
use super::room::{Failure, Shell};
use super::{CallError, LaneClient};
use crate::clock::now;
use crate::telemetry::log;

/// A lane that takes longer than this for one answer is passed over; its next report says everything again.
const LANE_TIMEOUT_MS: u64 = 700;
/// A Room that has not ticked for this long has lost its alarm.
const LOST_ALARM_MS: u64 = 3_000;

impl Shell {
    pub(super) async fn alarm(self: &Rc<Self>) -> Result<(), Failure> {
        self.load()?;
        if self.live.borrow().is_none() {
            return Ok(());
        }
        self.arm().await?;
        self.tick().await
    }

    /// Sets the next alarm.
    pub(super) async fn arm(&self) -> Result<(), Failure> {
        let next = self.live.borrow().as_ref().map(|room| room.next_tick_ms(now()));
        if let Some(ms) = next {
            self.state.storage().set_alarm(Duration::from_millis(ms)).await?;
        }
        Ok(())
    }

    /// An alarm can be lost with a machine; whoever calls next sets it again.
    pub(super) async fn rearm_lost_alarm(&self) -> Result<(), Failure> {
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
    pub(super) async fn tick(self: &Rc<Self>) -> Result<(), Failure> {
        self.ticked.set(now());
        self.ask_origin();
        let Some(event) = self.event()? else { return Ok(()) };
        let commands = self.commands(|room| room.begin_tick(now()));
        self.deliver(&event, commands).await;
        match self.decide(|room| room.decide(now()))? {
            Some(decided) => decided?,
            None => return Ok(()),
        }
        self.state.storage().sync().await?;
        let commands = self.commands(|room| room.grant_round(now()));
        if !commands.is_empty() {
            self.deliver(&event, commands).await;
            self.decide(|_| ())?;
        }
        Ok(())
    }

    pub(super) fn event(&self) -> Result<Option<EventId>, Failure> {
        let event = self.live.borrow().as_ref().map(|room| room.event().parse());
        event.transpose().map_err(|_| Failure::Name)
    }

    fn commands(&self, make: impl FnOnce(&mut rules::Room) -> Vec<(u16, Tick)>) -> Vec<(u16, Tick)> {
        self.change(make).unwrap_or_default()
    }

    /// Delivers commands to lanes at the same time and takes in the answers as they come.
    async fn deliver(&self, event: &EventId, commands: Vec<(u16, Tick)>) {
        let calls = commands.into_iter().map(async |(lane, tick)| {
            let client = LaneClient::new(&self.env, event, lane);
            match within_timeout(async { client?.tick(tick).await }).await {
                Some(Ok(report)) => {
                    self.change(|room| room.absorb(lane, report, now()));
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
                let word = pressure::ask(&shell.env, &event, origin.as_deref()).await;
                shell.change(|room| match word {
                    // The operator named another origin meanwhile.
                    _ if room.config().origin != origin => {}
                    Some(Word::Pressure(pressure)) => room.absorb_pressure(&pressure, now()),
                    Some(Word::Unknown) => room.forget_stock(),
                    // Silence leaves everything as it is, until the controller's issue says otherwise.
                    None => {}
                });
            }
            shell.asking_origin.set(false);
        });
    }
}

/// The answer of a lane, unless it takes too long.
pub(super) async fn within_timeout<T>(
    call: impl Future<Output = Result<T, CallError>>,
) -> Option<Result<T, CallError>> {
    let call = std::pin::pin!(call);
    let timeout = std::pin::pin!(Delay::from(Duration::from_millis(LANE_TIMEOUT_MS)));
    match select(call, timeout).await {
        Either::Left((answer, _)) => Some(answer),
        Either::Right(_) => None,
    }
}
