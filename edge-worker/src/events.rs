//! What this isolate knows of events: copies of the Room's documents, asked for by one request at a time.

use std::cell::RefCell;
use std::rc::Rc;

use edge_core::draw::Order;
use edge_core::gate::Recent;
use edge_core::wire::{BatchRecord, Document, Place, Transcript};
use shared_token::ids::EventId;
use worker::Env;

use crate::copied::Copied;
use crate::gate_view::GateView;
use crate::http::prepared::Prepared;
use crate::objects::{CallError, RoomClient};
use crate::problem::{Kind, Problem};
use crate::sessions::{heard, unavailable};
use crate::telemetry::{Counter, count, log};

/// Events an isolate remembers; a deployment runs a handful at a time.
const EVENTS: usize = 64;
/// Batches an isolate keeps prepared: one a second for a quarter of an hour, in about a kilobyte each.
const BATCHES: usize = 1_000;

thread_local! {
    static EVENTS_SEEN: RefCell<Recent<String, Rc<EventState>>> = RefCell::new(Recent::new(EVENTS));
}

/// Copies of one event's documents.
#[derive(Debug)]
pub(crate) struct EventState {
    id: EventId,
    gate: Copied<GateView>,
    room: Copied<Prepared>,
    draw: RefCell<Option<Rc<Drawn>>>,
    batches: RefCell<Recent<u32, Rc<Batch>>>,
}

/// The draw's transcript: to be served, and to compute positions from.
#[derive(Debug)]
pub(crate) struct Drawn {
    /// Incarnation it belongs to.
    inc: String,
    /// As it is served.
    pub(crate) document: Prepared,
    order: Order,
}

/// A batch: to be served, and to compute positions from.
#[derive(Debug)]
pub(crate) struct Batch {
    inc: String,
    /// As it is served.
    pub(crate) document: Prepared,
    order: Order,
}

/// The state of an event in this isolate; none of it is about one request.
pub(crate) fn event_state(id: &EventId) -> Rc<EventState> {
    EVENTS_SEEN.with_borrow_mut(|events| {
        if let Some(state) = events.get(id.as_str()) {
            return Rc::clone(state);
        }
        let state = Rc::new(EventState {
            id: id.clone(),
            gate: Copied::default(),
            room: Copied::default(),
            draw: RefCell::new(None),
            batches: RefCell::new(Recent::new(BATCHES)),
        });
        events.insert(id.as_str().to_owned(), Rc::clone(&state));
        state
    })
}

/// Forgets what is known of an event: an operator of this isolate just changed it.
pub(crate) fn forget(id: &EventId) {
    EVENTS_SEEN.with_borrow_mut(|events| events.remove(id.as_str()));
}

fn unknown() -> Problem {
    Problem::new(Kind::UnknownEvent, "This event is not configured here.")
}

impl EventState {
    /// The event.
    pub(crate) fn id(&self) -> &EventId {
        &self.id
    }

    /// The gate's view if it is fresh.
    pub(crate) fn gate_at_hand(&self, now_ms: u64) -> Option<Rc<GateView>> {
        self.gate.at_hand(now_ms)
    }

    /// The gate's view, or none if there is no such event.
    pub(crate) async fn gate_if_any(&self, env: &Env) -> Result<Option<Rc<GateView>>, Problem> {
        self.gate
            .obtain(async |asked_at_ms| {
                let document = self.call(env, async |room| room.gate_document().await).await?;
                Ok(document.map(|document| Rc::new(GateView::new(document, asked_at_ms))))
            })
            .await
    }

    /// The gate's view.
    pub(crate) async fn gate(&self, env: &Env) -> Result<Rc<GateView>, Problem> {
        self.gate_if_any(env).await?.ok_or_else(unknown)
    }

    /// The document every fan polls.
    pub(crate) async fn room(&self, env: &Env) -> Result<Rc<Prepared>, Problem> {
        let headers = [
            ("Content-Type", "application/json"),
            ("Cache-Control", "public, max-age=1"),
            ("Access-Control-Allow-Origin", "*"),
            ("Access-Control-Expose-Headers", "ETag"),
        ];
        let room = self.room.obtain(async |_| {
            let document = self.call(env, async |room| room.document().await).await?;
            let prepared = document.map(|document| prepare(&document, &headers));
            Ok(prepared.transpose()?.map(Rc::new))
        });
        room.await?.ok_or_else(unknown)
    }

