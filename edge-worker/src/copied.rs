//! A copy of somebody else's document, fetched by one request at a time and served to all.

use std::cell::RefCell;
use std::rc::Rc;

use edge_core::gate::{Freshness, Use};

use crate::clock;
use crate::problem::Problem;
use crate::timer::Timer;

/// How long a request waits for the answer another one asked for.
const PATIENCE_MS: u64 = 5_000;

/// A document, if its owner has one, and how old this copy is.
#[derive(Debug)]
pub(crate) struct Copied<T> {
    freshness: RefCell<Freshness>,
    copy: RefCell<Option<Rc<T>>>,
}

impl<T> Default for Copied<T> {
    fn default() -> Self {
        Self { freshness: RefCell::default(), copy: RefCell::new(None) }
    }
}

impl<T> Copied<T> {
    /// The copy, if it is fresh: neither awaits nor asks.
    pub(crate) fn at_hand(&self, now_ms: u64) -> Option<Rc<T>> {
        let age = self.freshness.borrow().age_ms(now_ms)?;
        if Freshness::is_fresh(age) { self.copy.borrow().clone() } else { None }
    }

    /// The copy, however old.
    pub(crate) fn kept(&self) -> Option<Rc<T>> {
        self.copy.borrow().clone()
    }

    /// A copy no older than a second; while another request fetches or the owner does not answer, no older than
    /// `lasts_ms`. `None`: the owner has no such document.
    ///
    /// A request that waits holds a timer of its own and no other request's promise, so that it survives the other.
    pub(crate) async fn obtain(
        &self,
        lasts_ms: u64,
        ask: impl AsyncFnOnce(u64) -> Result<Option<Rc<T>>, Problem>,
    ) -> Result<Option<Rc<T>>, Problem> {
        let started_ms = clock::now().0;
        let mut looks = 0;
        loop {
            let now_ms = clock::now().0;
            let decision = self.freshness.borrow_mut().consult(now_ms, lasts_ms);
            match decision {
                Use::Copy => return Ok(self.copy.borrow().clone()),
                Use::Wait if now_ms.saturating_sub(started_ms) > PATIENCE_MS => {
                    return Err(Problem::room_unavailable());
                }
                Use::Wait => {
                    let ms = Freshness::look_again_ms(looks);
                    Timer::after_ms(i32::try_from(ms).unwrap_or(i32::MAX)).await;
                    looks = looks.saturating_add(1);
                }
                Use::Ask => return self.settle(now_ms, lasts_ms, ask(now_ms).await),
            }
        }
    }

    fn settle(
        &self,
        asked_at_ms: u64,
        lasts_ms: u64,
        answer: Result<Option<Rc<T>>, Problem>,
    ) -> Result<Option<Rc<T>>, Problem> {
        match answer {
            Ok(copy) => {
                if self.freshness.borrow_mut().answered(asked_at_ms) {
                    self.copy.borrow_mut().clone_from(&copy);
                    return Ok(copy);
                }
                Ok(self.kept())
            }
            Err(problem) => {
                self.freshness.borrow_mut().failed(asked_at_ms);
                let age = self.freshness.borrow().age_ms(clock::now().0);
                if age.is_some_and(|age| age <= lasts_ms) { Ok(self.kept()) } else { Err(problem) }
            }
        }
    }
}
