//! A booking service that answers with what reached it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use tokio::sync::Notify;

/// The running mirror.
pub(crate) struct Mirror {
    pub(crate) address: String,
    calls: Arc<Calls>,
}

/// What reached it.
#[derive(Default)]
struct Calls {
    hits: AtomicU64,
    /// A request with `X-Late` is there, and is answered when told.
    late: Notify,
    answer_late: Notify,
}

impl Mirror {
    pub(crate) async fn start() -> Self {
        let calls = Arc::<Calls>::default();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(answer).with_state(Arc::clone(&calls));
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, calls }
    }

    /// How many requests reached it.
    pub(crate) fn hits(&self) -> u64 {
        self.calls.hits.load(Ordering::SeqCst)
    }

    /// Ready when a request that is answered late has arrived.
    pub(crate) async fn late_arrival(&self) {
        self.calls.late.notified().await;
    }

    /// Answers it.
    pub(crate) fn answer_late(&self) {
        self.calls.answer_late.notify_one();
    }
}

/// `X-Answer-…` headers of the request become headers of the answer.
async fn answer(
    State(calls): State<Arc<Calls>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    // The Room asks by itself, whatever clients do.
    if uri.path() == "/internal/pressure" {
        return StatusCode::NOT_FOUND.into_response();
    }
    let hit = calls.hits.fetch_add(1, Ordering::SeqCst) + 1;
    if headers.contains_key("x-late") {
        calls.late.notify_one();
        calls.answer_late.notified().await;
    }
    let text = |value: &HeaderValue| value.to_str().unwrap_or_default().to_owned();
    let sent: Vec<(String, String)> =
        headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect();
    let seen = json!({
        "method": method.as_str(), "target": uri.to_string(), "headers": sent,
        "body": String::from_utf8_lossy(&body), "hit": hit,
    });
    let mut answer = axum::Json(seen).into_response();
    for (name, value) in &headers {
        if let Some(name) = name.as_str().strip_prefix("x-answer-") {
            answer.headers_mut().append(HeaderName::from_bytes(name.as_bytes()).unwrap(), value.clone());
        }
    }
    if uri.path().ends_with("/seatmap") {
        answer.headers_mut().insert("etag", HeaderValue::from_static("\"7-1\""));
        answer.headers_mut().insert("cache-control", HeaderValue::from_static("public, max-age=1"));
    }
    if uri.path().ends_with("/elsewhere") {
        *answer.status_mut() = StatusCode::FOUND;
        answer.headers_mut().insert("location", HeaderValue::from_static("/v1/somewhere"));
    }
    answer
}
