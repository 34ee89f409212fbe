//! The map: packed and JSON agree, versions only grow, the map is the fold of its changes.

use std::{collections::BTreeMap, io::Read, time::Duration};

use reqwest::{Method, header};
use serde_json::{Value, json};

use crate::harness::{App, Shopper, answer, assert_problem, until};

struct Packed {
    version: u64,
    seats: u32,
    planes: Vec<u8>,
}

impl Packed {
    fn bit(&self, plane: usize, index: usize) -> bool {
        let len = (self.seats as usize).div_ceil(8);
        self.planes[plane * len + index / 8] & (1 << (index % 8)) != 0
    }
}

async fn packed(app: &App, event: &str, planes: u8) -> Packed {
    let path = format!("/v1/events/{event}/seatmap?format=bin&planes={planes}");
    let response = app.fan(Method::GET, &path).header(header::ACCEPT_ENCODING, "gzip").send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()[header::CONTENT_ENCODING], "gzip");
    assert_eq!(response.headers()[header::CACHE_CONTROL], "public, max-age=1");
    let compressed = response.bytes().await.unwrap();
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(&compressed[..]).read_to_end(&mut bytes).unwrap();
    assert_eq!(&bytes[..4], b"FGM1");
    Packed {
        version: u64::from_be_bytes(bytes[4..12].try_into().unwrap()),
        seats: u32::from_be_bytes(bytes[12..16].try_into().unwrap()),
        planes: bytes[16..].to_vec(),
    }
}

#[tokio::test]
async fn packed_and_json_agree_and_unchanged_maps_are_304() {
    let app = App::start().await;
    let event = app.event(2, 5, json!({})).await;
    let (_, hold) = app.shopper(&event, 1).hold(&app, &["A-1", "B-9"]).await;
    let path = format!("/admin/v1/events/{event}/block");
    let blocked = app.operator(Method::POST, &path).json(&json!({"seat_ids": ["B-1"]}));
    assert_eq!(answer(blocked).await.0, 200);
    app.map_at(&event, hold["versions"][0].as_u64().unwrap()).await;
    let map = app.seat_becomes(&event, "B-1", "blocked").await;
    let (one, two) = (packed(&app, &event, 1).await, packed(&app, &event, 2).await);
    assert_eq!((one.seats, two.seats), (10, 10));
    assert_eq!((one.planes.len(), two.planes.len()), (2, 4));
    assert_eq!(one.version, map["version"].as_u64().unwrap());
    for (index, seat) in map["seats"].as_array().unwrap().iter().enumerate() {
        let status = seat["status"].as_str().unwrap();
        assert_eq!(one.bit(0, index), status == "available");
        assert_eq!(two.bit(0, index), status == "available");
        assert_eq!(two.bit(1, index), status == "blocked");
        assert_eq!(seat["price"], 4500);
    }
    let path = format!("/v1/events/{event}/seatmap?format=bin");
    let etag = app.fan(Method::GET, &path).send().await.unwrap().headers()[header::ETAG].clone();
    assert!(etag.to_str().unwrap().contains(&one.version.to_string()));
    let again = app.fan(Method::GET, &path).header(header::IF_NONE_MATCH, &etag).send().await.unwrap();
    assert_eq!(again.status(), 304);
    let other = app.fan(Method::GET, &format!("{path}&planes=2")).header(header::IF_NONE_MATCH, &etag);
    assert_eq!(other.send().await.unwrap().status(), 200);
    for wrong in ["format=xml", "format=bin&planes=3", "planes=2", "x=1"] {
        let request = app.fan(Method::GET, &format!("/v1/events/{event}/seatmap?{wrong}"));
        assert_problem(&answer(request).await, 400, "malformed");
    }
    app.finish().await;
}

fn states(map: &Value) -> BTreeMap<usize, String> {
    let seats = map["seats"].as_array().unwrap().iter().enumerate();
    seats.map(|(index, seat)| (index, seat["status"].as_str().unwrap().to_owned())).collect()
}

fn apply(states: &mut BTreeMap<usize, String>, delta: &Value) {
    for status in ["available", "held", "sold"] {
        for index in delta[status].as_array().unwrap() {
            states.insert(usize::try_from(index.as_u64().unwrap()).unwrap(), status.to_owned());
        }
    }
}

#[tokio::test]
async fn the_map_is_the_fold_of_its_changes() {
    let app = App::start().await;
    let event = app.event(3, 8, json!({"hold_seconds": 1, "event_ticket_limit": 3})).await;
    let start = app.map_at(&event, 0).await;
    let (mut folded, mut version) = (states(&start), start["version"].as_u64().unwrap());
    for round in 0..12u8 {
        let shopper = app.shopper(&event, round % 5);
        let seat =
            format!("{}-{}", ["A", "B", "C"][usize::from(round) % 3], 2 * (usize::from(round) % 8) + 1);
        let (status, hold) = shopper.hold(&app, &[&seat]).await;
        if status == 201 && round % 4 == 0 {
            let path = format!("/holds/{}", hold["hold_id"].as_str().unwrap());
            answer(shopper.call(&app, Method::DELETE, &path)).await;
        }
        let (status, delta) = changes(&app, &event, version).await;
        assert_eq!(status, 200, "{delta}");
        assert!(delta["version"].as_u64().unwrap() >= version);
        apply(&mut folded, &delta);
        version = delta["version"].as_u64().unwrap();
    }
    // Everything expires; the fold follows to the same end.
    until("the fold equals the map", async || {
        let (_, delta) = changes(&app, &event, version).await;
        apply(&mut folded, &delta);
        version = delta["version"].as_u64().unwrap();
        let map = app.map_at(&event, 0).await;
        (map["version"] == version && states(&map) == folded && folded.values().all(|s| s == "available"))
            .then_some(())
    })
    .await;
    // And from the very start it leads to the same map.
    let mut from_start = states(&start);
    let (_, delta) = changes(&app, &event, start["version"].as_u64().unwrap()).await;
    apply(&mut from_start, &delta);
    assert_eq!(from_start, folded);
    app.finish().await;
}

