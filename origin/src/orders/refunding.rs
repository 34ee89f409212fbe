//! Giving money back, and showing that seats are free again.

use super::{
    drive::{Advanced, DriveError, Run, fresh_claim},
    event::OrderEvent,
    order::Order,
    store::Due,
};
use crate::{
    bookings::store as bookings,
    db,
    ids::BookingId,
    payments::{IntentId, RefundView},
};

/// Sends the refund, or finds the one that was sent, and records what became of it.
pub(super) async fn refund(
    run: &Run<'_>,
    order: Order,
    intent: &IntentId,
    booking: &BookingId,
) -> Result<Advanced, DriveError> {
    show(run, &order).await;
    let Some(refund) = bookings::open_refund(&run.state.db, booking).await? else {
        return Err(DriveError::NotYet("no refund is recorded"));
    };
    let known = if order.tries == 0 { None } else { find(run, intent, &refund).await? };
    let view = match known {
        Some(view) => view,
        None => {
            // One key a try: the stored answer of the last may be a 500 for ever, and what was sent was looked for.
            let key = format!("{}:refund:{}", order.order_id, order.tries);
            run.state.payments.refund(intent, order.total, &refund, &key).await?
        }
    };
    if !view.succeeded && !view.failed {
        return Err(DriveError::NotYet("the refund is pending"));
    }
    let (row, refund_id, booking) = (view.clone(), refund.clone(), booking.clone());
    db::transact("finish_refund", &run.state.db, move |tx| {
        let (row, refund_id, booking) = (row.clone(), refund_id.clone(), booking.clone());
        Box::pin(
            async move { bookings::finish_refund(tx, &booking, &refund_id, &row.id, row.succeeded).await },
        )
    })
    .await?;
    let mut order = order;
    order.tries = 0;
    if view.succeeded {
        run.record(order, OrderEvent::RefundSucceeded).await
    } else {
        order.claim_id = Some(fresh_claim()?);
        run.record(order, OrderEvent::RefundFailed).await
    }
}

async fn find(run: &Run<'_>, intent: &IntentId, refund: &str) -> Result<Option<RefundView>, DriveError> {
    let sent = run.state.payments.refunds(intent).await?;
    Ok(sent.into_iter().find(|view| view.refund_id.as_deref() == Some(refund)))
}

/// Repeats in the hold store that the seats are free.
pub(super) async fn show_freed(run: &Run<'_>, order: Order) -> Result<Advanced, DriveError> {
    let seats = bookings::freed_seats(&run.state.db, &order.order_id).await?;
    if !seats.is_empty() {
        run.state.holds.mark_freed(&order.event, Some(&order.identity), &seats).await?;
    }
    run.save(order, Due::Never).await
}

/// The map first: a buyer's money on its way back takes longer than the next buyer wants to wait for the seat.
async fn show(run: &Run<'_>, order: &Order) {
    let shown = async {
        let seats = bookings::freed_seats(&run.state.db, &order.order_id).await?;
        run.state.holds.mark_freed(&order.event, Some(&order.identity), &seats).await?;
        Ok::<_, DriveError>(())
    };
    if let Err(error) = shown.await {
        tracing::warn!(order = %order.order_id, %error, "the freed seats are not shown yet");
    }
}
