//! A shopper as the edge would send one.

use std::sync::Arc;

use origin::ids::{EventId, Subject, random_text};
use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};
use shared_token::{dpop::HolderKey, jws::Confirmation, keys::KeyRing, session};

use super::{App, ISSUER, answer};

/// A shopper with a session.
#[derive(Clone)]
pub(crate) struct Shopper {
    pub(crate) event: String,
    pub(crate) session: String,
    pub(crate) subject: Subject,
    pub(crate) key: Arc<HolderKey>,
}

impl Shopper {
    pub(crate) fn new(ring: &KeyRing, event: &str, seed: [u8; 32], exp: u64) -> Self {
        let key = HolderKey::ed25519(&seed);
        let subject = Subject::Key(key.thumbprint());
        let claims = session::Claims {
            iss: ISSUER.into(),
            aud: event.parse::<EventId>().unwrap(),
            inc: "inc".into(),
            sub: subject.clone(),
            sid: random_text().unwrap(),
            batch: 0,
            iat: exp - 900,
            exp,
            cnf: Some(Confirmation { jkt: key.thumbprint() }),
        };
        Self { event: event.into(), session: session::sign(&claims, ring), subject, key: Arc::new(key) }
    }

    pub(crate) fn call(&self, app: &App, method: Method, path: &str) -> RequestBuilder {
        app.fan(method, &format!("/v1/events/{}{path}", self.event)).header("fairgate-session", &self.session)
    }

    /// Asks for seats with a fresh key.
    pub(crate) async fn hold(&self, app: &App, seats: &[&str]) -> (StatusCode, Value) {
        self.hold_with(app, seats, &random_text().unwrap()).await
    }

    pub(crate) async fn hold_with(&self, app: &App, seats: &[&str], key: &str) -> (StatusCode, Value) {
        let request = self.call(app, Method::POST, "/holds").header("idempotency-key", key);
        answer(request.json(&json!({"seat_ids": seats}))).await
    }
}
