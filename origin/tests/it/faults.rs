//! What happens when Redis forgets, freezes or restarts, and when Postgres is away.

use std::time::Duration;

use origin::{config::Role, db, holds::Claim};
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    claims::{claim, held, sell},
    harness::{App, RedisServer, answer, assert_problem, until},
};

/// Removes every key of the event, as FLUSHALL would.
pub(crate) async fn forget(redis_url: &str, event: &str) {
    let client = redis::Client::open(redis_url).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let keys: Vec<String> =
        redis::cmd("KEYS").arg(format!("{{ev:{event}}}:*")).query_async(&mut connection).await.unwrap();
    redis::cmd("DEL").arg(keys).query_async::<()>(&mut connection).await.unwrap();
}

pub(crate) fn redis_url(app: &App) -> String {
    app.state.config.redis_url.as_ref().unwrap().expose().to_owned()
}

#[tokio::test]
async fn a_redis_that_forgets_is_filled_from_postgres() {
    let app = App::start().await;
    let event = app.event(1, 8, json!({"event_ticket_limit": 3})).await;
    let (buyer, payer, other) = (app.shopper(&event, 1), app.shopper(&event, 2), app.shopper(&event, 3));
    let sold = held(&app, &buyer, &["A-1", "A-3"]).await;
    let order = claim(&app, &sold).await;
    let sale = sell(&app, &sold, &order).await;
    app.state.holds.mark_sold(&sold.event, &sale).await.unwrap();
    let paying = held(&app, &payer, &["A-5"]).await;
    let paying_order = claim(&app, &paying).await;
    held(&app, &other, &["A-7"]).await;
    let before = app.seat_becomes(&event, "A-1", "sold").await["version"].as_u64().unwrap();

    forget(&redis_url(&app), &event).await;

    let after = until("the map is of a later generation", async || {
        let map = app.map_at(&event, 0).await;
        assert!(map["version"].as_u64().unwrap() >= before, "a version went back");
        (map["version"].as_u64().unwrap() >> 32 > before >> 32).then_some(map)
    })
    .await;
    let status = |n: usize| after["seats"][n]["status"].as_str().unwrap();
    assert_eq!([status(0), status(1), status(2), status(3)], ["sold", "sold", "held", "available"]);
    assert_problem(&other.hold(&app, &["A-1"]).await, 409, "seats-unavailable");
    assert_problem(&other.hold(&app, &["A-5"]).await, 409, "seats-unavailable");
    assert_eq!(other.hold(&app, &["A-7"]).await.0, 201, "live holds evaporated");
    assert_problem(&buyer.hold(&app, &["A-9", "A-11"]).await, 422, "limit-exceeded");
    // The order that was paying goes on as if nothing had happened.
    let engine = &app.state.holds;
    let claimed = engine.claim_for_sale(&paying.event, &paying.hold_id, &paying_order).await.unwrap();
    assert_eq!(claimed, Claim::Claimed);
    let sale = sell(&app, &paying, &paying_order).await;
    engine.mark_sold(&paying.event, &sale).await.unwrap();
    app.seat_becomes(&event, "A-5", "sold").await;
    let since =
        answer(app.fan(Method::GET, &format!("/v1/events/{event}/seatmap/changes?since={before}"))).await;
    assert_problem(&since, 410, "version-too-old");
    app.finish().await;
}

#[tokio::test]
async fn while_another_process_fills_redis_holds_are_refused_and_then_taken_over() {
    let app = App::start_as(Role::Api).await;
    let event = app.event(1, 4, json!({})).await;
    let shopper = app.shopper(&event, 1);
    forget(&redis_url(&app), &event).await;
    // A process took the next generation and died: its lease must run out first.
    sqlx::query(
        "UPDATE hold_generations SET generation = generation + 1, ready = false,
                rebuild_until = clock_timestamp() + interval '2 seconds' WHERE event_id = $1",
    )
    .bind(&event)
    .execute(&app.db)
    .await
    .unwrap();
    assert_problem(&shopper.hold(&app, &["A-1"]).await, 503, "holds-rebuilding");
    let hold = until("the lease has run out", async || {
        let (status, hold) = shopper.hold(&app, &["A-1"]).await;
        (status == 201).then_some(hold)
    })
    .await;
    assert_eq!(hold["versions"][0].as_u64().unwrap() >> 32, 3);
    app.finish().await;
}

#[tokio::test]
async fn two_processes_agree_after_one_raised_the_generation() {
    let app = App::start().await;
    let sibling = app.sibling(Role::Api).await;
    let event = app.event(1, 6, json!({})).await;
    let shopper = app.shopper(&event, 1);
    assert_eq!(shopper.hold(&sibling, &["A-1"]).await.0, 201);
    assert_problem(&app.shopper(&event, 2).hold(&app, &["A-1"]).await, 409, "seats-unavailable");
    forget(&redis_url(&app), &event).await;
    let (status, _) = until("one of them fills Redis again", async || {
        let outcome = shopper.hold(&sibling, &["A-3"]).await;
        (outcome.0 != 503).then_some(outcome)
    })
    .await;
    assert_eq!(status, 201);
    let refused = until("the other has followed", async || {
        let outcome = app.shopper(&event, 2).hold(&app, &["A-3"]).await;
        (outcome.0 != 503).then_some(outcome)
    })
    .await;
    assert_problem(&refused, 409, "seats-unavailable");
    sibling.finish().await;
    app.finish().await;
}

