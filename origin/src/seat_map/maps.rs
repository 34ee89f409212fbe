//! The maps of this process: one per event, refreshed at most every half second.

use std::{
    collections::HashMap,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::sync::{Mutex, watch};

use super::{
    log::{Delta, Log, SinceError},
    snapshot::Snapshot,
};
use crate::{
    clock::Clock,
    events::OnShelf,
    holds::{Engine, EngineError},
    ids::EventId,
};

/// A map is read from the hold store at most this often, per event and process.
const REFRESH_EVERY: Duration = Duration::from_millis(500);
/// While one request refreshes, others are answered with the map at hand if it is not older than this.
const STALE_FOR: Duration = Duration::from_secs(3);

struct Slot {
    /// Locked by the one request that refreshes; holds when that last failed.
    refreshing: Mutex<Option<Instant>>,
    current: RwLock<Option<Arc<Snapshot>>>,
    log: RwLock<Log>,
    version: watch::Sender<u64>,
    ticking: AtomicBool,
}

/// Seat maps at hand. Cheap to clone.
#[derive(Clone)]
pub struct Maps(Arc<Inner>);

struct Inner {
    holds: Engine,
    clock: Clock,
    slots: RwLock<HashMap<EventId, Arc<Slot>>>,
}

impl Maps {
    /// No maps yet.
    pub fn new(holds: Engine, clock: Clock) -> Self {
        Self(Arc::new(Inner { holds, clock, slots: RwLock::new(HashMap::new()) }))
    }

    fn slot(&self, event: &EventId) -> Arc<Slot> {
        if let Some(slot) = self.0.slots.read().unwrap_or_else(PoisonError::into_inner).get(event) {
            return Arc::clone(slot);
        }
        let mut slots = self.0.slots.write().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(slots.entry(event.clone()).or_insert_with(|| {
            Arc::new(Slot {
                current: RwLock::new(None),
                log: RwLock::new(Log::default()),
                refreshing: Mutex::new(None),
                version: watch::channel(0).0,
                ticking: AtomicBool::new(false),
            })
        }))
    }

    /// The map, at most half a second old; older only while it is being refreshed or the hold store is gone.
    pub async fn current(&self, on_shelf: &OnShelf) -> Result<Arc<Snapshot>, EngineError> {
        let slot = self.slot(&on_shelf.event.event_id);
        let at_hand = at_hand(&slot);
        let age = at_hand.as_ref().map(|map| self.0.clock.instant().duration_since(map.read_at()));
        if let (Some(map), Some(age)) = (&at_hand, age)
            && age < REFRESH_EVERY
        {
            return Ok(Arc::clone(map));
        }
        let mut failed_at = match (slot.refreshing.try_lock(), at_hand.clone(), age) {
            (Ok(guard), _, _) => guard,
            (Err(_), Some(map), Some(age)) if age < STALE_FOR => return Ok(map),
            (Err(_), _, _) => slot.refreshing.lock().await,
        };
        // Another request may have refreshed it, or failed to, while this one waited.
        let (at_hand, now) = (self::at_hand(&slot), self.0.clock.instant());
        let recent = |at: Instant| now.duration_since(at) < REFRESH_EVERY;
        let refreshed = match &at_hand {
            Some(map) if recent(map.read_at()) => return Ok(Arc::clone(map)),
            _ if failed_at.is_some_and(recent) => Err(EngineError::Unavailable("failed a moment ago".into())),
            _ => self.refresh(&slot, on_shelf).await,
        };
        if refreshed.is_err() && !failed_at.is_some_and(recent) {
            *failed_at = Some(self.0.clock.instant());
        }
        drop(failed_at);
        match (refreshed, at_hand) {
            (Ok(map), _) => Ok(map),
            (Err(error), Some(map)) => {
                tracing::debug!(%error, "serving the last map");
                Ok(map)
            }
            (Err(error), None) => Err(error),
        }
    }

    async fn refresh(&self, slot: &Slot, on_shelf: &OnShelf) -> Result<Arc<Snapshot>, EngineError> {
        let event = &on_shelf.event.event_id;
        self.0.holds.expire(event).await?;
        let (known, wanted) = {
            let log = slot.log.read().unwrap_or_else(PoisonError::into_inner);
            (super::version::split(log.version()).0, log.wanted())
        };
        let mut read = self.0.holds.read_map(event, wanted).await?;
        if read.generation != known && wanted != 0 {
            read = self.0.holds.read_map(event, 0).await?;
        }
        let map = Arc::new(Snapshot::new(&read, on_shelf.plan.len(), self.0.clock.instant()));
        let mut log = slot.log.write().unwrap_or_else(PoisonError::into_inner);
        log.advance(read.generation, read.sequence, read.changes);
        *slot.current.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&map));
        drop(log);
        slot.version.send_if_modified(|version| std::mem::replace(version, map.version()) != map.version());
        Ok(map)
    }

    /// What changed since a version, up to the map at hand.
    pub async fn since(
        &self,
        on_shelf: &OnShelf,
        since: u64,
    ) -> Result<Result<Delta, SinceError>, EngineError> {
        self.current(on_shelf).await?;
        let slot = self.slot(&on_shelf.event.event_id);
        let delta = slot.log.read().unwrap_or_else(PoisonError::into_inner).since(since);
        Ok(delta)
    }

    /// A receiver that learns of every new version, for as long as somebody listens.
    pub fn watch(&self, on_shelf: Arc<OnShelf>) -> watch::Receiver<u64> {
        let slot = self.slot(&on_shelf.event.event_id);
        let receiver = slot.version.subscribe();
        if !slot.ticking.swap(true, Ordering::AcqRel) {
            let maps = self.clone();
            tokio::spawn(async move { maps.tick(&slot, &on_shelf).await });
        }
        receiver
    }

    async fn tick(&self, slot: &Slot, on_shelf: &OnShelf) {
        loop {
            if slot.version.receiver_count() == 0 {
                slot.ticking.store(false, Ordering::Release);
                // A listener that came between the count and the store would have nobody to tick for it.
                if slot.version.receiver_count() == 0 || slot.ticking.swap(true, Ordering::AcqRel) {
                    return;
                }
            }
            if let Err(error) = self.current(on_shelf).await {
                tracing::debug!(%error, "no map to stream");
            }
            tokio::time::sleep(REFRESH_EVERY).await;
        }
    }
}

fn at_hand(slot: &Slot) -> Option<Arc<Snapshot>> {
    slot.current.read().unwrap_or_else(PoisonError::into_inner).clone()
}
