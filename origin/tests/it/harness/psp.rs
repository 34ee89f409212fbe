//! The payment simulator beside an application, with its webhooks coming in as through the edge.

use axum::{Router, body::Bytes, http::HeaderMap, response::IntoResponse};
use e2e::psp::{self, delivery::Receiver};
use origin::config::{Config, Secret};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::{App, EDGE_SECRET, Shopper, answer, until};

const SECRET_KEY: &str = "sk_test_sim";
pub(crate) const WEBHOOK_SECRET: &str = "whsec_test_new";

/// A running simulator.
pub(crate) struct Psp {
    pub(crate) url: String,
}

/// An application that sells, and the provider it sells through.
pub(crate) struct Shop {
    pub(crate) app: App,
    pub(crate) psp: Psp,
}

impl Shop {
    pub(crate) async fn start() -> Self {
        let (psp_listener, edge_listener) = (listener().await, listener().await);
        let psp = Psp { url: url_of(&psp_listener) };
        let app = App::start_changed(&|config| psp.configure(config)).await;
        let hook = format!("{}/v1/webhooks/payments/stripe", url_of(&edge_listener));
        let target = format!("{}/v1/webhooks/payments/stripe", app.base);
        tokio::spawn(forward(edge_listener, target));
        let receiver = Receiver { url: hook, secret: WEBHOOK_SECRET.into() };
        let config =
            psp::Config { secret_key: SECRET_KEY.into(), receiver: Some(receiver), state: None, seed: 1 };
        tokio::spawn(async move { psp::serve(psp_listener, config).await.unwrap() });
        Self { app, psp }
    }

    /// A shopper who holds these seats; answers the hold.
    pub(crate) async fn holder(&self, event: &str, seed: u8, seats: &[&str]) -> (Shopper, String) {
        let shopper = self.app.shopper(event, seed);
        let (status, hold) = shopper.hold(&self.app, seats).await;
        assert_eq!(status, 201, "{hold}");
        (shopper, hold["hold_id"].as_str().unwrap().to_owned())
    }

    /// Asserts that every promise of the event holds, by the origin's own check and by the provider's ledger.
    pub(crate) async fn assert_sound(&self, event: &str) -> Value {
        let path = format!("/admin/v1/events/{event}/invariants");
        let (status, verdict) = answer(self.app.operator(Method::GET, &path)).await;
        assert_eq!((status.as_u16(), &verdict["breaches"]), (200, &json!([])), "{verdict}");
        until("everything booked is captured and the ledger agrees", async || {
            let (_, verdict) = answer(self.app.operator(Method::GET, &path)).await;
            let kept = self.psp.kept().await;
            let money = &verdict["money"];
            (money["to_capture"] == 0 && money["booked"] == kept && money["refund_pending"] == 0)
                .then_some(())
        })
        .await;
        verdict
    }

    pub(crate) async fn finish(self) {
        self.app.finish().await;
    }
}

impl Psp {
    pub(crate) fn configure(&self, config: &mut Config) {
        config.psp_url = self.url.clone();
        config.psp_secret_key = Some(Secret::from(SECRET_KEY));
        config.psp_webhook_secrets = vec![Secret::from("whsec_test_old"), Secret::from(WEBHOOK_SECRET)];
    }

    pub(crate) async fn ledger(&self) -> Vec<Value> {
        let ledger: Value =
            reqwest::get(format!("{}/_control/ledger", self.url)).await.unwrap().json().await.unwrap();
        ledger["intents"].as_array().unwrap().clone()
    }

    /// Money captured and not refunded.
    pub(crate) async fn kept(&self) -> u64 {
        let number = |line: &Value, field: &str| line[field].as_u64().unwrap();
        self.ledger().await.iter().map(|line| number(line, "captured") - number(line, "refunded")).sum()
    }

    /// Money held and neither captured nor released.
    pub(crate) async fn held(&self) -> u64 {
        let number = |line: &Value, field: &str| line[field].as_u64().unwrap();
        let lines = self.ledger().await;
        lines.iter().map(|l| number(l, "authorized") - number(l, "captured") - number(l, "voided")).sum()
    }

    pub(crate) async fn control(&self, what: &str, body: Value) {
        let url = format!("{}/_control/{what}", self.url);
        let response = reqwest::Client::new().post(url).json(&body).send().await.unwrap();
        assert_eq!(response.status(), 200);
    }
}

async fn listener() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").await.unwrap()
}

fn url_of(listener: &TcpListener) -> String {
    format!("http://{}", listener.local_addr().unwrap())
}

/// What the edge does with a listed webhook path: passes it on with its own secret.
async fn forward(listener: TcpListener, target: String) {
    let client = reqwest::Client::new();
    let handler = move |headers: HeaderMap, body: Bytes| async move {
        let mut request = client.post(target).header("fairgate-edge", EDGE_SECRET).body(body);
        for name in ["stripe-signature", "content-type"] {
            request = request.header(name, headers.get(name).unwrap().clone());
        }
        match request.send().await {
            Ok(answer) => answer.status().into_response(),
            Err(_) => axum::http::StatusCode::BAD_GATEWAY.into_response(),
        }
    };
    let routes = Router::new().fallback(handler);
    axum::serve(listener, routes).await.unwrap();
}
