use serde_json::Value;

use super::*;
use crate::psp::dice::Dice;

fn intent() -> Intent {
    Intent {
        id: "pi_1".to_owned(),
        amount: 9000,
        currency: "eur".to_owned(),
        capture: Capture::Manual,
        metadata: BTreeMap::new(),
        created: 1,
        client_secret: "pi_1_secret_x".to_owned(),
        state: State::RequiresPaymentMethod { declined: None },
    }
}

fn card() -> Card {
    Card { token: "pm_card_visa".to_owned(), fingerprint: "f".to_owned() }
}

#[test]
fn authorize_capture_refund() {
    let mut intent = intent();
    intent.authorize(card()).unwrap();
    assert_eq!(intent.status(), "requires_capture");
    intent.capture(None).unwrap();
    assert!(intent.capture(None).is_err(), "a second capture is refused");
    assert!(intent.cancel().is_err(), "captured money cannot be voided");
    assert_eq!(intent.refund(Some(4000)).unwrap(), 4000);
    assert!(intent.refund(Some(5001)).is_err());
    assert_eq!(intent.refund(None).unwrap(), 5000);
    assert!(intent.refund(None).is_err());
}

#[test]
fn a_smaller_capture_releases_the_rest() {
    let mut intent = intent();
    intent.authorize(card()).unwrap();
    assert!(intent.capture(Some(9001)).is_err());
    intent.capture(Some(4000)).unwrap();
    assert_eq!(intent.to_ledger()["voided"], 5000);
}

#[test]
fn a_decline_leaves_it_open_for_another_card() {
    let mut intent = intent();
    intent.decline("insufficient_funds").unwrap();
    assert_eq!(intent.to_json(false)["last_payment_error"]["decline_code"], "insufficient_funds");
    intent.authorize(card()).unwrap();
    assert!(intent.decline("late").is_err(), "a decline never overwrites an authorization");
}

#[test]
fn a_canceled_intent_refuses_everything() {
    let mut intent = intent();
    intent.cancel().unwrap();
    assert!(intent.check_confirmable().is_err());
    assert!(intent.authorize(card()).is_err());
    assert!(intent.capture(None).is_err());
    assert!(intent.cancel().is_err());
    assert!(intent.refund(None).is_err());
}

#[test]
fn no_sequence_of_commands_makes_or_loses_money() {
    for seed in 0..2_000 {
        let (mut dice, mut intent) = (Dice::new(seed), intent());
        for _ in 0..12 {
            let amount = Some(dice.next_u64() % 10_000);
            let before = intent.to_ledger();
            let refused = match dice.next_u64() % 8 {
                0 => intent.authorize(card()).is_err(),
                1 => intent.process(card()).is_err(),
                2 => intent.challenge(card()).is_err(),
                3 => intent.decline("generic_decline").is_err(),
                4 => intent.authenticate(dice.chance(0.5)).is_err(),
                5 => intent.capture(amount).is_err(),
                6 => intent.cancel().is_err(),
                _ => intent.refund(amount).is_err(),
            };
            let after = intent.to_ledger();
            let of = |line: &Value, field: &str| line[field].as_u64().unwrap();
            if refused {
                assert_eq!(before, after, "a refused command changes nothing (seed {seed})");
            }
            for field in ["authorized", "captured", "voided", "refunded"] {
                assert!(of(&after, field) >= of(&before, field), "{field} only grows (seed {seed})");
            }
            assert!(of(&after, "captured") + of(&after, "voided") <= of(&after, "authorized"));
            assert!(of(&after, "refunded") <= of(&after, "captured"));
        }
    }
}
