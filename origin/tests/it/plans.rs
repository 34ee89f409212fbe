//! Importing plans.

use std::collections::HashMap;

use reqwest::{Method, header};
use serde_json::{Value, json};

use crate::harness::{App, answer, assert_problem, event_body, hall};

const STADIUM: &str = include_str!("../../../e2e/fixtures/seatsio-sampleChartWithZones.json");

#[tokio::test]
async fn a_stadium_of_8897_seats_is_imported_whole() {
    let app = App::start().await;
    let request = app.operator(Method::POST, "/admin/v1/venues?format=seatsio").body(STADIUM);
    let (status, venue) = answer(request).await;
    assert_eq!(status, 201, "{venue}");
    assert_eq!((&venue["seats"], &venue["areas"]), (&json!(8897), &json!(0)));
    assert_eq!(
        venue["categories"],
        json!([{"id": "1", "name": "Goal Stands"}, {"id": "2", "name": "Mid Track Stand"}])
    );
    let mut body = event_body(venue["venue_id"].as_str().unwrap());
    body["prices"] = json!({"1": 3000, "Mid Track Stand": 9000});
    let (status, _) = answer(app.operator(Method::POST, "/admin/v1/events").json(&body)).await;
    assert_eq!(status, 201);

    let path = format!("/v1/events/{}/layout", body["event_id"].as_str().unwrap());
    let (status, layout) = answer(app.fan(Method::GET, &path)).await;
    assert_eq!(status, 200);
    let seats = layout["seats"].as_array().unwrap();
    let mut rows: HashMap<(&str, &str), usize> = HashMap::new();
    for seat in seats {
        *rows.entry((seat["section"].as_str().unwrap(), seat["row"].as_str().unwrap())).or_default() += 1;
    }
    let sections: std::collections::HashSet<_> = rows.keys().map(|(section, _)| section).collect();
    assert_eq!((seats.len(), rows.len(), sections.len()), (8897, 131, 4));
    assert_eq!(layout["categories"][0]["price"], 3000);
    let goal = seats.iter().find(|seat| seat["section"] == "Goal Stand 4").unwrap();
    assert_eq!(goal["category"], "1");
    app.finish().await;
}

#[tokio::test]
async fn neighbours_are_those_of_the_plan_not_of_arithmetic() {
    let app = App::start().await;
    let event = app.event(2, 3, json!({})).await;
    let rights: Vec<(String, Option<i32>)> = sqlx::query_as(
        "SELECT seat_id, right_idx FROM venue_seats JOIN events USING (venue_id) WHERE event_id = $1 ORDER BY idx",
    )
    .bind(&event)
    .fetch_all(&app.db)
    .await
    .unwrap();
    let expected = [
        ("A-1", Some(1)),
        ("A-3", Some(2)),
        ("A-5", None),
        ("B-1", Some(4)),
        ("B-3", Some(5)),
        ("B-5", None),
    ];
    assert_eq!(rights, expected.map(|(id, right)| (id.to_owned(), right)));
    app.finish().await;
}

#[tokio::test]
async fn a_plan_that_breaks_rules_is_refused_whole_with_every_fault() {
    let app = App::start().await;
    let mut chart = hall(2, 3);
    chart["subChart"]["rows"][0]["seats"][1]["label"] = json!("1");
    chart["subChart"]["rows"][1]["seats"][2]["categoryKey"] = json!(99);
    chart["subChart"]["rows"][1]["label"] = Value::Null;
    let refused = answer(app.operator(Method::POST, "/admin/v1/venues?format=seatsio").json(&chart)).await;
    assert_problem(&refused, 422, "plan-invalid");
    let pointers: Vec<_> =
        refused.1["errors"].as_array().unwrap().iter().map(|e| e["pointer"].clone()).collect();
    assert_eq!(
        pointers,
        ["/subChart/rows/0/seats/1", "/subChart/rows/1/label", "/subChart/rows/1/seats/2/categoryKey"]
    );
    let venues: i64 = sqlx::query_scalar("SELECT count(*) FROM venues").fetch_one(&app.db).await.unwrap();
    assert_eq!(venues, 0);
    app.finish().await;
}

#[tokio::test]
async fn other_formats_and_broken_bodies_are_refused_clearly() {
    let app = App::start().await;
    let import = |format: &str, body: &'static str| {
        app.operator(Method::POST, &format!("/admin/v1/venues?format={format}")).body(body)
    };
    assert_problem(&answer(import("pretix", "{}")).await, 422, "not-supported");
    assert_problem(&answer(import("fairgate", "{}")).await, 422, "not-supported");
    assert_problem(&answer(import("xls", "{}")).await, 400, "malformed");
    assert_problem(&answer(import("seatsio", "{")).await, 400, "malformed");
    assert_problem(
        &answer(app.operator(Method::POST, "/admin/v1/venues").body("{}")).await,
        400,
        "malformed",
    );
    let csv = "section,row,number,x,y,category,accessible,companion,restricted_view\nS,A,1,0,0,gold,1,,\nS,A,2,1,0,gold,,,\n";
    let (status, venue) = answer(import("csv", csv)).await;
    assert_eq!((status.as_u16(), &venue["seats"]), (201, &json!(2)));
    app.finish().await;
}

#[tokio::test]
async fn layouts_are_content_addressed_and_immutable() {
    let app = App::start().await;
    let event = app.event(1, 4, json!({})).await;
    let response = app.fan(Method::GET, &format!("/v1/events/{event}/layout")).send().await.unwrap();
    let etag = response.headers()[header::ETAG].clone();
    let layout: Value = response.json().await.unwrap();
    let again =
        app.fan(Method::GET, &format!("/v1/events/{event}/layout")).header(header::IF_NONE_MATCH, &etag);
    assert_eq!(again.send().await.unwrap().status(), 304);
    let fixed = app.fan(Method::GET, layout["layout_url"].as_str().unwrap()).send().await.unwrap();
    assert_eq!(fixed.headers()[header::CACHE_CONTROL], "public, max-age=31536000, immutable");
    assert_eq!(fixed.json::<Value>().await.unwrap(), layout);
    assert_problem(&answer(app.fan(Method::GET, "/v1/layouts/00ff")).await, 404, "not-found");
    app.finish().await;
}
