//! The gate: who passes, what reaches the booking service, what comes back.

use reqwest::RequestBuilder;

use super::Place;
use super::visitor::Visitor;

pub(crate) async fn group(place: &Place) {
    let event = "evt_gate";
    place.open_event(event).await;
    let shopper = Visitor::new(place, event);
    let session = shopper.admitted().await;
    turned_away(place, &shopper).await;
    return_target_stays_intact(&shopper).await;
    writes_are_proved(place, &shopper, &session).await;
    forwarded_untouched(&shopper, &session).await;
    cookies_of_any_kind(&shopper, &session).await;
    another_spelling_is_no_way_around(place, &shopper).await;
    open_routes_carry_the_session_along(&shopper, &session).await;
    other_origins(place, &shopper).await;
    commands(place, &shopper, &session).await;
    a_sale_frees_its_slot_though_nobody_waits(place).await;
    webhooks_only_where_listed(&shopper).await;
}

async fn turned_away(place: &Place, visitor: &Visitor) {
    let before = place.mirror.hits();
    let page = visitor.path("/page/one");
    let refused = visitor.get(&page).await;
    refused.is_problem(403, "admission-required");
    visitor
        .send("POST", &visitor.path("/holds"), |request| request)
        .await
        .is_problem(403, "admission-required");
    let browser = visitor.send("GET", &page, |request| request.header("Accept", "text/html,*/*")).await;
    assert_eq!(browser.is(302).header("cache-control"), "no-store");
    let script =
        |request: RequestBuilder| request.header("Accept", "text/html").header("Sec-Fetch-Mode", "cors");
    visitor.send("GET", &page, script).await.is_problem(403, "admission-required");
    let form = |request: RequestBuilder| request.header("Sec-Fetch-Mode", "navigate");
    let form = visitor.send("POST", &visitor.path("/form"), form).await;
    assert_eq!(form.is(302).header("location"), "/waiting-room?event=evt_gate");
    visitor
        .shop("POST", &visitor.path("/holds"), "not.a.session")
        .await
        .is_problem(403, "admission-required");
    assert_eq!(place.mirror.hits(), before, "none of this reached the booking service");
    visitor.get(&visitor.path("/page/style/a.css")).await.is(200);
}

/// Regression: duplicate query keys, `+`, `%2B` are lost on the way through the room.
async fn return_target_stays_intact(visitor: &Visitor) {
    let target = visitor.path("/page?x=1&x=2&y=a+b&z=%2B&w=%C3%A9");
    let answer = visitor.send("GET", &target, |request| request.header("Accept", "text/html")).await;
    let location = answer.is(302).header("location");
    let returned = location.strip_prefix("/waiting-room?event=evt_gate&return_to=").unwrap();
    let decoded: Vec<_> = form_urlencoded::parse(format!("r={returned}").as_bytes()).into_owned().collect();
    assert_eq!(decoded, [("r".to_owned(), target)]);
}

async fn writes_are_proved(place: &Place, shopper: &Visitor, session: &str) {
    let path = shopper.path("/holds");
    let failed = "proof-of-possession-failed";
    shopper.send("POST", &path, |request| request.bearer_auth(session)).await.is_problem(401, failed);
    let with = async |proof: String| {
        shopper.send("POST", &path, |request| request.bearer_auth(session).header("DPoP", proof)).await
    };
    with("x.y.z".to_owned()).await.is_problem(401, failed);
    with(shopper.proof("POST", &path, None)).await.is_problem(401, failed);
    with(shopper.proof("DELETE", &path, Some(session))).await.is_problem(401, failed);
    with(Visitor::new(place, "evt_gate").proof("POST", &path, Some(session))).await.is_problem(401, failed);
    let proof = shopper.proof("POST", &path, Some(session));
    with(proof.clone()).await.is(200);
    with(proof).await.is_problem(401, failed);
    shopper.send("GET", &shopper.path("/page"), |request| request.bearer_auth(session)).await.is(200);
    shopper.send("POST", &shopper.path("/form"), |request| request.bearer_auth(session)).await.is(200);
}

