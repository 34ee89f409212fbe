//! What this isolate knows of events: copies of the Room's documents, asked for by one request at a time.

use std::cell::RefCell;
use std::rc::Rc;

use edge_core::draw::Order;
use edge_core::gate::{ADMIT_MAX_AGE_MS, ROUTES_MAX_AGE_MS, Recent};
use edge_core::wire::{BatchRecord, Document, Place, Transcript};
use futures::future::try_join_all;
use shared_token::ids::EventId;
use worker::Env;

use crate::copied::Copied;
use crate::gate_view::GateView;
use crate::http::Call;
use crate::http::prepared::Prepared;
use crate::joins;
use crate::objects::{CallError, RoomClient};
use crate::problem::{Kind, Problem};
use crate::sessions::{heard, unavailable};
use crate::telemetry::{Counter, count, log};

/// Events an isolate remembers; a deployment runs a handful at a time.
const EVENTS: usize = 64;
/// Records an isolate keeps prepared: a batch a second for a quarter of an hour, in about a kilobyte each, and the draw.
const RECORDS: usize = 1_000;
/// Batches asked for at once: a request may have six calls under way.
const AT_ONCE: u32 = 6;
/// How every document of the room is served. Records never change, but their addresses outlive them: an event deleted
/// and created anew has others there, so a cache asks whether it is still the same.
const HEADERS: [(&str, &str); 4] = [
    ("Content-Type", "application/json"),
    ("Cache-Control", "public, max-age=1"),
    ("Access-Control-Allow-Origin", "*"),
    ("Access-Control-Expose-Headers", "ETag"),
];

thread_local! {
    static EVENTS_SEEN: RefCell<Recent<String, Rc<EventState>>> = RefCell::new(Recent::new(EVENTS));
    /// Ids somebody asked for of which no event is known: a flood of them displaces no event.
    static STRANGERS: RefCell<Recent<String, Rc<EventState>>> = RefCell::new(Recent::new(EVENTS));
}

type Records = Recent<(String, u32), Rc<Copied<Record>>>;

/// Copies of one event's documents.
#[derive(Debug)]
pub(crate) struct EventState {
    id: EventId,
    gate: Copied<GateView>,
    room: Copied<Prepared>,
    /// By incarnation and batch; the draw is batch 0.
    records: RefCell<Records>,
}

/// The draw or a batch: to be served, and to compute positions from.
#[derive(Debug)]
pub(crate) struct Record {
    /// As it is served.
    pub(crate) document: Prepared,
    order: Order,
}

/// The state of an event in this isolate; none of it is about one request.
pub(crate) fn event_state(id: &EventId) -> Rc<EventState> {
    if let Some(state) =
        EVENTS_SEEN.with_borrow_mut(|events| events.get(id.as_str()).map(|known| Rc::clone(known)))
    {
        return state;
    }
    let state = STRANGERS.with_borrow_mut(|strangers| {
        if let Some(state) = strangers.get(id.as_str()) {
            return Rc::clone(state);
        }
        let state = Rc::new(EventState {
            id: id.clone(),
            gate: Copied::default(),
            room: Copied::default(),
            records: RefCell::new(Recent::new(RECORDS)),
        });
        strangers.insert(id.as_str().to_owned(), Rc::clone(&state));
        state
    });
    if state.exists() {
        STRANGERS.with_borrow_mut(|strangers| strangers.remove(id.as_str()));
        EVENTS_SEEN.with_borrow_mut(|events| events.insert(id.as_str().to_owned(), Rc::clone(&state)));
    }
    state
}

/// Forgets what is known of an event: an operator of this isolate just changed it.
pub(crate) fn forget(id: &EventId) {
    EVENTS_SEEN.with_borrow_mut(|events| events.remove(id.as_str()));
    STRANGERS.with_borrow_mut(|strangers| strangers.remove(id.as_str()));
}

fn unknown() -> Problem {
    Problem::new(Kind::UnknownEvent, "This event is not configured here.")
}

impl EventState {
    /// The event.
    pub(crate) fn id(&self) -> &EventId {
        &self.id
    }

    /// Whether a Room has said so.
    fn exists(&self) -> bool {
        self.gate.kept().is_some() || self.room.kept().is_some()
    }

    /// Asking for an event that does not exist makes an object of its name; a network does not make them without limit.
    fn limit_strangers(&self, call: &Call<'_>) -> Result<(), Problem> {
        if self.exists() { Ok(()) } else { joins::limit_unknown(call) }
    }

    /// The gate's view if it is fresh.
    pub(crate) fn gate_at_hand(&self, now_ms: u64) -> Option<Rc<GateView>> {
        self.gate.at_hand(now_ms)
    }

