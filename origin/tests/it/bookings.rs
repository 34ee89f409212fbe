//! Bookings: reading them, also after the session, and giving them back.

use origin::ids::random_text;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use shared_token::dpop;

use crate::harness::{App, PUBLIC, Shop, Shopper, answer, assert_problem, until};

async fn book(shop: &Shop, event: &str, seed: u8, seat: &str) -> (Shopper, Value) {
    let (shopper, hold) = shop.holder(event, seed, &[seat]).await;
    let request = shopper
        .call(&shop.app, Method::POST, &format!("/holds/{hold}/purchase"))
        .header("idempotency-key", random_text().unwrap())
        .json(&json!({"payment_method_token": "pm_card_visa"}));
    let (status, bought) = answer(request).await;
    assert_eq!(status, 201, "{bought}");
    (shopper, bought)
}

fn mine(app: &App, shopper: &Shopper, query: &str) -> reqwest::RequestBuilder {
    app.fan(Method::GET, &format!("/v1/users/me/bookings{query}"))
        .header("fairgate-session", &shopper.session)
}

/// A proof of the shopper's key for one request.
fn prove(shopper: &Shopper, method: &str, url: &str, iat: u64, access_token: Option<&str>) -> String {
    let jti = random_text().unwrap();
    dpop::sign(&shopper.key, &dpop::Request { method, url, iat, jti: &jti, access_token })
}

/// The same buyer, whose session is over.
fn ended(app: &App, shopper: &Shopper, seed: u8) -> Shopper {
    let over = Shopper::new(&app.ring, &shopper.event, [seed; 32], app.state.clock.unix() - 60);
    assert_eq!(over.subject, shopper.subject);
    over
}

#[tokio::test]
async fn orders_and_bookings_are_their_buyers_also_after_the_session() {
    let shop = Shop::start().await;
    let event = shop.app.event(1, 6, json!({})).await;
    let (shopper, bought) = book(&shop, &event, 1, "A-1").await;
    let over = ended(&shop.app, &shopper, 1);
    let stranger = shop.app.shopper(&event, 2);
    let paths = [
        format!("/orders/{}", bought["order_id"].as_str().unwrap()),
        format!("/bookings/{}", bought["booking_id"].as_str().unwrap()),
    ];
    for path in &paths {
        assert_eq!(answer(over.call(&shop.app, Method::GET, path)).await.0, 200);
        assert_problem(&answer(stranger.call(&shop.app, Method::GET, path)).await, 404, "not-found");
        let unnamed = shop.app.fan(Method::GET, &format!("/v1/events/{event}{path}"));
        assert_problem(&answer(unnamed).await, 401, "proof-of-possession-failed");
    }
    let (_, list) = answer(mine(&shop.app, &over, "")).await;
    assert_eq!(list["bookings"][0]["booking_id"], bought["booking_id"]);
    assert_eq!(list["bookings"][0]["event"], event);
    assert_eq!(list["bookings"][0]["seat_ids"], json!(["A-1"]));
    assert_eq!((&list["bookings"][0]["total"], &list["next_cursor"]), (&json!(4500), &Value::Null));
    let (_, list) = answer(mine(&shop.app, &stranger, "")).await;
    assert_eq!(list["bookings"], json!([]));

    // By a proof of the key alone.
    let now = shop.app.state.clock.unix();
    let proof = prove(&shopper, "GET", &format!("{PUBLIC}/v1/users/me/bookings"), now, None);
    let request = shop.app.fan(Method::GET, "/v1/users/me/bookings").header("dpop", proof);
    let (status, list) = answer(request).await;
    assert_eq!((status.as_u16(), &list["bookings"][0]["booking_id"]), (200, &bought["booking_id"]));
    shop.finish().await;
}

#[tokio::test]
async fn pages_have_every_booking_once_though_many_are_of_one_moment() {
    let shop = Shop::start().await;
    let event = shop.app.event(1, 6, json!({"event_ticket_limit": 6})).await;
    let mut shopper = None;
    for n in 0..5 {
        shopper = Some(book(&shop, &event, 1, &format!("A-{}", 2 * n + 1)).await.0);
    }
    let shopper = shopper.unwrap();
    sqlx::query("UPDATE bookings SET created_at = '2026-11-30T20:00:00.123456Z'")
        .execute(&shop.app.db)
        .await
        .unwrap();
    let (mut seen, mut query) = (Vec::new(), "?limit=2".to_owned());
    loop {
        let (status, page) = answer(mine(&shop.app, &shopper, &query)).await;
        assert_eq!(status, 200, "{page}");
        seen.extend(
            page["bookings"].as_array().unwrap().iter().map(|b| b["booking_id"].as_str().unwrap().to_owned()),
        );
        match page["next_cursor"].as_str() {
            Some(cursor) => query = format!("?limit=2&cursor={cursor}"),
            None => break,
        }
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 5);
    for query in ["?limit=0", "?limit=101", "?cursor=nonsense", "?limit=x"] {
        assert_problem(&answer(mine(&shop.app, &shopper, query)).await, 400, "malformed");
    }
    shop.finish().await;
}

async fn give_back(shop: &Shop, shopper: &Shopper, booking: &str) -> (StatusCode, Value) {
    give_back_for(shop, shopper, booking, Some(&shopper.session)).await
}

/// The same with a proof for `token`, whatever session is sent along.
async fn give_back_for(
    shop: &Shop,
    shopper: &Shopper,
    booking: &str,
    token: Option<&str>,
) -> (StatusCode, Value) {
    let path = format!("/bookings/{booking}");
    let url = format!("{PUBLIC}/v1/events/{}{path}", shopper.event);
    let now = shop.app.state.clock.unix();
    let proof = prove(shopper, "DELETE", &url, now, token);
    answer(shopper.call(&shop.app, Method::DELETE, &path).header("dpop", proof)).await
}

#[tokio::test]
async fn a_canceled_booking_is_refunded_once_and_its_seat_is_sold_again() {
    let shop = Shop::start().await;
    let event = shop.app.event(1, 2, json!({"event_ticket_limit": 1})).await;
    let (shopper, bought) = book(&shop, &event, 1, "A-1").await;
    let booking = bought["booking_id"].as_str().unwrap();
    let without_proof = shopper.call(&shop.app, Method::DELETE, &format!("/bookings/{booking}"));
    assert_problem(&answer(without_proof).await, 401, "proof-of-possession-failed");
    // A proof for no token, or for another session of the same buyer's, is none for this one.
    for token in [None, Some(ended(&shop.app, &shopper, 1).session)] {
        let refused = give_back_for(&shop, &shopper, booking, token.as_deref()).await;
        assert_problem(&refused, 401, "proof-of-possession-failed");
    }
    assert_problem(&give_back(&shop, &shop.app.shopper(&event, 2), booking).await, 404, "not-found");
    let canceled = until("the booking is canceled", async || {
        let (status, body) = give_back(&shop, &ended(&shop.app, &shopper, 1), booking).await;
        (status == 200).then_some(body)
    })
    .await;
    assert_eq!(canceled["status"], "refunded", "{canceled}");
    assert_eq!(give_back(&shop, &shopper, booking).await.1["status"], "refunded");
    assert_eq!(shop.psp.kept().await, 0);
    shop.app.seat_becomes(&event, "A-1", "available").await;
    book(&shop, &event, 2, "A-1").await;
    // The cap counts what one owns, not what one ever bought.
    book(&shop, &event, 1, "A-3").await;
    shop.assert_sound(&event).await;
    shop.finish().await;
}
