//! Logs, metrics and their names.

mod window;

use std::time::Duration;

use axum::{
    extract::{MatchedPath, Request, State},
    http::{Method, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use prometheus::{
    Encoder, HistogramOpts, HistogramVec, IntCounterVec, IntGaugeVec, Opts, Registry, TextEncoder,
};
use tracing_subscriber::EnvFilter;

pub use window::{Merged, WINDOW_SECS, Window};

use crate::{AppState, problem::Problem};

/// The metrics of this process.
pub struct Telemetry {
    registry: Registry,
    requests: HistogramVec,
    /// Outcomes of hold transitions, by transition and outcome.
    pub holds: IntCounterVec,
    /// Orders that reached a state, by state.
    pub orders: IntCounterVec,
    /// Work of background jobs, by job and outcome.
    pub jobs: IntCounterVec,
    /// Connections of the Postgres pool, by state.
    pub pool: IntGaugeVec,
    /// Latencies and errors of the last seconds, for `/internal/pressure`.
    pub window: Window,
}

impl Telemetry {
    /// Registers every metric.
    pub fn new(start: std::time::Instant) -> Result<Self, prometheus::Error> {
        let registry = Registry::new();
        let requests = HistogramVec::new(
            HistogramOpts::new(
                "fairgate_origin_request_seconds",
                "Time to answer, by route, method and status",
            )
            .buckets(vec![0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0]),
            &["route", "method", "status"],
        )?;
        let holds = IntCounterVec::new(
            Opts::new("fairgate_origin_hold_transitions_total", "Hold transitions, by outcome"),
            &["transition", "outcome"],
        )?;
        let orders = IntCounterVec::new(
            Opts::new("fairgate_origin_orders_total", "Orders that reached a state, by state"),
            &["status"],
        )?;
        let jobs = IntCounterVec::new(
            Opts::new("fairgate_origin_job_items_total", "Items of background work, by outcome"),
            &["job", "outcome"],
        )?;
        let pool = IntGaugeVec::new(
            Opts::new("fairgate_origin_pool_connections", "Postgres connections, by state"),
            &["state"],
        )?;
        registry.register(Box::new(requests.clone()))?;
        registry.register(Box::new(holds.clone()))?;
        registry.register(Box::new(orders.clone()))?;
        registry.register(Box::new(jobs.clone()))?;
        registry.register(Box::new(pool.clone()))?;
        Ok(Self { registry, requests, holds, orders, jobs, pool, window: Window::new(start) })
    }

    /// Registers another domain's metric.
    pub fn register(&self, collector: Box<dyn prometheus::core::Collector>) -> Result<(), prometheus::Error> {
        self.registry.register(collector)
    }

    /// The text exposition of everything registered.
    pub fn render(&self) -> Result<Vec<u8>, prometheus::Error> {
        let mut text = Vec::with_capacity(16 * 1024);
        TextEncoder::new().encode(&self.registry.gather(), &mut text)?;
        Ok(text)
    }

    fn observe(&self, route: &str, method: &str, status: u16, took: Duration) {
        let status = status.to_string();
        self.requests.with_label_values(&[route, method, &status]).observe(took.as_secs_f64());
    }
}

/// Middleware: measures every request.
pub async fn measure(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let began = state.clock.instant();
    let method = request.method().clone();
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map_or_else(|| "unmatched".into(), |p| p.as_str().to_owned());
    let waits_for_others = waits_for_others(&route, &method);
    let response = next.run(request).await;
    let now = state.clock.instant();
    let took = now.duration_since(began);
    state.telemetry.observe(&route, method.as_str(), response.status().as_u16(), took);
    if route.starts_with("/v1/") {
        let took = (!waits_for_others).then_some(took);
        state.telemetry.window.record(now, took, response.status().is_server_error());
    }
    response
}

/// Does the answer wait for the payment provider, so that its latency says nothing of this service's load? Purchases
/// and cancellations do for up to ten seconds; webhooks come when the provider likes.
fn waits_for_others(route: &str, method: &Method) -> bool {
    route.ends_with("/purchase")
        || route.starts_with("/v1/webhooks/")
        || (*method == Method::DELETE && route.contains("/bookings/"))
}

/// `GET /metrics`.
pub async fn metrics(State(state): State<AppState>) -> Response {
    let open = i64::from(state.db.size());
    let idle = i64::try_from(state.db.num_idle()).unwrap_or(i64::MAX);
    state.telemetry.pool.with_label_values(&["idle"]).set(idle);
    state.telemetry.pool.with_label_values(&["busy"]).set(open.saturating_sub(idle));
    match state.telemetry.render() {
        Ok(text) => ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response(),
        Err(error) => Problem::internal(&error).into_response(),
    }
}

/// Logs as JSON lines to standard error, filtered by `RUST_LOG`.
pub fn init_logs() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info,sqlx=warn"));
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter).json().with_writer(std::io::stderr);
    if subscriber.try_init().is_err() {
        tracing::debug!("logging was set up already");
    }
}

#[cfg(test)]
mod tests {
    use super::{Method, waits_for_others};

    #[test]
    fn what_waits_for_the_provider_is_known_by_its_route() {
        let purchase = "/v1/events/{event}/holds/{hold}/purchase";
        assert!(waits_for_others(purchase, &Method::POST));
        assert!(waits_for_others("/v1/webhooks/payments/{provider}", &Method::POST));
        assert!(waits_for_others("/v1/events/{event}/bookings/{booking}", &Method::DELETE));
        assert!(!waits_for_others("/v1/events/{event}/bookings/{booking}", &Method::GET));
        assert!(!waits_for_others("/v1/events/{event}/holds", &Method::POST));
    }
}
