//! A worker that dies leaves an order another one finishes, wherever it stood.

use origin::{
    holds,
    ids::{HoldId, OrderId},
    orders::{Lease, Order, OrderState, store},
    payments::Money,
};
use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{Psp, Shop, Shopper, answer, until};

/// An order as its worker left it when it died right after writing the row.
pub(crate) async fn placed(shop: &Shop, shopper: &Shopper, hold: &str) -> OrderId {
    let state = &shop.app.state;
    let (event, hold): (_, HoldId) = (shopper.event.parse().unwrap(), hold.parse().unwrap());
    let hold = state.holds.load_hold(&event, &hold).await.unwrap().unwrap();
    let order = Order {
        order_id: OrderId::fresh().unwrap(),
        event,
        hold: hold.hold_id.clone(),
        identity: hold.identity.clone(),
        sid: None,
        seats: hold.seats.clone(),
        seat_ids: hold.seats.iter().map(|seat| seat.index.to_string()).collect(),
        total: Money { minor: hold.total, currency: "EUR".parse().unwrap() },
        payment_method: "pm_card_visa".into(),
        client_secret: None,
        instrument: None,
        claim_id: None,
        state: OrderState::Placed,
        tries: 0,
        created_at: origin::clock::Clock.now(),
    };
    let mut tx = shop.app.db.begin().await.unwrap();
    store::insert(&mut tx, &order, &Lease::fresh().unwrap()).await.unwrap();
    holds::store::insert_claim(&mut tx, &order.order_id, &hold).await.unwrap();
    tx.commit().await.unwrap();
    order.order_id
}

/// Sets the row to what it was at the worker's death, and lets its lease run out.
async fn dies(shop: &Shop, order: &OrderId, set: &str) {
    let query = format!("UPDATE orders SET {set}, due_at = clock_timestamp() WHERE order_id = $1");
    let query = sqlx::AssertSqlSafe(query);
    sqlx::query(query).bind(order.as_str()).execute(&shop.app.db).await.unwrap();
}

async fn captured(shop: &Shop, shopper: &Shopper, order: &OrderId) -> Value {
    until("the order is captured", async || {
        let (status, order) = answer(shopper.call(&shop.app, Method::GET, &format!("/orders/{order}"))).await;
        assert_eq!(status, 200, "{order}");
        (order["status"] == "captured").then_some(order)
    })
    .await
}

/// What the dead worker had done at the provider.
async fn intent(psp: &Psp, order: &OrderId, confirmed: bool) -> String {
    let client = reqwest::Client::new();
    let post = async |path: &str, body: String| -> Value {
        let request = client.post(format!("{}{path}", psp.url)).bearer_auth("sk_test_sim").body(body);
        request.send().await.unwrap().json().await.unwrap()
    };
    let body = format!("amount=4500&currency=eur&capture_method=manual&metadata[order_id]={order}");
    let intent = post("/v1/payment_intents", body).await["id"].as_str().unwrap().to_owned();
    if confirmed {
        let path = format!("/v1/payment_intents/{intent}/confirm");
        assert_eq!(post(&path, "payment_method=pm_card_visa".into()).await["status"], "requires_capture");
    }
    intent
}

#[tokio::test]
async fn dead_after_the_row() {
    let shop = Shop::start().await;
    let event = shop.app.event(1, 4, json!({})).await;
    let (shopper, hold) = shop.holder(&event, 1, &["A-1"]).await;
    let order = placed(&shop, &shopper, &hold).await;
    dies(&shop, &order, "tries = 0").await;
    captured(&shop, &shopper, &order).await;
    shop.assert_sound(&event).await;
    shop.finish().await;
}

#[tokio::test]
async fn dead_after_the_confirmation_was_sent() {
    let shop = Shop::start().await;
    let event = shop.app.event(1, 4, json!({})).await;
    let (shopper, hold) = shop.holder(&event, 1, &["A-1"]).await;
    let order = placed(&shop, &shopper, &hold).await;
    let state = &shop.app.state;
    let claimed = state.holds.claim_for_sale(&event.parse().unwrap(), &hold.parse().unwrap(), &order).await;
    assert_eq!(claimed.unwrap(), holds::Claim::Claimed);
    let intent = intent(&shop.psp, &order, true).await;
    dies(&shop, &order, &format!("intent_id = '{intent}'")).await;
    captured(&shop, &shopper, &order).await;
    // It was read, not sent again.
    assert_eq!(shop.psp.ledger().await.len(), 1);
    shop.assert_sound(&event).await;
    shop.finish().await;
}

