//! A hold's life: whose it is, how it ends, how it is prolonged, what the ledger keeps of it.

use reqwest::{Method, header};
use serde_json::{Value, json};

use crate::{
    faults::{forget, redis_url},
    harness::{App, Shopper, answer, assert_problem, until},
};

#[tokio::test]
async fn somebody_elses_hold_does_not_exist() {
    let app = App::start().await;
    let event = app.event(1, 4, json!({})).await;
    let (owner, thief) = (app.shopper(&event, 1), app.shopper(&event, 2));
    let (_, hold) = owner.hold(&app, &["A-1"]).await;
    let path = format!("/holds/{}", hold["hold_id"].as_str().unwrap());
    for (method, path) in [
        (Method::GET, path.clone()),
        (Method::DELETE, path.clone()),
        (Method::POST, format!("{path}/extend")),
    ] {
        assert_problem(&answer(thief.call(&app, method, &path)).await, 404, "not-found");
    }
    assert_problem(&answer(owner.call(&app, Method::GET, "/holds/hold_none")).await, 404, "not-found");
    let (status, view) = answer(owner.call(&app, Method::GET, &path)).await;
    assert_eq!((status.as_u16(), &view["status"], &view["seat_ids"]), (200, &json!("live"), &json!(["A-1"])));
    app.finish().await;
}

#[tokio::test]
async fn release_frees_by_token_only_and_is_idempotent() {
    let app = App::start().await;
    let event = app.event(1, 4, json!({"hold_seconds": 2})).await;
    let (slow, quick) = (app.shopper(&event, 1), app.shopper(&event, 2));
    let (_, old) = slow.hold(&app, &["A-1", "A-3"]).await;
    let new = until("the expired seat can be held", async || {
        let (status, hold) = quick.hold(&app, &["A-1"]).await;
        (status == 201).then_some(hold)
    })
    .await;
    // The slow client now gives back a hold whose seat belongs to somebody else.
    let path = format!("/holds/{}", old["hold_id"].as_str().unwrap());
    assert_eq!(answer(slow.call(&app, Method::DELETE, &path)).await.0, 204);
    assert_eq!(answer(slow.call(&app, Method::DELETE, &path)).await.0, 204);
    assert_problem(&app.shopper(&event, 3).hold(&app, &["A-1"]).await, 409, "seats-unavailable");
    let path = format!("/holds/{}", new["hold_id"].as_str().unwrap());
    assert_eq!(answer(quick.call(&app, Method::GET, &path)).await.0, 200);
    app.finish().await;
}

#[tokio::test]
async fn expiry_becomes_visible_in_time_and_frees_the_cap() {
    let app = App::start().await;
    let event = app.event(1, 4, json!({"hold_seconds": 1, "event_ticket_limit": 1})).await;
    let shopper = app.shopper(&event, 1);
    let (_, hold) = shopper.hold(&app, &["A-1"]).await;
    app.map_at(&event, hold["versions"][0].as_u64().unwrap()).await;
    let began = app.state.clock.instant();
    app.seat_becomes(&event, "A-1", "available").await;
    let took = app.state.clock.instant().duration_since(began);
    assert!(took.as_millis() < 2500, "{took:?}");
    let path = format!("/holds/{}", hold["hold_id"].as_str().unwrap());
    assert_problem(&answer(shopper.call(&app, Method::GET, &path)).await, 410, "hold-expired");
    assert_problem(
        &answer(shopper.call(&app, Method::POST, &format!("{path}/extend"))).await,
        410,
        "hold-expired",
    );
    assert_eq!(shopper.hold(&app, &["A-3"]).await.0, 201);
    app.finish().await;
}

#[tokio::test]
async fn a_hold_is_extended_once_within_its_maximum() {
    let app = App::start().await;
    let event = app.event(1, 4, json!({"hold_seconds": 100, "hold_max_seconds": 130})).await;
    let shopper = app.shopper(&event, 1);
    let (_, hold) = shopper.hold(&app, &["A-1"]).await;
    let path = format!("/holds/{}/extend", hold["hold_id"].as_str().unwrap());
    let (status, extended) = answer(shopper.call(&app, Method::POST, &path)).await;
    assert_eq!(status, 200, "{extended}");
    let left = extended["expires_in"].as_i64().unwrap();
    assert!((95..=130).contains(&left), "{left}");
    assert!(extended["expires_at"].as_str().unwrap() <= extended["max_expires_at"].as_str().unwrap());
    assert_problem(&answer(shopper.call(&app, Method::POST, &path)).await, 409, "already-extended");
    app.finish().await;
}

