//! Events at hand: config and plan in memory, so that no request reads Postgres for them.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
    time::{Duration, Instant},
};

use sqlx::PgPool;

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

struct Inner {
    db: PgPool,
    clock: Clock,
    slots: RwLock<HashMap<EventId, Slot>>,
}

impl Shelf {
    /// An empty shelf over `db`.
    pub fn new(db: PgPool, clock: Clock) -> Self {
        Self(Arc::new(Inner { db, clock, slots: RwLock::new(HashMap::new()) }))
    }

    /// The event, from memory if it was met before. An entry older than a second is answered as it is and refreshed
    /// behind; so holds go on while Postgres is away.
    pub async fn get(&self, event: &EventId) -> Result<Option<Arc<OnShelf>>, sqlx::Error> {
        let now = self.0.clock.instant();
        let (found, stale) = {
            let slots = self.0.slots.read().unwrap_or_else(PoisonError::into_inner);
            match slots.get(event) {
                Some(slot) => {
                    let age = now.duration_since(slot.read_at);
                    match &slot.entry {
                        Some(entry) => (Some(Some(Arc::clone(entry))), age > FRESH_FOR && !slot.refreshing),
                        None => ((age < MISSING_FOR).then_some(None), false),
                    }
                }
                None => (None, false),
            }
        };
        if stale {
            self.refresh_behind(event);
        }
        match found {
            Some(answer) => Ok(answer),
            None => self.read(event, None).await,
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
