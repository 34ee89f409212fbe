//! What an order does to a hold: claims that no timer ends, sales and refunds told once or twice.

use origin::{
    config::Role,
    holds::{Claim, Hold, HoldState, Sale, SeatVersion, Unclaimed, store},
    ids::{EventId, OrderId},
};
use reqwest::Method;
use serde_json::json;

use crate::harness::{App, Shopper, answer, assert_problem, until};

pub(crate) async fn held(app: &App, shopper: &Shopper, seats: &[&str]) -> Hold {
    let (status, body) = shopper.hold(app, seats).await;
    assert_eq!(status, 201, "{body}");
    let event: EventId = shopper.event.parse().unwrap();
    app.state
        .holds
        .load_hold(&event, &body["hold_id"].as_str().unwrap().parse().unwrap())
        .await
        .unwrap()
        .unwrap()
}

/// What an order does first: its claim row, then the claim.
pub(crate) async fn claim(app: &App, hold: &Hold) -> OrderId {
    let order = OrderId::fresh().unwrap();
    let mut connection = app.db.acquire().await.unwrap();
    store::insert_claim(&mut connection, &order, hold).await.unwrap();
    let claim = app.state.holds.claim_for_sale(&hold.event, &hold.hold_id, &order).await.unwrap();
    assert_eq!(claim, Claim::Claimed);
    order
}

/// What an order does when it has won: sell in Postgres; the hold store learns it from the caller.
pub(crate) async fn sell(app: &App, hold: &Hold, order: &OrderId) -> Sale {
    let mut tx = app.db.begin().await.unwrap();
    let mut seats = Vec::new();
    for seat in &hold.seats {
        let version: i64 = sqlx::query_scalar(
            "UPDATE event_seats SET status = 'sold', version = version + 1, order_id = $3, owner = $4,
                    changed_at = clock_timestamp()
             WHERE event_id = $1 AND idx = $2 AND status = 'available' RETURNING version",
        )
        .bind(hold.event.as_str())
        .bind(store::index_to_sql(seat.index))
        .bind(order.as_str())
        .bind(&hold.identity)
        .fetch_one(&mut *tx)
        .await
        .unwrap();
        seats.push(SeatVersion { index: seat.index, version });
    }
    store::drop_claim(&mut tx, order).await.unwrap();
    tx.commit().await.unwrap();
    Sale { order: order.clone(), hold: hold.hold_id.clone(), identity: hold.identity.clone(), seats }
}

#[tokio::test]
async fn a_claim_outlives_the_hold_and_ends_in_a_sale_once() {
    let app = App::start().await;
    let event = app.event(1, 6, json!({"hold_seconds": 1, "event_ticket_limit": 3})).await;
    let (buyer, other) = (app.shopper(&event, 1), app.shopper(&event, 2));
    let hold = held(&app, &buyer, &["A-1", "A-3"]).await;
    let engine = &app.state.holds;
    let order = claim(&app, &hold).await;
    assert_eq!(engine.claim_for_sale(&hold.event, &hold.hold_id, &order).await.unwrap(), Claim::Claimed);
    let rival = OrderId::fresh().unwrap();
    let second = engine.claim_for_sale(&hold.event, &hold.hold_id, &rival).await.unwrap();
    assert_eq!(second, Claim::ClaimedBy(order.clone()));
    let path = format!("/holds/{}", hold.hold_id);
    assert_problem(&answer(buyer.call(&app, Method::DELETE, &path)).await, 409, "hold-in-purchase");
    assert_problem(
        &answer(buyer.call(&app, Method::POST, &format!("{path}/extend"))).await,
        409,
        "hold-in-purchase",
    );
    // Long after the hold's time the seats are still the order's; a later hold of another seat proves time has passed.
    let probe = held(&app, &other, &["A-11"]).await;
    until("another hold expires", async || {
        let probe = engine.load_hold(&probe.event, &probe.hold_id).await.unwrap().unwrap();
        (probe.state == HoldState::Expired).then_some(())
    })
    .await;
    assert_problem(&other.hold(&app, &["A-1"]).await, 409, "seats-unavailable");
    let sale = sell(&app, &hold, &order).await;
    for _ in 0..2 {
        engine.mark_sold(&hold.event, &sale).await.unwrap();
    }
    app.seat_becomes(&event, "A-1", "sold").await;
    // The cap counts what was bought, once: two of three.
    assert_problem(&buyer.hold(&app, &["A-5", "A-7"]).await, 422, "limit-exceeded");
    assert_eq!(buyer.hold(&app, &["A-5"]).await.0, 201);
    let (status, view) = answer(buyer.call(&app, Method::GET, &path)).await;
    assert_eq!((status.as_u16(), &view["status"]), (200, &json!("sold")));
    app.finish().await;
}