#[tokio::test]
async fn a_restarted_redis_loses_holds_but_never_sales_and_versions_grow() {
    let mut redis = RedisServer::start().await;
    let app = App::start_on(&redis.url(), Role::All).await;
    let event = app.event(1, 6, json!({})).await;
    let (buyer, other) = (app.shopper(&event, 1), app.shopper(&event, 2));
    let hold = held(&app, &buyer, &["A-1"]).await;
    let order = claim(&app, &hold).await;
    let sale = sell(&app, &hold, &order).await;
    app.state.holds.mark_sold(&hold.event, &sale).await.unwrap();
    held(&app, &other, &["A-3"]).await;
    let mut versions = vec![app.seat_becomes(&event, "A-1", "sold").await["version"].as_u64().unwrap()];
    for _ in 0..2 {
        redis.restart_empty().await;
        let map = until("the map is of a later generation", async || {
            let map = app.map_at(&event, 0).await;
            (map["version"].as_u64().unwrap() >> 32 > versions[versions.len() - 1] >> 32).then_some(map)
        })
        .await;
        assert_eq!(map["seats"][0]["status"], "sold");
        assert_eq!(map["seats"][1]["status"], "available");
        versions.push(map["version"].as_u64().unwrap());
    }
    assert!(versions.is_sorted());
    assert_problem(&other.hold(&app, &["A-1"]).await, 409, "seats-unavailable");
    app.finish().await;
}

#[tokio::test]
async fn a_frozen_redis_refuses_in_bounded_time_and_maps_go_on() {
    let redis = RedisServer::start().await;
    let app = App::start_on(&redis.url(), Role::Api).await;
    let event = app.event(1, 6, json!({})).await;
    let shopper = app.shopper(&event, 1);
    assert_eq!(shopper.hold(&app, &["A-1"]).await.0, 201);
    app.seat_becomes(&event, "A-1", "held").await;
    redis.signal("-STOP");
    for _ in 0..6 {
        let began = app.state.clock.instant();
        let request = shopper.call(&app, Method::POST, "/holds").header("idempotency-key", "frozen");
        let response = request.json(&json!({"seat_ids": ["A-3"]})).send().await.unwrap();
        assert_eq!(response.status(), 503);
        assert!(response.headers().contains_key("retry-after"));
        let took = app.state.clock.instant().duration_since(began);
        assert!(took < Duration::from_secs(3), "{took:?}");
    }
    let map: Value = app.map_at(&event, 0).await;
    assert_eq!(map["seats"][0]["status"], "held", "the last map is still served");
    let (status, _) = answer(app.raw(Method::GET, "/readyz")).await;
    assert_eq!(status, 503);
    redis.signal("-CONT");
    // The frozen requests may have landed: the same key never makes a second hold.
    let hold = until("redis is back", async || {
        let (status, hold) = shopper.hold_with(&app, &["A-3"], "frozen").await;
        (status == 201).then_some(hold)
    })
    .await;
    let mine = answer(shopper.call(&app, Method::GET, "/holds/mine")).await.1;
    let of_seat =
        mine["holds"].as_array().unwrap().iter().filter(|h| h["seat_ids"] == json!(["A-3"])).count();
    assert_eq!((of_seat, hold["seat_ids"] == json!(["A-3"])), (1, true));
    app.finish().await;
}

#[tokio::test]
async fn holds_go_on_while_postgres_is_away() {
    let app = App::start().await;
    let event = app.event(1, 6, json!({})).await;
    let shopper = app.shopper(&event, 1);
    assert_eq!(shopper.hold(&app, &["A-1"]).await.0, 201);
    app.state.db.close().await;
    assert_eq!(shopper.hold(&app, &["A-3"]).await.0, 201);
    assert_eq!(app.map_at(&event, 0).await["seats"].as_array().unwrap().len(), 6);
    assert_problem(&answer(app.fan(Method::GET, "/v1/events")).await, 503, "overloaded");
    app.finish().await;
}

#[tokio::test]
async fn transactions_that_deadlock_are_tried_again() {
    let app = App::start().await;
    let event = app.event(1, 4, json!({})).await;
    let touch = async |first: i32, second: i32| {
        let event = event.clone();
        db::transact("touch", &app.state.db, move |tx| {
            let event = event.clone();
            Box::pin(async move {
                for idx in [first, second] {
                    let sql = "UPDATE event_seats SET changed_at = now() WHERE event_id = $1 AND idx = $2";
                    sqlx::query(sql).bind(&event).bind(idx).execute(&mut *tx).await?;
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
                Ok::<_, sqlx::Error>(())
            })
        })
        .await
    };
    let (a, b) = tokio::join!(touch(0, 1), touch(1, 0));
    assert!(a.is_ok() && b.is_ok(), "{a:?} {b:?}");
    app.finish().await;
}

#[tokio::test]
async fn a_rebuild_that_fails_gives_its_lease_back() {
    let redis = RedisServer::start().await;
    let app = App::start_on(&redis.url(), Role::Api).await;
    let event = app.event(1, 4, json!({})).await;
    let shopper = app.shopper(&event, 1);
    forget(&redis.url(), &event).await;
    let client = redis::Client::open(redis.url()).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let mut memory = async |limit: &str| {
        let mut set = redis::cmd("CONFIG");
        set.arg("SET").arg("maxmemory").arg(limit).query_async::<()>(&mut connection).await.unwrap();
    };
    // A Redis without memory answers, but takes nothing.
    memory("1").await;
    assert_eq!(shopper.hold(&app, &["A-1"]).await.0, 503);
    let (ready, leased): (bool, bool) = sqlx::query_as(
        "SELECT ready, rebuild_until > clock_timestamp() FROM hold_generations WHERE event_id = $1",
    )
    .bind(&event)
    .fetch_one(&app.db)
    .await
    .unwrap();
    memory("0").await;
    assert_eq!((ready, leased), (false, false));
    assert_eq!(shopper.hold(&app, &["A-1"]).await.0, 201);
    app.finish().await;
}
