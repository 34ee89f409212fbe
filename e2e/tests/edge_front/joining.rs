//! The room's document, challenges, joining and standing in line.

use reqwest::RequestBuilder;
use serde_json::{Value, json};

use super::Place;
use super::visitor::Visitor;

pub(crate) async fn group(place: &Place) {
    let event = "evt_join";
    place.event(event).await;
    same_bytes_for_everyone(place, event).await;
    one_identity_one_place(place, event).await;
    bad_joins_are_said_clearly(place, event).await;
    challenges_are_bound(place, event).await;
    standing_in_line_before_the_draw(place, event).await;
    not_open_and_closed(place).await;
}

/// Regression: status answer cached per client, or with cookies.
async fn same_bytes_for_everyone(place: &Place, event: &str) {
    let visitor = Visitor::new(place, event);
    let path = visitor.path("/room");
    let room = visitor.get(&path).await;
    assert_eq!(room.is(200).header("cache-control"), "public, max-age=1");
    assert_eq!((&room.body["event"], &room.body["phase"]), (&json!(event), &json!("registration")));
    assert!(room.body["draw"]["commitment"].as_str().unwrap().len() == 64, "{}", room.text);
    assert!(room.headers.get("set-cookie").is_none() && room.headers.get("vary").is_none());
    assert_eq!(room.header("access-control-allow-origin"), "*");
    let tag = room.header("etag").to_owned();
    let with_cookie = async |tag: String| {
        let shape = |r: RequestBuilder| r.header("Cookie", "a=b").header("If-None-Match", tag);
        visitor.send("GET", &format!("{path}?nocache=1"), shape).await
    };
    let again = with_cookie(tag).await;
    assert!(
        again.status == 304 && again.text.is_empty() || again.status == 200 && again.body["event"] == event
    );
    let head = visitor.send("HEAD", &path, |request| request).await;
    assert!(head.is(200).text.is_empty());
}

/// Regressions: reload, second tab or a lost response gives a second place; a redelivered join overwrites the first.
async fn one_identity_one_place(place: &Place, event: &str) {
    let fan = Visitor::new(place, event);
    let body = fan.work().await;
    let first = fan.join_with(&body).await;
    let ticket = first.is(201).body["ticket"].as_str().unwrap();
    assert_eq!((&first.body["position"], &first.body["ahead_of_you"]), (&Value::Null, &Value::Null));
    let cookie = first.header("set-cookie");
    assert!(
        cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax") && cookie.contains("Path=/"),
        "{cookie}"
    );
    for again in [fan.join_with(&body).await, fan.join_with(&fan.work().await).await] {
        assert_eq!(
            (again.is(200).body["ticket"].as_str(), &again.body["place"]),
            (Some(ticket), &first.body["place"])
        );
    }
}

async fn bad_joins_are_said_clearly(place: &Place, event: &str) {
    let fan = Visitor::new(place, event);
    let path = fan.path("/queue");
    let good = fan.work().await;
    let with = |name: &str, value: Value| {
        let mut body = good.clone();
        body[name] = value;
        body
    };
    let unsolved = json!(["1", "2", "3", "4"]);
    for (body, status, slug) in [
        (json!([]), 400, "malformed"),
        (json!({}), 400, "malformed"),
        (with("challenge", json!("AAAA")), 400, "malformed"),
        (with("nonces", json!([1, 2, 3, 4])), 400, "malformed"),
        (with("nonces", json!(["-1", "2", "3", "4"])), 400, "malformed"),
        (with("jwk", json!({"kty": "RSA", "n": "AQAB", "e": "AQAB"})), 400, "malformed"),
        (with("nonces", json!([])), 422, "proof-of-work-invalid"),
        (with("nonces", unsolved), 422, "proof-of-work-invalid"),
    ] {
        fan.join_with(&body).await.is_problem(status, slug);
    }
    let post = async |shape: Box<dyn FnOnce(RequestBuilder) -> RequestBuilder + '_>| {
        fan.send("POST", &path, shape).await
    };
    post(Box::new(|r| r.json(&good))).await.is_problem(401, "proof-of-possession-failed");
    let wrong_method = fan.proof("GET", &path, None);
    post(Box::new(|r| r.header("DPoP", wrong_method).json(&good)))
        .await
        .is_problem(401, "proof-of-possession-failed");
    let elsewhere = fan.proof("POST", "/v1/events/evt_other/queue", None);
    post(Box::new(|r| r.header("DPoP", elsewhere).json(&good)))
        .await
        .is_problem(401, "proof-of-possession-failed");
    let old = fan
        .key
        .proof("POST", &format!("{}{path}", fan.edge), None, e2e::clock::now().timestamp() - 120)
        .unwrap();
    post(Box::new(|r| r.header("DPoP", old).json(&good))).await.is_problem(401, "proof-of-possession-failed");
    let stranger = Visitor::new(place, event).proof("POST", &path, None);
    post(Box::new(|r| r.header("DPoP", stranger).json(&good)))
        .await
        .is_problem(401, "proof-of-possession-failed");
    let proof = || fan.proof("POST", &path, None);
    let (a, b, c) = (proof(), proof(), proof());
    let large = "x".repeat(17 * 1024);
    post(Box::new(|r| {
        r.header("DPoP", a).header("Content-Type", "application/json").body("{\"challenge\":")
    }))
    .await
    .is_problem(400, "malformed");
    post(Box::new(|r| r.header("DPoP", b).header("Content-Type", "text/plain").body("x")))
        .await
        .is_problem(400, "malformed");
    post(Box::new(|r| r.header("DPoP", c).header("Content-Type", "application/json").body(large)))
        .await
        .is_problem(413, "payload-too-large");
    fan.get(&path).await.is_problem(405, "method-not-allowed");
}

