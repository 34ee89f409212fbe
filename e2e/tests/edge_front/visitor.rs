//! A client that sees everything: status, headers, body.

use std::time::Duration;

use e2e::fan::{Challenge, Key};
use reqwest::header::HeaderMap;
use reqwest::redirect::Policy;
use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};

use super::Place;

/// Anything that takes longer has failed.
const PATIENCE: Duration = Duration::from_secs(30);

/// An answer.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
    pub(crate) body: Value,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    pub(crate) fn slug(&self) -> &str {
        self.body["type"].as_str().and_then(|kind| kind.strip_prefix("/problems/")).unwrap_or_default()
    }

    /// Requires a problem document of this status and kind.
    #[track_caller]
    pub(crate) fn is_problem(&self, status: u16, slug: &str) -> &Self {
        assert_eq!((self.status, self.slug()), (status, slug), "{}", self.text);
        assert_eq!(self.header("content-type"), "application/problem+json");
        assert_eq!(self.body["status"], status);
        assert!(self.body["title"].is_string() && self.body["detail"].is_string(), "{}", self.text);
        assert_eq!(self.body["server_time"].is_string(), status == 401, "server_time on 401: {}", self.text);
        self
    }

    #[track_caller]
    pub(crate) fn is(&self, status: u16) -> &Self {
        assert_eq!(self.status, status, "{}", self.text);
        self
    }

    /// What the mirror says of a header that reached it.
    pub(crate) fn reached(&self, name: &str) -> Option<&str> {
        let headers = self.body["headers"].as_array().unwrap();
        headers.iter().find(|pair| pair[0] == name).and_then(|pair| pair[1].as_str())
    }
}

/// Somebody with a key, a browser's worth of HTTP and nothing else.
pub(crate) struct Visitor {
    http: Client,
    pub(crate) edge: String,
    pub(crate) event: String,
    pub(crate) key: Key,
}

impl Visitor {
    pub(crate) fn new(place: &Place, event: &str) -> Self {
        let http = Client::builder().no_proxy().redirect(Policy::none()).timeout(PATIENCE).build().unwrap();
        Self { http, edge: place.edge.clone(), event: event.to_owned(), key: Key::generate().unwrap() }
    }

    /// The same fan with the same key at another event.
    pub(crate) fn at(self, event: &str) -> Self {
        Self { event: event.to_owned(), ..self }
    }

