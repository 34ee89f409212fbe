//! The HTTP host: authentication, outages, hanging and slow answers, control endpoints.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::book::MAX_PAGE;
use super::clock;
use super::command::take_expand;
use super::delivery::{Delivery, Receiver};
use super::dice::Dice;
use super::error::ApiError;
use super::exchange::{Moment, Step};
use super::form::Form;
use super::idempotency::Answer;
use super::journal::Journal;
use super::provider::Provider;
use super::webhook::Faults;

/// Entries of a list answer unless asked otherwise.
const DEFAULT_PAGE: u64 = 10;

/// How a simulator runs.
#[derive(Clone, Debug)]
pub struct Config {
    /// The merchant's secret key.
    pub secret_key: String,
    /// Where webhooks go.
    pub receiver: Option<Receiver>,
    /// File that keeps the state over a restart.
    pub state: Option<PathBuf>,
    /// Seed of webhook faults and identifiers.
    pub seed: u64,
}

struct Inner {
    provider: Provider,
    journal: Journal,
    dice: Dice,
    faults: Faults,
    outage_until: u64,
}

/// A running simulator.
#[derive(Clone)]
struct Simulator {
    secret_key: Arc<str>,
    delivery: Delivery,
    inner: Arc<Mutex<Inner>>,
}

/// Serves the API until the task is dropped.
///
/// # Errors
/// The state file cannot be opened or the listener fails.
pub async fn serve(listener: TcpListener, config: Config) -> std::io::Result<()> {
    let mut provider = Provider::default();
    let journal = Journal::open(config.state.as_deref(), &mut provider)?;
    provider.settle_interrupted();
    // A restart under the same seed must not hand out the same identifiers again.
    let dice = Dice::new(config.seed.wrapping_add(journal.found()));
    let inner = Inner { provider, journal, dice, faults: Faults::default(), outage_until: 0 };
    let simulator = Simulator {
        secret_key: config.secret_key.into(),
        delivery: Delivery::new(config.receiver).map_err(std::io::Error::other)?,
        inner: Arc::new(Mutex::new(inner)),
    };
    axum::serve(listener, router(simulator)).await
}

fn router(simulator: Simulator) -> Router {
    Router::new()
        .route("/healthz", get(|| async { "ok" }))
        .route("/v1/payment_intents", get(list_intents).post(execute))
        .route("/v1/payment_intents/{id}", get(get_intent))
        .route("/v1/refunds", get(list_refunds).post(execute))
        .route("/v1/refunds/{id}", get(get_refund))
        .route("/v1/{*rest}", post(execute))
        .route("/_control/webhooks", post(set_faults))
        .route("/_control/outage", post(set_outage))
        .route("/_control/ledger", get(ledger))
        .with_state(simulator)
}

impl Simulator {
    fn with<T>(&self, work: impl FnOnce(&mut Inner) -> T) -> T {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let result = work(&mut inner);
        self.publish(&mut inner);
        result
    }

    /// Journals what happened, then sends it: nothing is announced that a restart would forget.
    fn publish(&self, inner: &mut Inner) {
        let (events, records) = inner.provider.drain();
        if let Err(error) = inner.journal.append(&records) {
            tracing::error!(%error, "journal not written");
        }
        for event in events {
            let id = format!("evt_{:016x}", inner.dice.next_u64());
            let body = Bytes::from(event.to_json(&id, clock::now()).to_string());
            for delay in inner.faults.plan(&mut inner.dice) {
                self.delivery.send(body.clone(), Duration::from_millis(delay));
            }
        }
    }

    fn admit(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        let bearer = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        if bearer.and_then(|value| value.strip_prefix("Bearer ")) != Some(&*self.secret_key) {
            return Err(ApiError::Unauthorized);
        }
        let down = self.with(|inner| inner.outage_until > clock::now());
        if down { Err(ApiError::Outage) } else { Ok(()) }
    }

