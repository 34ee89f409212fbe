//! Holds: all or none, within the cap, once per key, by token.

use std::collections::HashSet;

use futures::future::join_all;
use reqwest::{Method, header};
use serde_json::{Value, json};

use crate::harness::{App, Shopper, answer, assert_problem, event_body};

#[tokio::test]
async fn a_hold_takes_all_seats_or_none() {
    let app = App::start().await;
    let event = app.event(5, 6, json!({})).await;
    let (first, second) = (app.shopper(&event, 1), app.shopper(&event, 2));
    let (status, hold) = first.hold(&app, &["A-1", "A-3"]).await;
    assert_eq!(status, 201, "{hold}");
    assert_eq!(hold["seat_ids"], json!(["A-1", "A-3"]));
    assert_eq!((&hold["total"], &hold["currency"]), (&json!(9000), &json!("EUR")));
    assert_eq!((&hold["expires_in"], &hold["replaced"]), (&json!(600), &json!([])));
    let refused = second.hold(&app, &["A-5", "A-3", "A-7"]).await;
    assert_problem(&refused, 409, "seats-unavailable");
    assert_eq!(refused.1["taken"], json!(["A-3"]));
    let offers = refused.1["alternatives"].as_array().unwrap();
    assert_eq!(offers.len(), 3, "{offers:?}");
    assert!(offers.iter().all(|offer| offer.as_array().unwrap().len() == 3));
    let map = app.map_at(&event, hold["versions"][0].as_u64().unwrap()).await;
    let held = map["seats"].as_array().unwrap().iter().filter(|s| s["status"] == "held").count();
    assert_eq!(held, 2);
    let offer: Vec<&str> = offers[0].as_array().unwrap().iter().map(|s| s.as_str().unwrap()).collect();
    assert_eq!(second.hold(&app, &offer).await.0, 201);
    app.finish().await;
}

#[tokio::test]
async fn one_seat_wanted_by_many_has_one_winner() {
    let app = App::start().await;
    let event = app.event(1, 3, json!({})).await;
    let shoppers: Vec<Shopper> = (0..40).map(|n| app.shopper(&event, n)).collect();
    let outcomes = join_all(shoppers.iter().map(|shopper| shopper.hold(&app, &["A-3"]))).await;
    let winners = outcomes.iter().filter(|(status, _)| *status == 201).count();
    assert_eq!(winners, 1);
    assert!(outcomes.iter().all(|(status, _)| *status == 201 || *status == 409));
    app.finish().await;
}

#[tokio::test]
async fn overlapping_wishes_never_share_a_seat() {
    let app = App::start().await;
    let event = app.event(1, 12, json!({})).await;
    let shoppers: Vec<Shopper> = (0..60).map(|n| app.shopper(&event, n)).collect();
    let wishes: Vec<[String; 3]> =
        (0..60usize).map(|n| std::array::from_fn(|k| format!("A-{}", 2 * ((n + k) % 12) + 1))).collect();
    let outcomes = join_all(shoppers.iter().zip(&wishes).map(|(shopper, wish)| {
        let (app, seats): (_, Vec<&str>) = (&app, wish.iter().map(String::as_str).collect());
        async move { shopper.hold(app, &seats).await }
    }))
    .await;
    let mut seen = HashSet::new();
    for (_, hold) in outcomes.iter().filter(|(status, _)| *status == 201) {
        for seat in hold["seat_ids"].as_array().unwrap() {
            assert!(seen.insert(seat.as_str().unwrap().to_owned()), "{seat} twice");
        }
    }
    assert!(seen.len() >= 6);
    app.finish().await;
}

#[tokio::test]
async fn the_cap_counts_all_live_holds_of_an_identity() {
    let app = App::start().await;
    let event = app.event(1, 10, json!({"event_ticket_limit": 4})).await;
    let shopper = app.shopper(&event, 1);
    assert_eq!(shopper.hold(&app, &["A-1", "A-3"]).await.0, 201);
    let (_, second) = shopper.hold(&app, &["A-5"]).await;
    // Another session of the same key is the same identity.
    let refused = app.shopper(&event, 1).hold(&app, &["A-7", "A-9"]).await;
    assert_problem(&refused, 422, "limit-exceeded");
    assert_eq!((&refused.1["limit"], &refused.1["used"]), (&json!(4), &json!(3)));
    assert_problem(
        &app.shopper(&event, 2).hold(&app, &["A-7", "A-9", "A-11", "A-13", "A-15"]).await,
        422,
        "limit-exceeded",
    );
    let path = format!("/holds/{}", second["hold_id"].as_str().unwrap());
    assert_eq!(answer(shopper.call(&app, Method::DELETE, &path)).await.0, 204);
    assert_eq!(shopper.hold(&app, &["A-7", "A-9"]).await.0, 201);
    app.finish().await;
}