#[tokio::test]
async fn an_unclaimed_hold_lives_again_within_its_maximum() {
    let app = App::start().await;
    let event = app.event(1, 4, json!({"hold_seconds": 1, "hold_max_seconds": 100})).await;
    let shopper = app.shopper(&event, 1);
    let hold = held(&app, &shopper, &["A-1"]).await;
    let order = claim(&app, &hold).await;
    let mut connection = app.db.acquire().await.unwrap();
    store::drop_claim(&mut connection, &order).await.unwrap();
    let engine = &app.state.holds;
    let Unclaimed::Restored(until) = engine.unclaim(&hold.event, &hold.hold_id, &order, 60).await.unwrap()
    else {
        panic!("not restored");
    };
    assert!((until - hold.created_at).num_seconds() >= 60 && until <= hold.max_expires_at);
    assert_eq!(engine.unclaim(&hold.event, &hold.hold_id, &order, 60).await.unwrap(), Unclaimed::NotClaimed);
    let order = claim(&app, &hold).await;
    store::drop_claim(&mut connection, &order).await.unwrap();
    let far = engine.unclaim(&hold.event, &hold.hold_id, &order, 5000).await.unwrap();
    assert_eq!(far, Unclaimed::Restored(hold.max_expires_at));
    drop(connection);
    app.finish().await;
}

#[tokio::test]
async fn older_versions_of_a_seat_are_ignored() {
    let app = App::start().await;
    let event = app.event(1, 4, json!({})).await;
    let hold = held(&app, &app.shopper(&event, 1), &["A-1"]).await;
    let order = claim(&app, &hold).await;
    let sale = sell(&app, &hold, &order).await;
    let engine = &app.state.holds;
    let later = [SeatVersion { index: 0, version: sale.seats[0].version + 1 }];
    engine.mark_sold(&hold.event, &sale).await.unwrap();
    engine.mark_freed(&hold.event, Some(&hold.identity), &later).await.unwrap();
    // The sale arrives again, late: it is older than the refund.
    engine.mark_sold(&hold.event, &sale).await.unwrap();
    app.seat_becomes(&event, "A-1", "available").await;
    assert_eq!(app.shopper(&event, 2).hold(&app, &["A-1"]).await.0, 201);
    app.finish().await;
}

#[tokio::test]
async fn claims_that_lost_their_order_are_settled() {
    let app = App::start().await;
    let event = app.event(1, 6, json!({})).await;
    let (first, second) = (app.shopper(&event, 1), app.shopper(&event, 2));
    let failed = held(&app, &first, &["A-1"]).await;
    let failed_order = claim(&app, &failed).await;
    let won = held(&app, &second, &["A-3"]).await;
    let won_order = claim(&app, &won).await;
    // Both processes die between Postgres and Redis: one after giving up, one after selling.
    let mut connection = app.db.acquire().await.unwrap();
    store::drop_claim(&mut connection, &failed_order).await.unwrap();
    drop(connection);
    sell(&app, &won, &won_order).await;
    let engine = &app.state.holds;
    until("both are settled", async || {
        let failed = engine.load_hold(&failed.event, &failed.hold_id).await.unwrap().unwrap().state;
        let won = engine.load_hold(&won.event, &won.hold_id).await.unwrap().unwrap().state;
        (failed == HoldState::Live && won == HoldState::Sold(won_order.clone())).then_some(())
    })
    .await;
    app.seat_becomes(&event, "A-3", "sold").await;
    assert_eq!(engine.claims(&failed.event).await.unwrap(), []);
    app.finish().await;
}

#[tokio::test]
async fn blocks_of_any_age_are_repeated_and_freed_seats_are_left_to_their_order() {
    let app = App::start_as(Role::Api).await;
    let event = app.event(1, 6, json!({"event_ticket_limit": 1})).await;
    let buyer = app.shopper(&event, 1);
    let hold = held(&app, &buyer, &["A-1"]).await;
    let order = claim(&app, &hold).await;
    let sale = sell(&app, &hold, &order).await;
    app.state.holds.mark_sold(&hold.event, &sale).await.unwrap();
    let change = async |index: i32, status: &str, age_secs: f64| {
        sqlx::query(
            "UPDATE event_seats SET status = $3, version = version + 1, owner = NULL, order_id = NULL,
                    changed_at = clock_timestamp() - make_interval(secs => $4) WHERE event_id = $1 AND idx = $2",
        )
        .bind(&event)
        .bind(index)
        .bind(status)
        .bind(age_secs)
        .execute(&app.db)
        .await
        .unwrap();
    };
    // The seat was bought back and a block made, and whoever did both died before the hold store knew.
    change(0, "available", 20.0).await;
    change(2, "blocked", 3600.0).await;
    let driver = app.sibling(Role::Driver).await;
    app.seat_becomes(&event, "A-5", "blocked").await;
    // A second block is seen by a later pass: by then the first pass has done all it does.
    change(3, "blocked", 20.0).await;
    app.seat_becomes(&event, "A-7", "blocked").await;
    app.seat_becomes(&event, "A-1", "sold").await;
    let freed = [SeatVersion { index: 0, version: sale.seats[0].version + 1 }];
    app.state.holds.mark_freed(&hold.event, Some(&hold.identity), &freed).await.unwrap();
    assert_eq!(buyer.hold(&app, &["A-3"]).await.0, 201, "what was bought back counts against nobody");
    driver.finish().await;
    app.finish().await;
}
