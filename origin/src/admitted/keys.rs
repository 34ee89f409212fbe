//! The edge's public keys, fetched and kept.

use std::{
    sync::{Arc, RwLock},
    time::{Duration, Instant},
};

use http::Request;
use http_body_util::Full;
use shared_token::jwks::KeySet;
use tokio::sync::Mutex;

use crate::{clock::Clock, outward::Transport};

/// A token with an unknown `kid` may cause a fetch at most this often: a flood of forged ones costs the edge one
/// request in five seconds per process.
const REFETCH_EVERY: Duration = Duration::from_secs(5);
/// Keys older than the edge's own `max-age` are fetched again, so that a retired key stops being accepted.
const STALE_AFTER: Duration = Duration::from_secs(300);
const FETCH_TIMEOUT: Duration = Duration::from_secs(2);

/// Why there are no keys.
#[derive(Debug, thiserror::Error)]
pub enum KeysError {
    /// The edge did not answer, or not with keys.
    #[error("the edge's keys could not be fetched: {0}")]
    Unreachable(String),
}

#[derive(Clone)]
struct Fetched {
    keys: Arc<KeySet>,
    at: Instant,
}

/// The key set at `FAIRGATE_JWKS_URL`.
pub struct EdgeKeys {
    url: String,
    transport: Transport,
    clock: Clock,
    fetched: RwLock<Option<Fetched>>,
    last_try: Mutex<Option<Instant>>,
}

impl EdgeKeys {
    /// Keys to be fetched from `url` when first needed.
    pub fn new(url: String, transport: Transport, clock: Clock) -> Self {
        Self { url, transport, clock, fetched: RwLock::new(None), last_try: Mutex::new(None) }
    }

    /// The keys at hand, and whether they are old enough to be fetched again.
    pub fn current(&self) -> Option<(Arc<KeySet>, bool)> {
        let fetched = self.fetched.read().unwrap_or_else(std::sync::PoisonError::into_inner).clone()?;
        Some((fetched.keys, self.clock.instant().duration_since(fetched.at) > STALE_AFTER))
    }

    /// Fetches the keys again, unless that was tried a moment ago; callers at the same time share one fetch.
    pub async fn refetch(&self) -> Result<Arc<KeySet>, KeysError> {
        let mut last_try = self.last_try.lock().await;
        let now = self.clock.instant();
        if last_try.is_some_and(|at| now.duration_since(at) < REFETCH_EVERY) {
            return self
                .current()
                .map(|(keys, _)| keys)
                .ok_or_else(|| KeysError::Unreachable("tried a moment ago".into()));
        }
        *last_try = Some(now);
        let keys = Arc::new(self.fetch().await?);
        let fetched = Fetched { keys: Arc::clone(&keys), at: now };
        *self.fetched.write().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(fetched);
        Ok(keys)
    }

    async fn fetch(&self) -> Result<KeySet, KeysError> {
        let fail = |error: &dyn std::fmt::Display| KeysError::Unreachable(error.to_string());
        let request = Request::get(&self.url).body(Full::default()).map_err(|e| fail(&e))?;
        let (status, body) = self.transport.send(request, FETCH_TIMEOUT).await.map_err(|e| fail(&e))?;
        if !status.is_success() {
            return Err(fail(&status));
        }
        let text = std::str::from_utf8(&body).map_err(|e| fail(&e))?;
        KeySet::from_json(text).map_err(|e| fail(&e))
    }
}
