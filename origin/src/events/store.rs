//! Events in Postgres.

use sqlx::{PgConnection, PgExecutor, PgPool, Row, postgres::PgRow};

use super::event::{Event, EventStatus};
use crate::{
    db::ImpossibleRow,
    holds::{SeatVersion, store::index_to_sql},
    ids::EventId,
};

const COLUMNS: &str = "event_id, title, venue_id, starts_at, timezone, onsale_at, status, currency, hold_seconds,
    hold_max_seconds, late_grace_seconds, payment_unknown_seconds, event_ticket_limit, instrument_ticket_limit,
    orphan_rule, end_session_on_purchase, layout_id";

/// The event's row.
pub async fn load(db: impl PgExecutor<'_>, event: &EventId) -> Result<Option<Event>, sqlx::Error> {
    let sql = sqlx::AssertSqlSafe(format!("SELECT {COLUMNS} FROM events WHERE event_id = $1"));
    let row = sqlx::query(sql).bind(event.as_str()).fetch_optional(db).await?;
    row.map(|row| read(&row)).transpose()
}

/// Inserts the event; false if its id is taken.
pub async fn insert(tx: &mut PgConnection, event: &Event, hold_engine: &str) -> Result<bool, sqlx::Error> {
    let sql = sqlx::AssertSqlSafe(format!(
        "INSERT INTO events ({COLUMNS}, hold_engine)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
         ON CONFLICT (event_id) DO NOTHING"
    ));
    let done = sqlx::query(sql)
        .bind(event.event_id.as_str())
        .bind(&event.title)
        .bind(event.venue_id.as_str())
        .bind(event.starts_at)
        .bind(&event.timezone)
        .bind(event.onsale_at)
        .bind(event.status.as_str())
        .bind(&event.currency)
        .bind(small(event.hold_seconds))
        .bind(small(event.hold_max_seconds))
        .bind(small(event.late_grace_seconds))
        .bind(small(event.payment_unknown_seconds))
        .bind(small(event.event_ticket_limit))
        .bind(event.instrument_ticket_limit.map(small))
        .bind(event.orphan_rule.as_str())
        .bind(event.end_session_on_purchase)
        .bind(&event.layout_id)
        .bind(hold_engine)
        .execute(tx)
        .await?;
    Ok(done.rows_affected() == 1)
}

/// Writes the fields a PATCH may change.
pub async fn update(tx: &mut PgConnection, event: &Event) -> Result<(), sqlx::Error> {
    sqlx::query(
        "UPDATE events SET title = $2, starts_at = $3, timezone = $4, onsale_at = $5, status = $6,
                updated_at = clock_timestamp() WHERE event_id = $1",
    )
    .bind(event.event_id.as_str())
    .bind(&event.title)
    .bind(event.starts_at)
    .bind(&event.timezone)
    .bind(event.onsale_at)
    .bind(event.status.as_str())
    .execute(tx)
    .await?;
    Ok(())
}

/// The event's row, locked for a change.
pub async fn lock(tx: &mut PgConnection, event: &EventId) -> Result<Option<Event>, sqlx::Error> {
    let sql = sqlx::AssertSqlSafe(format!("SELECT {COLUMNS} FROM events WHERE event_id = $1 FOR UPDATE"));
    let row = sqlx::query(sql).bind(event.as_str()).fetch_optional(tx).await?;
    row.map(|row| read(&row)).transpose()
}

/// What a page of the catalogue is asked for.
#[derive(Debug, Default)]
pub struct PageQuery {
    /// Only events of this status.
    pub status: Option<EventStatus>,
    /// Only titles that contain this text.
    pub text: Option<String>,
    /// Only events that start at or after this wall time.
    pub from: Option<chrono::NaiveDateTime>,
    /// Only what stands behind this position.
    pub after: Option<(chrono::NaiveDateTime, String)>,
    /// Rows at most.
    pub limit: i64,
}

