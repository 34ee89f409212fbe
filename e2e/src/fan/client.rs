//! The calls of a fan's browser, one function each, over one connection pool for the whole crowd.

use std::time::Duration;

use reqwest::header::{AUTHORIZATION, ETAG, IF_NONE_MATCH, RETRY_AFTER};
use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};

use super::key::Key;

/// An answer that never comes must not hold up the rehearsal. The purchase call answers within its own bound of 10 s.
const CALL_TIMEOUT: Duration = Duration::from_secs(30);

/// Any answer of the edge or, through it, of the origin.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// The body as JSON; null when it is not JSON.
    pub body: Value,
    /// `Retry-After` in seconds.
    pub retry_after: Option<Duration>,
    /// `ETag`.
    pub etag: Option<String>,
    /// `Idempotent-Replayed: true`.
    pub replayed: bool,
}

impl Answer {
    /// The slug of a problem document, or an empty string.
    #[must_use]
    pub fn slug(&self) -> &str {
        self.body["type"].as_str().and_then(|kind| kind.rsplit('/').next()).unwrap_or("")
    }

    /// A member of the body as text.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.body[name].as_str()
    }

    /// Whether trying again later is what the answer asks for.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        self.status >= 500 || self.status == 429 || self.slug() == "idempotency-in-progress"
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The connection failed, or the answer was cut off.
    #[error("{0}")]
    Http(#[from] reqwest::Error),
    /// No random bytes for a proof.
    #[error("no random bytes: {0}")]
    Random(#[from] getrandom::Error),
}

/// The event as fans reach it.
pub struct EventClient {
    http: Client,
    edge: String,
    event: String,
}

/// A token and how it is presented.
#[derive(Clone, Copy)]
pub(super) enum Presented<'a> {
    /// `Authorization: DPoP <ticket>`.
    Ticket(&'a str),
    /// `X-Admission-Token`.
    Admission(&'a str),
    /// `Authorization: Bearer <session>`.
    Session(&'a str),
}

impl EventClient {
    /// A client of `event` at the edge `edge`.
    pub fn new(edge: &str, event: &str) -> Result<Self, reqwest::Error> {
        let http = Client::builder().no_proxy().timeout(CALL_TIMEOUT).pool_max_idle_per_host(256).build()?;
        Ok(Self { http, edge: edge.to_owned(), event: event.to_owned() })
    }

    /// The event's id.
    #[must_use]
    pub fn event(&self) -> &str {
        &self.event
    }

    fn url(&self, path: &str) -> String {
        format!("{}/v1/events/{}{path}", self.edge, self.event)
    }

    /// `GET …/room`, conditional when a copy is at hand.
    pub async fn room(&self, etag: Option<&str>) -> Result<Answer, CallError> {
        let request = self.http.get(self.url("/room"));
        send(match etag {
            Some(etag) => request.header(IF_NONE_MATCH, etag),
            None => request,
        })
        .await
    }

    /// A plain read of the event, without any credentials.
    pub async fn read(&self, path: &str) -> Result<Answer, CallError> {
        send(self.http.get(self.url(path))).await
    }

    /// `GET …/seatmap?format=bin`: the packed availability.
    pub async fn seat_bits(&self) -> Result<bytes::Bytes, CallError> {
        let answer = self.http.get(self.url("/seatmap?format=bin")).send().await?;
        Ok(answer.error_for_status()?.bytes().await?)
    }

    /// `GET …/challenge`.
    pub async fn challenge(&self, key: &Key) -> Result<Answer, CallError> {
        self.read(&format!("/challenge?jkt={}", key.thumbprint())).await
    }

    /// `POST …/queue`.
    pub async fn join(&self, key: &Key, challenge: &str, nonces: &[String]) -> Result<Answer, CallError> {
        let body = json!({"challenge": challenge, "nonces": nonces, "jwk": key.jwk()});
        self.call(Method::POST, &self.url("/queue"), key, None, |request| request.json(&body)).await
    }

    /// `POST …/admission` with the ticket.
    pub async fn ask(&self, key: &Key, ticket: &str) -> Result<Answer, CallError> {
        self.call(Method::POST, &self.url("/admission"), key, Some(Presented::Ticket(ticket)), |r| r).await
    }

    /// `POST …/session` with the admission token.
    pub async fn enter(&self, key: &Key, admission: &str) -> Result<Answer, CallError> {
        self.call(Method::POST, &self.url("/session"), key, Some(Presented::Admission(admission)), |r| r)
            .await
    }

    /// `DELETE …/session`.
    pub async fn leave(&self, key: &Key, session: &str) -> Result<Answer, CallError> {
        self.call(Method::DELETE, &self.url("/session"), key, Some(Presented::Session(session)), |r| r).await
    }

    /// A write to the origin under `…/holds`, with an `Idempotency-Key` where one is given.
    pub async fn write(
        &self,
        method: Method,
        path: &str,
        key: &Key,
        session: &str,
        idempotency: Option<(&str, &Value)>,
    ) -> Result<Answer, CallError> {
        let url = self.url(path);
        self.call(method, &url, key, Some(Presented::Session(session)), |request| match idempotency {
            Some((name, body)) => request.header("Idempotency-Key", format!("\"{name}\"")).json(body),
            None => request,
        })
        .await
    }

    /// A read of one's own things, by the key alone: a buyer is still the buyer after the session.
    pub async fn own(&self, path: &str, key: &Key) -> Result<Answer, CallError> {
        let url = if path.starts_with("/v1/") { format!("{}{path}", self.edge) } else { self.url(path) };
        self.call(Method::GET, &url, key, None, |request| request).await
    }

    async fn call(
        &self,
        method: Method,
        url: &str,
        key: &Key,
        presented: Option<Presented<'_>>,
        shape: impl FnOnce(RequestBuilder) -> RequestBuilder,
    ) -> Result<Answer, CallError> {
        let token = presented.map(|presented| match presented {
            Presented::Ticket(token) | Presented::Admission(token) | Presented::Session(token) => token,
        });
        let proof = key.proof(method.as_str(), url, token, crate::clock::now().timestamp())?;
        let request = self.http.request(method, url).header("DPoP", proof);
        let request = match presented {
            Some(Presented::Ticket(token)) => request.header(AUTHORIZATION, format!("DPoP {token}")),
            Some(Presented::Admission(token)) => request.header("X-Admission-Token", token),
            Some(Presented::Session(token)) => request.bearer_auth(token),
            None => request,
        };
        send(shape(request)).await
    }
}

async fn send(request: RequestBuilder) -> Result<Answer, CallError> {
    let answer = request.send().await?;
    let header = |name| answer.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let retry_after = header(RETRY_AFTER).and_then(|text| text.parse().ok()).map(Duration::from_secs);
    let etag = header(ETAG);
    let replayed = answer.headers().get("Idempotent-Replayed").is_some();
    let status = answer.status().as_u16();
    let body = serde_json::from_slice(&answer.bytes().await?).unwrap_or(Value::Null);
    Ok(Answer { status, body, retry_after, etag, replayed })
}
