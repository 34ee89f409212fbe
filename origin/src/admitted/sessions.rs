//! Session verification with a cache: a signature is checked once per token and process.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use shared_token::{
    jwks::KeySet,
    jws::{Expiry, TokenError},
    session::{self, Claims},
};

use super::EdgeKeys;
use crate::problem::{Kind, Problem};

/// Verified tokens kept per generation; two generations of 16,384 tokens of about 1 kB are 32 MB at most, and hold
/// every live session of a shop with a cap of ten thousand.
const CACHE_GENERATION: usize = 16_384;

#[derive(Default)]
struct Cache {
    young: HashMap<String, Arc<Claims>>,
    old: HashMap<String, Arc<Claims>>,
    keys: Option<Arc<KeySet>>,
}

impl Cache {
    fn get(&mut self, token: &str, keys: &Arc<KeySet>) -> Option<Arc<Claims>> {
        if !self.keys.as_ref().is_some_and(|mine| Arc::ptr_eq(mine, keys)) {
            // Another key set: a retired key must not live on through what it signed.
            *self = Self { keys: Some(Arc::clone(keys)), ..Self::default() };
            return None;
        }
        if let Some(claims) = self.young.get(token) {
            return Some(Arc::clone(claims));
        }
        let claims = self.old.remove(token)?;
        self.insert(token, Arc::clone(&claims));
        Some(claims)
    }

    fn insert(&mut self, token: &str, claims: Arc<Claims>) {
        if self.young.len() >= CACHE_GENERATION {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(token.to_owned(), claims);
    }
}

/// The verifier of sessions.
pub struct Sessions {
    keys: Arc<EdgeKeys>,
    issuer: String,
    cache: Mutex<Cache>,
}

impl Sessions {
    /// A verifier of sessions issued by `issuer`.
    pub fn new(keys: Arc<EdgeKeys>, issuer: String) -> Self {
        Self { keys, issuer, cache: Mutex::new(Cache::default()) }
    }

    /// The claims of `token` if it is a session of ours; with [`Expiry::Enforced`] also only before its `exp`.
    ///
    /// The audience is the caller's to compare: it decides between 403 `wrong-event` and reading it from the claims.
    pub async fn verify(&self, token: &str, now: u64, expiry: Expiry) -> Result<Arc<Claims>, Problem> {
        let claims = self.signed(token, now).await?;
        if expiry == Expiry::Enforced && claims.exp <= now {
            return Err(Problem::new(Kind::AdmissionRequired).detail("the session has ended"));
        }
        Ok(claims)
    }

    async fn signed(&self, token: &str, now: u64) -> Result<Arc<Claims>, Problem> {
        let keys = match self.keys.current() {
            Some((keys, false)) => keys,
            Some((keys, true)) => {
                // Nobody waits for a refresh: old keys do until new ones are here.
                let source = Arc::clone(&self.keys);
                tokio::spawn(async move { source.refetch().await.map(drop) });
                keys
            }
            None => self.keys.refetch().await.map_err(no_keys)?,
        };
        if let Some(claims) = self.lock().get(token, &keys) {
            return Ok(claims);
        }
        match self.check(token, &keys, now) {
            Err(TokenError::UnknownKey) => {
                let keys = self.keys.refetch().await.map_err(no_keys)?;
                self.check(token, &keys, now).map_err(refused)
            }
            outcome => outcome.map_err(refused),
        }
    }

    fn check(&self, token: &str, keys: &Arc<KeySet>, now: u64) -> Result<Arc<Claims>, TokenError> {
        let verified = session::verify_any_audience(token, keys, &self.issuer, now, Expiry::Ignored)?;
        let claims = Arc::new(verified.into_claims());
        self.lock().insert(token, Arc::clone(&claims));
        Ok(claims)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn no_keys(error: super::KeysError) -> Problem {
    tracing::warn!(%error, "sessions cannot be verified");
    Problem::new(Kind::Overloaded).detail("sessions cannot be verified at the moment")
}

fn refused(error: TokenError) -> Problem {
    tracing::info!(%error, "session refused");
    Problem::new(Kind::AdmissionRequired).detail("no valid session")
}
