//! Webhooks: only the provider's own, once each, in any order.

use hmac::{Hmac, KeyInit, Mac};
use origin::{
    config::{Config, Secret},
    service::{Service, StartError},
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::harness::{App, Shop, WEBHOOK_SECRET, answer, assert_problem, until};

fn sign(secret: &str, at: u64, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(format!("{at}.{body}").as_bytes());
    hex::encode(mac.finalize().into_bytes())
}

async fn send(app: &App, signature: &str, body: &str) -> (StatusCode, Value) {
    let request = app.fan(Method::POST, "/v1/webhooks/payments/stripe");
    answer(request.header("stripe-signature", signature).body(body.to_owned())).await
}

async fn recorded(app: &App) -> i64 {
    sqlx::query_scalar("SELECT count(*) FROM payment_webhooks").fetch_one(&app.db).await.unwrap()
}

#[tokio::test]
async fn only_what_the_provider_signed_is_recorded_and_once() {
    let shop = Shop::start().await;
    let (app, now) = (&shop.app, shop.app.state.clock.unix());
    let body =
        r#"{"id":"evt_w1","type":"customer.created",  "data":{"object":{"id":"cus_1","object":"customer"}}}"#;
    let good = format!("t={now},v1={},v1={}", "0".repeat(64), sign(WEBHOOK_SECRET, now, body));
    // Over the raw body: the odd spacing counts.
    assert_eq!(send(app, &good, body).await.0, 200);
    assert_eq!(send(app, &good, body).await.0, 200);
    let rotated = format!("t={now},v1={}", sign("whsec_test_old", now, body));
    assert_eq!(send(app, &rotated, body).await.0, 200);
    assert_eq!(recorded(app).await, 1);

    let (old, forged) = (now - 301, format!("t={now},v1={}", sign("whsec_other", now, body)));
    let late = format!("t={old},v1={}", sign(WEBHOOK_SECRET, old, body));
    for signature in [forged.as_str(), late.as_str(), "t=1", "nonsense"] {
        assert_problem(&send(app, signature, body).await, 400, "webhook-signature-invalid");
    }
    assert_problem(&send(app, &good, &body.replace("  ", " ")).await, 400, "webhook-signature-invalid");
    let unsigned = app.fan(Method::POST, "/v1/webhooks/payments/stripe").body(body);
    assert_problem(&answer(unsigned).await, 400, "webhook-signature-invalid");
    let elsewhere = app.fan(Method::POST, "/v1/webhooks/payments/paypal").body(body);
    assert_problem(&answer(elsewhere).await, 404, "not-found");
    assert_eq!(recorded(app).await, 1);
    shop.finish().await;
}

#[tokio::test]
async fn late_doubled_and_shuffled_webhooks_change_nothing() {
    let shop = Shop::start().await;
    shop.psp.control("webhooks", json!({"delay_ms": 50, "duplicate": 1.0, "reorder": 0.5})).await;
    let event = shop.app.event(1, 4, json!({})).await;
    for (seed, seat) in [(1, "A-1"), (2, "A-3")] {
        let (shopper, hold) = shop.holder(&event, seed, &[seat]).await;
        let request = shopper.call(&shop.app, Method::POST, &format!("/holds/{hold}/purchase"));
        let request =
            request.header("idempotency-key", "k").json(&json!({"payment_method_token": "pm_card_visa"}));
        assert_eq!(answer(request).await.0, 201);
    }
    // created, amount_capturable_updated and succeeded of two intents.
    until("all are recorded", async || (recorded(&shop.app).await == 6).then_some(())).await;
    until("all are handled", async || {
        let open: i64 = sqlx::query_scalar("SELECT count(*) FROM payment_webhooks WHERE handled_at IS NULL")
            .fetch_one(&shop.app.db)
            .await
            .unwrap();
        (open == 0).then_some(())
    })
    .await;
    shop.assert_sound(&event).await;
    shop.finish().await;
}

#[tokio::test]
async fn a_webhook_brings_an_order_on_before_it_is_due() {
    let shop = Shop::start().await;
    let event = shop.app.event(1, 4, json!({})).await;
    let (shopper, hold) = shop.holder(&event, 1, &["A-1"]).await;
    let request = shopper.call(&shop.app, Method::POST, &format!("/holds/{hold}/purchase"));
    let request = request.header("idempotency-key", "k").json(&json!({"payment_method_token": "pm_sim_3ds"}));
    let (status, pending) = answer(request).await;
    assert_eq!(status, 202, "{pending}");
    // Nobody would look at it for an hour.
    sqlx::query("UPDATE orders SET due_at = clock_timestamp() + interval '1 hour'")
        .execute(&shop.app.db)
        .await
        .unwrap();
    let intent = shop.psp.ledger().await[0]["id"].as_str().unwrap().to_owned();
    let url = format!("{}/v1/payment_intents/{intent}/_authenticate", shop.psp.url);
    assert_eq!(
        reqwest::Client::new().post(url).bearer_auth("sk_test_sim").send().await.unwrap().status(),
        200
    );
    let path = format!("/orders/{}", pending["order_id"].as_str().unwrap());
    until("the order is captured", async || {
        let (_, order) = answer(shopper.call(&shop.app, Method::GET, &path)).await;
        (order["status"] == "captured").then_some(())
    })
    .await;
    shop.assert_sound(&event).await;
    shop.finish().await;
}

#[tokio::test]
async fn an_empty_secret_is_refused_at_the_start() {
    let shop = Shop::start().await;
    let empty: [fn(&mut Config); 3] = [
        |config| config.edge_secret = Secret::from(""),
        |config| config.admin_token = Secret::from(""),
        |config| config.psp_webhook_secrets.push(Secret::from("")),
    ];
    for change in empty {
        let mut config = shop.app.state.config.clone();
        change(&mut config);
        assert!(matches!(Service::new(config), Err(StartError::EmptySecret(_))));
    }
    shop.finish().await;
}
