//! The service put together: state, routes, and the layers every request passes.

use std::sync::Arc;

use axum::{
    Router,
    extract::{DefaultBodyLimit, Request, State},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::get,
};
use sqlx::PgPool;

use crate::{
    admitted::{self, EdgeKeys, Sessions},
    bookings,
    clock::Clock,
    config::{ADMIN_TIMEOUT, BODY_MAX_BYTES, Config, REQUEST_TIMEOUT},
    db, events,
    holds::{self, Engine},
    invariants, openapi, orders,
    outward::Transport,
    payments::{self, Stripe},
    pressure,
    problem::{Kind, Problem},
    seat_map, seating,
    telemetry::{self, Telemetry},
};

/// What every handler may use. Cheap to clone.
pub type AppState = Arc<Service>;

/// The parts of the service.
pub struct Service {
    /// Settings.
    pub config: Config,
    /// The clock.
    pub clock: Clock,
    /// Postgres.
    pub db: PgPool,
    /// Session verification.
    pub sessions: Sessions,
    /// Events and plans at hand.
    pub events: events::Shelf,
    /// The hold engine.
    pub holds: Engine,
    /// The payment provider.
    pub payments: Stripe,
    /// Seat maps at hand.
    pub maps: seat_map::Maps,
    /// Metrics.
    pub telemetry: Telemetry,
    /// This process among others.
    pub process: String,
    /// Becomes true when the process is about to stop: streams end, background work ends after its step.
    pub stopping: tokio::sync::watch::Sender<bool>,
}

/// Why the service could not be put together.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A secret is empty: whoever sends nothing would know it.
    #[error("{0} must not be empty")]
    EmptySecret(&'static str),
    /// The database URL is wrong.
    #[error("the database cannot be used: {0}")]
    Database(#[from] sqlx::Error),
    /// The Redis URL is wrong.
    #[error("the hold engine cannot be used: {0}")]
    Holds(#[from] holds::EngineError),
    /// No randomness.
    #[error("no randomness: {0}")]
    Random(getrandom::Error),
    /// The TLS configuration towards the payment provider is refused.
    #[error("TLS: {0}")]
    Tls(#[from] rustls::Error),
    /// A metric's name is taken.
    #[error("metrics: {0}")]
    Metrics(#[from] prometheus::Error),
}

impl Service {
    /// Puts the service together. Nothing is connected yet: stores may come up later.
    pub fn new(config: Config) -> Result<AppState, StartError> {
        refuse_empty_secrets(&config)?;
        let clock = Clock;
        let db = db::connect(config.database_url.expose(), config.db_connections)?;
        let transport = Transport::new()?;
        let keys = Arc::new(EdgeKeys::new(config.jwks_url.clone(), transport.clone(), clock));
        let holds = Engine::new(config.redis_url.as_ref(), db.clone(), clock)?;
        Ok(Arc::new(Self {
            sessions: Sessions::new(keys, config.issuer.clone()),
            events: events::Shelf::new(db.clone(), clock),
            maps: seat_map::Maps::new(holds.clone(), clock),
            process: crate::ids::random_text().map_err(StartError::Random)?,
            payments: Stripe::new(transport, &config.psp_url, config.psp_secret_key.clone()),
            telemetry: Telemetry::new(clock.instant())?,
            stopping: tokio::sync::watch::channel(false).0,
            holds,
            db,
            clock,
            config,
        }))
    }
}

fn refuse_empty_secrets(config: &Config) -> Result<(), StartError> {
    let webhook = config.psp_webhook_secrets.iter().map(|secret| ("FAIRGATE_PSP_WEBHOOK_SECRETS", secret));
    let secrets =
        [("FAIRGATE_EDGE_SECRET", &config.edge_secret), ("FAIRGATE_ADMIN_TOKEN", &config.admin_token)];
    match secrets.into_iter().chain(webhook).find(|(_, secret)| secret.expose().is_empty()) {
        Some((name, _)) => Err(StartError::EmptySecret(name)),
        None => Ok(()),
    }
}

/// All routes with their layers.
pub fn router(state: AppState) -> Router {
    let fans = Router::new()
        .merge(events::router())
        .merge(seating::router())
        .merge(seat_map::router())
        .merge(holds::router())
        .merge(orders::router())
        .merge(bookings::router())
        .merge(payments::router())
        .route_layer(middleware::from_fn_with_state(state.clone(), admitted::require_edge));
    let operators = Router::new()
        .merge(events::admin_router())
        .merge(seating::admin_router())
        .merge(invariants::router())
        .merge(pressure::router());
    layered(Router::new().merge(fans).merge(operators).merge(service_router()), state)
}

/// What a process without the `api` role answers.
pub fn driver_router(state: AppState) -> Router {
    layered(service_router(), state)
}

fn layered(routes: Router<AppState>, state: AppState) -> Router {
    routes
        .fallback(no_route)
        .method_not_allowed_fallback(no_method)
        .layer(DefaultBodyLimit::max(BODY_MAX_BYTES))
        .layer(middleware::from_fn(refuse_unreadable_path))
        .layer(middleware::from_fn(limit_time))
        .layer(middleware::from_fn_with_state(state.clone(), telemetry::measure))
        .with_state(state)
}

async fn no_route(State(state): State<AppState>, request: Request) -> Problem {
    unserved(&state, &request, Kind::NotFound)
}

async fn no_method(State(state): State<AppState>, request: Request) -> Problem {
    unserved(&state, &request, Kind::MethodNotAllowed)
}

/// Who is not the edge does not learn which of the fans' routes exist.
fn unserved(state: &AppState, request: &Request, kind: Kind) -> Problem {
    let fans = request.uri().path().starts_with("/v1/");
    if fans && !admitted::is_edge(state, request.headers()) { Kind::EdgeRequired.into() } else { kind.into() }
}

/// Refuses escapes that are no UTF-8, before an extractor answers them in plain text.
async fn refuse_unreadable_path(request: Request, next: Next) -> Response {
    if percent_encoding::percent_decode_str(request.uri().path()).decode_utf8().is_err() {
        return Problem::new(Kind::Malformed).detail("the path is not UTF-8").into_response();
    }
    next.run(request).await
}

/// Health, metrics and documents.
fn service_router() -> Router<AppState> {
    Router::new()
        .route("/healthz", get(|| async { "ok" }))
        .route("/readyz", get(readyz))
        .route("/metrics", get(telemetry::metrics))
        .route("/openapi.json", get(openapi::document))
        .route("/problems/{slug}", get(openapi::problem_page))
}

/// Ready when Postgres and, if configured, Redis answer.
async fn readyz(State(state): State<AppState>) -> Response {
    let postgres = sqlx::query("SELECT 1").execute(&state.db).await.is_ok();
    let redis = !state.holds.is_configured() || state.holds.ping().await.is_ok();
    if postgres && redis {
        return "ready".into_response();
    }
    let detail = format!("postgres: {postgres}, redis: {redis}");
    Problem::new(Kind::Overloaded).detail(detail).into_response()
}

/// No request runs for ever, whatever it waits for.
async fn limit_time(request: Request, next: Next) -> Response {
    let limit = if request.uri().path().starts_with("/admin/") { ADMIN_TIMEOUT } else { REQUEST_TIMEOUT };
    match tokio::time::timeout(limit, next.run(request)).await {
        Ok(response) => response,
        Err(_) => Problem::new(Kind::Overloaded).detail("the request took too long").into_response(),
    }
}
