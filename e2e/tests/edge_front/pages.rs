//! Pages, assets, problems, keys.

use super::Place;
use super::visitor::Visitor;

pub(crate) async fn group(place: &Place) {
    let visitor = Visitor::new(place, "evt_pages");
    healthy_and_keys(&visitor).await;
    strict_pages_and_immutable_assets(&visitor).await;
    no_open_redirect(&visitor).await;
    every_problem_has_a_page(&visitor).await;
    unknown_addresses_and_methods(&visitor).await;
}

async fn healthy_and_keys(visitor: &Visitor) {
    visitor.get("/healthz").await.is(200);
    let keys = visitor.get("/.well-known/jwks.json").await;
    assert_eq!(keys.is(200).header("cache-control"), "public, max-age=300");
    let key = &keys.body["keys"][0];
    assert_eq!((&key["kty"], &key["crv"]), (&"OKP".into(), &"Ed25519".into()));
    assert!(key["kid"].is_string() && key["d"].is_null());
}

async fn strict_pages_and_immutable_assets(visitor: &Visitor) {
    for page in ["/waiting-room", "/seats", "/checkout", "/bookings"] {
        let answer = visitor.get(&format!("{page}?event=evt_1")).await;
        assert_eq!(answer.is(200).header("content-type"), "text/html; charset=utf-8");
        let policy = answer.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; script-src 'self' 'wasm-unsafe-eval';"), "{policy}");
        assert!(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe-inline"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        let tag = answer.header("etag").to_owned();
        let again = visitor.send("GET", page, |request| request.header("If-None-Match", tag)).await;
        assert!(again.is(304).text.is_empty());
        for asset in answer.text.split('"').filter(|text| text.starts_with("/assets/")) {
            let asset = visitor.get(asset).await;
            assert_eq!(asset.is(200).header("cache-control"), "public, max-age=31536000, immutable");
        }
    }
    visitor.get("/assets/none.js").await.is_problem(404, "not-found");
}

async fn no_open_redirect(visitor: &Visitor) {
    for target in
        ["https%3A%2F%2Fevil.example", "%2F%2Fevil.example", "%2F%5Cevil.example", "javascript:alert(1)"]
    {
        let answer = visitor.get(&format!("/waiting-room?event=e&return_to={target}&x=1")).await;
        assert_eq!(answer.is(302).header("location"), "/waiting-room?event=e&x=1", "{target}");
    }
    visitor.get("/waiting-room?event=e&return_to=%2Fseats%3Fevent%3De%26x%3D%252B").await.is(200);
    let own = visitor.edge.replace(':', "%3A").replace('/', "%2F");
    visitor.get(&format!("/waiting-room?event=e&return_to={own}%2Fseats")).await.is(200);
}

async fn every_problem_has_a_page(visitor: &Visitor) {
    for slug in
        ["malformed", "admission-required", "proof-of-possession-failed", "room-unavailable", "place-moved"]
    {
        let page = visitor.get(&format!("/problems/{slug}")).await;
        assert!(page.is(200).text.contains(slug), "{}", page.text);
    }
}

async fn unknown_addresses_and_methods(visitor: &Visitor) {
    for path in
        ["/", "/nothing", "/internal/pressure", "/admin/v1/venues", "/problem", "/v1/..%2fadmin/v1/claims"]
    {
        visitor.get(path).await.is_problem(404, "not-found");
    }
    visitor.get("/v1/events/bad%20id/room").await.is_problem(404, "unknown-event");
    visitor.get("/v1/events/evt_nobody/room").await.is_problem(404, "unknown-event");
    let refused = visitor.send("DELETE", "/v1/events/evt_1/room", |request| request).await;
    assert_eq!(refused.is_problem(405, "method-not-allowed").header("allow"), "GET, HEAD");
    let metrics = visitor.get("/metrics").await;
    metrics.is_problem(401, "unauthorized");
}
