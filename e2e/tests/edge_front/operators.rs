//! What operators do, and what the edge tells them of bad input.

use serde_json::json;

use super::Place;
use super::visitor::Visitor;

pub(crate) async fn group(place: &Place) {
    only_operators(place).await;
    create_replace_remove(place).await;
    faults_are_named(place).await;
    metrics(place).await;
}

async fn only_operators(place: &Place) {
    let stranger = Visitor::new(place, "evt_op");
    for token in ["", "wrong", &place.admin_token[1..]] {
        let answer =
            stranger.send("GET", "/admin/v1/events/evt_op", |request| request.bearer_auth(token)).await;
        answer.is_problem(401, "unauthorized");
    }
    stranger
        .send("PUT", "/admin/v1/events/evt_op", |request| request.body("{}"))
        .await
        .is_problem(401, "unauthorized");
}

async fn create_replace_remove(place: &Place) {
    let event = "evt_op";
    place.operate("GET", event, "", None).await.is_problem(404, "unknown-event");
    let mut config = place.configuration(event);
    let created = place.operate("PUT", event, "", Some(&config)).await;
    let tag = created.is(201).header("etag").to_owned();
    assert!(tag.starts_with('"'), "{tag}");
    place.operate("PUT", event, "", Some(&config)).await.is_problem(428, "if-match-required");

    config["title"] = json!("Änderung 🎟");
    let operator = Visitor::new(place, event);
    let put = async |tag: &str| {
        let path = format!("/admin/v1/events/{event}");
        operator
            .send("PUT", &path, |r| r.bearer_auth(&place.admin_token).header("If-Match", tag).json(&config))
            .await
    };
    put("\"other\"").await.is_problem(412, "version-changed");
    let replaced = put(&tag).await;
    assert_eq!(replaced.is(200).body["title"], "Änderung 🎟");
    put(&tag).await.is_problem(412, "version-changed");
    let read = place.operate("GET", event, "", None).await;
    assert_eq!(
        (read.is(200).header("etag"), &read.body["title"]),
        (replaced.header("etag"), &json!("Änderung 🎟"))
    );

    let stats = place.operate("GET", event, "/stats", None).await;
    assert_eq!((&stats.is(200).body["active"], &stats.body["cap"]), (&json!(0), &json!(50)));
    assert_eq!(stats.body["lanes"].as_array().unwrap().len(), 2);
    let audit = place.operate("GET", event, "/audit", None).await;
    assert!(audit.is(200).body["entries"].as_array().unwrap().len() >= 2, "{}", audit.text);

    place.operate("DELETE", event, "", None).await.is(204);
    place.operate("DELETE", event, "", None).await.is_problem(404, "unknown-event");
    Visitor::new(place, event)
        .get(&format!("/v1/events/{event}/room"))
        .await
        .is_problem(404, "unknown-event");
}

async fn faults_are_named(place: &Place) {
    let mut config = place.configuration("evt_bad");
    config["lanes"] = json!(0);
    config["protect"][0]["proof"] = json!("maybe");
    config["surprise"] = json!(1);
    let refused = place.operate("PUT", "evt_bad", "", Some(&config)).await;
    let faults = refused.is_problem(422, "config-invalid").body["errors"].as_array().unwrap();
    for pointer in ["/lanes", "/protect/0/proof", "/surprise"] {
        assert!(faults.iter().any(|fault| fault["pointer"] == pointer), "{pointer}: {}", refused.text);
    }
    place.operate("GET", "evt_bad", "", None).await.is_problem(404, "unknown-event");
    place.operate("GET", "bad.id", "", None).await.is_problem(400, "malformed");
    place.operate("PATCH", "evt_bad", "", None).await.is_problem(405, "method-not-allowed");
    place.operate("POST", "evt_bad", "/explode", None).await.is_problem(404, "not-found");
    place.operate("POST", "evt_bad", "/open", None).await.is_problem(404, "unknown-event");
    let operator = Visitor::new(place, "evt_bad");
    let large = "x".repeat(200 * 1024);
    let path = "/admin/v1/events/evt_bad";
    let json = "application/json";
    let put = async |body: &str, media_type: &str| {
        let (body, media_type) = (body.to_owned(), media_type.to_owned());
        operator
            .send("PUT", path, |r| {
                r.bearer_auth(&place.admin_token).header("Content-Type", media_type).body(body)
            })
            .await
    };
    put(&large, json).await.is_problem(413, "payload-too-large");
    put("{}", "text/plain").await.is_problem(415, "unsupported-media-type");
    put("{", json).await.is_problem(422, "config-invalid");
}

async fn metrics(place: &Place) {
    place.event("evt_metrics").await;
    let operator = Visitor::new(place, "evt_metrics");
    let answer =
        operator.send("GET", "/metrics?event=evt_metrics", |r| r.bearer_auth(&place.admin_token)).await;
    for line in ["fairgate_edge_requests_total ", "fairgate_event_cap{event=\"evt_metrics\"} 50"] {
        assert!(answer.is(200).text.contains(line), "{line}: {}", answer.text);
    }
}
