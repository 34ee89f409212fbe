//! Postgres' side of holds: generations, the truth a rebuild starts from, and the claims of unfinished orders.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use sqlx::{PgConnection, PgPool, Row, postgres::PgRow};

use crate::{
    db::ImpossibleRow,
    holds::{HeldSeat, Hold, SeatVersion},
    ids::{EventId, HoldId, OrderId},
};

/// A rebuild that takes longer than this is taken for dead and another may start: filling 100,000 seats takes about
/// a second. One that fails gives the lease back at once.
const REBUILD_LEASE: &str = "5 seconds";

/// The generation Postgres recorded.
#[derive(Clone, Debug)]
pub(crate) struct GenerationRow {
    pub(crate) generation: u64,
    pub(crate) run_id: String,
    pub(crate) ready: bool,
}

pub(crate) async fn generation(db: &PgPool, event: &EventId) -> Result<Option<GenerationRow>, sqlx::Error> {
    let row = sqlx::query("SELECT generation, run_id, ready FROM hold_generations WHERE event_id = $1")
        .bind(event.as_str())
        .fetch_optional(db)
        .await?;
    row.map(|row| {
        let generation =
            unsigned(row.try_get("generation")?, "hold_generations", "generation", event.as_str())?;
        Ok(GenerationRow { generation, run_id: row.try_get("run_id")?, ready: row.try_get("ready")? })
    })
    .transpose()
}

/// Takes the next generation and the lease to fill it; none if somebody else did since `seen`, or is at it.
///
/// `seen` must have been read before Redis was looked at: then a generation that was opened in between is never taken
/// for one that was lost.
pub(crate) async fn raise_generation(
    db: &PgPool,
    event: &EventId,
    run_id: &str,
    seen: Option<&GenerationRow>,
    at_least: u64,
) -> Result<Option<u64>, sqlx::Error> {
    let at_least = i64::try_from(at_least).unwrap_or(i64::MAX);
    let row = sqlx::query(
        "INSERT INTO hold_generations AS g (event_id, generation, run_id, ready, rebuild_until)
         VALUES ($1, $3 + 1, $2, false, clock_timestamp() + $4::interval)
         ON CONFLICT (event_id) DO UPDATE
            SET generation = GREATEST(g.generation, $3) + 1, run_id = EXCLUDED.run_id, ready = false,
                rebuild_until = EXCLUDED.rebuild_until
            WHERE g.generation = $5 AND (($6 AND g.ready) OR g.rebuild_until < clock_timestamp())
         RETURNING generation",
    )
    .bind(event.as_str())
    .bind(run_id)
    .bind(at_least)
    .bind(REBUILD_LEASE)
    .bind(seen.map(|row| i64::try_from(row.generation).unwrap_or(i64::MAX)))
    .bind(seen.is_some_and(|row| row.ready))
    .fetch_optional(db)
    .await?;
    row.map(|row| unsigned(row.try_get("generation")?, "hold_generations", "generation", event.as_str()))
        .transpose()
}

/// Gives back the lease of a rebuild that failed, so that the next request may try again.
pub(crate) async fn give_up_rebuild(
    db: &PgPool,
    event: &EventId,
    generation: u64,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "UPDATE hold_generations SET rebuild_until = clock_timestamp()
         WHERE event_id = $1 AND generation = $2 AND NOT ready",
    )
    .bind(event.as_str())
    .bind(i64::try_from(generation).unwrap_or(i64::MAX))
    .execute(db)
    .await?;
    Ok(())
}

pub(crate) async fn mark_ready(db: &PgPool, event: &EventId, generation: u64) -> Result<(), sqlx::Error> {
    sqlx::query(
        "UPDATE hold_generations SET ready = true, rebuild_until = NULL WHERE event_id = $1 AND generation = $2",
    )
    .bind(event.as_str())
    .bind(i64::try_from(generation).unwrap_or(i64::MAX))
    .execute(db)
    .await?;
    Ok(())
}

/// What Postgres says of one seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeatStatus {
    /// For sale.
    Available,
    /// Sold.
    Sold,
    /// Kept back by the operator.
    Blocked,
}

/// A seat that was ever sold or blocked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TakenSeat {
    pub(crate) index: u32,
    pub(crate) status: SeatStatus,
    pub(crate) version: i64,
}

/// An unfinished order's claim on seats.
#[derive(Clone, Debug)]
pub(crate) struct OpenClaim {
    pub(crate) order: OrderId,
    pub(crate) hold: HoldId,
    pub(crate) identity: String,
    pub(crate) seats: Vec<HeldSeat>,
    pub(crate) currency: String,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) expires_at: DateTime<Utc>,
    pub(crate) max_expires_at: DateTime<Utc>,
}

/// Everything a rebuild needs, of one moment.
#[derive(Debug, Default)]
pub(crate) struct Truth {
    pub(crate) seats: u32,
    pub(crate) taken: Vec<TakenSeat>,
    pub(crate) bought: Vec<(String, i64)>,
    pub(crate) claims: Vec<OpenClaim>,
}