/// A page in order of (starts_at, event_id).
pub async fn page(db: &PgPool, query: &PageQuery) -> Result<Vec<Event>, sqlx::Error> {
    let sql = sqlx::AssertSqlSafe(format!(
        "SELECT {COLUMNS} FROM events
         WHERE ($1::text IS NULL OR status = $1)
           AND ($2::text IS NULL OR title ILIKE '%' || $2 || '%' ESCAPE '\\')
           AND ($3::timestamp IS NULL OR starts_at >= $3)
           AND ($4::timestamp IS NULL OR (starts_at, event_id) > ($4, $5))
         ORDER BY starts_at, event_id LIMIT $6"
    ));
    let text = query.text.as_ref().map(|t| t.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_"));
    let (after_time, after_id) = query.after.clone().unzip();
    let rows = sqlx::query(sql)
        .bind(query.status.map(EventStatus::as_str))
        .bind(text)
        .bind(query.from)
        .bind(after_time)
        .bind(after_id)
        .bind(query.limit)
        .fetch_all(db)
        .await?;
    rows.iter().map(read).collect()
}

/// Ids of the events whose holds need tending: those that sell, and those that still have open holds of before.
pub async fn tended(db: &PgPool) -> Result<Vec<EventId>, sqlx::Error> {
    let ids: Vec<String> = sqlx::query_scalar(
        "SELECT e.event_id FROM events e JOIN hold_generations g USING (event_id)
         WHERE e.hold_engine = 'redis' ORDER BY e.updated_at DESC LIMIT 1000",
    )
    .fetch_all(db)
    .await?;
    ids.iter().map(|id| id.parse().map_err(|_| impossible("event_id", id).into())).collect()
}

/// Lengths and limits are bounded at the border far below 2^31.
fn small(value: u32) -> i32 {
    i32::try_from(value).unwrap_or(i32::MAX)
}

fn impossible(column: &'static str, id: &str) -> ImpossibleRow {
    ImpossibleRow { table: "events", column, id: id.to_owned() }
}

fn read(row: &PgRow) -> Result<Event, sqlx::Error> {
    let id: String = row.try_get("event_id")?;
    let wrong = |column| sqlx::Error::from(impossible(column, &id));
    let text = |column| row.try_get::<String, _>(column);
    let number = |column: &'static str| -> Result<u32, sqlx::Error> {
        u32::try_from(row.try_get::<i32, _>(column)?).map_err(|_| wrong(column))
    };
    let instrument: Option<i32> = row.try_get("instrument_ticket_limit")?;
    Ok(Event {
        event_id: id.parse().map_err(|_| wrong("event_id"))?,
        title: text("title")?,
        venue_id: text("venue_id")?.parse().map_err(|_| wrong("venue_id"))?,
        starts_at: row.try_get("starts_at")?,
        timezone: text("timezone")?,
        onsale_at: row.try_get("onsale_at")?,
        status: text("status")?.parse().map_err(|()| wrong("status"))?,
        currency: text("currency")?,
        hold_seconds: number("hold_seconds")?,
        hold_max_seconds: number("hold_max_seconds")?,
        late_grace_seconds: number("late_grace_seconds")?,
        payment_unknown_seconds: number("payment_unknown_seconds")?,
        event_ticket_limit: number("event_ticket_limit")?,
        instrument_ticket_limit: instrument
            .map(|n| u32::try_from(n).map_err(|_| wrong("instrument_ticket_limit")))
            .transpose()?,
        orphan_rule: text("orphan_rule")?.parse().map_err(|()| wrong("orphan_rule"))?,
        end_session_on_purchase: row.try_get("end_session_on_purchase")?,
        layout_id: text("layout_id")?,
    })
}

/// Blocks seats that are available, all or none, in seat order.
pub async fn block_seats(
    tx: &mut PgConnection,
    event: &EventId,
    seats: &[u32],
) -> Result<Option<Vec<SeatVersion>>, sqlx::Error> {
    let indices: Vec<i32> = seats.iter().map(|index| index_to_sql(*index)).collect();
    let free: Vec<i32> = sqlx::query_scalar(
        "SELECT idx FROM event_seats WHERE event_id = $1 AND idx = ANY($2) AND status = 'available'
         ORDER BY idx FOR UPDATE",
    )
    .bind(event.as_str())
    .bind(&indices)
    .fetch_all(&mut *tx)
    .await?;
    if free.len() != seats.len() {
        return Ok(None);
    }
    let rows = sqlx::query(
        "UPDATE event_seats SET status = 'blocked', version = version + 1, changed_at = clock_timestamp()
         WHERE event_id = $1 AND idx = ANY($2) RETURNING idx, version",
    )
    .bind(event.as_str())
    .bind(&indices)
    .fetch_all(tx)
    .await?;
    rows.iter().map(read_version).collect::<Result<_, _>>().map(Some)
}

/// The seats that were sold or blocked between two ages, for a store that may have missed it; with `all_blocks`, blocked
/// ones older than that too.
pub async fn taken_seats(
    db: &PgPool,
    event: &EventId,
    (least_secs, most_secs): (i32, i32),
    all_blocks: bool,
) -> Result<Vec<ChangedSeat>, sqlx::Error> {
    let rows = sqlx::query(
        "SELECT idx, version, status, owner, order_id FROM event_seats
         WHERE event_id = $1 AND version > 0 AND status IN ('sold', 'blocked')
           AND changed_at <= clock_timestamp() - make_interval(secs => $2)
           AND (changed_at >= clock_timestamp() - make_interval(secs => $3) OR ($4 AND status = 'blocked'))",
    )
    .bind(event.as_str())
    .bind(f64::from(least_secs))
    .bind(f64::from(most_secs))
    .bind(all_blocks)
    .fetch_all(db)
    .await?;
    rows.iter()
        .map(|row| {
            Ok(ChangedSeat {
                seat: read_version(row)?,
                status: row.try_get("status")?,
                owner: row.try_get("owner")?,
                order_id: row.try_get("order_id")?,
            })
        })
        .collect()
}

/// A seat as Postgres has it.
#[derive(Debug)]
pub struct ChangedSeat {
    /// Index and version.
    pub seat: SeatVersion,
    /// `sold` or `blocked`.
    pub status: String,
    /// Who bought it.
    pub owner: Option<String>,
    /// With which order.
    pub order_id: Option<String>,
}

fn read_version(row: &PgRow) -> Result<SeatVersion, sqlx::Error> {
    let index: i32 = row.try_get("idx")?;
    let index = u32::try_from(index).map_err(|_| ImpossibleRow {
        table: "event_seats",
        column: "idx",
        id: index.to_string(),
    })?;
    Ok(SeatVersion { index, version: row.try_get("version")? })
}
