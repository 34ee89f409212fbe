//! Tending holds: expiry, the ledger, and what a crash between two stores may have left.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError, RwLock},
};

use crate::{
    AppState,
    events::{self, store::ChangedSeat},
    holds::{EngineError, Sale, SeatVersion, ledger, store},
    ids::{EventId, HoldId},
};

/// A payment that failed gives the shopper at least this long to try another card.
const UNCLAIM_SECS: u32 = 60;
/// Seats that changed in Postgres between these ages are repeated in the hold store: whoever changed them has had time
/// to do it, and the step that runs every five seconds passes each at least a dozen times.
const REPEAT_AGES_SECS: (i32, i32) = (10, 90);
/// One script call takes this many seats, as a block's own does.
const REPEAT_CHUNK: usize = 500;

/// The events to tend, read again now and then.
#[derive(Clone, Default)]
pub(super) struct Tended {
    events: Arc<RwLock<Vec<EventId>>>,
    /// Events whose last pass of repeated seats reached the hold store. Any other's next pass takes blocks of every
    /// age: nobody but this job tells the hold store of a block whose maker died, and while this job (or the store)
    /// was away the block may have grown older than the window.
    repeated: Arc<Mutex<HashSet<EventId>>>,
}

impl Tended {
    pub(super) async fn refresh(&self, state: &AppState) {
        match events::store::tended(&state.db).await {
            Ok(events) => *self.events.write().unwrap_or_else(PoisonError::into_inner) = events,
            Err(error) => tracing::warn!(%error, "the events to tend could not be read"),
        }
    }

    /// What Postgres last named, and what this process has opened since.
    fn events(&self, state: &AppState) -> Vec<EventId> {
        let mut events = self.events.read().unwrap_or_else(PoisonError::into_inner).clone();
        for event in state.holds.known_events() {
            if !events.contains(&event) {
                events.push(event);
            }
        }
        events
    }

    pub(super) async fn expire(&self, state: &AppState) {
        for event in self.events(state) {
            note(state, "expire", &event, state.holds.expire(&event).await);
        }
    }

    pub(super) async fn write_behind(&self, state: &AppState) {
        for event in self.events(state) {
            let written = ledger::write_behind(&state.holds, &state.db, &event).await;
            note(state, "ledger", &event, written.map(|n| n as u64));
        }
    }

    fn repeated(&self) -> std::sync::MutexGuard<'_, HashSet<EventId>> {
        self.repeated.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) async fn reconcile(&self, state: &AppState) {
        for event in self.events(state) {
            let all_blocks = !self.repeated().contains(&event);
            let outcome = repeat_seats(state, &event, all_blocks).await;
            if outcome.is_ok() {
                self.repeated().insert(event.clone());
            } else {
                self.repeated().remove(&event);
            }
            note(state, "repeat_seats", &event, outcome);
            note(state, "stray_claims", &event, settle_stray_claims(state, &event).await);
        }
    }
}

fn note(state: &AppState, job: &str, event: &EventId, outcome: Result<u64, EngineError>) {
    match outcome {
        Ok(items) => state.telemetry.jobs.with_label_values(&[job, "done"]).inc_by(items),
        Err(error) => {
            state.telemetry.jobs.with_label_values(&[job, "failed"]).inc();
            tracing::debug!(job, %event, %error, "the next step will try again");
        }
    }
}

/// Repeats recent sales and blocks in the hold store, which ignores those it knows. Seats that were freed are left to
/// their order, which repeats itself and alone knows whose cap they count against.
async fn repeat_seats(state: &AppState, event: &EventId, all_blocks: bool) -> Result<u64, EngineError> {
    let changed = events::store::taken_seats(&state.db, event, REPEAT_AGES_SECS, all_blocks).await?;
    let count = changed.len() as u64;
    let mut groups: HashMap<(String, Option<String>, Option<String>), Vec<SeatVersion>> = HashMap::new();
    for ChangedSeat { seat, status, owner, order_id } in changed {
        groups.entry((status, owner, order_id)).or_default().push(seat);
    }
    let nobody = HoldId::fresh().map_err(|error| EngineError::Impossible(error.to_string()))?;
    for ((status, owner, order), seats) in groups {
        match (status.as_str(), owner, order) {
            ("sold", Some(identity), Some(order)) => {
                let order = order.parse().map_err(|_| EngineError::Impossible("order id".into()))?;
                let sale = Sale { order, hold: nobody.clone(), identity, seats };
                state.holds.mark_sold(event, &sale).await?;
            }
            ("blocked", _, _) => {
                for seats in seats.chunks(REPEAT_CHUNK) {
                    state.holds.repeat_blocked(event, &nobody, seats).await?;
                }
            }
            _ => return Err(EngineError::Impossible("a sold seat without owner or order".into())),
        }
    }
    Ok(count)
}

/// A claim whose row is gone from Postgres belongs to an order that is final: its seats are sold or free.
async fn settle_stray_claims(state: &AppState, event: &EventId) -> Result<u64, EngineError> {
    let claims = state.holds.claims(event).await?;
    if claims.is_empty() {
        return Ok(0);
    }
    // Read after the claims: an order's row is durable before it claims.
    let open = store::open_claims(&state.db, event).await?;
    let mut settled = 0;
    for claim in claims.into_iter().filter(|claim| !open.contains(claim.order.as_str())) {
        let sold = store::seats_of_order(&state.db, event, &claim.order).await?;
        if sold.is_empty() {
            state.holds.unclaim(event, &claim.hold, &claim.order, UNCLAIM_SECS).await?;
        } else {
            state.holds.settle_claim(event, &claim, sold).await?;
        }
        settled += 1;
    }
    Ok(settled)
}