#[tokio::test]
async fn parallel_requests_of_one_identity_stay_within_the_cap() {
    let app = App::start().await;
    let event = app.event(1, 12, json!({"event_ticket_limit": 3})).await;
    let shopper = app.shopper(&event, 1);
    let seats: Vec<String> = (0..12).map(|n| format!("A-{}", 2 * n + 1)).collect();
    let outcomes =
        join_all(seats.iter().map(|seat| async { shopper.hold(&app, &[seat.as_str()]).await })).await;
    assert_eq!(outcomes.iter().filter(|(status, _)| *status == 201).count(), 3);
    app.finish().await;
}

#[tokio::test]
async fn naming_ones_own_seats_replaces_those_holds_whole() {
    let app = App::start().await;
    let event = app.event(1, 8, json!({"event_ticket_limit": 4})).await;
    let (shopper, other) = (app.shopper(&event, 1), app.shopper(&event, 2));
    let (_, first) = shopper.hold(&app, &["A-1", "A-3"]).await;
    let (_, second) = shopper.hold(&app, &["A-5"]).await;
    assert_eq!(other.hold(&app, &["A-9"]).await.0, 201);
    // Nothing changes if one of the new seats is somebody else's.
    assert_problem(&shopper.hold(&app, &["A-3", "A-9"]).await, 409, "seats-unavailable");
    let mine = answer(shopper.call(&app, Method::GET, "/holds/mine")).await.1;
    assert_eq!(mine["holds"].as_array().unwrap().len(), 2);
    let (status, third) = shopper.hold(&app, &["A-3", "A-5", "A-7", "A-11"]).await;
    assert_eq!(status, 201, "{third}");
    let mut replaced: Vec<Value> = third["replaced"].as_array().unwrap().clone();
    replaced.sort_by_key(ToString::to_string);
    let mut expected = vec![first["hold_id"].clone(), second["hold_id"].clone()];
    expected.sort_by_key(ToString::to_string);
    assert_eq!(replaced, expected);
    assert_eq!(third["expires_at"], first["expires_at"], "a replacement keeps the time of what it replaces");
    app.seat_becomes(&event, "A-1", "available").await;
    assert_eq!(other.hold(&app, &["A-1"]).await.0, 201);
    let gone =
        answer(shopper.call(&app, Method::GET, &format!("/holds/{}", first["hold_id"].as_str().unwrap())))
            .await;
    assert_problem(&gone, 404, "not-found");
    app.finish().await;
}

#[tokio::test]
async fn a_key_makes_one_hold_and_replays_its_answer() {
    let app = App::start().await;
    let event = app.event(1, 8, json!({})).await;
    let shopper = app.shopper(&event, 1);
    let (status, first) = shopper.hold_with(&app, &["A-1"], "\"k1\"").await;
    assert_eq!(status, 201);
    let request = shopper.call(&app, Method::POST, "/holds").header("idempotency-key", "k1");
    let replay = request.json(&json!({"seat_ids": ["A-1"]})).send().await.unwrap();
    assert_eq!(replay.status(), 201);
    assert_eq!(replay.headers()["idempotent-replayed"], "true");
    assert_eq!(replay.json::<Value>().await.unwrap(), first);
    assert_problem(&shopper.hold_with(&app, &["A-3"], "k1").await, 422, "idempotency-key-reused");
    // Somebody else's key of the same text is another key.
    assert_eq!(app.shopper(&event, 2).hold_with(&app, &["A-3"], "k1").await.0, 201);
    let missing = shopper.call(&app, Method::POST, "/holds").json(&json!({"seat_ids": ["A-5"]}));
    assert_problem(&answer(missing).await, 400, "idempotency-key-missing");
    // A refusal is not remembered: the same key may succeed later.
    assert_problem(&shopper.hold_with(&app, &["A-3"], "k2").await, 409, "seats-unavailable");
    assert_eq!(shopper.hold_with(&app, &["A-5"], "k2").await.0, 201);
    app.finish().await;
}

