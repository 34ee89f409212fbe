//! One application per test: its own database, its own events, a signing key as the edge has one.

mod halls;
mod psp;
mod redis_server;
mod shopper;

use std::{sync::Arc, time::Duration};

use clap::{Args, Command, FromArgMatches};
use origin::{
    AppState,
    config::{Config, Role},
    db,
    ids::random_text,
    serve::serve_on,
    service::Service,
};
use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::Value;
use shared_token::keys::{KeyRing, SigningKey};
use sqlx::{AssertSqlSafe, Connection, PgConnection, PgPool};
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle};

pub(crate) use halls::{event_body, hall};
pub(crate) use psp::{Psp, Shop, WEBHOOK_SECRET};
pub(crate) use redis_server::RedisServer;
pub(crate) use shopper::Shopper;

pub(crate) const ISSUER: &str = "https://gate.test";
pub(crate) const PUBLIC: &str = "https://shop.test";
pub(crate) const EDGE_SECRET: &str = "edge-secret";
const ADMIN_TOKEN: &str = "admin-token";

fn setting(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} must name a server these tests may use"))
}

/// A running application.
pub(crate) struct App {
    pub(crate) state: AppState,
    pub(crate) db: PgPool,
    pub(crate) http: reqwest::Client,
    pub(crate) base: String,
    pub(crate) ring: Arc<KeyRing>,
    database: String,
    stop: Option<oneshot::Sender<()>>,
    served: Option<JoinHandle<()>>,
}

impl App {
    /// An application with all roles on the shared Redis.
    pub(crate) async fn start() -> Self {
        Self::start_on(&setting("FAIRGATE_TEST_REDIS_URL"), Role::All).await
    }

    /// The same with one role only.
    pub(crate) async fn start_as(role: Role) -> Self {
        Self::start_on(&setting("FAIRGATE_TEST_REDIS_URL"), role).await
    }

    /// The same with settings of one's own.
    pub(crate) async fn start_changed(change: &dyn Fn(&mut Config)) -> Self {
        Self::start_new(&setting("FAIRGATE_TEST_REDIS_URL"), Role::All, change).await
    }

    pub(crate) async fn start_on(redis_url: &str, role: Role) -> Self {
        Self::start_new(redis_url, role, &|_| {}).await
    }

    async fn start_new(redis_url: &str, role: Role, change: &dyn Fn(&mut Config)) -> Self {
        let admin = setting("FAIRGATE_TEST_DATABASE_URL");
        let database = format!("it_{}", random_text().unwrap());
        let mut connection = PgConnection::connect(&admin).await.unwrap();
        let create = AssertSqlSafe(format!("CREATE DATABASE {database}"));
        sqlx::query(create).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        let database_url = format!("{}/{database}", admin.rsplit_once('/').unwrap().0);
        let pool = db::connect(&database_url, 2).unwrap();
        db::migrate(&pool).await.unwrap();
        pool.close().await;
        Self::start_over(&database_url, redis_url, role, change).await
    }

    /// Another process over the same stores, as after a crash or beside this one.
    pub(crate) async fn sibling(&self, role: Role) -> Self {
        let redis = self.state.config.redis_url.as_ref().unwrap().expose().to_owned();
        let database_url = self.state.config.database_url.expose().to_owned();
        let mine = &self.state.config;
        let change = |config: &mut Config| {
            config.psp_url = mine.psp_url.clone();
            config.psp_secret_key = mine.psp_secret_key.clone();
            config.psp_webhook_secrets = mine.psp_webhook_secrets.clone();
        };
        let mut sibling = Self::start_over(&database_url, &redis, role, &change).await;
        sibling.database = String::new();
        sibling
    }

    async fn start_over(
        database_url: &str,
        redis_url: &str,
        role: Role,
        change: &dyn Fn(&mut Config),
    ) -> Self {
        let ring = Arc::new(KeyRing::new(SigningKey::from_seed("k1", &[7; 32]), &[]).unwrap());
        let jwks_url = serve_keys(ring.jwks_json()).await;
        let mut config = config(database_url, redis_url, &jwks_url);
        change(&mut config);
        let state = Service::new(config).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = state.clone();
        let served = tokio::spawn(async move {
            let stop = async move { drop(stopped.await) };
            serve_on(serving, role, listener, stop).await.unwrap();
        });
        let database = database_url.rsplit_once('/').unwrap().1.to_owned();
        let http = reqwest::Client::builder().timeout(Duration::from_secs(20)).build().unwrap();
        let db = db::connect(database_url, 4).unwrap();
        Self { db, state, http, base, ring, database, stop: Some(stop), served: Some(served) }
    }

