//! Events at hand: config and plan in memory, so that no request reads Postgres for them.

use std::{
    collections::{HashMap, hash_map::DefaultHasher},
    hash::{Hash, Hasher},
    sync::{Arc, PoisonError, RwLock},
    time::{Duration, Instant},
};

use sqlx::PgPool;
use tokio::sync::Mutex;

use super::{event::Event, store};
use crate::{
    clock::Clock,
    ids::EventId,
    seating::{Layout, Plan},
};

/// A change by another process (status, on-sale time) is seen within this time.
const FRESH_FOR: Duration = Duration::from_secs(1);
/// A forged event id costs a query once in this time; more distinct ids than [`MISSING_MAX`] cost one each.
const MISSING_FOR: Duration = Duration::from_secs(1);
const MISSING_MAX: usize = 4096;

/// An event with everything a request needs of it.
#[derive(Debug)]
pub struct OnShelf {
    /// The row, at most a second old while Postgres answers.
    pub event: Event,
    /// Its seats; they never change.
    pub plan: Arc<Plan>,
    /// Its layout; it never changes either.
    pub layout: Arc<Layout>,
}

struct Slot {
    entry: Option<Arc<OnShelf>>,
    read_at: Instant,
    refreshing: bool,
}

/// The events this process has met.
#[derive(Clone)]
pub struct Shelf(Arc<Inner>);

/// Reads of events not met before wait for each other in so many lanes: one read an event, and forged ids cannot make
/// the lanes grow.
const READ_LANES: usize = 64;

struct Inner {
    db: PgPool,
    clock: Clock,
    slots: RwLock<HashMap<EventId, Slot>>,
    reading: [Mutex<()>; READ_LANES],
}

impl Shelf {
    /// An empty shelf over `db`.
    pub fn new(db: PgPool, clock: Clock) -> Self {
        let reading = std::array::from_fn(|_| Mutex::new(()));
        Self(Arc::new(Inner { db, clock, slots: RwLock::new(HashMap::new()), reading }))
    }

    /// The event, from memory if it was met before. An entry older than a second is answered as it is and refreshed
    /// behind; so holds go on while Postgres is away.
    pub async fn get(&self, event: &EventId) -> Result<Option<Arc<OnShelf>>, sqlx::Error> {
        let (found, stale) = self.at_hand(event);
        if stale {
            self.refresh_behind(event);
        }
        if let Some(answer) = found {
            return Ok(answer);
        }
        let _lane = self.lane(event).lock().await;
        // Whoever had the lane before may have read this very event: at an on-sale a thousand requests meet it at once.
        match self.at_hand(event).0 {
            Some(answer) => Ok(answer),
            None => self.read(event, None).await,
        }
    }

    fn lane(&self, event: &EventId) -> &Mutex<()> {
        let mut hasher = DefaultHasher::new();
        event.hash(&mut hasher);
        &self.0.reading[hasher.finish() as usize % READ_LANES]
    }

    /// What memory answers, if it may (the outer option), and whether that should be read again.
    fn at_hand(&self, event: &EventId) -> (Option<Option<Arc<OnShelf>>>, bool) {
        let now = self.0.clock.instant();
        let slots = self.0.slots.read().unwrap_or_else(PoisonError::into_inner);
        let Some(slot) = slots.get(event) else { return (None, false) };
        let age = now.duration_since(slot.read_at);
        match &slot.entry {
            Some(entry) => (Some(Some(Arc::clone(entry))), age > FRESH_FOR && !slot.refreshing),
            None => ((age < MISSING_FOR).then_some(None), false),
        }
    }

    /// Reads the event again now: after this process changed it.
    pub async fn reread(&self, event: &EventId) -> Result<Option<Arc<OnShelf>>, sqlx::Error> {
        let known = {
            let slots = self.0.slots.read().unwrap_or_else(PoisonError::into_inner);
            slots.get(event).and_then(|slot| slot.entry.clone())
        };
        self.read(event, known).await
    }

    /// A layout of an event at hand.
    pub fn layout(&self, layout_id: &str) -> Option<Arc<Layout>> {
        let slots = self.0.slots.read().unwrap_or_else(PoisonError::into_inner);
        let mut entries = slots.values().filter_map(|slot| slot.entry.as_ref());
        entries.find(|entry| entry.layout.layout_id == layout_id).map(|entry| Arc::clone(&entry.layout))
    }

    fn refresh_behind(&self, event: &EventId) {
        if let Some(slot) = self.0.slots.write().unwrap_or_else(PoisonError::into_inner).get_mut(event) {
            if slot.refreshing {
                return;
            }
            slot.refreshing = true;
        }
        let (shelf, event) = (self.clone(), event.clone());
        tokio::spawn(async move {
            if let Err(error) = shelf.reread(&event).await {
                tracing::warn!(%event, %error, "the event's row could not be read again");
                let now = shelf.0.clock.instant();
                let mut slots = shelf.0.slots.write().unwrap_or_else(PoisonError::into_inner);
                if let Some(slot) = slots.get_mut(&event) {
                    slot.refreshing = false;
                    slot.read_at = now;
                }
            }
        });
    }

    async fn read(
        &self,
        event: &EventId,
        known: Option<Arc<OnShelf>>,
    ) -> Result<Option<Arc<OnShelf>>, sqlx::Error> {
        let entry = match store::load(&self.0.db, event).await? {
            None => None,
            Some(row) => {
                let (plan, layout) = match known {
                    Some(known) => (Arc::clone(&known.plan), Arc::clone(&known.layout)),
                    None => crate::seating::store::load_plan(&self.0.db, &row).await?,
                };
                Some(Arc::new(OnShelf { event: row, plan, layout }))
            }
        };
        let slot = Slot { entry: entry.clone(), read_at: self.0.clock.instant(), refreshing: false };
        let mut slots = self.0.slots.write().unwrap_or_else(PoisonError::into_inner);
        if entry.is_none() && slots.len() >= MISSING_MAX {
            slots.retain(|_, slot| slot.entry.is_some());
        }
        slots.insert(event.clone(), slot);
        Ok(entry)
    }
}
