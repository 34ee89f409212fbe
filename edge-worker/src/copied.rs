//! A copy of somebody else's document, fetched by one request at a time and served to all.

use std::cell::RefCell;
use std::rc::Rc;

use edge_core::gate::{ADMIT_MAX_AGE_MS, Freshness, Use};

use crate::clock;
use crate::problem::Problem;
use crate::timer::Timer;

/// How often a waiting request looks whether the one that asks has an answer.
const LOOK_AGAIN_MS: i32 = 5;
/// How long it does so.
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

    /// A copy no older than a second; while another request fetches, no older than three; while the owner does not
    /// answer, no older than thirty. `None`: the owner has no such document.
    ///
    /// A request that waits holds a timer of its own and no other request's promise, so that it survives the other.
    pub(crate) async fn obtain(
        &self,
        ask: impl AsyncFnOnce(u64) -> Result<Option<Rc<T>>, Problem>,
    ) -> Result<Option<Rc<T>>, Problem> {
        let started_ms = clock::now().0;
        loop {
            let now_ms = clock::now().0;
            let decision = self.freshness.borrow_mut().consult(now_ms);
            match decision {
                Use::Copy => return Ok(self.copy.borrow().clone()),
                Use::Wait if now_ms.saturating_sub(started_ms) > PATIENCE_MS => {
                    return Err(Problem::room_unavailable());
                }
                Use::Wait => Timer::after_ms(LOOK_AGAIN_MS).await,
                Use::Ask => return self.settle(now_ms, ask(now_ms).await),
            }
        }
    }

    fn settle(&self, now_ms: u64, answer: Result<Option<Rc<T>>, Problem>) -> Result<Option<Rc<T>>, Problem> {
        match answer {
            Ok(copy) => {
                self.freshness.borrow_mut().answered(now_ms);
                self.copy.borrow_mut().clone_from(&copy);
                Ok(copy)
            }
            Err(problem) => {
                self.freshness.borrow_mut().failed();
                let age = self.freshness.borrow().age_ms(now_ms);
                if age.is_some_and(|age| age <= ADMIT_MAX_AGE_MS) {
                    Ok(self.copy.borrow().clone())
                } else {
                    Err(problem)
                }
            }
        }
    }
}