#[tokio::test]
async fn parallel_repeats_of_a_key_make_one_hold() {
    let app = App::start().await;
    let event = app.event(1, 8, json!({})).await;
    let shopper = app.shopper(&event, 1);
    let outcomes = join_all((0..10).map(|_| shopper.hold_with(&app, &["A-1", "A-3"], "same"))).await;
    let ids: HashSet<_> = outcomes.iter().map(|(_, hold)| hold["hold_id"].to_string()).collect();
    assert!(outcomes.iter().all(|(status, _)| *status == 201), "{outcomes:?}");
    assert_eq!(ids.len(), 1);
    app.finish().await;
}

#[tokio::test]
async fn requests_that_make_no_sense_are_refused_clearly() {
    let app = App::start().await;
    let event = app.event(1, 4, json!({})).await;
    let shopper = app.shopper(&event, 1);
    let ask = async |body: Value| {
        answer(shopper.call(&app, Method::POST, "/holds").header("idempotency-key", "k").json(&body)).await
    };
    let unknown = ask(json!({"seat_ids": ["A-1", "Q-9"]})).await;
    assert_problem(&unknown, 404, "unknown-seats");
    assert_eq!(unknown.1["seat_ids"], json!(["Q-9"]));
    assert_problem(&ask(json!({"seat_ids": []})).await, 422, "invalid");
    assert_problem(&ask(json!({"seat_ids": ["A-1", "A-1"]})).await, 422, "invalid");
    assert_problem(&ask(json!({})).await, 422, "invalid");
    assert_problem(&ask(json!({"seat_ids": ["A-1"], "user_id": "x"})).await, 422, "invalid");
    assert_problem(&ask(json!({"seat_ids": "A-1"})).await, 422, "invalid");
    assert_problem(&ask(json!({"best_available": {"quantity": 2}})).await, 422, "not-supported");
    assert_problem(
        &ask(json!({"general_admission": [{"area": "G", "quantity": 1}]})).await,
        422,
        "not-supported",
    );
    assert_problem(&ask(json!({"stay": {"room_type": "d"}})).await, 422, "not-supported");
    let broken =
        shopper.call(&app, Method::POST, "/holds").header("idempotency-key", "k").body("{\"seat_ids\":");
    assert_problem(&answer(broken).await, 400, "malformed");
    let form = shopper
        .call(&app, Method::POST, "/holds")
        .header("idempotency-key", "k")
        .header(header::CONTENT_TYPE, "text/csv")
        .body("A-1");
    assert_problem(&answer(form).await, 415, "unsupported-media-type");
    app.finish().await;
}

#[tokio::test]
async fn more_seats_than_any_hold_has_are_over_the_limit() {
    let app = App::start().await;
    let event = app.event(1, 4, json!({"event_ticket_limit": 3})).await;
    let shopper = app.shopper(&event, 1);
    assert_eq!(shopper.hold(&app, &["A-1", "A-3"]).await.0, 201);
    let refused = shopper.hold(&app, &["A-5"; 101]).await;
    assert_problem(&refused, 422, "limit-exceeded");
    assert_eq!((&refused.1["limit"], &refused.1["used"]), (&json!(3), &json!(2)));
    app.finish().await;
}

#[tokio::test]
async fn a_seat_is_found_in_either_form_of_its_accents() {
    let app = App::start().await;
    let seat = json!({"label": "1", "x": 0, "y": 0});
    let chart = json!({"name": "Saal", "categories": {"list": [{"key": 1, "label": "Parkett"}]},
        "subChart": {"rows": [{"label": "\u{c4}", "categoryKey": 1, "seats": [seat]}]}});
    let body = event_body(&app.venue(&chart).await);
    assert_eq!(answer(app.operator(Method::POST, "/admin/v1/events").json(&body)).await.0, 201);
    let shopper = app.shopper(body["event_id"].as_str().unwrap(), 1);
    let (status, hold) = shopper.hold(&app, &["A\u{308}-1"]).await;
    assert_eq!((status.as_u16(), &hold["seat_ids"]), (201, &json!(["\u{c4}-1"])), "{hold}");
    app.finish().await;
}
