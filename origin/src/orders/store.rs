//! SQL of orders: placing, finding, leasing, saving.
//!
//! `due_at` is both the time of the next look and the end of a lease: whoever leases an order moves it ahead, and
//! writes only while its own token stands in the row. A holder that died is simply found due.

use chrono::Duration;
use sqlx::{PgConnection, PgPool, Row};

use super::{
    order::Order,
    rows::{self, StateColumns},
};
use crate::{
    holds::store::index_to_sql,
    ids::{EventId, HoldId, OrderId},
    payments::IntentId,
};

/// Longer than the longest step: a confirmation may take 9 s and the hold store and two transactions 5 s each.
pub const LEASE: Duration = Duration::seconds(30);

/// Who works on an order: a random token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease(String);

impl Lease {
    /// A fresh lease.
    pub fn fresh() -> Result<Self, getrandom::Error> {
        crate::ids::random_text().map(Self)
    }
}

/// When an order is to be looked at again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// The lease goes on: the same worker does the next step now.
    Leased,
    /// Anybody, after this pause.
    After(Duration),
    /// Nothing is left to do.
    Never,
}

/// Inserts an order under a lease.
pub async fn insert(tx: &mut PgConnection, order: &Order, lease: &Lease) -> Result<(), sqlx::Error> {
    let indices: Vec<i32> = order.seats.iter().map(|seat| index_to_sql(seat.index)).collect();
    let prices: Vec<i64> = order.seats.iter().map(|seat| seat.price).collect();
    sqlx::query(
        "INSERT INTO orders (order_id, event_id, hold_id, identity, seats, prices, seat_ids, total, currency,
                             payment_method, status, due_at, lease_token, sid)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, clock_timestamp() + $12, $13, $14)",
    )
    .bind(order.order_id.as_str())
    .bind(order.event.as_str())
    .bind(order.hold.as_str())
    .bind(&order.identity)
    .bind(indices)
    .bind(prices)
    .bind(&order.seat_ids)
    .bind(order.total.minor)
    .bind(order.total.currency.code())
    .bind(&order.payment_method)
    .bind(order.state.status())
    .bind(LEASE)
    .bind(&lease.0)
    .bind(&order.sid)
    .execute(tx)
    .await?;
    Ok(())
}

/// An order, and whether somebody works on it right now.
pub async fn load(db: &PgPool, order: &OrderId) -> Result<Option<(Order, bool)>, sqlx::Error> {
    let row = sqlx::query(
        "SELECT *, lease_token IS NOT NULL AND due_at > clock_timestamp() AS leased FROM orders WHERE order_id = $1",
    )
    .bind(order.as_str())
    .fetch_optional(db)
    .await?;
    row.map(|row| Ok((rows::order(&row)?, row.try_get("leased")?))).transpose()
}

/// The order of an intent.
pub async fn find_by_intent(db: &PgPool, intent: &IntentId) -> Result<Option<Order>, sqlx::Error> {
    let row = sqlx::query("SELECT * FROM orders WHERE intent_id = $1")
        .bind(intent.as_str())
        .fetch_optional(db)
        .await?;
    row.as_ref().map(rows::order).transpose()
}

/// The order on a hold that has not failed.
pub async fn find_active(db: &PgPool, hold: &HoldId) -> Result<Option<Order>, sqlx::Error> {
    let row = sqlx::query(
        "SELECT * FROM orders WHERE hold_id = $1 AND status NOT IN ('payment_failed', 'expired', 'voided')",
    )
    .bind(hold.as_str())
    .fetch_optional(db)
    .await?;
    row.as_ref().map(rows::order).transpose()
}

/// Does the ledger know this hold as that buyer's? The hold store forgets those that are long over.
pub async fn was_held_by(
    db: &PgPool,
    event: &EventId,
    hold: &HoldId,
    identity: &str,
) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar(
        "SELECT EXISTS (SELECT 1 FROM holds WHERE hold_id = $1 AND event_id = $2 AND identity = $3)",
    )
    .bind(hold.as_str())
    .bind(event.as_str())
    .bind(identity)
    .fetch_one(db)
    .await
}

/// Leases up to `limit` orders that are due, whoever had them before.
///
/// Materialized: as an ordinary subquery it may be run once per row, and each run leases another `limit`.
pub async fn lease_due(db: &PgPool, lease: &Lease, limit: i64) -> Result<Vec<Order>, sqlx::Error> {
    let rows = sqlx::query(
        "WITH due AS MATERIALIZED (SELECT order_id FROM orders WHERE due_at <= clock_timestamp()
                                   ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED)
         UPDATE orders SET lease_token = $1, due_at = clock_timestamp() + $2
         FROM due WHERE orders.order_id = due.order_id
         RETURNING orders.*",
    )
    .bind(&lease.0)
    .bind(LEASE)
    .bind(limit)
    .fetch_all(db)
    .await?;
    rows.iter().map(rows::order).collect()
}

/// Leases one order unless somebody works on it.
pub async fn lease_one(db: &PgPool, order: &OrderId, lease: &Lease) -> Result<Option<Order>, sqlx::Error> {
    let row = sqlx::query(
        "UPDATE orders SET lease_token = $2, due_at = clock_timestamp() + $3
         WHERE order_id = $1 AND (lease_token IS NULL OR due_at <= clock_timestamp())
         RETURNING *",
    )
    .bind(order.as_str())
    .bind(&lease.0)
    .bind(LEASE)
    .fetch_optional(db)
    .await?;
    row.as_ref().map(rows::order).transpose()
}

/// Writes an order's state, if the lease is still ours. Answers whether it was.
pub async fn save(
    tx: &mut PgConnection,
    order: &Order,
    lease: &Lease,
    due: Due,
) -> Result<bool, sqlx::Error> {
    let columns = StateColumns::from(&order.state);
    let pause = match due {
        Due::Leased => Some(LEASE),
        Due::After(pause) => Some(pause),
        Due::Never => None,
    };
    let token = (due == Due::Leased).then_some(&lease.0);
    let saved = sqlx::query(
        "UPDATE orders SET status = $3, intent_id = $4, reason = $5, decline_code = $6, unknown_since = $7,
                deadline = $8, booking_id = $9, client_secret = $10, instrument = $11, claim_id = $12, tries = $13,
                due_at = clock_timestamp() + $14, lease_token = $15, updated_at = clock_timestamp()
         WHERE order_id = $1 AND lease_token = $2",
    )
    .bind(order.order_id.as_str())
    .bind(&lease.0)
    .bind(columns.status)
    .bind(columns.intent_id)
    .bind(columns.reason)
    .bind(columns.decline_code)
    .bind(columns.unknown_since)
    .bind(columns.deadline)
    .bind(columns.booking_id)
    .bind(&order.client_secret)
    .bind(&order.instrument)
    .bind(&order.claim_id)
    .bind(i32::try_from(order.tries).unwrap_or(i32::MAX))
    .bind(pause)
    .bind(token)
    .execute(tx)
    .await?;
    Ok(saved.rows_affected() == 1)
}

/// Gives a lease back after a step that got nowhere, if it is still ours. Touches no state.
pub async fn postpone(
    db: &PgPool,
    order: &OrderId,
    lease: &Lease,
    pause: Duration,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "UPDATE orders SET tries = tries + 1, due_at = clock_timestamp() + $3, lease_token = NULL
         WHERE order_id = $1 AND lease_token = $2",
    )
    .bind(order.as_str())
    .bind(&lease.0)
    .bind(pause)
    .execute(db)
    .await?;
    Ok(())
}
