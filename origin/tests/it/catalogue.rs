//! Events: creating, listing, changing.

use std::sync::Arc;

use futures::future::join_all;
use origin::config::Role;
use reqwest::Method;
use serde_json::json;

use crate::harness::{App, answer, assert_problem, event_body, hall};

#[tokio::test]
async fn defaults_are_the_contracts_and_text_survives() {
    let app = App::start().await;
    let event = app.event(1, 2, json!({"title": "  Zoe\u{308} 🎻 東京  "})).await;
    let (status, view) = answer(app.fan(Method::GET, &format!("/v1/events/{event}"))).await;
    assert_eq!(status, 200);
    assert_eq!(view["title"], "Zo\u{eb} 🎻 東京");
    assert_eq!(view["starts_at"], "2027-06-05T19:30:00");
    assert_eq!(view["starts_at_utc"], "2027-06-05T17:30:00Z");
    let row: (i32, i32, i32, i32, i32, String, bool) = sqlx::query_as(
        "SELECT hold_seconds, hold_max_seconds, late_grace_seconds, payment_unknown_seconds, event_ticket_limit,
                orphan_rule, end_session_on_purchase FROM events WHERE event_id = $1",
    )
    .bind(&event)
    .fetch_one(&app.db)
    .await
    .unwrap();
    assert_eq!(row, (600, 1800, 30, 300, 6, "lenient".into(), true));
    app.finish().await;
}

#[tokio::test]
async fn every_wrong_field_is_named_and_nothing_is_created() {
    let app = App::start().await;
    let venue = app.venue(&hall(1, 2)).await;
    let mut body = event_body(&venue);
    for (name, value) in [
        ("title", json!(" ")),
        ("timezone", json!("Mars/Olympus")),
        ("currency", json!("euro")),
        ("hold_seconds", json!(0)),
        ("event_ticket_limit", json!(101)),
        ("prices", json!({"Loge": -1})),
    ] {
        body[name] = value;
    }
    let refused = answer(app.operator(Method::POST, "/admin/v1/events").json(&body)).await;
    assert_problem(&refused, 422, "invalid");
    let mut pointers: Vec<_> =
        refused.1["errors"].as_array().unwrap().iter().map(|e| e["pointer"].as_str().unwrap()).collect();
    pointers.sort_unstable();
    assert_eq!(
        pointers,
        [
            "/currency",
            "/event_ticket_limit",
            "/hold_seconds",
            "/prices",
            "/prices/Loge",
            "/prices/Loge",
            "/timezone",
            "/title"
        ]
    );
    let mut body = event_body(&venue);
    body["surprise"] = json!(1);
    assert_problem(&answer(app.operator(Method::POST, "/admin/v1/events").json(&body)).await, 422, "invalid");
    let events: i64 = sqlx::query_scalar("SELECT count(*) FROM events").fetch_one(&app.db).await.unwrap();
    assert_eq!(events, 0);
    app.finish().await;
}

#[tokio::test]
async fn creating_twice_and_unknown_venues_and_engines_are_refused() {
    let app = App::start().await;
    let event = app.event(1, 2, json!({})).await;
    let venue = app.venue(&hall(1, 2)).await;
    let post = async |body: serde_json::Value| {
        answer(app.operator(Method::POST, "/admin/v1/events").json(&body)).await
    };
    let mut body = event_body(&venue);
    body["event_id"] = json!(event);
    assert_problem(&post(body.clone()).await, 409, "event-exists");
    body["event_id"] = json!("evt_other");
    body["hold_engine"] = json!("postgres");
    assert_problem(&post(body.clone()).await, 422, "not-supported");
    body["hold_engine"] = json!("redis");
    body["venue_id"] = json!("ven_nowhere");
    assert_problem(&post(body).await, 404, "unknown-venue");
    app.finish().await;
}

