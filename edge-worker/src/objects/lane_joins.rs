//! Joins of a lane: gathered for a few milliseconds, written as one transaction, answered when it is on disk.

use std::rc::Rc;
use std::time::Duration;

use edge_core::wire::{Join, JoinAnswer};
use futures::channel::oneshot;
use worker::Delay;

use super::lane::{Failure, Shell};
use super::lane_store as store;
use crate::clock::now;
use crate::telemetry::log;

/// How long the first join of a batch waits for others. One commit then serves all of them.
const BATCH_MS: u64 = 4;

/// A join in the batch that is being gathered.
pub(super) struct Queued {
    join: Join,
    answer: oneshot::Sender<JoinAnswer>,
}

impl Shell {
    pub(super) async fn join(self: &Rc<Self>, join: Join) -> Result<JoinAnswer, Failure> {
        if !self.know_event().await? {
            return Ok(JoinAnswer::NoEvent);
        }
        self.wake_silent_room();
        let (answer, answered) = oneshot::channel();
        let first = {
            let mut queue = self.queue.borrow_mut();
            queue.push(Queued { join, answer });
            queue.len() == 1
        };
        if first {
            self.spawn(|shell| async move {
                Delay::from(Duration::from_millis(BATCH_MS)).await;
                shell.flush().await;
            });
        }
        answered.await.map_err(|_| Failure::NotWritten)
    }

    /// Writes the gathered joins as one transaction and answers them once it is on disk. Dropping the senders tells
    /// the waiting that nothing was written.
    async fn flush(&self) {
        let (joins, senders): (Vec<Join>, Vec<_>) =
            self.queue.take().into_iter().map(|queued| (queued.join, queued.answer)).unzip();
        let answers = match self.write_joins(&joins) {
            Ok(Some(answers)) => answers,
            Ok(None) => joins.iter().map(|_| JoinAnswer::NoEvent).collect(),
            Err(failure) => return log("joins-not-written", &failure),
        };
        if let Err(error) = self.state.storage().sync().await {
            return log("joins-not-synced", &error);
        }
        for (sender, answer) in senders.into_iter().zip(answers) {
            // A fan who hung up has a place all the same.
            let _ = sender.send(answer);
        }
    }

    fn write_joins(&self, joins: &[Join]) -> Result<Option<Vec<JoinAnswer>>, Failure> {
        self.load()?;
        if self.live.borrow().is_none() {
            return Ok(None);
        }
        let identities: Vec<&str> = joins.iter().map(|join| join.identity.as_str()).collect();
        let mut found = store::last_of(&self.state, &identities)?;
        self.decide(|lane| lane.join(joins, &mut found, now()))
    }
}
