//! What every call meets: the edge's secret, sessions, problems, documents, health.

use std::collections::HashSet;

use origin::{config::Role, ids::random_text, openapi, problem::Kind};
use reqwest::{Method, header};
use serde_json::{Value, json};
use shared_token::keys::{KeyRing, SigningKey};

use crate::harness::{App, Shopper, answer, assert_problem};

#[tokio::test]
async fn only_the_edge_is_answered() {
    let app = App::start().await;
    let event = app.event(1, 2, json!({})).await;
    for path in [
        "/v1/events".to_owned(),
        format!("/v1/events/{event}/seatmap"),
        format!("/v1/events/{event}/holds/mine"),
    ] {
        assert_problem(&answer(app.raw(Method::GET, &path)).await, 403, "edge-required");
        let wrong = app.raw(Method::GET, &path).header("fairgate-edge", "edge-secre");
        assert_problem(&answer(wrong).await, 403, "edge-required");
        let twice = app.fan(Method::GET, &path).header("fairgate-edge", "edge-secret");
        assert_problem(&answer(twice).await, 403, "edge-required");
    }
    // Nor does a stranger learn which routes there are.
    for (method, path) in [(Method::GET, "/v1/nowhere"), (Method::PUT, "/v1/events")] {
        assert_problem(&answer(app.raw(method, path)).await, 403, "edge-required");
    }
    for path in ["/healthz", "/readyz", "/metrics", "/openapi.json", "/problems/hold-expired"] {
        assert_eq!(app.raw(Method::GET, path).send().await.unwrap().status(), 200, "{path}");
    }
    app.finish().await;
}

#[tokio::test]
async fn sessions_are_verified_here_too() {
    let app = App::start().await;
    let event = app.event(1, 4, json!({})).await;
    let other_event = app.event(1, 4, json!({})).await;
    let good = app.shopper(&event, 1);
    let without = app.fan(Method::GET, &format!("/v1/events/{event}/holds/mine"));
    assert_problem(&answer(without).await, 403, "admission-required");
    let mut foreign = app.shopper(&other_event, 1);
    foreign.event.clone_from(&event);
    assert_problem(&foreign.hold(&app, &["A-1"]).await, 403, "wrong-event");
    let ended = Shopper::new(&app.ring, &event, [3; 32], app.state.clock.unix() - 1);
    assert_problem(&ended.hold(&app, &["A-1"]).await, 403, "admission-required");
    let mut forged = good.clone();
    let flipped = if forged.session.ends_with("AA") { "BA" } else { "AA" };
    forged.session.replace_range(forged.session.len() - 2.., flipped);
    assert_problem(&forged.hold(&app, &["A-1"]).await, 403, "admission-required");
    let strangers = KeyRing::new(SigningKey::from_seed("k9", &[9; 32]), &[]).unwrap();
    let unknown = Shopper::new(&strangers, &event, [3; 32], app.state.clock.unix() + 900);
    assert_problem(&unknown.hold(&app, &["A-1"]).await, 403, "admission-required");
    // The session is taken from the edge's header only.
    let cookie = app
        .fan(Method::GET, &format!("/v1/events/{event}/holds/mine"))
        .header(header::COOKIE, format!("fairgate-{event}={}", good.session))
        .bearer_auth(&good.session);
    assert_problem(&answer(cookie).await, 403, "admission-required");
    assert_eq!(good.hold(&app, &["A-1"]).await.0, 201);
    app.finish().await;
}

#[tokio::test]
async fn operators_need_their_token() {
    let app = App::start().await;
    for (method, path) in [
        (Method::POST, "/admin/v1/venues?format=csv"),
        (Method::POST, "/admin/v1/events"),
        (Method::GET, "/internal/pressure?event=x"),
    ] {
        assert_problem(&answer(app.fan(method.clone(), path)).await, 401, "unauthorized");
        let wrong = app.raw(method, path).bearer_auth("admin-token2");
        assert_problem(&answer(wrong).await, 401, "unauthorized");
    }
    app.finish().await;
}

