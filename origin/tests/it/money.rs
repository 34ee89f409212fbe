//! Purchases against the payment simulator.

use futures::future::join_all;
use reqwest::{Method, Response};
use serde_json::{Value, json};

use crate::harness::{Shop, Shopper, answer, assert_problem, until};

/// Presses "buy".
async fn press(shop: &Shop, shopper: &Shopper, hold: &str, method: &str, key: &str) -> Response {
    shopper
        .call(&shop.app, Method::POST, &format!("/holds/{hold}/purchase"))
        .header("idempotency-key", key)
        .json(&json!({"payment_method_token": method}))
        .send()
        .await
        .unwrap()
}

async fn buy(
    shop: &Shop,
    shopper: &Shopper,
    hold: &str,
    method: &str,
    key: &str,
) -> (reqwest::StatusCode, Value) {
    let response = press(shop, shopper, hold, method, key).await;
    (response.status(), response.json().await.unwrap())
}

async fn order(shop: &Shop, shopper: &Shopper, id: &str) -> Value {
    let (status, order) = answer(shopper.call(&shop.app, Method::GET, &format!("/orders/{id}"))).await;
    assert_eq!(status, 200, "{order}");
    order
}

async fn order_becomes(shop: &Shop, shopper: &Shopper, id: &str, status: &str) -> Value {
    until(&format!("the order is {status}"), async || {
        let order = order(shop, shopper, id).await;
        (order["status"] == status).then_some(order)
    })
    .await
}

#[tokio::test]
async fn a_purchase_sells_the_seats_captures_the_money_and_ends_the_session() {
    let shop = Shop::start().await;
    let event = shop.app.event(2, 6, json!({})).await;
    let (shopper, hold) = shop.holder(&event, 1, &["A-1", "A-3"]).await;
    let response = press(&shop, &shopper, &hold, "pm_card_visa", "\"k1\"").await;
    assert_eq!(response.status(), 201);
    assert_eq!(response.headers()["fairgate-command"], "complete");
    let bought: Value = response.json().await.unwrap();
    assert!(bought["booking_id"].as_str().unwrap().starts_with("bk_"), "{bought}");
    assert!(bought["payment_ref"].as_str().unwrap().starts_with("pi_"));

    // The same request again, key unquoted: the same answer, marked, and the command again, for the first may be lost.
    let response = press(&shop, &shopper, &hold, "pm_card_visa", "k1").await;
    assert_eq!(response.status(), 201);
    assert_eq!(response.headers()["idempotent-replayed"], "true");
    assert_eq!(response.headers()["fairgate-command"], "complete");
    assert_eq!(response.json::<Value>().await.unwrap()["order_id"], bought["order_id"]);

    let order = order_becomes(&shop, &shopper, bought["order_id"].as_str().unwrap(), "captured").await;
    assert_eq!((&order["total"], &order["currency"]), (&json!(9000), &json!("EUR")));
    assert_eq!(order["seat_ids"], json!(["A-1", "A-3"]));
    shop.app.seat_becomes(&event, "A-1", "sold").await;
    let verdict = shop.assert_sound(&event).await;
    assert_eq!(
        (&verdict["sold"], &verdict["available"], &verdict["held"]),
        (&json!(2), &json!(10), &json!(0))
    );
    let ledger = shop.psp.ledger().await;
    assert_eq!((ledger.len(), &ledger[0]["captured"]), (1, &json!(9000)));
    shop.finish().await;
}

#[tokio::test]
async fn a_decline_keeps_the_hold_and_another_card_buys_it() {
    let shop = Shop::start().await;
    let event = shop.app.event(1, 6, json!({})).await;
    let (shopper, hold) = shop.holder(&event, 1, &["A-1"]).await;
    let method = "pm_card_visa_chargeDeclinedInsufficientFunds";
    let declined = buy(&shop, &shopper, &hold, method, "k1").await;
    assert_problem(&declined, 402, "payment-failed");
    assert_eq!(declined.1["decline_code"], "insufficient_funds");
    // A replay of the declined request is declined; it is not a new attempt.
    assert_problem(&buy(&shop, &shopper, &hold, method, "k1").await, 402, "payment-failed");
    assert_problem(&buy(&shop, &shopper, &hold, "pm_card_visa", "k1").await, 422, "idempotency-key-reused");
    assert_problem(&buy(&shop, &shopper, &hold, "pm_nope", "k2").await, 402, "payment-failed");
    let (status, bought) = buy(&shop, &shopper, &hold, "pm_card_visa", "k3").await;
    assert_eq!(status, 201, "{bought}");
    shop.assert_sound(&event).await;
    assert_eq!(shop.psp.kept().await, 4500);
    until("the declined intents are closed", async || {
        let ledger = shop.psp.ledger().await;
        (ledger.iter().filter(|line| line["status"] == "canceled").count() == 2).then_some(())
    })
    .await;
    shop.finish().await;
}

