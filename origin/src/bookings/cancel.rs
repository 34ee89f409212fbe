//! Cancelling a booking: the seats are free at once, the money follows.

use tokio::sync::watch;

use super::{
    booking::{Booking, BookingStatus},
    store,
};
use crate::{
    AppState, db,
    ids::random_text,
    orders::{self, Lease, Order, OrderEvent, OrderState},
    problem::{Kind, Problem},
};

/// Cancels a confirmed booking and sends its refund; a canceled one is answered as it is. Idempotent.
pub async fn cancel(state: &AppState, booking: Booking) -> Result<Booking, Problem> {
    if booking.status != BookingStatus::Confirmed {
        return Ok(booking);
    }
    let lease = Lease::fresh().map_err(|error| Problem::internal(&error))?;
    let busy =
        || Problem::new(Kind::Overloaded).detail("the booking's payment is being worked on").retry_after(1);
    let mut order = orders::store::lease_one(&state.db, &booking.order_id, &lease).await?.ok_or_else(busy)?;
    if let OrderState::Captured { .. } = order.state {
        order = begin(state, order, &booking, &lease).await?;
    }
    // In a task of its own: a buyer who hangs up does not stop it. An order whose money is still to be taken takes it
    // now, and can be canceled at the next try.
    let (worker, driven) = (state.clone(), lease.clone());
    let driving = tokio::spawn(async move {
        let (seen, _) = watch::channel(order.state.clone());
        orders::drive(&worker, order, &driven, &seen).await;
    });
    if let Err(error) = driving.await {
        tracing::error!(%error, "a refund ended badly; its lease runs out and a driver goes on");
    }
    let changed = store::load(&state.db, &booking.booking_id).await?.ok_or(Kind::NotFound)?;
    if changed.status == BookingStatus::Confirmed { Err(busy()) } else { Ok(changed) }
}

async fn begin(
    state: &AppState,
    mut order: Order,
    booking: &Booking,
    lease: &Lease,
) -> Result<Order, Problem> {
    order.state = order.state.apply(OrderEvent::RefundBegun).map_err(|error| Problem::internal(&error))?;
    order.tries = 0;
    let refund_id = format!("ref_{}", random_text().map_err(|error| Problem::internal(&error))?);
    let (row, lease, booking_id) = (order.clone(), lease.clone(), booking.booking_id.clone());
    let begun = db::transact("cancel_booking", &state.db, move |tx| {
        let (row, lease, booking_id, refund_id) = (row.clone(), lease.clone(), booking_id.clone(), refund_id.clone());
        Box::pin(async move {
            if !orders::store::save(tx, &row, &lease, orders::store::Due::Leased).await? {
                return Ok(false);
            }
            store::cancel(tx, &row, &booking_id, &refund_id).await?;
            let body = serde_json::json!({
                "booking_id": booking_id.as_str(), "order_id": row.order_id.as_str(), "seat_ids": row.seat_ids,
            });
            orders::records::insert_outbox(tx, &row.event, "booking.canceled", body).await?;
            Ok::<_, sqlx::Error>(true)
        })
    })
    .await?;
    if begun { Ok(order) } else { Err(Kind::Overloaded.into()) }
}
