//! What an order needs next: a pure reading of its state.

use chrono::{DateTime, Duration, Utc};

use super::order::{Order, OrderState};
use crate::{
    ids::BookingId,
    payments::{IntentId, IntentView},
};

/// An intent that was to be confirmed and is still unconfirmed after this was never charged and, once canceled, never
/// will be. Longer than any call to the provider may take, short enough that the buyer can try another card.
const UNCONFIRMED_PATIENCE_SECS: i64 = 30;
/// First pause after a step that got nowhere; it doubles up to [`RETRY_MAX_SECS`].
const RETRY_FIRST_MS: i64 = 500;
/// Below the 60 s in which an outcome is to be known once the provider answers again.
const RETRY_MAX_SECS: i64 = 20;
/// An open claim is looked at this often, for as long as it takes.
const CLAIM_PAUSE_SECS: i64 = 60;
/// How often the provider is asked whether the buyer has done their step; its webhook usually comes first.
const ACTION_PAUSE_SECS: i64 = 5;

/// One step of the saga.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Claim the seats, create the intent, confirm it.
    Pay,
    /// Read an intent whose outcome is not known.
    Resolve(IntentId),
    /// Sell the seats.
    Sell,
    /// Release the money of a loser.
    Void(IntentId),
    /// Show the sale in the hold store and take the money.
    Capture(IntentId, BookingId),
    /// Show the sale in the hold store.
    ShowSold(BookingId),
    /// Give the seats back and close the intent.
    GiveBack(Option<IntentId>),
    /// Free the seats and give the money back.
    Refund(IntentId, BookingId),
    /// Show in the hold store that the seats are free.
    ShowFreed,
    /// Watch what support has to settle.
    Watch(IntentId),
}

/// The next step of an order that is due. Every step may be repeated.
pub(super) fn step(state: &OrderState) -> Step {
    match state {
        OrderState::Placed => Step::Pay,
        OrderState::Confirming { intent }
        | OrderState::RequiresAction { intent, .. }
        | OrderState::PaymentUnknown { intent, .. } => Step::Resolve(intent.clone()),
        OrderState::Authorized { .. } => Step::Sell,
        OrderState::Voiding { intent, .. } => Step::Void(intent.clone()),
        OrderState::Confirmed { intent, booking } => Step::Capture(intent.clone(), booking.clone()),
        OrderState::Captured { booking, .. } => Step::ShowSold(booking.clone()),
        OrderState::PaymentFailed { intent, .. } | OrderState::Expired { intent } => {
            Step::GiveBack(intent.clone())
        }
        OrderState::Voided { .. } => Step::GiveBack(None),
        OrderState::RefundPending { intent, booking } => Step::Refund(intent.clone(), booking.clone()),
        OrderState::Refunded { .. } | OrderState::RefundFailed { .. } => Step::ShowFreed,
        OrderState::Claim { intent, .. } => Step::Watch(intent.clone()),
    }
}

/// What to do about an intent that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The money is held or taken.
    Authorized(Option<String>),
    /// The issuer said no.
    Declined(String),
    /// The client has a step to do.
    ActionRequired,
    /// It is closed without money.
    Canceled,
    /// Close it: it was waited for long enough.
    Cancel,
    /// Look again later.
    Wait,
}

/// Judges an intent that was read at `now` for an order waiting until `deadline` since `since`.
pub(super) fn judge(
    view: IntentView,
    now: DateTime<Utc>,
    since: DateTime<Utc>,
    deadline: DateTime<Utc>,
) -> Verdict {
    let over = now >= deadline;
    let patience = since + Duration::seconds(UNCONFIRMED_PATIENCE_SECS);
    match view {
        IntentView::Authorized { instrument } | IntentView::Captured { instrument } => {
            Verdict::Authorized(instrument)
        }
        IntentView::Declined { code } => Verdict::Declined(code),
        IntentView::Canceled => Verdict::Canceled,
        IntentView::ActionRequired if over => Verdict::Cancel,
        IntentView::ActionRequired => Verdict::ActionRequired,
        IntentView::Unconfirmed if over || now >= patience => Verdict::Cancel,
        IntentView::Processing if over => Verdict::Cancel,
        IntentView::Unconfirmed | IntentView::Processing => Verdict::Wait,
    }
}

/// The pause before the order is looked at again.
pub(super) fn pause(order: &Order) -> Duration {
    match order.state {
        OrderState::Claim { .. } => Duration::seconds(CLAIM_PAUSE_SECS),
        OrderState::RequiresAction { .. } => Duration::seconds(ACTION_PAUSE_SECS),
        _ => {
            let doubled = RETRY_FIRST_MS.saturating_mul(1 << order.tries.min(16));
            Duration::milliseconds(doubled).min(Duration::seconds(RETRY_MAX_SECS))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(secs, 0).unwrap()
    }

    fn judged(view: IntentView, now: i64) -> Verdict {
        judge(view, at(now), at(0), at(300))
    }

    #[test]
    fn money_is_never_canceled_away_from_a_buyer() {
        for now in [0, 299, 301] {
            let view = IntentView::Authorized { instrument: None };
            assert_eq!(judged(view, now), Verdict::Authorized(None));
        }
    }

    #[test]
    fn what_is_open_is_waited_for_until_the_bound() {
        assert_eq!(judged(IntentView::Processing, 299), Verdict::Wait);
        assert_eq!(judged(IntentView::Processing, 300), Verdict::Cancel);
        assert_eq!(judged(IntentView::ActionRequired, 299), Verdict::ActionRequired);
        assert_eq!(judged(IntentView::ActionRequired, 300), Verdict::Cancel);
    }

    #[test]
    fn a_confirmation_that_never_arrived_is_closed_after_half_a_minute() {
        assert_eq!(judged(IntentView::Unconfirmed, 29), Verdict::Wait);
        assert_eq!(judged(IntentView::Unconfirmed, 30), Verdict::Cancel);
    }
}