#[tokio::test]
async fn a_double_click_makes_one_order() {
    let shop = Shop::start().await;
    let event = shop.app.event(1, 6, json!({})).await;
    let (shopper, hold) = shop.holder(&event, 1, &["A-1"]).await;
    let keys: Vec<String> = (0..8).map(|n| format!("k{n}")).collect();
    let clicks = join_all(keys.iter().map(|key| buy(&shop, &shopper, &hold, "pm_card_visa", key))).await;
    for (status, body) in &clicks {
        assert_eq!(status.as_u16(), 201, "{body}");
        assert_eq!(body["booking_id"], clicks[0].1["booking_id"]);
    }
    assert_eq!(shop.psp.ledger().await.len(), 1);
    shop.assert_sound(&event).await;
    shop.finish().await;
}

#[tokio::test]
async fn the_same_request_twice_at_once_is_in_progress_or_replayed() {
    let shop = Shop::start().await;
    let event = shop.app.event(1, 6, json!({})).await;
    let (shopper, hold) = shop.holder(&event, 1, &["A-1"]).await;
    let clicks = join_all((0..6).map(|_| press(&shop, &shopper, &hold, "pm_sim_slow_300", "k"))).await;
    assert!(clicks.iter().any(|click| click.status() == 201));
    for click in clicks.into_iter().filter(|click| click.status() != 201) {
        assert_eq!(click.headers()["retry-after"], "1");
        assert_problem(&(click.status(), click.json().await.unwrap()), 409, "idempotency-in-progress");
    }
    assert_eq!(shop.psp.ledger().await.len(), 1);
    shop.assert_sound(&event).await;
    shop.finish().await;
}

#[tokio::test]
async fn two_holds_paid_side_by_side_cannot_pass_the_limit_together() {
    let shop = Shop::start().await;
    let event = shop.app.event(2, 6, json!({"event_ticket_limit": 4})).await;
    let (shopper, first) = shop.holder(&event, 1, &["A-1", "A-3"]).await;
    let (status, second) = shopper.hold(&shop.app, &["A-5", "A-7"]).await;
    assert_eq!(status, 201, "{second}");
    // The limit is lowered while both are held: only the sale itself can still refuse.
    sqlx::query("UPDATE events SET event_ticket_limit = 3 WHERE event_id = $1")
        .bind(&event)
        .execute(&shop.app.db)
        .await
        .unwrap();
    let second = second["hold_id"].as_str().unwrap();
    let (one, two) = tokio::join!(
        buy(&shop, &shopper, &first, "pm_card_visa", "k1"),
        buy(&shop, &shopper, second, "pm_card_visa", "k2"),
    );
    let (won, lost) = if one.0 == 201 { (one, two) } else { (two, one) };
    assert_eq!(won.0, 201, "{}", won.1);
    assert_problem(&lost, 422, "limit-exceeded");
    assert_eq!(lost.1["money"], "voided");
    assert_eq!(lost.1["used"], 2);
    until("the loser's money is released", async || (shop.psp.held().await == 0).then_some(())).await;
    assert_eq!(shop.psp.kept().await, 9000);
    shop.assert_sound(&event).await;
    shop.finish().await;
}

#[tokio::test]
async fn one_card_buys_no_more_than_its_limit_for_several_buyers() {
    let shop = Shop::start().await;
    let event = shop.app.event(2, 6, json!({"instrument_ticket_limit": 2})).await;
    let (first, hold) = shop.holder(&event, 1, &["A-1", "A-3"]).await;
    assert_eq!(buy(&shop, &first, &hold, "pm_sim_card_7", "k").await.0, 201);
    let (second, hold) = shop.holder(&event, 2, &["A-5"]).await;
    assert_problem(&buy(&shop, &second, &hold, "pm_sim_card_7", "k").await, 422, "limit-exceeded");
    assert_eq!(buy(&shop, &second, &hold, "pm_sim_card_8", "k2").await.0, 201);
    shop.assert_sound(&event).await;
    shop.finish().await;
}

#[tokio::test]
async fn an_expired_released_or_foreign_hold_is_not_sold() {
    let shop = Shop::start().await;
    let event = shop.app.event(1, 6, json!({"hold_seconds": 1, "hold_max_seconds": 1})).await;
    let (shopper, hold) = shop.holder(&event, 1, &["A-1"]).await;
    let other = shop.app.shopper(&event, 2);
    assert_problem(&buy(&shop, &other, &hold, "pm_card_visa", "k").await, 404, "not-found");
    shop.app.seat_becomes(&event, "A-1", "available").await;
    assert_problem(&buy(&shop, &shopper, &hold, "pm_card_visa", "k").await, 410, "hold-expired");
    assert_problem(&buy(&shop, &shopper, "hold_nowhere", "pm_card_visa", "k").await, 404, "not-found");
    let without_key = shopper.call(&shop.app, Method::POST, &format!("/holds/{hold}/purchase"));
    let refused = answer(without_key.json(&json!({"payment_method_token": "pm_card_visa"}))).await;
    assert_problem(&refused, 400, "idempotency-key-missing");
    assert!(shop.psp.ledger().await.is_empty());
    shop.finish().await;
}