    /// The path of one of the event's endpoints.
    pub(crate) fn path(&self, tail: &str) -> String {
        format!("/v1/events/{}{tail}", self.event)
    }

    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        shape: impl FnOnce(RequestBuilder) -> RequestBuilder,
    ) -> Seen {
        let method: Method = method.parse().unwrap();
        let answer = shape(self.http.request(method, format!("{}{path}", self.edge))).send().await.unwrap();
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        let text = String::from_utf8_lossy(&answer.bytes().await.unwrap()).into_owned();
        let body = serde_json::from_str(&text).unwrap_or(Value::Null);
        Seen { status, headers, text, body }
    }

    pub(crate) async fn get(&self, path: &str) -> Seen {
        self.send("GET", path, |request| request).await
    }

    /// A proof for one request of now.
    pub(crate) fn proof(&self, method: &str, path: &str, token: Option<&str>) -> String {
        let url = format!("{}{path}", self.edge);
        self.key.proof(method, &url, token, e2e::clock::now().timestamp()).unwrap()
    }

    /// A solved challenge as the body of a join.
    pub(crate) async fn work(&self) -> Value {
        let path = self.path(&format!("/challenge?jkt={}", self.key.thumbprint()));
        let offer = self.get(&path).await;
        let challenge: Challenge = serde_json::from_value(offer.is(200).body.clone()).unwrap();
        json!({"challenge": challenge.challenge, "nonces": challenge.solve().unwrap(), "jwk": self.key.jwk()})
    }

    pub(crate) async fn join_with(&self, body: &Value) -> Seen {
        let path = self.path("/queue");
        let proof = self.proof("POST", &path, None);
        self.send("POST", &path, |request| request.header("DPoP", proof).json(body)).await
    }

    /// Joins; the ticket.
    pub(crate) async fn join(&self) -> String {
        let answer = self.join_with(&self.work().await).await;
        assert!(matches!(answer.status, 200 | 201), "{}", answer.text);
        answer.body["ticket"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn ask(&self, ticket: &str) -> Seen {
        let path = self.path("/admission");
        let proof = self.proof("POST", &path, Some(ticket));
        let shape = |request: RequestBuilder| {
            request.header("Authorization", format!("DPoP {ticket}")).header("DPoP", proof)
        };
        self.send("POST", &path, shape).await
    }

    /// Asks until granted; the admission token.
    pub(crate) async fn granted(&self, ticket: &str) -> String {
        let answer = self.until(|| self.ask(ticket), |answer| answer.status != 202).await;
        answer.is(200).body["admission_token"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn enter(&self, admission: &str) -> Seen {
        let path = self.path("/session");
        let proof = self.proof("POST", &path, Some(admission));
        self.send("POST", &path, |request| {
            request.header("X-Admission-Token", admission).header("DPoP", proof)
        })
        .await
    }

    /// From nothing to a session; its token.
    pub(crate) async fn admitted(&self) -> String {
        let ticket = self.join().await;
        let entered = self.enter(&self.granted(&ticket).await).await;
        entered.is(201).body["session_token"].as_str().unwrap().to_owned()
    }

    /// A request of a shopper, with a proof.
    pub(crate) async fn shop(&self, method: &str, path: &str, session: &str) -> Seen {
        let plain = path.split('?').next().unwrap();
        let proof = self.proof(method, plain, Some(session));
        self.send(method, path, |request| request.bearer_auth(session).header("DPoP", proof)).await
    }

    /// Repeats a call until its answer is as wanted.
    pub(crate) async fn until<F: Future<Output = Seen>>(
        &self,
        call: impl Fn() -> F,
        wanted: impl Fn(&Seen) -> bool,
    ) -> Seen {
        let deadline = e2e::clock::now() + PATIENCE;
        loop {
            let answer = call().await;
            if wanted(&answer) || e2e::clock::now() > deadline {
                return answer;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

impl Place {
    /// Calls the edge as its operator.
    pub(crate) async fn operate(
        &self,
        method: &str,
        event: &str,
        action: &str,
        body: Option<&Value>,
    ) -> Seen {
        let visitor = Visitor::new(self, event);
        let path = format!("/admin/v1/events/{event}{action}");
        visitor
            .send(method, &path, |request| {
                let request = request.bearer_auth(&self.admin_token);
                match body {
                    Some(body) => request.json(body),
                    None => request,
                }
            })
            .await
    }

    /// An event's configuration, with registration open and the mirror behind it.
    pub(crate) fn configuration(&self, event: &str) -> Value {
        let at = |minutes: i64| (e2e::clock::now() + chrono::TimeDelta::minutes(minutes)).to_rfc3339();
        json!({
            "title": "Front", "registration_opens_at": at(-1), "onsale_at": at(60), "closes_at": at(600), "lanes": 2,
            "admission": {"total_active_users": 50, "new_users_per_minute": 60_000},
            "protect": [
                {"path": format!("/v1/events/{event}/holds*"), "methods": ["POST", "DELETE"]},
                {"path": format!("/v1/events/{event}/page*")},
                {"path": format!("/v1/events/{event}/form"), "proof": "none"},
            ],
            "bypass": [{"path": format!("/v1/events/{event}/page/style/*")}],
            "origin": self.mirror.address, "pow": {"puzzles": 4, "difficulty": 64}, "message": {"en": "Welcome"},
        })
    }

    /// Creates an event; registration is open.
    pub(crate) async fn event(&self, event: &str) {
        self.operate("PUT", event, "", Some(&self.configuration(event))).await.is(201);
    }

    /// Creates an event and draws it as soon as somebody asks.
    pub(crate) async fn open_event(&self, event: &str) {
        self.event(event).await;
        self.operate("POST", event, "/open", None).await.is(200);
    }
}
