//! SQL of the invariants, all of one snapshot.

use chrono::{DateTime, Utc};
use sqlx::{PgConnection, PgPool, Row};

use super::check::{Ledger, Money};
use crate::ids::EventId;

/// Each answers ids that break a rule, with the rule's words.
const FAULTS: [(&str, &str); 7] = [
    (
        "seats in two live bookings",
        "SELECT idx::text FROM bookings b, unnest(b.seats) AS idx WHERE event_id = $1 AND status = 'confirmed'
         GROUP BY idx HAVING count(*) > 1",
    ),
    (
        "sold seats without a live booking of their order",
        "SELECT s.idx::text FROM event_seats s WHERE s.event_id = $1 AND s.status = 'sold' AND NOT EXISTS (
             SELECT 1 FROM bookings b
             WHERE b.order_id = s.order_id AND b.status = 'confirmed' AND s.idx = ANY (b.seats))",
    ),
    (
        "bookings whose seats are not sold to them",
        "SELECT b.booking_id FROM bookings b, unnest(b.seats) AS booked(idx)
         LEFT JOIN event_seats s ON s.event_id = $1 AND s.idx = booked.idx AND s.status = 'sold'
         WHERE b.event_id = $1 AND b.status = 'confirmed' AND s.order_id IS DISTINCT FROM b.order_id",
    ),
    (
        "confirmed bookings without a sold order",
        "SELECT b.booking_id FROM bookings b JOIN orders o USING (order_id)
         WHERE b.event_id = $1 AND b.status = 'confirmed'
           AND (o.status NOT IN ('confirmed', 'captured', 'claim') OR o.booking_id IS DISTINCT FROM b.booking_id)",
    ),
    (
        "sold orders without a booking",
        "SELECT o.order_id FROM orders o LEFT JOIN bookings b USING (order_id)
         WHERE o.event_id = $1 AND o.status IN ('confirmed', 'captured') AND b.status IS DISTINCT FROM 'confirmed'",
    ),
    (
        "buyers above the ticket limit",
        "SELECT s.owner FROM event_seats s JOIN events e USING (event_id)
         WHERE s.event_id = $1 AND s.status = 'sold' GROUP BY s.owner, e.event_ticket_limit
         HAVING count(*) > e.event_ticket_limit",
    ),
    (
        "unfinished orders without a next step",
        "SELECT order_id FROM orders WHERE event_id = $1 AND due_at IS NULL
           AND status NOT IN ('captured', 'payment_failed', 'expired', 'voided', 'refunded', 'refund_failed')",
    ),
];

/// Ids named in a breach.
const NAMED: usize = 5;

/// Everything Postgres says of an event; none if there is no such event.
pub(super) async fn read(db: &PgPool, event: &EventId) -> Result<Option<Ledger>, sqlx::Error> {
    let mut tx = db.begin().await?;
    sqlx::query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY").execute(&mut *tx).await?;
    let Some(money) = money(&mut tx, event).await? else { return Ok(None) };
    let seats = sqlx::query(
        "SELECT count(*) AS capacity,
                COALESCE(array_agg(idx) FILTER (WHERE status = 'sold'), '{}') AS sold,
                COALESCE(array_agg(idx) FILTER (WHERE status = 'blocked'), '{}') AS blocked
         FROM event_seats WHERE event_id = $1",
    )
    .bind(event.as_str())
    .fetch_one(&mut *tx)
    .await?;
    let mut faults = Vec::new();
    for (words, query) in FAULTS {
        let ids: Vec<String> = sqlx::query_scalar(query).bind(event.as_str()).fetch_all(&mut *tx).await?;
        if !ids.is_empty() {
            let named: Vec<&str> = ids.iter().take(NAMED).map(String::as_str).collect();
            faults.push(format!("{} {words}: {}", ids.len(), named.join(", ")));
        }
    }
    tx.commit().await?;
    let indices = |column: &str| -> Result<Vec<u32>, sqlx::Error> {
        let stored: Vec<i32> = seats.try_get(column)?;
        Ok(stored.into_iter().filter_map(|index| u32::try_from(index).ok()).collect())
    };
    let capacity: i64 = seats.try_get("capacity")?;
    Ok(Some(Ledger {
        capacity: u32::try_from(capacity).unwrap_or(u32::MAX),
        sold: indices("sold")?,
        blocked: indices("blocked")?,
        faults,
        money,
    }))
}

async fn money(tx: &mut PgConnection, event: &EventId) -> Result<Option<Money>, sqlx::Error> {
    let row = sqlx::query(
        "SELECT e.currency,
            COALESCE(sum(o.total) FILTER (WHERE o.status IN ('captured', 'refund_pending', 'refund_failed')), 0)::bigint
                AS captured,
            COALESCE(sum(o.total) FILTER (WHERE o.status = 'confirmed'
                OR (o.status = 'claim' AND o.booking_id IS NOT NULL)), 0)::bigint AS to_capture,
            COALESCE(sum(o.total) FILTER (WHERE o.status IN ('refund_pending', 'refund_failed')), 0)::bigint
                AS refund_pending,
            COALESCE(sum(o.total) FILTER (WHERE o.status = 'refunded'), 0)::bigint AS refunded,
            count(*) FILTER (WHERE o.status IN ('payment_pending', 'requires_action', 'payment_unknown', 'authorized'))
                AS open_orders,
            count(*) FILTER (WHERE o.status = 'payment_unknown') AS unknown_orders,
            (SELECT COALESCE(sum(total), 0)::bigint FROM bookings WHERE event_id = $1 AND status = 'confirmed')
                AS booked,
            (SELECT count(*) FROM support_claims WHERE event_id = $1 AND status = 'open') AS open_claims
         FROM events e LEFT JOIN orders o ON o.event_id = e.event_id
         WHERE e.event_id = $1 GROUP BY e.event_id",
    )
    .bind(event.as_str())
    .fetch_optional(tx)
    .await?;
    row.map(|row| {
        Ok(Money {
            currency: row.try_get("currency")?,
            captured: row.try_get("captured")?,
            booked: row.try_get("booked")?,
            refund_pending: row.try_get("refund_pending")?,
            refunded: row.try_get("refunded")?,
            to_capture: row.try_get("to_capture")?,
            open_orders: row.try_get("open_orders")?,
            unknown_orders: row.try_get("unknown_orders")?,
            open_claims: row.try_get("open_claims")?,
        })
    })
    .transpose()
}

/// A claim for support.
#[derive(Clone, Debug)]
pub(super) struct SupportClaim {
    pub(super) claim_id: String,
    pub(super) order_id: String,
    pub(super) event_id: String,
    pub(super) amount: i64,
    pub(super) currency: String,
    pub(super) payment_ref: String,
    pub(super) reason: String,
    pub(super) created_at: DateTime<Utc>,
}

/// The oldest open claims.
pub(super) async fn open_claims(db: &PgPool, limit: i64) -> Result<Vec<SupportClaim>, sqlx::Error> {
    let rows = sqlx::query(
        "SELECT * FROM support_claims WHERE status = 'open' ORDER BY created_at, claim_id LIMIT $1",
    )
    .bind(limit)
    .fetch_all(db)
    .await?;
    rows.iter()
        .map(|row| {
            Ok(SupportClaim {
                claim_id: row.try_get("claim_id")?,
                order_id: row.try_get("order_id")?,
                event_id: row.try_get("event_id")?,
                amount: row.try_get("amount")?,
                currency: row.try_get("currency")?,
                payment_ref: row.try_get("intent_id")?,
                reason: row.try_get("reason")?,
                created_at: row.try_get("created_at")?,
            })
        })
        .collect()
}