    /// Which routes there are and where the origin is, or none if there is no such event. Holds through an outage of
    /// the Room: whether a session lives is asked of its lane then.
    pub(crate) async fn routes_if_any(&self, call: &Call<'_>) -> Result<Option<Rc<GateView>>, Problem> {
        self.view(call, ROUTES_MAX_AGE_MS).await
    }

    async fn view(&self, call: &Call<'_>, lasts_ms: u64) -> Result<Option<Rc<GateView>>, Problem> {
        self.gate
            .obtain(lasts_ms, async |asked_at_ms| {
                self.limit_strangers(call)?;
                let document = self.call(call.env, async |room| room.gate_document().await).await?;
                Ok(document.map(|document| Rc::new(GateView::new(document, asked_at_ms))))
            })
            .await
    }

    /// The gate's view, young enough to admit somebody by.
    pub(crate) async fn gate(&self, call: &Call<'_>) -> Result<Rc<GateView>, Problem> {
        self.view(call, ADMIT_MAX_AGE_MS).await?.ok_or_else(unknown)
    }

    /// The document every fan polls.
    pub(crate) async fn room(&self, call: &Call<'_>) -> Result<Rc<Prepared>, Problem> {
        let room = self.room.obtain(ADMIT_MAX_AGE_MS, async |_| {
            self.limit_strangers(call)?;
            let document = self.call(call.env, async |room| room.document().await).await?;
            let prepared = document.map(|document| prepare(&document));
            Ok(prepared.transpose()?.map(Rc::new))
        });
        room.await?.ok_or_else(unknown)
    }

    /// The draw of this incarnation, once it happened.
    pub(crate) async fn drawn(&self, env: &Env, gate: &GateView) -> Result<Option<Rc<Record>>, Problem> {
        if !gate.document.drawn {
            return Ok(None);
        }
        let ask = async |_| {
            let Some(document) = self.call(env, async |room| room.draw().await).await? else {
                return Ok(None);
            };
            let transcript: Transcript = parse(&document)?;
            if transcript.inc != gate.document.inc {
                return Ok(None);
            }
            let order = Order::of_draw(&transcript).map_err(damaged)?;
            Ok(Some(Rc::new(Record { document: prepare(&document)?, order })))
        };
        self.record(gate, 0, ask).await
    }

    /// A closed batch of this incarnation.
    pub(crate) async fn batch(
        &self,
        env: &Env,
        gate: &GateView,
        n: u32,
    ) -> Result<Option<Rc<Record>>, Problem> {
        if n == 0 || n > gate.document.batches {
            return Ok(None);
        }
        let ask = async |_| {
            let document = self.call(env, async |room| room.batch(n).await).await?;
            let Some(document) = document else { return Ok(None) };
            let record: BatchRecord = parse(&document)?;
            let order = Order::of_batch(&record).map_err(damaged)?;
            Ok(Some(Rc::new(Record { document: prepare(&document)?, order })))
        };
        self.record(gate, n, ask).await
    }

    /// A record of this incarnation: it never changes, so the first copy is the last. One request fetches it.
    async fn record(
        &self,
        gate: &GateView,
        n: u32,
        ask: impl AsyncFnOnce(u64) -> Result<Option<Rc<Record>>, Problem>,
    ) -> Result<Option<Rc<Record>>, Problem> {
        let copied = {
            let key = (gate.document.inc.clone(), n);
            let mut records = self.records.borrow_mut();
            if let Some(copied) = records.get(&key) {
                Rc::clone(copied)
            } else {
                let copied = Rc::<Copied<Record>>::default();
                records.insert(key, Rc::clone(&copied));
                copied
            }
        };
        match copied.kept() {
            Some(record) => Ok(Some(record)),
            None => copied.obtain(ADMIT_MAX_AGE_MS, ask).await,
        }
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
        // Nearly always it is the first; an isolate that knows nothing yet looks through the others faster.
        let (mut from, mut at_once) = (place.batch, 1);
        while from <= gate.document.batches {
            let to = from.saturating_add(at_once - 1).min(gate.document.batches);
            let batches = try_join_all((from..=to).map(|n| self.batch(env, gate, n))).await?;
            let positions =
                batches.iter().flatten().filter_map(|batch| batch.order.position(place.lane, place.slot));
            if let Some(position) = positions.min() {
                return Ok(Some(position));
            }
            (from, at_once) = (to.saturating_add(1), AT_ONCE);
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

fn prepare(document: &Document) -> Result<Prepared, Problem> {
    Prepared::new(document.body.as_bytes(), &document.etag, &HEADERS).map_err(|thrown| {
        log("document-unservable", &format!("{thrown:?}"));
        Problem::new(Kind::Internal, "A document of the room could not be prepared.")
    })
}
