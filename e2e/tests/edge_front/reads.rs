//! The booking service's map and catalogue, read through the edge.

use super::Place;
use super::visitor::Visitor;

pub(crate) async fn group(place: &Place) {
    let event = "evt_reads";
    place.event(event).await;
    let visitor = Visitor::new(place, event);
    one_fetch_serves_all(place, &visitor).await;
    copies_are_told_apart(&visitor).await;
    the_rest_is_forwarded(&visitor).await;
}

async fn one_fetch_serves_all(place: &Place, visitor: &Visitor) {
    let path = visitor.path("/seatmap?format=bin");
    let first = visitor.get(&path).await;
    assert_eq!(
        (first.is(200).header("etag"), first.header("cache-control")),
        ("\"7-1\"", "public, max-age=1")
    );
    let before = place.mirror.hits();
    let crowd = (0..50).map(|_| visitor.get(&path));
    for answer in futures::future::join_all(crowd).await {
        assert_eq!(answer.is(200).header("etag"), "\"7-1\"");
    }
    let fetched = place.mirror.hits() - before;
    // One fetch a second, were the crowd to take as long.
    assert!(fetched <= 3, "{fetched}");
    let unchanged = visitor.send("GET", &path, |request| request.header("If-None-Match", "\"7-1\"")).await;
    assert!(unchanged.is(304).text.is_empty());
    let head = visitor.send("HEAD", &path, |request| request).await;
    assert!(head.is(200).text.is_empty());
}

async fn copies_are_told_apart(visitor: &Visitor) {
    let target = async |tail: &str| {
        visitor.get(&visitor.path(tail)).await.is(200).body["target"].as_str().unwrap().to_owned()
    };
    assert_eq!(target("/seatmap?format=bin&planes=2").await, visitor.path("/seatmap?format=bin&planes=2"));
    assert_eq!(
        target("/seatmap?planes=2&cb=9&format=bin").await,
        visitor.path("/seatmap?format=bin&planes=2")
    );
    assert_eq!(target("/seatmap/changes?since=5").await, visitor.path("/seatmap/changes?since=5"));
    assert_eq!(target("/seatmap/changes?since=6").await, visitor.path("/seatmap/changes?since=6"));
    assert_eq!(target("/layout").await, visitor.path("/layout"));
    let long = visitor.path(&format!("/seatmap?format={}", "x".repeat(200)));
    visitor.get(&long).await.is_problem(400, "malformed");
    for made_up in ["/seatmap?format=xml", "/seatmap?planes=3", "/seatmap/changes?since=05"] {
        visitor.get(&visitor.path(made_up)).await.is_problem(400, "malformed");
    }
    let copy = visitor.get(&visitor.path("/seatmap")).await;
    for name in ["cookie", "authorization", "fairgate-session", "user-agent"] {
        assert_eq!(copy.reached(name), None, "a copy is nobody's: {name}");
    }
    assert_eq!(copy.reached("fairgate-edge"), None, "not even ours, for an origin that an event names");
}

async fn the_rest_is_forwarded(visitor: &Visitor) {
    let stream = visitor.get(&visitor.path("/seatmap/stream?since=4")).await;
    assert_eq!(stream.is(200).body["target"], visitor.path("/seatmap/stream?since=4"));
    let event = visitor.get(&visitor.path("")).await;
    assert_eq!(event.is(200).body["target"], visitor.path(""));
}
