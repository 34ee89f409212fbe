//! From the draw to a session and out again.

use serde_json::json;

use super::Place;
use super::visitor::Visitor;

pub(crate) async fn group(place: &Place) {
    let event = "evt_in";
    place.event(event).await;
    let early = Visitor::new(place, event);
    let ticket = early.join().await;
    place.operate("POST", event, "/open", None).await.is(200);
    drawn_and_checked_by_anybody(&early).await;
    admitted_once(place, &early, &ticket).await;
    slot_returns_after_leaving(place, event).await;
    another_incarnation_honours_nothing(place).await;
}

async fn drawn_and_checked_by_anybody(fan: &Visitor) {
    let draw = fan.until(|| fan.get("/v1/events/evt_in/draw"), |answer| answer.status == 200).await;
    assert_eq!((&draw.is(200).body["event"], &draw.body["count"]), (&json!("evt_in"), &json!(1)));
    // The event may be created anew, with another draw at the same address.
    assert_eq!(draw.header("cache-control"), "public, max-age=1");
    let tag = draw.header("etag").to_owned();
    let again = |request: reqwest::RequestBuilder| request.header("If-None-Match", &tag);
    fan.send("GET", "/v1/events/evt_in/draw", again).await.is(304);
    assert!(draw.body["verifiable"] == false && draw.body["beacon"].is_null());
}

async fn admitted_once(place: &Place, fan: &Visitor, ticket: &str) {
    let admission = fan.granted(ticket).await;
    assert_eq!(fan.granted(ticket).await, admission, "the same token until it is used");
    let me = fan.send("GET", &fan.path("/queue/me"), |request| request.bearer_auth(ticket)).await;
    assert_eq!(me.is(200).body["position"], 0);

    let path = fan.path("/session");
    fan.send("POST", &path, |r| r).await.is_problem(401, "admission-token-invalid");
    fan.send("POST", &path, |r| r.header("X-Admission-Token", &admission))
        .await
        .is_problem(401, "proof-of-possession-failed");
    let thief = Visitor::new(place, &fan.event);
    thief.enter(&admission).await.is_problem(401, "proof-of-possession-failed");
    fan.enter(ticket).await.is_problem(401, "admission-token-invalid");

    let entered = fan.enter(&admission).await;
    let session = entered.is(201).body["session_token"].as_str().unwrap().to_owned();
    // Regression: SameSite=Strict loses whoever comes from an e-mail.
    let cookie = format!("fairgate-{}={session}; HttpOnly; SameSite=Lax; Path=/", fan.event);
    assert_eq!(entered.header("set-cookie"), cookie);
    let again = fan.enter(&admission).await;
    assert_eq!(
        again.is(200).body["session_token"],
        entered.body["session_token"],
        "a lost answer is repeated"
    );
    fan.ask(ticket).await.is_problem(409, "already-admitted");
    let stats = place.operate("GET", &fan.event, "/stats", None).await;
    assert_eq!((&stats.body["active"], &stats.body["granted"]), (&json!(1), &json!(0)), "{}", stats.text);

    let leave = async || fan.send("DELETE", &path, |request| request.bearer_auth(&session)).await;
    assert!(leave().await.is(204).text.is_empty());
    leave().await.is(204);
    fan.send("DELETE", &path, |request| request).await.is_problem(403, "admission-required");
    fan.enter(&admission).await.is_problem(409, "admission-already-used");
    fan.ask(ticket).await.is_problem(409, "place-spent");

    let back = fan.join_with(&fan.work().await).await;
    assert_ne!(back.is(201).body["ticket"], ticket, "a new place in the open batch");
}

/// Regression: the slot returns only at a fixed expiry although the fan left.
async fn slot_returns_after_leaving(place: &Place, event: &str) {
    let fan = Visitor::new(place, event);
    let session = fan.admitted().await;
    let held = fan.path("/holds");
    fan.shop("POST", &held, &session).await.is(200);
    fan.send("DELETE", &fan.path("/session"), |request| request.bearer_auth(&session)).await.is(204);
    fan.shop("POST", &held, &session).await.is_problem(403, "admission-required");
    let stats = place.operate("GET", event, "/stats", None).await;
    assert_eq!(stats.body["active"], 0, "{}", stats.text);
}

async fn another_incarnation_honours_nothing(place: &Place) {
    let event = "evt_again";
    place.open_event(event).await;
    let fan = Visitor::new(place, event);
    let ticket = fan.join().await;
    let session = {
        let entered = fan.enter(&fan.granted(&ticket).await).await;
        entered.is(201).body["session_token"].as_str().unwrap().to_owned()
    };
    place.operate("DELETE", event, "", None).await.is(204);
    place.open_event(event).await;
    fan.ask(&ticket).await.is_problem(401, "ticket-invalid");
    fan.shop("POST", &fan.path("/holds"), &session).await.is_problem(403, "admission-required");
}