#[tokio::test]
async fn a_short_session_is_prolonged_to_cover_the_hold() {
    let app = App::start().await;
    let event = app.event(1, 4, json!({})).await;
    let short = Shopper::new(&app.ring, &event, [9; 32], app.state.clock.unix() + 60);
    let request = short.call(&app, Method::POST, "/holds").header("idempotency-key", "k");
    let response = request.json(&json!({"seat_ids": ["A-1"]})).send().await.unwrap();
    let command = response.headers()["fairgate-command"].to_str().unwrap();
    let seconds: u64 = command.strip_prefix("extend=").unwrap().parse().unwrap();
    assert!((590..=610).contains(&seconds), "{seconds}");
    assert_eq!(
        response.headers()[header::LOCATION].to_str().unwrap().rsplit_once('/').unwrap().0,
        format!("/v1/events/{event}/holds")
    );
    app.finish().await;
}

#[tokio::test]
async fn the_ledger_follows() {
    let app = App::start().await;
    let event = app.event(1, 4, json!({})).await;
    let shopper = app.shopper(&event, 1);
    let (_, kept) = shopper.hold(&app, &["A-1"]).await;
    let (_, given_back) = shopper.hold(&app, &["A-3"]).await;
    let path = format!("/holds/{}", given_back["hold_id"].as_str().unwrap());
    assert_eq!(answer(shopper.call(&app, Method::DELETE, &path)).await.0, 204);
    let status = async |hold: &Value| -> Option<(String, i64)> {
        sqlx::query_as("SELECT status, total FROM holds WHERE hold_id = $1")
            .bind(hold["hold_id"].as_str().unwrap())
            .fetch_optional(&app.db)
            .await
            .unwrap()
    };
    until("both holds are in the ledger", async || {
        let rows = (status(&kept).await, status(&given_back).await);
        (rows == (Some(("live".into(), 4500)), Some(("released".into(), 4500)))).then_some(())
    })
    .await;
    app.finish().await;
}

#[tokio::test]
async fn a_hold_that_only_the_ledger_remembers_is_over_not_unknown() {
    let app = App::start().await;
    let event = app.event(1, 4, json!({})).await;
    let (owner, thief) = (app.shopper(&event, 1), app.shopper(&event, 2));
    // Two holds in one batch of the ledger, one of two seats.
    let (_, lost) = owner.hold(&app, &["A-1", "A-3"]).await;
    let (_, returned) = owner.hold(&app, &["A-5"]).await;
    let path = |hold: &Value| format!("/holds/{}", hold["hold_id"].as_str().unwrap());
    assert_eq!(answer(owner.call(&app, Method::DELETE, &path(&returned))).await.0, 204);
    until("both are in the ledger", async || {
        let rows: Vec<(String, Vec<i32>)> = sqlx::query_as("SELECT status, seats FROM holds ORDER BY status")
            .fetch_all(&app.db)
            .await
            .unwrap();
        (rows == [("live".into(), vec![0, 1]), ("released".into(), vec![2])]).then_some(())
    })
    .await;
    forget(&redis_url(&app), &event).await;
    until("the hold store is filled again", async || {
        (answer(owner.call(&app, Method::GET, "/holds/mine")).await.0 == 200).then_some(())
    })
    .await;
    let extend = format!("{}/extend", path(&lost));
    assert_problem(&answer(owner.call(&app, Method::GET, &path(&lost))).await, 410, "hold-expired");
    assert_problem(&answer(owner.call(&app, Method::POST, &extend)).await, 410, "hold-expired");
    assert_eq!(answer(owner.call(&app, Method::DELETE, &path(&lost))).await.0, 204);
    assert_problem(&answer(owner.call(&app, Method::GET, &path(&returned))).await, 404, "not-found");
    assert_eq!(answer(owner.call(&app, Method::DELETE, &path(&returned))).await.0, 204);
    for (method, path) in [(Method::GET, path(&lost)), (Method::POST, extend), (Method::DELETE, path(&lost))]
    {
        assert_problem(&answer(thief.call(&app, method, &path)).await, 404, "not-found");
    }
    app.finish().await;
}