#[tokio::test]
async fn an_authorization_nobody_heard_of_is_read_and_becomes_a_booking() {
    let shop = Shop::start().await;
    let event = shop.app.event(1, 6, json!({})).await;
    for (seed, method, seat) in [(1, "pm_sim_hang_charged", "A-1"), (2, "pm_sim_500_charged", "A-3")] {
        let (shopper, hold) = shop.holder(&event, seed, &[seat]).await;
        let response = press(&shop, &shopper, &hold, method, "k").await;
        assert_eq!(response.status(), 202);
        assert_eq!(response.headers()["fairgate-command"], "extend=300");
        let pending: Value = response.json().await.unwrap();
        let id = pending["order_id"].as_str().unwrap();
        assert_eq!(pending["polling_url"], format!("/v1/events/{event}/orders/{id}"));
        let order = order_becomes(&shop, &shopper, id, "captured").await;
        assert!(order["booking_id"].is_string());
    }
    shop.assert_sound(&event).await;
    assert_eq!(shop.psp.kept().await, 9000);
    shop.finish().await;
}

#[tokio::test]
async fn a_confirmation_that_never_arrived_is_closed_at_the_bound_and_the_hold_lives() {
    let shop = Shop::start().await;
    let event = shop.app.event(1, 6, json!({"payment_unknown_seconds": 1})).await;
    let (shopper, hold) = shop.holder(&event, 1, &["A-1"]).await;
    let (status, pending) = buy(&shop, &shopper, &hold, "pm_sim_hang_uncharged", "k").await;
    assert_eq!((status.as_u16(), &pending["status"]), (202, &json!("payment_unknown")));
    let failed =
        order_becomes(&shop, &shopper, pending["order_id"].as_str().unwrap(), "payment_failed").await;
    assert_eq!(failed["reason"], "timed_out");
    let (status, bought) = buy(&shop, &shopper, &hold, "pm_card_visa", "k2").await;
    assert_eq!(status, 201, "{bought}");
    assert_eq!(shop.psp.held().await, 0);
    shop.assert_sound(&event).await;
    shop.finish().await;
}

#[tokio::test]
async fn a_client_step_is_waited_for() {
    let shop = Shop::start().await;
    let event = shop.app.event(1, 6, json!({})).await;
    let (shopper, hold) = shop.holder(&event, 1, &["A-1"]).await;
    let (status, pending) = buy(&shop, &shopper, &hold, "pm_sim_3ds", "k").await;
    assert_eq!((status.as_u16(), &pending["status"]), (202, &json!("requires_action")));
    assert!(pending["client_secret"].as_str().unwrap().contains("_secret_"));
    let id = pending["order_id"].as_str().unwrap();
    let intent = order(&shop, &shopper, id).await["payment_ref"].as_str().unwrap().to_owned();
    let url = format!("{}/v1/payment_intents/{intent}/_authenticate", shop.psp.url);
    let done = reqwest::Client::new().post(url).bearer_auth("sk_test_sim").send().await.unwrap();
    assert_eq!(done.status(), 200);
    order_becomes(&shop, &shopper, id, "captured").await;
    shop.assert_sound(&event).await;
    shop.finish().await;
}

#[tokio::test]
async fn while_the_provider_is_down_nothing_is_begun_and_the_hold_is_kept() {
    let shop = Shop::start().await;
    let event = shop.app.event(1, 6, json!({})).await;
    let (shopper, hold) = shop.holder(&event, 1, &["A-1"]).await;
    shop.psp.control("outage", json!({"seconds": 60})).await;
    let response = press(&shop, &shopper, &hold, "pm_card_visa", "k").await;
    assert!(response.headers().contains_key("retry-after"));
    assert_problem(&(response.status(), response.json().await.unwrap()), 503, "payment-provider-unavailable");
    shop.psp.control("outage", json!({"seconds": 0})).await;
    // The very same request may be sent again.
    let (status, bought) = buy(&shop, &shopper, &hold, "pm_card_visa", "k").await;
    assert_eq!(status, 201, "{bought}");
    shop.assert_sound(&event).await;
    shop.finish().await;
}

#[tokio::test]
async fn seats_that_postgres_sold_otherwise_are_voided() {
    let shop = Shop::start().await;
    let event = shop.app.event(1, 6, json!({})).await;
    let (shopper, hold) = shop.holder(&event, 1, &["A-1"]).await;
    sqlx::query(
        "UPDATE event_seats SET status = 'blocked', version = version + 1 WHERE event_id = $1 AND idx = 0",
    )
    .bind(&event)
    .execute(&shop.app.db)
    .await
    .unwrap();
    let lost = buy(&shop, &shopper, &hold, "pm_card_visa", "k").await;
    assert_problem(&lost, 409, "seats-reassigned");
    assert_eq!(lost.1["money"], "voided");
    until("the money is released", async || (shop.psp.held().await == 0).then_some(())).await;
    assert_eq!(shop.psp.kept().await, 0);
    shop.finish().await;
}