#[tokio::test]
async fn every_error_is_a_problem_document() {
    let app = App::start().await;
    assert_problem(&answer(app.fan(Method::GET, "/v1/nowhere")).await, 404, "not-found");
    assert_problem(&answer(app.raw(Method::GET, "/")).await, 404, "not-found");
    assert_problem(&answer(app.fan(Method::PUT, "/v1/events")).await, 405, "method-not-allowed");
    assert_problem(&answer(app.raw(Method::GET, "/problems/nonsense")).await, 404, "not-found");
    let huge = app.operator(Method::POST, "/admin/v1/events").body(" ".repeat(70_000));
    assert_problem(&answer(huge).await, 413, "payload-too-large");
    let escaped = app.fan(Method::GET, "/v1/events/%ff%fe/seatmap");
    assert_problem(&answer(escaped).await, 400, "malformed");
    assert_problem(&answer(app.raw(Method::GET, "/problems/%ff")).await, 400, "malformed");
    assert_problem(&answer(app.operator(Method::PATCH, "/admin/v1/events/%ff")).await, 400, "malformed");
    assert_problem(&answer(app.fan(Method::GET, "/v1/events/a%20b")).await, 404, "unknown-event");
    let response = app.fan(Method::GET, "/v1/nowhere").send().await.unwrap();
    assert_eq!(response.headers()[header::CONTENT_TYPE], "application/problem+json");
    for kind in Kind::ALL {
        let page = app.raw(Method::GET, &format!("/problems/{}", kind.slug())).send().await.unwrap();
        assert_eq!(page.status(), 200, "{}", kind.slug());
    }
    app.finish().await;
}

#[tokio::test]
async fn the_openapi_document_names_routes_that_exist() {
    let app = App::start().await;
    let (status, document) = answer(app.raw(Method::GET, "/openapi.json")).await;
    assert_eq!(status, 200);
    assert_eq!(document, serde_json::to_value(openapi::docs()).unwrap());
    let paths = document["paths"].as_object().unwrap();
    let hold = document["paths"]["/v1/events/{event}/holds"]["post"]["description"].as_str().unwrap();
    assert!(hold.contains("this operation only"), "{hold}");
    for wanted in [
        "/v1/events",
        "/v1/events/{event}",
        "/v1/events/{event}/layout",
        "/v1/events/{event}/seatmap",
        "/v1/events/{event}/seatmap/changes",
        "/v1/events/{event}/seatmap/stream",
        "/v1/events/{event}/holds",
        "/v1/events/{event}/holds/mine",
        "/v1/events/{event}/holds/{hold}",
        "/v1/events/{event}/holds/{hold}/extend",
        "/admin/v1/venues",
        "/admin/v1/events",
        "/admin/v1/events/{event}",
        "/internal/pressure",
    ] {
        assert!(paths.contains_key(wanted), "{wanted} is not described");
    }
    for (path, methods) in paths {
        let filled: String = path
            .split('/')
            .map(|part| if part.starts_with('{') { "x" } else { part })
            .collect::<Vec<_>>()
            .join("/");
        for method in methods.as_object().unwrap().keys() {
            let method: Method = method.to_uppercase().parse().unwrap();
            let (status, body) = answer(app.fan(method.clone(), &filled)).await;
            let no_route = status == 405
                || body["type"] == "/problems/not-found"
                    && body["detail"] == Value::Null
                    && status == 404
                    && path.starts_with("/admin");
            assert!(!no_route, "{method} {path} is described but not routed: {body}");
        }
    }
    app.finish().await;
}

#[tokio::test]
async fn a_driver_answers_health_only_and_tends_holds() {
    let app = App::start().await;
    let driver = app.sibling(Role::Driver).await;
    assert_eq!(driver.raw(Method::GET, "/healthz").send().await.unwrap().status(), 200);
    assert_problem(&answer(driver.fan(Method::GET, "/v1/events")).await, 404, "not-found");
    driver.finish().await;
    app.finish().await;
}

#[tokio::test]
async fn metrics_name_routes_not_ids() {
    let app = App::start().await;
    let event = app.event(1, 2, json!({})).await;
    app.shopper(&event, 1).hold(&app, &["A-1"]).await;
    let text = app.raw(Method::GET, "/metrics").send().await.unwrap().text().await.unwrap();
    assert!(text.contains("route=\"/v1/events/{event}/holds\""), "{text}");
    assert!(
        text.contains("fairgate_origin_hold_transitions_total{outcome=\"held\",transition=\"hold\"} 1"),
        "{text}"
    );
    assert!(!text.contains(&event));
    app.finish().await;
}

#[tokio::test]
async fn identifiers_are_unguessable() {
    let ids: HashSet<String> = (0..1000).map(|_| random_text().unwrap()).collect();
    assert_eq!(ids.len(), 1000);
}