    fn read(
        &self,
        headers: &HeaderMap,
        query: Option<String>,
        read: impl FnOnce(&mut Inner, &mut Form) -> Result<Value, ApiError>,
    ) -> Response {
        let body = self.admit(headers).and_then(|()| {
            let mut form = Form::parse(query.unwrap_or_default().as_bytes())?;
            let body = self.with(|inner| read(inner, &mut form))?;
            form.finish()?;
            Ok(body)
        });
        match body {
            Ok(body) => render(Answer { status: 200, body }, false),
            Err(error) => refuse(&error),
        }
    }
}

async fn execute(State(simulator): State<Simulator>, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    if let Err(error) = simulator.admit(&headers) {
        return refuse(&error);
    }
    let key = headers.get("idempotency-key").and_then(|value| value.to_str().ok());
    let step = simulator.with(|inner| {
        let nonce = format!("{:016x}{:08x}", inner.dice.next_u64(), inner.dice.next_u64() >> 32);
        inner.provider.post(key, uri.path(), &body, &Moment { now: clock::now(), nonce })
    });
    match step {
        Step::Answer { answer, replayed } => render(answer, replayed),
        Step::Hang => std::future::pending().await,
        Step::Wait { delay, pending } => {
            // In a task of its own: a client that hangs up does not stop the issuer.
            let issuer = tokio::spawn(async move {
                tokio::time::sleep(delay).await;
                simulator.with(|inner| inner.provider.settle(pending))
            });
            match issuer.await {
                Ok(Step::Answer { answer, replayed }) => render(answer, replayed),
                _ => refuse(&ApiError::Internal),
            }
        }
    }
}

async fn get_intent(
    State(simulator): State<Simulator>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    simulator.read(&headers, query, |inner, form| {
        let expand = take_expand(form)?;
        form.take("client_secret");
        Ok(inner.provider.book.intent(&id)?.to_json(expand))
    })
}

async fn list_intents(
    State(simulator): State<Simulator>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    simulator.read(&headers, query, |inner, form| {
        let limit = usize::try_from(form.take_u64("limit")?.unwrap_or(DEFAULT_PAGE)).unwrap_or(usize::MAX);
        if limit == 0 || limit > MAX_PAGE {
            return Err(ApiError::invalid("limit", "The limit must be between 1 and 100."));
        }
        let metadata = form.take_map("metadata");
        inner.provider.book.list(limit, form.take("starting_after").as_deref(), &metadata)
    })
}

async fn get_refund(
    State(simulator): State<Simulator>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    simulator.read(&headers, query, |inner, _| Ok(inner.provider.book.refund(&id)?.to_json()))
}

async fn list_refunds(
    State(simulator): State<Simulator>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    simulator.read(&headers, query, |inner, form| {
        Ok(inner.provider.book.refunds_of(&form.require("payment_intent")?))
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Outage {
    seconds: u64,
}

async fn set_faults(State(simulator): State<Simulator>, body: Bytes) -> Response {
    match serde_json::from_slice::<Faults>(&body) {
        Ok(faults) => {
            simulator.with(|inner| inner.faults = faults);
            render(Answer { status: 200, body: json!({"ok": true}) }, false)
        }
        Err(error) => refuse(&ApiError::invalid("body", error.to_string())),
    }
}

async fn set_outage(State(simulator): State<Simulator>, body: Bytes) -> Response {
    match serde_json::from_slice::<Outage>(&body) {
        Ok(outage) => {
            simulator.with(|inner| inner.outage_until = clock::now().saturating_add(outage.seconds));
            render(Answer { status: 200, body: json!({"ok": true}) }, false)
        }
        Err(error) => refuse(&ApiError::invalid("body", error.to_string())),
    }
}

async fn ledger(State(simulator): State<Simulator>) -> Response {
    let body = simulator.with(|inner| inner.provider.book.ledger());
    render(Answer { status: 200, body }, false)
}

fn refuse(error: &ApiError) -> Response {
    render(Answer { status: error.status(), body: error.body() }, false)
}

fn render(answer: Answer, replayed: bool) -> Response {
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response =
        (status, [(header::CONTENT_TYPE, "application/json")], answer.body.to_string()).into_response();
    if replayed {
        response.headers_mut().insert("idempotent-replayed", header::HeaderValue::from_static("true"));
    }
    response
}