async fn changes(app: &App, event: &str, since: u64) -> (reqwest::StatusCode, Value) {
    answer(app.fan(Method::GET, &format!("/v1/events/{event}/seatmap/changes?since={since}"))).await
}

#[tokio::test]
async fn changes_since_an_older_generation_are_gone() {
    let app = App::start().await;
    let event = app.event(1, 2, json!({})).await;
    let version = app.map_at(&event, 0).await["version"].as_u64().unwrap();
    assert_problem(&changes(&app, &event, version - (1 << 32)).await, 410, "version-too-old");
    assert_problem(&changes(&app, "evt_nowhere", version).await, 404, "unknown-event");
    let malformed = answer(app.fan(Method::GET, &format!("/v1/events/{event}/seatmap/changes"))).await;
    assert_problem(&malformed, 400, "malformed");
    app.finish().await;
}

/// Reads server-sent events until `count` with a name have come.
async fn read_events(response: &mut reqwest::Response, count: usize) -> Vec<(String, u64, Value)> {
    let (mut text, mut events) = (String::new(), Vec::new());
    while events.len() < count {
        let chunk =
            tokio::time::timeout(Duration::from_secs(10), response.chunk()).await.unwrap().unwrap().unwrap();
        text.push_str(std::str::from_utf8(&chunk).unwrap());
        while let Some((event, rest)) = text.clone().split_once("\n\n") {
            text = rest.to_owned();
            let field = |name: &str| {
                event.lines().find_map(|line| line.strip_prefix(name)).map(|value| value.trim().to_owned())
            };
            if let (Some(name), Some(id), Some(data)) = (field("event:"), field("id:"), field("data:")) {
                events.push((name, id.parse().unwrap(), serde_json::from_str(&data).unwrap()));
            }
        }
    }
    events
}

#[tokio::test]
async fn a_stream_tells_changes_and_resumes() {
    let app = App::start().await;
    let event = app.event(1, 6, json!({})).await;
    let path = format!("/v1/events/{event}/seatmap/stream");
    let mut stream = app.fan(Method::GET, &path).send().await.unwrap();
    assert_eq!(stream.headers()[header::CONTENT_TYPE], "text/event-stream");
    let first = read_events(&mut stream, 1).await;
    assert_eq!((first[0].0.as_str(), &first[0].2["held"]), ("seats", &json!([])));
    let shopper: Shopper = app.shopper(&event, 1);
    let (_, hold) = shopper.hold(&app, &["A-3", "A-5"]).await;
    let second = read_events(&mut stream, 1).await;
    assert_eq!(second[0].1, hold["versions"][0].as_u64().unwrap());
    assert_eq!(second[0].2["held"], json!([1, 2]));
    drop(stream);
    let resumed = app.fan(Method::GET, &path).header("last-event-id", first[0].1.to_string());
    let again = read_events(&mut resumed.send().await.unwrap(), 1).await;
    assert_eq!(again[0].2["held"], json!([1, 2]));
    let lost = app.fan(Method::GET, &format!("{path}?since={}", first[0].1 - (1 << 32)));
    let reset = read_events(&mut lost.send().await.unwrap(), 1).await;
    assert_eq!((reset[0].0.as_str(), reset[0].1), ("reset", second[0].1));
    app.finish().await;
}

#[tokio::test]
async fn pressure_counts_stock_and_knows_its_events() {
    let app = App::start().await;
    let event = app.event(1, 6, json!({})).await;
    app.shopper(&event, 1).hold(&app, &["A-3", "A-5"]).await;
    let pressure = until("the hold is counted", async || {
        let (status, body) =
            answer(app.operator(Method::GET, &format!("/internal/pressure?event={event}"))).await;
        assert_eq!(status, 200, "{body}");
        (body["held"] == 2).then_some(body)
    })
    .await;
    assert_eq!(
        (&pressure["available"], &pressure["sold"], &pressure["status"]),
        (&json!(4), &json!(0), &json!("onsale"))
    );
    assert!(pressure["p99_ms"].as_f64().unwrap() > 0.0);
    assert_eq!((&pressure["window_s"], pressure["error_rate"].as_f64()), (&json!(10), Some(0.0)));
    let unknown = app.operator(Method::GET, "/internal/pressure?event=evt_nowhere");
    assert_problem(&answer(unknown).await, 404, "unknown-event");
    let stranger = app.fan(Method::GET, &format!("/internal/pressure?event={event}"));
    assert_problem(&answer(stranger).await, 401, "unauthorized");
    app.finish().await;
}
