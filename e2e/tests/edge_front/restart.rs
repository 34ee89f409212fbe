//! Killing workerd in the middle.

use e2e::stack::Part;

use super::Place;
use super::visitor::Visitor;

/// Regressions: a deployment or a restart drops the line; a restarted counter grants the same capacity twice.
pub(crate) async fn group(place: &Place) {
    let event = "evt_restart";
    place.event(event).await;
    let (waiting, shopping) = (Visitor::new(place, event), Visitor::new(place, event));
    let ticket = waiting.join().await;
    place.operate("POST", event, "/open", None).await.is(200);
    let session = shopping.admitted().await;
    let admission = waiting.granted(&ticket).await;
    let draw = waiting.get(&waiting.path("/draw")).await;
    let stats = place.operate("GET", event, "/stats", None).await;

    place.stack.restart(Part::Edge).await.unwrap();

    let again = waiting.join_with(&waiting.work().await).await;
    assert_eq!(again.is(200).body["ticket"], ticket, "the same place");
    assert_eq!(waiting.get(&waiting.path("/draw")).await.is(200).text, draw.is(200).text, "the same draw");
    assert_eq!(waiting.granted(&ticket).await, admission, "the same grant");
    shopping.shop("POST", &shopping.path("/holds"), &session).await.is(200);
    let entered = waiting.enter(&admission).await;
    entered.is(201);
    waiting.enter(&admission).await.is(200);
    waiting.ask(&ticket).await.is_problem(409, "already-admitted");
    let after = place.operate("GET", event, "/stats", None).await;
    assert_eq!(
        (&stats.body["active"], &after.is(200).body["active"]),
        (&1.into(), &2.into()),
        "{}",
        after.text
    );
    assert_eq!(
        (&after.body["granted"], &after.body["admitted_total"]),
        (&0.into(), &2.into()),
        "{}",
        after.text
    );
}