    /// The draw of this incarnation, once it happened.
    pub(crate) async fn drawn(&self, env: &Env, gate: &GateView) -> Result<Option<Rc<Drawn>>, Problem> {
        if !gate.document.drawn {
            return Ok(None);
        }
        if let Some(drawn) = self.draw.borrow().clone().filter(|drawn| drawn.inc == gate.document.inc) {
            return Ok(Some(drawn));
        }
        let Some(document) = self.call(env, async |room| room.draw().await).await? else { return Ok(None) };
        let transcript: Transcript = parse(&document)?;
        let order = Order::of_draw(&transcript).map_err(damaged)?;
        let drawn = Rc::new(Drawn { inc: transcript.inc, document: immutable(&document)?, order });
        *self.draw.borrow_mut() = Some(Rc::clone(&drawn));
        Ok(Some(drawn))
    }

    /// A closed batch of this incarnation.
    pub(crate) async fn batch(
        &self,
        env: &Env,
        gate: &GateView,
        n: u32,
    ) -> Result<Option<Rc<Batch>>, Problem> {
        if n == 0 || n > gate.document.batches {
            return Ok(None);
        }
        let inc = &gate.document.inc;
        if let Some(batch) = self.batches.borrow_mut().get(&n).filter(|batch| batch.inc == *inc) {
            return Ok(Some(Rc::clone(batch)));
        }
        let Some(document) = self.call(env, async |room| room.batch(n).await).await? else { return Ok(None) };
        let record: BatchRecord = parse(&document)?;
        let order = Order::of_batch(&record).map_err(damaged)?;
        let batch = Rc::new(Batch { inc: inc.clone(), document: immutable(&document)?, order });
        self.batches.borrow_mut().insert(n, Rc::clone(&batch));
        Ok(Some(batch))
    }

    /// The position of a place; none while no published record has it.
    pub(crate) async fn position(
        &self,
        env: &Env,
        gate: &GateView,
        place: Place,
    ) -> Result<Option<u64>, Problem> {
        if place.batch == 0 {
            let drawn = self.drawn(env, gate).await?;
            return Ok(drawn.and_then(|drawn| drawn.order.position(place.lane, place.slot)));
        }
        for n in place.batch..=gate.document.batches {
            let batch = self.batch(env, gate, n).await?;
            if let Some(position) = batch.and_then(|batch| batch.order.position(place.lane, place.slot)) {
                return Ok(Some(position));
            }
        }
        Ok(None)
    }

    async fn call<T>(
        &self,
        env: &Env,
        ask: impl AsyncFnOnce(RoomClient) -> Result<Option<T>, CallError>,
    ) -> Result<Option<T>, Problem> {
        count(Counter::RoomCalls);
        let room = RoomClient::new(env, &self.id).map_err(unavailable)?;
        heard(ask(room)).await
    }
}

fn parse<T: serde::de::DeserializeOwned>(document: &Document) -> Result<T, Problem> {
    serde_json::from_str(&document.body).map_err(|error| {
        log("room-document-unreadable", &error);
        Problem::room_unavailable()
    })
}

fn damaged(error: impl std::fmt::Display) -> Problem {
    log("room-record-damaged", &error);
    Problem::room_unavailable()
}

/// A record that never changes.
fn immutable(document: &Document) -> Result<Prepared, Problem> {
    let headers = [
        ("Content-Type", "application/json"),
        ("Cache-Control", "public, max-age=86400, immutable"),
        ("Access-Control-Allow-Origin", "*"),
        ("Access-Control-Expose-Headers", "ETag"),
    ];
    prepare(document, &headers)
}

fn prepare(document: &Document, headers: &[(&str, &str)]) -> Result<Prepared, Problem> {
    Prepared::new(document.body.as_bytes(), &document.etag, headers).map_err(|thrown| {
        log("document-unservable", &format!("{thrown:?}"));
        Problem::new(Kind::Internal, "A document of the room could not be prepared.")
    })
}