    /// Stops gracefully, which must end all background work, and removes the database.
    pub(crate) async fn finish(mut self) {
        drop(self.stop.take());
        self.served.take().unwrap().await.unwrap();
        self.db.close().await;
        if self.database.is_empty() {
            return;
        }
        let mut connection = PgConnection::connect(&setting("FAIRGATE_TEST_DATABASE_URL")).await.unwrap();
        let drop_it = AssertSqlSafe(format!("DROP DATABASE {} WITH (FORCE)", self.database));
        sqlx::query(drop_it).execute(&mut connection).await.unwrap();
    }

    /// A request through the edge.
    pub(crate) fn fan(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base)).header("fairgate-edge", EDGE_SECRET)
    }

    pub(crate) fn operator(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base)).bearer_auth(ADMIN_TOKEN)
    }

    pub(crate) fn raw(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base))
    }

    /// A shopper of `event` with a key of their own.
    pub(crate) fn shopper(&self, event: &str, seed: u8) -> Shopper {
        Shopper::new(&self.ring, event, [seed; 32], self.state.clock.unix() + 900)
    }

    /// Imports a small hall and opens an event in it; answers the event's id.
    pub(crate) async fn event(&self, rows: usize, seats: usize, change: Value) -> String {
        let venue = self.venue(&hall(rows, seats)).await;
        let mut body = event_body(&venue);
        for (name, value) in change.as_object().unwrap() {
            body[name] = value.clone();
        }
        let response = self.operator(Method::POST, "/admin/v1/events").json(&body).send().await.unwrap();
        let (status, text) = (response.status(), response.text().await.unwrap());
        assert_eq!(status, 201, "{text}");
        body["event_id"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn venue(&self, chart: &Value) -> String {
        let request = self.operator(Method::POST, "/admin/v1/venues?format=seatsio");
        let (status, body) = answer(request.json(chart)).await;
        assert_eq!(status, 201, "{body}");
        body["venue_id"].as_str().unwrap().to_owned()
    }

    /// The map as JSON, at least at `version`.
    pub(crate) async fn map_at(&self, event: &str, version: u64) -> Value {
        until("the map reaches the version", async || {
            let (status, map) = answer(self.fan(Method::GET, &format!("/v1/events/{event}/seatmap"))).await;
            assert_eq!(status, 200, "{map}");
            (map["version"].as_u64().unwrap() >= version).then_some(map)
        })
        .await
    }

    /// The status of one seat once it is `wanted`.
    pub(crate) async fn seat_becomes(&self, event: &str, seat: &str, wanted: &str) -> Value {
        until(&format!("{seat} is {wanted}"), async || {
            let map = self.map_at(event, 0).await;
            let seats = map["seats"].as_array().unwrap();
            let found = seats.iter().find(|one| one["seat_id"] == seat).unwrap();
            (found["status"] == wanted).then(|| map.clone())
        })
        .await
    }
}

/// Status and JSON body (null if there is none).
pub(crate) async fn answer(request: RequestBuilder) -> (StatusCode, Value) {
    let response = request.send().await.unwrap();
    let status = response.status();
    let text = response.text().await.unwrap();
    let body = if text.is_empty() {
        Value::Null
    } else {
        serde_json::from_str(&text).unwrap_or(Value::String(text))
    };
    (status, body)
}

/// Asserts a problem document.
#[track_caller]
pub(crate) fn assert_problem((status, body): &(StatusCode, Value), code: u16, slug: &str) {
    assert_eq!(status.as_u16(), code, "{body}");
    assert_eq!(body["type"], format!("/problems/{slug}"), "{body}");
    assert_eq!(body["status"], code);
    assert!(body["title"].is_string());
}

/// Polls until `probe` answers something, for at most ten seconds.
pub(crate) async fn until<T>(what: &str, mut probe: impl AsyncFnMut() -> Option<T>) -> T {
    let poll = async {
        loop {
            if let Some(value) = probe().await {
                return value;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), poll).await.unwrap_or_else(|_| panic!("never: {what}"))
}

fn config(database_url: &str, redis_url: &str, jwks_url: &str) -> Config {
    let command = Config::augment_args(Command::new("origin"));
    let matches = command.get_matches_from([
        "origin",
        "--listen",
        "127.0.0.1:0",
        "--database-url",
        database_url,
        "--redis-url",
        redis_url,
        "--edge-secret",
        EDGE_SECRET,
        "--admin-token",
        ADMIN_TOKEN,
        "--jwks-url",
        jwks_url,
        "--issuer",
        ISSUER,
        "--public-origins",
        PUBLIC,
    ]);
    Config::from_arg_matches(&matches).unwrap()
}

async fn serve_keys(jwks: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/.well-known/jwks.json", listener.local_addr().unwrap());
    let routes =
        axum::Router::new().route("/.well-known/jwks.json", axum::routing::get(move || async move { jwks }));
    tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
    url
}