/// Regression: a solution used by another key, or for another event.
async fn challenges_are_bound(place: &Place, event: &str) {
    let fan = Visitor::new(place, event);
    let offer = fan.get(&fan.path(&format!("/challenge?jkt={}", fan.key.thumbprint()))).await;
    assert_eq!(offer.is(200).header("cache-control"), "no-store");
    assert_eq!((&offer.body["algorithm"], &offer.body["puzzles"]), (&json!("sha256"), &json!(4)));
    assert!(offer.body["server_time"].is_string() && offer.body["expires_at"].is_string());
    fan.get(&fan.path("/challenge")).await.is_problem(400, "malformed");
    fan.get(&fan.path("/challenge?jkt=short")).await.is_problem(400, "malformed");
    let mut stolen = fan.work().await;
    let thief = Visitor::new(place, event);
    stolen["jwk"] = thief.key.jwk();
    thief.join_with(&stolen).await.is_problem(400, "malformed");
    place.event("evt_join_other").await;
    let elsewhere = fan.at("evt_join_other");
    let mut body = stolen;
    body["jwk"] = elsewhere.key.jwk();
    elsewhere.join_with(&body).await.is_problem(400, "malformed");
}

async fn standing_in_line_before_the_draw(place: &Place, event: &str) {
    let fan = Visitor::new(place, event);
    let ticket = fan.join().await;
    let path = fan.path("/queue/me");
    let me = async |token: &str| fan.send("GET", &path, |request| request.bearer_auth(token)).await;
    let standing = me(&ticket).await;
    let body = &standing.is(200).body;
    assert_eq!(
        (&body["phase"], &body["position"], &body["eta"]),
        (&json!("registration"), &Value::Null, &Value::Null)
    );
    assert_eq!((&body["may_ask"], body["poll_after_ms"].as_u64().unwrap() >= 2_000), (&json!(false), true));
    fan.get(&path).await.is_problem(401, "ticket-invalid");
    let mut damaged = ticket.clone();
    damaged.replace_range(ticket.len() - 4.., "AAAA");
    for token in ["", "x", "a.b.c", &damaged, &"x".repeat(10_000)] {
        me(token).await.is_problem(401, "ticket-invalid");
    }
    fan.ask(&damaged).await.is_problem(401, "ticket-invalid");
    let waiting = fan.ask(&ticket).await;
    assert_eq!(
        (waiting.is(202).body["position"].clone(), waiting.header("retry-after") >= "1"),
        (Value::Null, true)
    );
    Visitor::new(place, event).ask(&ticket).await.is_problem(401, "proof-of-possession-failed");
    fan.get(&fan.path("/draw")).await.is_problem(404, "not-drawn");
    fan.get(&fan.path("/batches/1")).await.is_problem(404, "not-found");
}

async fn not_open_and_closed(place: &Place) {
    let mut config = place.configuration("evt_early");
    config["registration_opens_at"] =
        json!((e2e::clock::now() + chrono::TimeDelta::minutes(10)).to_rfc3339());
    place.operate("PUT", "evt_early", "", Some(&config)).await.is(201);
    let early = Visitor::new(place, "evt_early");
    let refused = early.join_with(&early.work().await).await;
    refused.is_problem(403, "registration-not-open");
    let wait: u64 = refused.header("retry-after").parse().unwrap();
    assert!((500..=600).contains(&wait), "{wait}");

    place.event("evt_late").await;
    let late = Visitor::new(place, "evt_late");
    let ticket = late.join().await;
    place.operate("POST", "evt_late", "/close", None).await.is(200);
    late.join_with(&late.work().await).await.is_problem(410, "room-closed");
    late.ask(&ticket).await.is_problem(410, "room-closed");
    place.operate("POST", "evt_late", "/open", None).await.is_problem(409, "wrong-phase");
}
