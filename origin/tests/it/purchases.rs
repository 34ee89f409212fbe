//! Purchases whose buyer clicks again, hangs up, or comes back in another session.

use std::time::Duration;

use origin::{holds::HoldState, ids::OrderId};
use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};
use shared_token::dpop;

use crate::{
    harness::{PUBLIC, Shop, Shopper, answer, assert_problem, until},
    saga::placed,
};

fn purchase(shop: &Shop, shopper: &Shopper, hold: &str, method: &str, key: &str) -> RequestBuilder {
    shopper
        .call(&shop.app, Method::POST, &format!("/holds/{hold}/purchase"))
        .header("idempotency-key", key)
        .json(&json!({"payment_method_token": method}))
}

fn command(response: &Response) -> Option<&str> {
    response.headers().get("fairgate-command").map(|value| value.to_str().unwrap())
}

async fn until_captured(shop: &Shop, order: &str) {
    until("the order is captured", async || {
        let status: String = sqlx::query_scalar("SELECT status FROM orders WHERE order_id = $1")
            .bind(order)
            .fetch_one(&shop.app.db)
            .await
            .unwrap();
        (status == "captured").then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_click_that_sees_the_claim_but_not_yet_its_order_leaves_the_claim_alone() {
    let shop = Shop::start().await;
    let event = shop.app.event(1, 4, json!({})).await;
    let (shopper, hold) = shop.holder(&event, 1, &["A-1"]).await;
    let order = placed(&shop, &shopper, &hold).await;
    let (event_id, hold_id) = (event.parse().unwrap(), hold.parse().unwrap());
    let holds = &shop.app.state.holds;
    holds.claim_for_sale(&event_id, &hold_id, &order).await.unwrap();
    // The look for an order on the hold comes too early; the look at the hold comes after the claim.
    let moved = async |from: &str, to: &str| {
        let moved = sqlx::query("UPDATE orders SET hold_id = $2 WHERE hold_id = $1").bind(from).bind(to);
        assert_eq!(moved.execute(&shop.app.db).await.unwrap().rows_affected(), 1);
    };
    moved(&hold, "hold_elsewhere").await;
    let refused = answer(purchase(&shop, &shopper, &hold, "pm_card_visa", "k2")).await;
    assert_problem(&refused, 503, "overloaded");
    let kept = holds.load_hold(&event_id, &hold_id).await.unwrap().unwrap();
    assert_eq!(kept.state, HoldState::Claimed(order.clone()));

    // Seen in time: the click is answered with the order that was first.
    moved("hold_elsewhere", &hold).await;
    sqlx::query("UPDATE orders SET due_at = clock_timestamp()").execute(&shop.app.db).await.unwrap();
    let (status, bought) = answer(purchase(&shop, &shopper, &hold, "pm_card_visa", "k2")).await;
    assert_eq!((status.as_u16(), &bought["order_id"]), (201, &json!(order.as_str())));
    assert_eq!(shop.psp.ledger().await.len(), 1);
    shop.assert_sound(&event).await;
    shop.finish().await;
}

#[tokio::test]
async fn a_buyer_who_hangs_up_before_the_commit_has_bought_all_the_same() {
    let shop = Shop::start().await;
    let event = shop.app.event(1, 4, json!({})).await;
    let (shopper, hold) = shop.holder(&event, 1, &["A-1"]).await;
    let mut lock = shop.app.db.begin().await.unwrap();
    sqlx::query("LOCK TABLE hold_claims IN SHARE MODE").execute(&mut *lock).await.unwrap();
    let click = tokio::spawn(purchase(&shop, &shopper, &hold, "pm_card_visa", "k").send());
    until("the purchase waits for its commit", async || {
        let waiting: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'hold_claims'::regclass",
        )
        .fetch_one(&shop.app.db)
        .await
        .unwrap();
        (waiting == 1).then_some(())
    })
    .await;
    click.abort();
    assert!(click.await.unwrap_err().is_cancelled());
    // Another answer from the service: it has had time to notice that the connection is gone.
    shop.app.map_at(&event, 0).await;
    lock.rollback().await.unwrap();
    let order = until("the order is placed", async || {
        let order: Option<String> =
            sqlx::query_scalar("SELECT order_id FROM orders").fetch_optional(&shop.app.db).await.unwrap();
        order
    })
    .await;
    until_captured(&shop, &order).await;
    shop.assert_sound(&event).await;
    shop.finish().await;
}

#[tokio::test]
async fn every_confirmed_answer_ends_the_session_that_ordered_and_no_other() {
    let shop = Shop::start().await;
    let event = shop.app.event(1, 4, json!({})).await;
    let (shopper, hold) = shop.holder(&event, 1, &["A-1"]).await;
    let response = purchase(&shop, &shopper, &hold, "pm_card_visa", "k").send().await.unwrap();
    assert_eq!((response.status().as_u16(), command(&response)), (201, Some("complete")));
    let order = response.json::<Value>().await.unwrap()["order_id"].as_str().unwrap().to_owned();
    assert!(order.parse::<OrderId>().is_ok());

    let path = format!("/orders/{order}");
    for _ in 0..2 {
        let read = shopper.call(&shop.app, Method::GET, &path).send().await.unwrap();
        assert_eq!((read.status().as_u16(), command(&read)), (200, Some("complete")));
    }
    let later = shop.app.shopper(&event, 1);
    let read = later.call(&shop.app, Method::GET, &path).send().await.unwrap();
    assert_eq!((read.status().as_u16(), command(&read)), (200, None));
    let replay = purchase(&shop, &later, &hold, "pm_card_visa", "k").send().await.unwrap();
    assert_eq!((replay.status().as_u16(), command(&replay)), (201, None));
    // By a proof alone: there is no session to end.
    let url = format!("{PUBLIC}/v1/events/{event}{path}");
    let iat = shop.app.state.clock.unix();
    let proof = dpop::Request { method: "GET", url: &url, iat, jti: "once", access_token: None };
    let request = shop.app.fan(Method::GET, &format!("/v1/events/{event}{path}"));
    let read = request.header("dpop", dpop::sign(&shopper.key, &proof)).send().await.unwrap();
    assert_eq!((read.status().as_u16(), command(&read)), (200, None));
    shop.assert_sound(&event).await;
    shop.finish().await;
}

#[tokio::test]
async fn an_event_that_keeps_sessions_gets_no_command() {
    let shop = Shop::start().await;
    let event = shop.app.event(1, 4, json!({"end_session_on_purchase": false})).await;
    let (shopper, hold) = shop.holder(&event, 1, &["A-1"]).await;
    let response = purchase(&shop, &shopper, &hold, "pm_card_visa", "k").send().await.unwrap();
    assert_eq!((response.status().as_u16(), command(&response)), (201, None));
    shop.assert_sound(&event).await;
    shop.finish().await;
}

#[tokio::test]
async fn purchases_that_wait_for_the_provider_leave_the_latencies_alone() {
    let shop = Shop::start().await;
    let event = shop.app.event(1, 4, json!({})).await;
    let (shopper, hold) = shop.holder(&event, 1, &["A-1"]).await;
    let response = purchase(&shop, &shopper, &hold, "pm_sim_slow_3000", "k").send().await.unwrap();
    assert_eq!(response.status(), 201);
    let sums = shop.app.state.telemetry.window.sum(shop.app.state.clock.instant());
    let slowest = Duration::from_secs_f64(sums.quantile_ms(1.0).unwrap() / 1000.0);
    assert!(slowest < Duration::from_secs(3), "{slowest:?}");
    assert!(sums.untimed >= 1);
    shop.finish().await;
}
