use std::time::Duration;

use super::*;

fn moment(n: u32) -> Moment {
    Moment { now: 1_800_000_000, nonce: format!("{n:08x}") }
}

fn answer(step: &Step) -> (u16, &Value, bool) {
    match step {
        Step::Answer { answer, replayed } => (answer.status, &answer.body, *replayed),
        other => panic!("no answer: {other:?}"),
    }
}

fn created(provider: &mut Provider) -> String {
    let body = b"amount=9000&currency=eur&capture_method=manual&metadata[order_id]=ord_1";
    let step = provider.post(Some("create"), "/v1/payment_intents", body, &moment(1));
    answer(&step).1["id"].as_str().unwrap().to_owned()
}

fn confirm(provider: &mut Provider, id: &str, key: &str, method: &str) -> Step {
    let body = format!("payment_method={method}");
    provider.post(Some(key), &format!("/v1/payment_intents/{id}/confirm"), body.as_bytes(), &moment(2))
}

fn authorized(provider: &Provider) -> u64 {
    provider.book.ledger()["intents"][0]["authorized"].as_u64().unwrap()
}

#[test]
fn the_same_key_gives_the_same_intent() {
    let mut provider = Provider::default();
    let first = created(&mut provider);
    let body = b"capture_method=manual&amount=9000&metadata[order_id]=ord_1&currency=eur";
    let again = provider.post(Some("create"), "/v1/payment_intents", body, &moment(9));
    let (status, body, replayed) = answer(&again);
    assert_eq!((status, body["id"].as_str().unwrap(), replayed), (200, first.as_str(), true));
    let other = provider.post(Some("create"), "/v1/payment_intents", b"amount=1&currency=eur", &moment(9));
    assert_eq!(
        (answer(&other).0, &answer(&other).1["error"]["type"]),
        (400, &Value::from("idempotency_error"))
    );
}

#[test]
fn a_stored_500_replays_as_500_though_the_money_is_held() {
    let mut provider = Provider::default();
    let id = created(&mut provider);
    for replayed in [false, true] {
        let step = confirm(&mut provider, &id, "a", "pm_sim_500_charged");
        assert_eq!((answer(&step).0, answer(&step).2), (500, replayed));
    }
    assert_eq!(authorized(&provider), 9000);
}

#[test]
fn hanging_cards_hold_money_or_do_not() {
    let mut provider = Provider::default();
    let id = created(&mut provider);
    assert_eq!(confirm(&mut provider, &id, "a", "pm_sim_hang_uncharged"), Step::Hang);
    assert_eq!(authorized(&provider), 0);
    let running = confirm(&mut provider, &id, "a", "pm_sim_hang_uncharged");
    assert_eq!(answer(&running).0, 409);
    assert_eq!(confirm(&mut provider, &id, "b", "pm_sim_hang_charged"), Step::Hang);
    assert_eq!(authorized(&provider), 9000);
}

#[test]
fn a_slow_card_is_processing_until_it_settles() {
    let mut provider = Provider::default();
    let id = created(&mut provider);
    let Step::Wait { delay, pending } = confirm(&mut provider, &id, "a", "pm_sim_slow_8000") else {
        panic!()
    };
    assert_eq!(delay, Duration::from_secs(8));
    assert_eq!(provider.book.intent(&id).unwrap().status(), "processing");
    let refused = provider.post(None, &format!("/v1/payment_intents/{id}/cancel"), b"", &moment(3));
    assert_eq!(answer(&refused).0, 400);
    let step = provider.settle(pending);
    assert_eq!(answer(&step).1["status"], "requires_capture");
}

#[test]
fn a_decline_is_402_and_another_key_may_pay() {
    let mut provider = Provider::default();
    let id = created(&mut provider);
    let step = confirm(&mut provider, &id, "a", "pm_card_visa_chargeDeclinedInsufficientFunds");
    assert_eq!(answer(&step).0, 402);
    assert_eq!(answer(&step).1["error"]["decline_code"], "insufficient_funds");
    let step = confirm(&mut provider, &id, "b", "pm_card_visa");
    assert_eq!(answer(&step).1["status"], "requires_capture");
}

#[test]
fn a_client_step_is_asked_for_and_answered() {
    let mut provider = Provider::default();
    let id = created(&mut provider);
    let step = confirm(&mut provider, &id, "a", "pm_sim_3ds");
    assert_eq!(answer(&step).1["status"], "requires_action");
    provider.post(None, &format!("/v1/payment_intents/{id}/_authenticate"), b"", &moment(3));
    assert_eq!(provider.book.intent(&id).unwrap().status(), "requires_capture");
}

#[test]
fn a_key_whose_request_was_invalid_is_free_again() {
    let mut provider = Provider::default();
    let id = created(&mut provider);
    assert_eq!(answer(&confirm(&mut provider, &id, "a", "pm_nope")).0, 404);
    assert_eq!(answer(&confirm(&mut provider, &id, "a", "pm_card_visa")).0, 200);
}

#[test]
fn the_journal_restores_everything() {
    let mut provider = Provider::default();
    let id = created(&mut provider);
    confirm(&mut provider, &id, "a", "pm_sim_slow_8000");
    let (events, records) = provider.drain();
    assert_eq!(events.len(), 2);
    let mut restored = Provider::default();
    for record in records {
        let line = serde_json::to_string(&record).unwrap();
        restored.restore(serde_json::from_str(&line).unwrap());
    }
    restored.settle_interrupted();
    assert_eq!(restored.book.intent(&id).unwrap().status(), "requires_capture");
    let body = b"amount=9000&currency=eur&capture_method=manual&metadata[order_id]=ord_1";
    assert!(answer(&restored.post(Some("create"), "/v1/payment_intents", body, &moment(4))).2);
}
