//! The Redis hold engine: one script per transition, each all or nothing.
//!
//! Invariants: a seat key is absent (free), a hold's token with a time limit, `o:<order>` without one, or
//! `s:`/`b:<version>`; only a script writes it, in the same step as the packed map and the change log. What a hold
//! costs here is one round trip: no Postgres read or commit stands in its way. Absent: any decision by this
//! process' clock.

mod answers;
mod board;
mod generation;
mod keys;
mod link;
mod sale;
mod scripts;
mod snapshot;
mod sweep;
mod transitions;
mod used;

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
};

use redis::ScriptInvocation;
use sqlx::PgPool;
use tokio::sync::Mutex;

pub use sale::Sale;
pub use snapshot::{Change, MapRead};
pub use sweep::StrayClaim;

use self::{answers::Answer, keys::Keys, link::Link, scripts::Scripts};
use crate::{clock::Clock, config::Secret, holds::EngineError, ids::EventId};

/// The generation of an event that this process knows to be open, and the server it is on.
#[derive(Clone)]
struct Ready {
    generation: u64,
    run_id: Arc<str>,
}

/// The hold engine. Cheap to clone.
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

struct Inner {
    link: Option<Link>,
    db: PgPool,
    scripts: Scripts,
    ready: RwLock<HashMap<EventId, Ready>>,
    opening: std::sync::Mutex<HashMap<EventId, Arc<Mutex<()>>>>,
}

impl Engine {
    /// An engine on the Redis at `url`; without one every call answers [`EngineError::NotConfigured`].
    pub fn new(url: Option<&Secret>, db: PgPool, clock: Clock) -> Result<Self, EngineError> {
        let link = match url {
            Some(url) => {
                Some(Link::new(url.expose(), clock).map_err(|e| EngineError::Unavailable(e.to_string()))?)
            }
            None => None,
        };
        Ok(Self(Arc::new(Inner {
            link,
            db,
            scripts: Scripts::new(),
            ready: RwLock::new(HashMap::new()),
            opening: std::sync::Mutex::new(HashMap::new()),
        })))
    }

    /// Is there a Redis at all?
    pub fn is_configured(&self) -> bool {
        self.0.link.is_some()
    }

    /// Does Redis answer?
    pub async fn ping(&self) -> Result<(), EngineError> {
        self.link()?.call(|mut c| async move { redis::cmd("PING").query_async::<()>(&mut c).await }).await
    }

    /// Events this process knows to be open in Redis.
    pub fn known_events(&self) -> Vec<EventId> {
        self.0.ready.read().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
    }

    fn link(&self) -> Result<&Link, EngineError> {
        self.0.link.as_ref().ok_or(EngineError::NotConfigured)
    }

    fn known(&self, event: &EventId) -> Option<Ready> {
        self.0.ready.read().unwrap_or_else(PoisonError::into_inner).get(event).cloned()
    }

    fn remember(&self, event: &EventId, ready: Ready) {
        self.0.ready.write().unwrap_or_else(PoisonError::into_inner).insert(event.clone(), ready);
    }

    fn forget(&self, event: &EventId) {
        self.0.ready.write().unwrap_or_else(PoisonError::into_inner).remove(event);
    }

    /// One opening of a generation at a time, per event and process.
    fn opening_of(&self, event: &EventId) -> Arc<Mutex<()>> {
        let mut opening = self.0.opening.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(opening.entry(event.clone()).or_default())
    }

    /// The keys of the event's open generation, after making sure that it is open on the server we talk to, and that
    /// server: what is done with the keys must be done on it ([`Link::call_on`]).
    async fn keys(&self, event: &EventId) -> Result<(Keys, Arc<str>), EngineError> {
        let open = self.link()?.open().await?;
        if let Some(ready) = self.known(event)
            && ready.run_id == open.run_id
        {
            return Ok((Keys::new(event, ready.generation), ready.run_id));
        }
        let ready = self.open_generation(event, &open.run_id).await?;
        self.remember(event, ready.clone());
        Ok((Keys::new(event, ready.generation), ready.run_id))
    }

    /// Runs a script of the event's generation; if another process raised the generation meanwhile, once more on
    /// the new one. `build` adds keys after the shared ones and arguments after the generation.
    async fn run<B>(&self, event: &EventId, script: &redis::Script, build: B) -> Result<Answer, EngineError>
    where
        B: Fn(&Keys, &mut ScriptInvocation<'_>),
    {
        for _ in 0..2 {
            let (keys, run_id) = self.keys(event).await?;
            let mut invocation = script.prepare_invoke();
            for key in keys.shared() {
                invocation.key(key);
            }
            invocation.arg(keys.generation());
            build(&keys, &mut invocation);
            let value: redis::Value = self
                .link()?
                .call_on(&run_id, |mut c| async move { invocation.invoke_async(&mut c).await })
                .await?;
            let answer = Answer::parse(value, keys)?;
            match answer.word.as_str() {
                "stale" => self.forget(event),
                "rebuilding" => {
                    self.forget(event);
                    return Err(EngineError::Rebuilding);
                }
                _ => return Ok(answer),
            }
        }
        Err(EngineError::Rebuilding)
    }
}