/// Regression: an inbound `Fairgate-Session` is believed.
async fn forwarded_untouched(shopper: &Visitor, session: &str) {
    let path = shopper.path("/holds");
    let target = format!("{path}?a=1&a=2&b=%2B+%C3%A9&c");
    let proof = shopper.proof("POST", &path, Some(session));
    let shape = |request: RequestBuilder| {
        request
            .bearer_auth(session)
            .header("DPoP", proof)
            .header("Idempotency-Key", "\"k1\"")
            .header("X-Custom", "kept")
            .header("Fairgate-Session", "forged")
            .header("Fairgate-Edge", "forged")
            .header("Fairgate-Command", "complete")
            .body("Grüße \u{1f39f}")
    };
    let seen = shopper.send("POST", &target, shape).await;
    let reached = |name: &str| seen.reached(name);
    assert_eq!(
        (seen.is(200).body["method"].as_str(), seen.body["target"].as_str()),
        (Some("POST"), Some(&*target))
    );
    assert_eq!(seen.body["body"], "Grüße \u{1f39f}");
    assert_eq!((reached("x-custom"), reached("idempotency-key")), (Some("kept"), Some("\"k1\"")));
    assert_eq!(reached("fairgate-session"), Some(session));
    assert_eq!(reached("fairgate-edge"), None, "the secret is not for an origin that an event names");
    assert_eq!(reached("fairgate-command"), None);
    let redirect = shopper.get(&shopper.path("/elsewhere")).await;
    assert_eq!(redirect.is(302).header("location"), "/v1/somewhere", "a redirect is the client's to follow");
}

/// Regression: other cookies first, none, or malformed: exception.
async fn cookies_of_any_kind(shopper: &Visitor, session: &str) {
    let path = shopper.path("/page");
    let with =
        async |cookies: String| shopper.send("GET", &path, |request| request.header("Cookie", cookies)).await;
    for cookies in [
        format!("fairgate-evt_gate={session}"),
        format!("a=1; b; =c;; fairgate-other=x; fairgate-evt_gate={session}; d=\"e"),
        format!("fairgate-evt_gate=\"{session}\""),
    ] {
        with(cookies).await.is(200);
    }
    for cookies in ["", ";", "=", "fairgate-evt_gate", "fairgate-evt_gate=", "fairgate-evt_gate=x", "%%%=%%%"]
    {
        with(cookies.to_owned()).await.is_problem(403, "admission-required");
    }
}

async fn another_spelling_is_no_way_around(place: &Place, visitor: &Visitor) {
    let before = place.mirror.hits();
    for path in [
        "/v1/events/evt_gate/%68olds",
        "/v1/events/evt_gate//holds",
        "/v1/events/evt_gate/x%2F..%2Fholds",
        "/v1/%65vents/evt_gate/holds",
        "/v1/events/%65vt_gate/holds",
        "/v1//events/evt_gate/holds",
        "/v1/..%2fadmin/v1/events",
    ] {
        let answer = visitor.send("POST", path, |request| request).await;
        assert!(matches!(answer.status, 403 | 404), "{path}: {}", answer.text);
    }
    assert_eq!(place.mirror.hits(), before);
}

async fn open_routes_carry_the_session_along(shopper: &Visitor, session: &str) {
    let path = shopper.path("/orders/ord_1");
    let seen = shopper.send("GET", &path, |request| request.bearer_auth(session)).await;
    assert_eq!(seen.is(200).reached("fairgate-session"), Some(session));
    let seen = shopper.send("GET", &path, |request| request.header("Fairgate-Session", session)).await;
    assert_eq!(seen.is(200).reached("fairgate-session"), None);
    let seen = shopper.send("GET", &path, |request| request.bearer_auth("an.id.token")).await;
    assert_eq!(
        (seen.is(200).reached("fairgate-session"), seen.reached("authorization")),
        (None, Some("Bearer an.id.token"))
    );
}