#[tokio::test]
async fn the_catalogue_pages_without_skipping_equal_starts() {
    let app = App::start().await;
    let mut ids = Vec::new();
    for n in 0..5 {
        ids.push(app.event(1, 1, json!({"title": format!("Concert {n} 100%_sure")})).await);
    }
    ids.sort();
    let (mut seen, mut path) = (Vec::new(), "/v1/events?limit=2".to_owned());
    loop {
        let (status, page) = answer(app.fan(Method::GET, &path)).await;
        assert_eq!(status, 200, "{page}");
        seen.extend(
            page["events"].as_array().unwrap().iter().map(|e| e["event_id"].as_str().unwrap().to_owned()),
        );
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        path = format!("/v1/events?limit=2&cursor={cursor}");
    }
    assert_eq!(seen, ids);
    let count = async |query: &str| {
        let (status, page) = answer(app.fan(Method::GET, &format!("/v1/events?{query}"))).await;
        assert_eq!(status, 200, "{page}");
        page["events"].as_array().unwrap().len()
    };
    assert_eq!(count("q=CONCERT%203").await, 1);
    assert_eq!(count("q=100%25_sure").await, 5);
    assert_eq!(count("q=100x").await, 0);
    assert_eq!(count("status=canceled").await, 0);
    assert_eq!(count("from=2027-06-06").await, 0);
    assert_eq!(count("from=2027-06-05").await, 5);
    for wrong in ["status=maybe", "limit=0", "limit=x", "cursor=%21", "from=soon", "nonsense=1"] {
        assert_problem(&answer(app.fan(Method::GET, &format!("/v1/events?{wrong}"))).await, 400, "malformed");
    }
    app.finish().await;
}

#[tokio::test]
async fn a_status_change_is_obeyed_at_once_and_a_canceled_event_stays_so() {
    let app = App::start().await;
    let event = app.event(1, 2, json!({})).await;
    let path = format!("/admin/v1/events/{event}");
    let shopper = app.shopper(&event, 1);
    let patch = async |body| answer(app.operator(Method::PATCH, &path).json(&body)).await;
    let (status, view) = patch(json!({"starts_at": "2027-07-01T20:00:00"})).await;
    assert_eq!((status.as_u16(), &view["status"]), (200, &json!("rescheduled")));
    assert_eq!(shopper.hold(&app, &["A-1"]).await.0, 201);
    assert_eq!(patch(json!({"status": "canceled"})).await.0, 200);
    assert_problem(&shopper.hold(&app, &["A-3"]).await, 409, "event-not-on-sale");
    assert_problem(&patch(json!({"status": "onsale"})).await, 409, "event-not-on-sale");
    assert_problem(&patch(json!({"status": "perhaps"})).await, 422, "invalid");
    app.finish().await;
}

#[tokio::test]
async fn a_sale_starts_at_its_instant() {
    let app = App::start().await;
    let event = app.event(1, 2, json!({"onsale_at": "2099-01-01T00:00:00Z"})).await;
    let refused = app.shopper(&event, 1).hold(&app, &["A-1"]).await;
    assert_problem(&refused, 403, "onsale-not-started");
    assert_eq!(refused.1["onsale_at"], "2099-01-01T00:00:00Z");
    app.finish().await;
}

#[tokio::test]
async fn blocked_seats_are_nobodys() {
    let app = App::start().await;
    let event = app.event(1, 4, json!({})).await;
    let shopper = app.shopper(&event, 1);
    assert_eq!(shopper.hold(&app, &["A-1"]).await.0, 201);
    let path = format!("/admin/v1/events/{event}/block");
    let block = async |seats: serde_json::Value| {
        answer(app.operator(Method::POST, &path).json(&json!({"seat_ids": seats}))).await
    };
    let refused = block(json!(["A-3", "A-1"])).await;
    assert_problem(&refused, 409, "seats-unavailable");
    assert_eq!(refused.1["taken"], json!(["A-1"]));
    let (status, body) = block(json!(["A-7", "A-5"])).await;
    assert_eq!((status.as_u16(), &body["blocked"]), (200, &json!(2)), "{body}");
    app.seat_becomes(&event, "A-7", "blocked").await;
    assert_problem(&shopper.hold(&app, &["A-7"]).await, 409, "seats-unavailable");
    assert_problem(&block(json!(["A-7"])).await, 409, "seats-unavailable");
    assert_problem(&block(json!(["Z-1"])).await, 404, "unknown-seats");
    assert_eq!(shopper.hold(&app, &["A-3"]).await.0, 201);
    app.finish().await;
}

