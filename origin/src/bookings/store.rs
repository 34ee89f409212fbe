//! SQL of bookings and refunds.

use sqlx::{PgConnection, PgPool, Row, postgres::PgRow};

use super::{
    booking::{Booking, BookingStatus},
    cursor::Cursor,
};
use crate::{
    db::ImpossibleRow,
    holds::SeatVersion,
    ids::{BookingId, OrderId},
    orders::{Order, sale::seat_version},
};

/// A buyer's booking.
pub async fn load(db: &PgPool, booking: &BookingId) -> Result<Option<Booking>, sqlx::Error> {
    let row = sqlx::query("SELECT * FROM bookings WHERE booking_id = $1")
        .bind(booking.as_str())
        .fetch_optional(db)
        .await?;
    row.as_ref().map(read).transpose()
}

/// A page of a buyer's bookings, newest first.
pub async fn page(
    db: &PgPool,
    identity: &str,
    after: Option<&Cursor>,
    limit: i64,
) -> Result<Vec<Booking>, sqlx::Error> {
    let rows = sqlx::query(
        "SELECT * FROM bookings
         WHERE identity = $1 AND ($2::timestamptz IS NULL OR (created_at, booking_id) < ($2, $3))
         ORDER BY created_at DESC, booking_id DESC LIMIT $4",
    )
    .bind(identity)
    .bind(after.map(|cursor| cursor.created_at))
    .bind(after.map(|cursor| cursor.booking.as_str()))
    .bind(limit)
    .fetch_all(db)
    .await?;
    rows.iter().map(read).collect()
}

/// Frees the seats of a captured order, counts them off its buyer, and records that the money is to go back.
pub async fn cancel(
    tx: &mut PgConnection,
    order: &Order,
    booking: &BookingId,
    refund_id: &str,
) -> Result<(), sqlx::Error> {
    let count = i32::try_from(order.seats.len()).unwrap_or(i32::MAX);
    sqlx::query("UPDATE buyers SET bought = bought - $3 WHERE event_id = $1 AND identity = $2")
        .bind(order.event.as_str())
        .bind(&order.identity)
        .bind(count)
        .execute(&mut *tx)
        .await?;
    // An order whose card was not counted, for want of a limit then, counts nothing off now.
    sqlx::query(
        "UPDATE instruments SET bought = GREATEST(bought - $3, 0) WHERE event_id = $1 AND fingerprint = $2",
    )
    .bind(order.event.as_str())
    .bind(&order.instrument)
    .bind(count)
    .execute(&mut *tx)
    .await?;
    let freed = free_seats(tx, order).await?;
    sqlx::query(
        "UPDATE bookings SET status = 'refund_pending', seats = $2, freed = $3, updated_at = clock_timestamp()
         WHERE booking_id = $1",
    )
    .bind(booking.as_str())
    .bind(freed.iter().map(|seat| crate::holds::store::index_to_sql(seat.index)).collect::<Vec<_>>())
    .bind(freed.iter().map(|seat| seat.version).collect::<Vec<_>>())
    .execute(&mut *tx)
    .await?;
    sqlx::query(
        "INSERT INTO refunds (refund_id, order_id, booking_id, amount, currency) VALUES ($1, $2, $3, $4, $5)",
    )
    .bind(refund_id)
    .bind(order.order_id.as_str())
    .bind(booking.as_str())
    .bind(order.total.minor)
    .bind(order.total.currency.code())
    .execute(tx)
    .await?;
    Ok(())
}

async fn free_seats(tx: &mut PgConnection, order: &Order) -> Result<Vec<SeatVersion>, sqlx::Error> {
    let rows = sqlx::query(
        "UPDATE event_seats
         SET status = 'available', version = version + 1, order_id = NULL, owner = NULL,
             changed_at = clock_timestamp()
         WHERE event_id = $1 AND idx IN (SELECT idx FROM event_seats WHERE event_id = $1 AND order_id = $2
                                         ORDER BY idx FOR UPDATE)
         RETURNING idx, version",
    )
    .bind(order.event.as_str())
    .bind(order.order_id.as_str())
    .fetch_all(tx)
    .await?;
    rows.iter().map(|row| seat_version(row, &order.order_id)).collect()
}

/// The seats a canceled order gave back, with their versions then.
pub async fn freed_seats(db: &PgPool, order: &OrderId) -> Result<Vec<SeatVersion>, sqlx::Error> {
    let rows = sqlx::query(
        "SELECT t.idx, t.version FROM bookings b, unnest(b.seats, b.freed) AS t (idx, version)
         WHERE b.order_id = $1 AND b.freed IS NOT NULL",
    )
    .bind(order.as_str())
    .fetch_all(db)
    .await?;
    rows.iter().map(|row| seat_version(row, order)).collect()
}

/// The refund of a booking that is still to be sent or heard of.
pub async fn open_refund(db: &PgPool, booking: &BookingId) -> Result<Option<String>, sqlx::Error> {
    sqlx::query_scalar("SELECT refund_id FROM refunds WHERE booking_id = $1 AND status = 'pending'")
        .bind(booking.as_str())
        .fetch_optional(db)
        .await
}

/// Records what became of a refund.
pub async fn finish_refund(
    tx: &mut PgConnection,
    booking: &BookingId,
    refund_id: &str,
    provider_id: &str,
    succeeded: bool,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "UPDATE refunds SET status = $2, provider_id = $3, updated_at = clock_timestamp() WHERE refund_id = $1",
    )
    .bind(refund_id)
    .bind(if succeeded { "succeeded" } else { "failed" })
    .bind(provider_id)
    .execute(&mut *tx)
    .await?;
    if succeeded {
        sqlx::query(
            "UPDATE bookings SET status = 'refunded', updated_at = clock_timestamp() WHERE booking_id = $1",
        )
        .bind(booking.as_str())
        .execute(tx)
        .await?;
    }
    Ok(())
}

fn read(row: &PgRow) -> Result<Booking, sqlx::Error> {
    let id: String = row.try_get("booking_id")?;
    let wrong = |column| ImpossibleRow { table: "bookings", column, id: id.clone() };
    let status: String = row.try_get("status")?;
    Ok(Booking {
        order_id: row.try_get::<String, _>("order_id")?.parse().map_err(|_| wrong("order_id"))?,
        event: row.try_get::<String, _>("event_id")?.parse().map_err(|_| wrong("event_id"))?,
        identity: row.try_get("identity")?,
        seat_ids: row.try_get("seat_ids")?,
        total: row.try_get("total")?,
        currency: row.try_get("currency")?,
        status: status.parse::<BookingStatus>().map_err(|()| wrong("status"))?,
        created_at: row.try_get("created_at")?,
        booking_id: id.parse().map_err(|_| wrong("booking_id"))?,
    })
}