/// Regression: a cross-origin fetch cannot see the queue's answer.
async fn other_origins(place: &Place, visitor: &Visitor) {
    let path = visitor.path("/queue");
    let own = place.edge.replace("127.0.0.1", "localhost");
    let ask = async |origin: &str, path: &str| {
        let shape = |request: RequestBuilder| {
            request.header("Origin", origin).header("Access-Control-Request-Method", "POST")
        };
        visitor.send("OPTIONS", path, shape).await
    };
    for path in [&path, &visitor.path("/holds"), "/v1/users/me/bookings"] {
        let preflight = ask(&own, path).await;
        assert_eq!(preflight.is(204).header("access-control-allow-origin"), own);
        assert_eq!(preflight.header("access-control-allow-credentials"), "true");
        assert!(preflight.header("access-control-allow-headers").contains("DPoP"), "{path}");
    }
    assert_eq!(ask("https://evil.example", &path).await.header("access-control-allow-origin"), "");
    let refused = visitor.send("POST", &path, |request| request.header("Origin", &own)).await;
    assert!(
        refused
            .is_problem(401, "proof-of-possession-failed")
            .header("access-control-expose-headers")
            .contains("Retry-After")
    );
    let forwarded =
        visitor.send("GET", &visitor.path("/orders/o"), |request| request.header("Origin", &own)).await;
    assert_eq!(forwarded.is(200).header("access-control-allow-origin"), own);
}

async fn commands(place: &Place, shopper: &Visitor, session: &str) {
    let path = shopper.path("/holds");
    let command = async |command: &str, session: &str| {
        let proof = shopper.proof("POST", &path, Some(session));
        let shape = |request: RequestBuilder| {
            request.bearer_auth(session).header("DPoP", proof).header("X-Answer-Fairgate-Command", command)
        };
        shopper.send("POST", &path, shape).await
    };
    let extended = command("extend=1200", session).await;
    assert!(extended.is(200).headers.get("fairgate-command").is_none());
    let longer = extended.header("fairgate-session").to_owned();
    let cookie = format!("fairgate-evt_gate={longer}; HttpOnly; SameSite=Lax; Path=/");
    assert_eq!(extended.header("set-cookie"), cookie);
    assert_ne!(longer, session);
    let seen = shopper.shop("POST", &path, session).await;
    assert_eq!(seen.is(200).reached("fairgate-session"), Some(session), "the old one lives to its exp");
    shopper.shop("POST", &path, &longer).await.is(200);
    for nonsense in ["extend=x", "explode"] {
        assert!(command(nonsense, &longer).await.is(200).headers.get("fairgate-command").is_none());
    }
    command("complete", &longer).await.is(200);
    for token in [session, &longer] {
        shopper.shop("POST", &path, token).await.is_problem(403, "admission-required");
        let seen =
            shopper.send("GET", &shopper.path("/orders/o"), |request| request.bearer_auth(token)).await;
        assert_eq!(seen.is(200).reached("fairgate-session"), Some(token), "a buyer is still the buyer");
    }
    let stats = place.operate("GET", "evt_gate", "/stats", None).await;
    assert_eq!(
        (&stats.body["active"], &stats.body["completed_total"]),
        (&0.into(), &1.into()),
        "{}",
        stats.text
    );
}

/// Regression: a client that closes its tab takes along what the booking service commands.
async fn a_sale_frees_its_slot_though_nobody_waits(place: &Place) {
    let event = "evt_left";
    place.open_event(event).await;
    let shopper = Visitor::new(place, event);
    let session = shopper.admitted().await;
    let path = shopper.path("/holds");
    let proof = shopper.proof("POST", &path, Some(&session));
    let purchase = shopper.send("POST", &path, |request| {
        let request = request.bearer_auth(&session).header("DPoP", proof);
        request.header("X-Late", "1").header("X-Answer-Fairgate-Command", "complete")
    });
    tokio::select! {
        answer = purchase => panic!("answered before the booking service did: {}", answer.text),
        () = place.mirror.late_arrival() => {}
    }
    place.mirror.answer_late();
    let stats = shopper
        .until(
            async || place.operate("GET", event, "/stats", None).await,
            |stats| stats.body["completed_total"] == 1,
        )
        .await;
    assert_eq!(
        (&stats.body["completed_total"], &stats.body["active"]),
        (&1.into(), &0.into()),
        "{}",
        stats.text
    );
}

/// Regression: payment callbacks queued, or bypassed by path.
async fn webhooks_only_where_listed(visitor: &Visitor) {
    visitor.send("POST", "/v1/webhooks/payments/other", |r| r.body("{}")).await.is_problem(404, "not-found");
    let listed = visitor.send("POST", "/v1/webhooks/payments/stripe", |r| r.body("{}")).await;
    assert!(
        listed.status >= 400 && listed.slug() != "not-found",
        "the booking service judges it: {}",
        listed.text
    );
}
