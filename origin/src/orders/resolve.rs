//! Finding out: what became of a payment whose answer nobody heard.

use super::{
    drive::{Advanced, DriveError, Run, applied, attempt_key, fresh_claim},
    event::OrderEvent,
    next::{self, Verdict},
    order::{Order, OrderState},
    store::Due,
};
use crate::payments::{IntentId, IntentView, Released};

/// Reads the stored intent and acts on what it says; at the bound closes it.
pub(super) async fn resolve(run: &Run<'_>, order: Order, intent: &IntentId) -> Result<Advanced, DriveError> {
    // Found in the middle of a confirmation: whoever sent it is gone, and so is its answer.
    if let OrderState::Confirming { .. } = order.state {
        let (since, deadline) = run.bound(&order).await?;
        // Written before anything is asked: the bound must run while the provider is silent.
        return run.record(order, OrderEvent::OutcomeUnknown { since, deadline }).await;
    }
    let (since, deadline) = match &order.state {
        OrderState::PaymentUnknown { since, deadline, .. } => (*since, *deadline),
        OrderState::RequiresAction { deadline, .. } => (order.created_at, *deadline),
        _ => return Err(DriveError::NotYet("not waiting for an outcome")),
    };
    let now = run.state.clock.now();
    let view = match run.state.payments.read(intent).await {
        Ok(view) => view,
        Err(error) if now < deadline => return Err(error.into()),
        Err(_) => return close(run, order, intent, true).await,
    };
    let processing = view == IntentView::Processing;
    match next::judge(view, now, since, deadline) {
        Verdict::Authorized(instrument) => {
            let mut order = applied(order, OrderEvent::PaymentAuthorized)?;
            order.instrument = instrument;
            order.tries = 0;
            run.save(order, Due::Leased).await
        }
        Verdict::Declined(code) => run.record(order, OrderEvent::PaymentDeclined(code)).await,
        Verdict::Canceled => run.record(order, OrderEvent::IntentCanceled).await,
        Verdict::Cancel => close(run, order, intent, processing).await,
        Verdict::ActionRequired if matches!(order.state, OrderState::RequiresAction { .. }) => {
            let pause = next::pause(&order);
            run.save(order, Due::After(pause)).await
        }
        Verdict::ActionRequired => run.rest(order, OrderEvent::ActionRequired(deadline)).await,
        Verdict::Wait => {
            let mut order = order;
            order.tries = order.tries.saturating_add(1);
            let pause = next::pause(&order);
            run.save(order, Due::After(pause)).await
        }
    }
}

/// Cancels the intent. Where that has no outcome either and `last`, the seats are freed and support is told.
async fn close(
    run: &Run<'_>,
    mut order: Order,
    intent: &IntentId,
    last: bool,
) -> Result<Advanced, DriveError> {
    match run.state.payments.cancel(intent, &attempt_key(&order, "cancel")).await {
        Ok(Released::Canceled) => {
            order.tries = 0;
            run.record(order, OrderEvent::IntentCanceled).await
        }
        Ok(Released::Refused) if !last => Err(DriveError::NotYet("the intent changed meanwhile")),
        Ok(Released::Refused) => match run.state.payments.read(intent).await {
            Ok(IntentView::Authorized { .. } | IntentView::Captured { .. } | IntentView::Canceled) => {
                Err(DriveError::NotYet("the intent changed meanwhile"))
            }
            _ => give_up(run, order).await,
        },
        Err(error) if !last => Err(error.into()),
        Err(_) => give_up(run, order).await,
    }
}

async fn give_up(run: &Run<'_>, mut order: Order) -> Result<Advanced, DriveError> {
    tracing::error!(order = %order.order_id, "the payment's outcome is given up; support is told");
    order.claim_id = Some(fresh_claim()?);
    let order = applied(order, OrderEvent::GivenUp)?;
    // On, not rest: the seats are freed at once by the watch.
    run.save(order, Due::Leased).await
}

/// Watches money that support has been told of: releases what turns up held, and frees the seats meanwhile.
pub(super) async fn watch(run: &Run<'_>, order: Order, intent: &IntentId) -> Result<Advanced, DriveError> {
    let sold = matches!(order.state, OrderState::Claim { booking: Some(_), .. });
    if !sold {
        run.unclaim(&order).await?;
    }
    match (run.state.payments.read(intent).await, sold) {
        (Ok(IntentView::Captured { .. }), true) => run.record(order, OrderEvent::PaymentCaptured).await,
        (Ok(IntentView::Canceled), false) => run.record(order, OrderEvent::IntentCanceled).await,
        (Ok(IntentView::Processing | IntentView::Captured { .. }) | Err(_), false) | (_, true) => {
            let pause = next::pause(&order);
            run.save(order, Due::After(pause)).await
        }
        (Ok(_), false) => match run.state.payments.cancel(intent, &attempt_key(&order, "late-void")).await? {
            Released::Canceled => run.record(order, OrderEvent::IntentCanceled).await,
            Released::Refused => Err(DriveError::NotYet("the late void was refused")),
        },
    }
}