pub(crate) async fn read_truth(db: &PgPool, event: &EventId) -> Result<Truth, sqlx::Error> {
    let mut tx = db.begin().await?;
    sqlx::query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY").execute(&mut *tx).await?;
    let id = event.as_str();
    let seats: i64 = sqlx::query_scalar("SELECT count(*) FROM event_seats WHERE event_id = $1")
        .bind(id)
        .fetch_one(&mut *tx)
        .await?;
    let taken =
        sqlx::query("SELECT idx, status, version FROM event_seats WHERE event_id = $1 AND version > 0")
            .bind(id)
            .fetch_all(&mut *tx)
            .await?;
    let bought = sqlx::query(
        "SELECT owner, count(*) AS bought FROM event_seats WHERE event_id = $1 AND status = 'sold' GROUP BY owner",
    )
    .bind(id)
    .fetch_all(&mut *tx)
    .await?;
    let claims = sqlx::query("SELECT * FROM hold_claims WHERE event_id = $1 ORDER BY claimed_at, order_id")
        .bind(id)
        .fetch_all(&mut *tx)
        .await?;
    tx.commit().await?;
    Ok(Truth {
        seats: u32::try_from(seats).unwrap_or(u32::MAX),
        taken: taken.iter().map(|row| read_seat(row, id)).collect::<Result<_, _>>()?,
        bought: bought
            .iter()
            .map(|row| Ok((row.try_get("owner")?, row.try_get("bought")?)))
            .collect::<Result<_, sqlx::Error>>()?,
        claims: claims.iter().map(read_claim).collect::<Result<_, _>>()?,
    })
}

/// Records, in the order's own transaction, that the order is about to claim the hold. A rebuild of the hold store
/// gives the seats back to every order that has such a row.
pub async fn insert_claim(tx: &mut PgConnection, order: &OrderId, hold: &Hold) -> Result<(), sqlx::Error> {
    let indices: Vec<i32> = hold.seats.iter().map(|seat| index_to_sql(seat.index)).collect();
    let prices: Vec<i64> = hold.seats.iter().map(|seat| seat.price).collect();
    sqlx::query(
        "INSERT INTO hold_claims
             (order_id, event_id, hold_id, identity, seats, prices, currency, created_at, expires_at, max_expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
    )
    .bind(order.as_str())
    .bind(hold.event.as_str())
    .bind(hold.hold_id.as_str())
    .bind(&hold.identity)
    .bind(indices)
    .bind(prices)
    .bind(&hold.currency)
    .bind(hold.created_at)
    .bind(hold.expires_at)
    .bind(hold.max_expires_at)
    .execute(tx)
    .await?;
    Ok(())
}

/// Forgets the claim, in the transaction that makes the order final (sold, failed, expired).
pub async fn drop_claim(tx: &mut PgConnection, order: &OrderId) -> Result<(), sqlx::Error> {
    sqlx::query("DELETE FROM hold_claims WHERE order_id = $1").bind(order.as_str()).execute(tx).await?;
    Ok(())
}

/// Orders of the event that have not ended.
pub(crate) async fn open_claims(db: &PgPool, event: &EventId) -> Result<HashSet<String>, sqlx::Error> {
    let orders: Vec<String> = sqlx::query_scalar("SELECT order_id FROM hold_claims WHERE event_id = $1")
        .bind(event.as_str())
        .fetch_all(db)
        .await?;
    Ok(orders.into_iter().collect())
}

/// The seats an order bought and still has.
pub(crate) async fn seats_of_order(
    db: &PgPool,
    event: &EventId,
    order: &OrderId,
) -> Result<Vec<SeatVersion>, sqlx::Error> {
    let rows = sqlx::query("SELECT idx, version FROM event_seats WHERE event_id = $1 AND order_id = $2")
        .bind(event.as_str())
        .bind(order.as_str())
        .fetch_all(db)
        .await?;
    rows.iter()
        .map(|row| {
            let index = seat_index(row.try_get("idx")?, event.as_str())?;
            Ok(SeatVersion { index, version: row.try_get("version")? })
        })
        .collect()
}

/// Seat indices are stored as `integer`; a plan has far fewer than 2^31 seats.
pub fn index_to_sql(index: u32) -> i32 {
    i32::try_from(index).unwrap_or(i32::MAX)
}

fn read_seat(row: &PgRow, event: &str) -> Result<TakenSeat, sqlx::Error> {
    let index: i32 = row.try_get("idx")?;
    let status: String = row.try_get("status")?;
    let status = match status.as_str() {
        "available" => SeatStatus::Available,
        "sold" => SeatStatus::Sold,
        "blocked" => SeatStatus::Blocked,
        _ => return Err(impossible("event_seats", "status", event).into()),
    };
    Ok(TakenSeat { index: seat_index(index, event)?, status, version: row.try_get("version")? })
}

fn read_claim(row: &PgRow) -> Result<OpenClaim, sqlx::Error> {
    let order: String = row.try_get("order_id")?;
    let hold: String = row.try_get("hold_id")?;
    let indices: Vec<i32> = row.try_get("seats")?;
    let prices: Vec<i64> = row.try_get("prices")?;
    if indices.len() != prices.len() {
        return Err(impossible("hold_claims", "prices", &order).into());
    }
    let seats = indices.into_iter().zip(prices);
    Ok(OpenClaim {
        hold: hold.parse().map_err(|_| impossible("hold_claims", "hold_id", &order))?,
        identity: row.try_get("identity")?,
        seats: seats
            .map(|(index, price)| Ok(HeldSeat { index: seat_index(index, &order)?, price }))
            .collect::<Result<_, sqlx::Error>>()?,
        currency: row.try_get("currency")?,
        created_at: row.try_get("created_at")?,
        expires_at: row.try_get("expires_at")?,
        max_expires_at: row.try_get("max_expires_at")?,
        order: order.parse().map_err(|_| impossible("hold_claims", "order_id", &order))?,
    })
}

fn impossible(table: &'static str, column: &'static str, id: &str) -> ImpossibleRow {
    ImpossibleRow { table, column, id: id.to_owned() }
}

fn seat_index(index: i32, id: &str) -> Result<u32, sqlx::Error> {
    u32::try_from(index).map_err(|_| impossible("event_seats", "idx", id).into())
}

fn unsigned(value: i64, table: &'static str, column: &'static str, id: &str) -> Result<u64, sqlx::Error> {
    u64::try_from(value).map_err(|_| impossible(table, column, id).into())
}
