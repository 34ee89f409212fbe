use proptest::prelude::*;

use super::{OrderEvent as E, OrderState as S, *};

fn intent() -> IntentId {
    "pi_1".parse().unwrap()
}

fn booking() -> BookingId {
    "bk_1".parse().unwrap()
}

fn at(secs: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(secs, 0).unwrap()
}

fn walk(events: &[E]) -> S {
    events.iter().fold(S::Placed, |state, event| state.apply(event.clone()).unwrap())
}

fn any_event() -> impl Strategy<Value = E> {
    prop_oneof![
        Just(E::IntentCreated(intent())),
        Just(E::CreationFailed),
        Just(E::HoldLost),
        Just(E::PaymentAuthorized),
        Just(E::PaymentDeclined("generic_decline".into())),
        Just(E::ActionRequired(at(9))),
        Just(E::OutcomeUnknown { since: at(1), deadline: at(9) }),
        Just(E::IntentCanceled),
        Just(E::GivenUp),
        Just(E::SeatsSold(booking())),
        Just(E::SeatsLost(Loss::SeatsReassigned)),
        Just(E::PaymentCaptured),
        Just(E::RefundBegun),
        Just(E::RefundSucceeded),
        Just(E::RefundFailed),
    ]
}

#[test]
fn the_happy_path() {
    let state = walk(&[
        E::IntentCreated(intent()),
        E::PaymentAuthorized,
        E::SeatsSold(booking()),
        E::PaymentCaptured,
        E::RefundBegun,
        E::RefundSucceeded,
    ]);
    assert_eq!(state.status(), "refunded");
    assert_eq!(state.booking(), Some(&booking()));
}

#[test]
fn an_unknown_outcome_resolves_either_way_or_ends_as_a_claim() {
    let unknown = [E::IntentCreated(intent()), E::OutcomeUnknown { since: at(1), deadline: at(301) }];
    let ends = [
        (E::PaymentAuthorized, "authorized"),
        (E::PaymentDeclined("x".into()), "payment_failed"),
        (E::IntentCanceled, "payment_failed"),
        (E::GivenUp, "claim"),
        (E::ActionRequired(at(301)), "requires_action"),
    ];
    for (event, status) in ends {
        assert_eq!(walk(&unknown).apply(event).unwrap().status(), status);
    }
}

#[test]
fn a_loser_is_voided_and_never_captured() {
    let losing = walk(&[E::IntentCreated(intent()), E::PaymentAuthorized, E::SeatsLost(Loss::LimitExceeded)]);
    assert_eq!(losing.status(), "authorized");
    let error = losing.clone().apply(E::PaymentCaptured).unwrap_err();
    assert_eq!((error.from, error.event.as_str()), ("authorized", "PaymentCaptured"));
    assert_eq!(losing.apply(E::IntentCanceled).unwrap().status(), "voided");
}

#[test]
fn failed_after_captured_does_not_overwrite_it() {
    let captured = walk(&[
        E::IntentCreated(intent()),
        E::PaymentAuthorized,
        E::SeatsSold(booking()),
        E::PaymentCaptured,
    ]);
    for event in [E::PaymentDeclined("late".into()), E::IntentCanceled, E::PaymentCaptured, E::GivenUp] {
        captured.clone().apply(event).unwrap_err();
    }
}

proptest! {
    #[test]
    fn no_sequence_of_events_undoes_money_or_revives_the_failed(events in prop::collection::vec(any_event(), 0..24)) {
        let (mut state, mut sold, mut failed) = (S::Placed, false, false);
        for event in events {
            let capturing = event == E::PaymentCaptured;
            let Ok(next) = state.clone().apply(event) else { continue };
            prop_assert!(!failed, "{next:?} came after a failure");
            if capturing {
                prop_assert!(sold, "captured before the seats were sold");
            }
            sold |= matches!(next, S::Confirmed { .. });
            prop_assert!(!sold || next.booking().is_some(), "a sold order lost its booking: {next:?}");
            failed = next.has_failed();
            state = next;
        }
    }
}
