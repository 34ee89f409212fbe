//! The one transaction that sells: SQL of the caps, the seats and the booking.
//!
//! Lock order: order, event (shared), buyer, instrument, seats by index.

use sqlx::{PgConnection, PgPool, Row, postgres::PgRow};

use super::{event::Loss, order::Order, records, store};
use crate::{
    db::{ImpossibleRow, Retryable},
    events::EventStatus,
    holds::{SeatVersion, store as holds, store::index_to_sql},
    ids::{BookingId, EventId, OrderId},
};

/// Why nothing was sold. Everything is rolled back.
#[derive(Debug, thiserror::Error)]
pub enum SaleError {
    /// The order lost.
    #[error("the order lost: {0:?}")]
    Lost(Loss),
    /// Somebody else works on the order now.
    #[error("the lease is gone")]
    LeaseGone,
    /// Postgres failed.
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

impl Retryable for SaleError {
    fn is_retryable(&self) -> bool {
        matches!(self, Self::Database(error) if error.is_retryable())
    }
}

struct Limits {
    status: String,
    tickets: i32,
    instrument: Option<i32>,
}

/// Sells the order's seats: caps, seats, booking, outbox, and the order itself, which must be in its state after the
/// sale.
pub async fn sell(
    tx: &mut PgConnection,
    order: &Order,
    booking: &BookingId,
    lease: &store::Lease,
) -> Result<Vec<SeatVersion>, SaleError> {
    if !store::save(tx, order, lease, store::Due::Leased).await? {
        return Err(SaleError::LeaseGone);
    }
    let limits = limits(tx, &order.event).await?;
    if !limits.status.parse::<EventStatus>().is_ok_and(EventStatus::sells) {
        return Err(SaleError::Lost(Loss::EventNotOnSale));
    }
    let count = i32::try_from(order.seats.len()).unwrap_or(i32::MAX);
    if !count_buyer(tx, order, count, limits.tickets).await? {
        return Err(SaleError::Lost(Loss::LimitExceeded));
    }
    if let (Some(limit), Some(instrument)) = (limits.instrument, &order.instrument)
        && !count_instrument(tx, &order.event, instrument, count, limit).await?
    {
        return Err(SaleError::Lost(Loss::InstrumentLimitExceeded));
    }
    let sold = take_seats(tx, order).await?;
    if sold.len() != order.seats.len() {
        return Err(SaleError::Lost(Loss::SeatsReassigned));
    }
    insert_booking(tx, order, booking).await?;
    holds::drop_claim(tx, &order.order_id).await?;
    let body = serde_json::json!({
        "booking_id": booking.as_str(), "order_id": order.order_id.as_str(), "seat_ids": order.seat_ids,
        "total": order.total.minor, "currency": order.total.currency.code(),
    });
    records::insert_outbox(tx, &order.event, "booking.confirmed", body).await?;
    Ok(sold)
}

async fn limits(tx: &mut PgConnection, event: &EventId) -> Result<Limits, sqlx::Error> {
    // Shared: sales do not wait for each other, a cancellation waits for them and they for it.
    let row = sqlx::query(
        "SELECT status, event_ticket_limit, instrument_ticket_limit FROM events WHERE event_id = $1 FOR SHARE",
    )
    .bind(event.as_str())
    .fetch_one(tx)
    .await?;
    Ok(Limits {
        status: row.try_get("status")?,
        tickets: row.try_get("event_ticket_limit")?,
        instrument: row.try_get("instrument_ticket_limit")?,
    })
}

async fn count_buyer(
    tx: &mut PgConnection,
    order: &Order,
    count: i32,
    limit: i32,
) -> Result<bool, sqlx::Error> {
    let counted = sqlx::query(
        "INSERT INTO buyers AS b (event_id, identity, bought) SELECT $1, $2, $3 WHERE $3 <= $4
         ON CONFLICT (event_id, identity) DO UPDATE SET bought = b.bought + $3 WHERE b.bought + $3 <= $4",
    )
    .bind(order.event.as_str())
    .bind(&order.identity)
    .bind(count)
    .bind(limit)
    .execute(tx)
    .await?;
    Ok(counted.rows_affected() == 1)
}

/// How many tickets of the event the buyer has.
pub async fn bought(db: &PgPool, event: &EventId, identity: &str) -> Result<u32, sqlx::Error> {
    let bought: Option<i32> =
        sqlx::query_scalar("SELECT bought FROM buyers WHERE event_id = $1 AND identity = $2")
            .bind(event.as_str())
            .bind(identity)
            .fetch_optional(db)
            .await?;
    Ok(bought.and_then(|bought| u32::try_from(bought).ok()).unwrap_or(0))
}

async fn count_instrument(
    tx: &mut PgConnection,
    event: &EventId,
    instrument: &str,
    count: i32,
    limit: i32,
) -> Result<bool, sqlx::Error> {
    let counted = sqlx::query(
        "INSERT INTO instruments AS i (event_id, fingerprint, bought) SELECT $1, $2, $3 WHERE $3 <= $4
         ON CONFLICT (event_id, fingerprint) DO UPDATE SET bought = i.bought + $3 WHERE i.bought + $3 <= $4",
    )
    .bind(event.as_str())
    .bind(instrument)
    .bind(count)
    .bind(limit)
    .execute(tx)
    .await?;
    Ok(counted.rows_affected() == 1)
}

async fn take_seats(tx: &mut PgConnection, order: &Order) -> Result<Vec<SeatVersion>, sqlx::Error> {
    let indices: Vec<i32> = order.seats.iter().map(|seat| index_to_sql(seat.index)).collect();
    sqlx::query("SELECT 1 FROM event_seats WHERE event_id = $1 AND idx = ANY($2) ORDER BY idx FOR UPDATE")
        .bind(order.event.as_str())
        .bind(&indices)
        .execute(&mut *tx)
        .await?;
    let rows = sqlx::query(
        "UPDATE event_seats
         SET status = 'sold', version = version + 1, order_id = $3, owner = $4, changed_at = clock_timestamp()
         WHERE event_id = $1 AND idx = ANY($2) AND status = 'available'
         RETURNING idx, version",
    )
    .bind(order.event.as_str())
    .bind(&indices)
    .bind(order.order_id.as_str())
    .bind(&order.identity)
    .fetch_all(tx)
    .await?;
    rows.iter().map(|row| seat_version(row, &order.order_id)).collect()
}

async fn insert_booking(
    tx: &mut PgConnection,
    order: &Order,
    booking: &BookingId,
) -> Result<(), sqlx::Error> {
    let indices: Vec<i32> = order.seats.iter().map(|seat| index_to_sql(seat.index)).collect();
    sqlx::query(
        "INSERT INTO bookings (booking_id, order_id, event_id, identity, seats, seat_ids, total, currency)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
    )
    .bind(booking.as_str())
    .bind(order.order_id.as_str())
    .bind(order.event.as_str())
    .bind(&order.identity)
    .bind(indices)
    .bind(&order.seat_ids)
    .bind(order.total.minor)
    .bind(order.total.currency.code())
    .execute(tx)
    .await?;
    Ok(())
}

/// The seats sold to an order with their versions, for repeating the sale in the hold store.
pub async fn sold_seats(
    db: &PgPool,
    event: &EventId,
    order: &OrderId,
) -> Result<Vec<SeatVersion>, sqlx::Error> {
    let rows = sqlx::query("SELECT idx, version FROM event_seats WHERE event_id = $1 AND order_id = $2")
        .bind(event.as_str())
        .bind(order.as_str())
        .fetch_all(db)
        .await?;
    rows.iter().map(|row| seat_version(row, order)).collect()
}

/// A row of `idx` and `version`.
pub fn seat_version(row: &PgRow, order: &OrderId) -> Result<SeatVersion, sqlx::Error> {
    let index: i32 = row.try_get("idx")?;
    let wrong = ImpossibleRow { table: "event_seats", column: "idx", id: order.to_string() };
    Ok(SeatVersion { index: u32::try_from(index).map_err(|_| wrong)?, version: row.try_get("version")? })
}