#[tokio::test]
async fn values_no_store_can_keep_are_refused_as_such() {
    let app = App::start().await;
    let venue = app.venue(&hall(1, 2)).await;
    for (field, value) in [
        ("title", json!("a\0b")),
        ("starts_at", json!("-200000-01-01T00:00:00")),
        ("onsale_at", json!("+200000-01-01T00:00:00Z")),
    ] {
        let mut body = event_body(&venue);
        body[field] = value;
        let refused = answer(app.operator(Method::POST, "/admin/v1/events").json(&body)).await;
        assert_problem(&refused, 422, "invalid");
        assert_eq!(refused.1["errors"][0]["pointer"], format!("/{field}"));
    }
    let event = app.event(1, 2, json!({})).await;
    let change = app.operator(Method::PATCH, &format!("/admin/v1/events/{event}"));
    assert_problem(&answer(change.json(&json!({"title": "\0"}))).await, 422, "invalid");
    for query in ["q=a%00b", "from=-200000-01-01T00:00:00"] {
        assert_problem(&answer(app.fan(Method::GET, &format!("/v1/events?{query}"))).await, 400, "malformed");
    }
    let chart = json!({"name": "Saal", "categories": {"list": [{"key": 1, "label": "Par\0kett"}]},
        "subChart": {"rows": [{"label": "A", "categoryKey": 1, "seats": [{"label": "1", "x": 0, "y": 0}]}]}});
    let import = app.operator(Method::POST, "/admin/v1/venues?format=seatsio").json(&chart);
    assert_problem(&answer(import).await, 400, "malformed");
    app.finish().await;
}

#[tokio::test]
async fn a_strict_orphan_rule_is_not_promised() {
    let app = App::start().await;
    let mut body = event_body(&app.venue(&hall(1, 2)).await);
    body["orphan_rule"] = json!("strict");
    let refused = answer(app.operator(Method::POST, "/admin/v1/events").json(&body)).await;
    assert_problem(&refused, 422, "not-supported");
    app.finish().await;
}

#[tokio::test]
async fn the_next_page_keeps_the_filters() {
    let app = App::start().await;
    for title in ["Zoë & 1", "Zoë & 2", "other"] {
        app.event(1, 1, json!({"title": title})).await;
    }
    // The accent as two characters, as some keyboards send it.
    let path = "/v1/events?limit=1&status=onsale&from=2027-01-01&q=zoe%CC%88%20%26";
    let first = app.fan(Method::GET, path).send().await.unwrap();
    let link = first.headers()["link"].to_str().unwrap().to_owned();
    let next = link.strip_prefix('<').unwrap().strip_suffix(">; rel=\"next\"").unwrap();
    let second = app.fan(Method::GET, next).send().await.unwrap();
    assert!(!second.headers().contains_key("link"), "{link}");
    // Ids decide among events of the same start, and ids are random.
    let mut titles = Vec::new();
    for page in [first, second] {
        let page: serde_json::Value = page.json().await.unwrap();
        titles.extend(page["events"].as_array().unwrap().iter().map(|event| event["title"].clone()));
    }
    titles.sort_by_key(ToString::to_string);
    assert_eq!(titles, ["Zoë & 1", "Zoë & 2"]);
    app.finish().await;
}

#[tokio::test]
async fn an_event_met_by_many_at_once_is_read_once() {
    let app = App::start_as(Role::Api).await;
    let event: origin::ids::EventId = app.event(1, 2, json!({})).await.parse().unwrap();
    let sibling = app.sibling(Role::Api).await;
    let met = join_all((0..40).map(|_| sibling.state.events.get(&event))).await;
    let met: Vec<_> = met.into_iter().map(|one| one.unwrap().unwrap()).collect();
    assert!(met.iter().all(|one| Arc::ptr_eq(&one.plan, &met[0].plan)));
    sibling.finish().await;
    app.finish().await;
}