#[tokio::test]
async fn dead_before_the_confirmation_was_sent() {
    let shop = Shop::start().await;
    let event = shop.app.event(1, 4, json!({"payment_unknown_seconds": 1})).await;
    let (shopper, hold) = shop.holder(&event, 1, &["A-1"]).await;
    let order = placed(&shop, &shopper, &hold).await;
    let state = &shop.app.state;
    state.holds.claim_for_sale(&event.parse().unwrap(), &hold.parse().unwrap(), &order).await.unwrap();
    let intent = intent(&shop.psp, &order, false).await;
    dies(&shop, &order, &format!("intent_id = '{intent}'")).await;
    until("the hold lives again", async || {
        let (_, hold) = answer(shopper.call(&shop.app, Method::GET, &format!("/holds/{hold}"))).await;
        let (_, order) = answer(shopper.call(&shop.app, Method::GET, &format!("/orders/{order}"))).await;
        (order["status"] == "payment_failed" && hold["status"] != "claimed").then_some(())
    })
    .await;
    assert_eq!(shop.psp.held().await, 0);
    shop.assert_sound(&event).await;
    shop.finish().await;
}

#[tokio::test]
async fn dead_between_authorization_and_sale_and_between_sale_and_capture() {
    let shop = Shop::start().await;
    let event = shop.app.event(1, 4, json!({})).await;
    let (shopper, hold) = shop.holder(&event, 1, &["A-1"]).await;
    let order = placed(&shop, &shopper, &hold).await;
    let state = &shop.app.state;
    state.holds.claim_for_sale(&event.parse().unwrap(), &hold.parse().unwrap(), &order).await.unwrap();
    let intent = intent(&shop.psp, &order, true).await;
    dies(&shop, &order, &format!("intent_id = '{intent}', status = 'authorized'")).await;
    let first = captured(&shop, &shopper, &order).await;
    // Dead right after a capture whose answer it did not live to write.
    dies(&shop, &order, "status = 'confirmed'").await;
    let second = captured(&shop, &shopper, &order).await;
    assert_eq!(first["booking_id"], second["booking_id"]);
    assert_eq!(shop.psp.kept().await, 4500);
    shop.assert_sound(&event).await;
    shop.finish().await;
}

#[tokio::test]
async fn a_provider_that_stays_silent_past_the_bound_frees_the_seats_and_tells_support() {
    let shop = Shop::start().await;
    let event = shop.app.event(1, 4, json!({"payment_unknown_seconds": 1})).await;
    let (shopper, hold) = shop.holder(&event, 1, &["A-1"]).await;
    let order = placed(&shop, &shopper, &hold).await;
    let state = &shop.app.state;
    state.holds.claim_for_sale(&event.parse().unwrap(), &hold.parse().unwrap(), &order).await.unwrap();
    let intent = intent(&shop.psp, &order, true).await;
    shop.psp.control("outage", json!({"seconds": 60})).await;
    dies(&shop, &order, &format!("intent_id = '{intent}'")).await;
    let claim = until("support is told", async || {
        let (status, list) = answer(shop.app.operator(Method::GET, "/admin/v1/claims")).await;
        assert_eq!(status, 200, "{list}");
        list["claims"].as_array().unwrap().iter().find(|claim| claim["order_id"] == order.as_str()).cloned()
    })
    .await;
    assert_eq!((&claim["amount"], &claim["payment_ref"]), (&json!(4500), &json!(intent)));
    let (_, shown) = answer(shopper.call(&shop.app, Method::GET, &format!("/orders/{order}"))).await;
    assert_eq!((&shown["status"], &shown["claim_id"]), (&json!("claim"), &claim["claim_id"]));

    // The provider comes back with money held: it is released, and support has nothing left to settle.
    shop.psp.control("outage", json!({"seconds": 0})).await;
    dies(&shop, &order, "tries = 0").await;
    until("the late authorization is released", async || (shop.psp.held().await == 0).then_some(())).await;
    until("the claim is settled", async || {
        let (_, list) = answer(shop.app.operator(Method::GET, "/admin/v1/claims")).await;
        (list["claims"] == json!([])).then_some(())
    })
    .await;
    shop.assert_sound(&event).await;
    shop.finish().await;
}
