//! The ledger of holds: written behind from the change log, in batches, by whichever process comes first.
//!
//! It decides nothing and may lag. The position advances in the transaction of the rows it covers and only from the
//! value the batch was read at, so two processes never write one change twice.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use sqlx::{PgConnection, PgPool, Row};

use super::{Engine, EngineError, engine::Change};
use crate::{
    db,
    ids::{EventId, HoldId},
    seat_map::version,
};

/// A hold as the batch found it.
#[derive(Clone, Debug)]
struct New {
    identity: String,
    seats: Vec<i32>,
    total: i64,
    currency: String,
    version: u64,
    created_at: DateTime<Utc>,
}

/// What a batch knows of one hold.
#[derive(Clone, Debug, Default)]
struct Entry {
    new: Option<New>,
    status: Option<&'static str>,
    expires_at: Option<DateTime<Utc>>,
    order: Option<String>,
}

/// One step for one event. Answers how many changes it wrote.
pub async fn write_behind(engine: &Engine, db: &PgPool, event: &EventId) -> Result<usize, EngineError> {
    let position = read_position(db, event).await?;
    let (generation, sequence) = version::split(position.unwrap_or(0));
    let mut read = engine.read_map(event, sequence).await?;
    if read.generation != generation {
        read = engine.read_map(event, 0).await?;
    }
    let Some(last) = read.changes.last() else { return Ok(0) };
    let target = version::join(read.generation, last.sequence);
    if position.is_some_and(|position| target <= position) {
        return Ok(0);
    }
    let batch = Batch {
        event: event.clone(),
        from: position,
        to: target,
        generation: read.generation,
        entries: fold(read.generation, &read.changes),
    };
    let count = read.changes.len();
    let written = db::transact("write_hold_ledger", db, move |tx| {
        let batch = batch.clone();
        Box::pin(async move { batch.write(tx).await })
    })
    .await?;
    Ok(if written { count } else { 0 })
}

#[derive(Clone)]
struct Batch {
    event: EventId,
    from: Option<u64>,
    to: u64,
    generation: u64,
    entries: BTreeMap<String, Entry>,
}

/// The last word of the batch on every hold it names.
fn fold(generation: u64, changes: &[Change]) -> BTreeMap<String, Entry> {
    let mut entries: BTreeMap<String, Entry> = BTreeMap::new();
    for change in changes {
        let field = |name: &str| change.field(name).unwrap_or_default();
        let instant = |name: &str| field(name).parse().ok().and_then(DateTime::from_timestamp_millis);
        let mut set = |id: &str, status: &'static str| {
            if !id.is_empty() {
                entries.entry(id.to_owned()).or_default().status = Some(status);
            }
        };
        match field("k") {
            "hold" => {
                set(field("id"), "live");
                for replaced in field("rep").split(',') {
                    set(replaced, "replaced");
                }
                let entry = entries.entry(field("id").to_owned()).or_default();
                entry.expires_at = instant("u");
                entry.new = Some(New {
                    identity: field("by").to_owned(),
                    seats: change.held.iter().map(|index| super::store::index_to_sql(*index)).collect(),
                    total: field("tot").parse().unwrap_or(0),
                    currency: field("cur").to_owned(),
                    version: version::join(generation, change.sequence),
                    created_at: instant("made").unwrap_or_default(),
                });
            }
            "extend" => entries.entry(field("id").to_owned()).or_default().expires_at = instant("u"),
            "release" => set(field("id"), "released"),
            "expire" => field("ids").split(',').for_each(|id| set(id, "expired")),
            "claim" => {
                set(field("id"), "claimed");
                entries.entry(field("id").to_owned()).or_default().order = Some(field("o").to_owned());
            }
            "unclaim" => {
                set(field("id"), "live");
                entries.entry(field("id").to_owned()).or_default().expires_at = instant("u");
            }
            "sold" => set(field("id"), "sold"),
            _ => {}
        }
    }
    entries
}

impl Batch {
    async fn write(&self, tx: &mut PgConnection) -> Result<bool, sqlx::Error> {
        if !self.advance(tx).await? {
            return Ok(false);
        }
        let (old_generation, _) = version::split(self.from.unwrap_or(0));
        if old_generation < self.generation {
            sqlx::query(
                "UPDATE holds SET status = 'lost', changed_at = clock_timestamp()
                 WHERE event_id = $1 AND status = 'live' AND version < $2",
            )
            .bind(self.event.as_str())
            .bind(signed(version::join(self.generation, 0)))
            .execute(&mut *tx)
            .await?;
        }
        self.insert(tx).await?;
        self.update(tx).await?;
        Ok(true)
    }

    async fn advance(&self, tx: &mut PgConnection) -> Result<bool, sqlx::Error> {
        let done = sqlx::query(
            "INSERT INTO hold_ledger_positions AS p (event_id, version) VALUES ($1, $2)
             ON CONFLICT (event_id) DO UPDATE SET version = $2 WHERE p.version = $3",
        )
        .bind(self.event.as_str())
        .bind(signed(self.to))
        .bind(self.from.map(signed))
        .execute(tx)
        .await?;
        Ok(done.rows_affected() == 1)
    }

    async fn insert(&self, tx: &mut PgConnection) -> Result<(), sqlx::Error> {
        let made: Vec<(&String, &Entry, &New)> =
            self.entries.iter().filter_map(|(id, entry)| Some((id, entry, entry.new.as_ref()?))).collect();
        if made.is_empty() {
            return Ok(());
        }
        // Arrays of arrays would have to be of one length, so the seats travel as text.
        sqlx::query(
            "INSERT INTO holds (hold_id, event_id, identity, seats, total, currency, status, order_id, version,
                                created_at, expires_at)
             SELECT c.hold_id, $1, c.identity, string_to_array(c.seats, ',')::integer[], c.total, c.currency, c.status,
                    c.order_id, c.version, c.created_at, c.expires_at
             FROM UNNEST($2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::text[],
                         $9::bigint[], $10::timestamptz[], $11::timestamptz[])
                  AS c (hold_id, identity, seats, total, currency, status, order_id, version, created_at, expires_at)
             ON CONFLICT DO NOTHING",
        )
        .bind(self.event.as_str())
        .bind(made.iter().map(|(id, ..)| (*id).clone()).collect::<Vec<_>>())
        .bind(made.iter().map(|(.., new)| new.identity.clone()).collect::<Vec<_>>())
        .bind(made.iter().map(|(.., new)| seats_text(&new.seats)).collect::<Vec<_>>())
        .bind(made.iter().map(|(.., new)| new.total).collect::<Vec<_>>())
        .bind(made.iter().map(|(.., new)| new.currency.clone()).collect::<Vec<_>>())
        .bind(made.iter().map(|(_, e, _)| e.status.unwrap_or("live").to_owned()).collect::<Vec<_>>())
        .bind(made.iter().map(|(_, e, _)| e.order.clone()).collect::<Vec<_>>())
        .bind(made.iter().map(|(.., new)| signed(new.version)).collect::<Vec<_>>())
        .bind(made.iter().map(|(.., new)| new.created_at).collect::<Vec<_>>())
        .bind(made.iter().map(|(_, e, new)| e.expires_at.unwrap_or(new.created_at)).collect::<Vec<_>>())
        .execute(tx)
        .await?;
        Ok(())
    }

    async fn update(&self, tx: &mut PgConnection) -> Result<(), sqlx::Error> {
        let known: Vec<_> = self.entries.iter().filter(|(_, entry)| entry.new.is_none()).collect();
        if known.is_empty() {
            return Ok(());
        }
        sqlx::query(
            "UPDATE holds SET status = COALESCE(c.status, holds.status),
                    expires_at = COALESCE(c.expires_at, holds.expires_at),
                    order_id = COALESCE(c.order_id, holds.order_id), changed_at = clock_timestamp()
             FROM UNNEST($1::text[], $2::text[], $3::timestamptz[], $4::text[])
                  AS c (hold_id, status, expires_at, order_id)
             WHERE holds.hold_id = c.hold_id",
        )
        .bind(known.iter().map(|(id, _)| (*id).clone()).collect::<Vec<_>>())
        .bind(known.iter().map(|(_, e)| e.status.map(str::to_owned)).collect::<Vec<_>>())
        .bind(known.iter().map(|(_, e)| e.expires_at).collect::<Vec<_>>())
        .bind(known.iter().map(|(_, e)| e.order.clone()).collect::<Vec<_>>())
        .execute(tx)
        .await?;
        Ok(())
    }
}

/// What the ledger says became of that buyer's hold; none if it knows no such hold of theirs.
pub async fn status_of(
    db: &PgPool,
    event: &EventId,
    hold: &HoldId,
    identity: &str,
) -> Result<Option<String>, sqlx::Error> {
    sqlx::query_scalar("SELECT status FROM holds WHERE hold_id = $1 AND event_id = $2 AND identity = $3")
        .bind(hold.as_str())
        .bind(event.as_str())
        .bind(identity)
        .fetch_optional(db)
        .await
}

async fn read_position(db: &PgPool, event: &EventId) -> Result<Option<u64>, sqlx::Error> {
    let row = sqlx::query("SELECT version FROM hold_ledger_positions WHERE event_id = $1")
        .bind(event.as_str())
        .fetch_optional(db)
        .await?;
    row.map(|row| Ok(row.try_get::<i64, _>("version")?.unsigned_abs())).transpose()
}

fn seats_text(seats: &[i32]) -> String {
    seats.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

/// Versions stay below 2⁵³.
fn signed(version: u64) -> i64 {
    i64::try_from(version).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(sequence: u64, fields: &[(&str, &str)]) -> Change {
        let fields = fields.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        Change { sequence, held: vec![sequence as u32], fields, ..Change::default() }
    }

    #[test]
    fn the_last_word_on_a_hold_wins() {
        let entries = fold(
            1,
            &[
                change(1, &[("k", "hold"), ("id", "hold_a"), ("u", "5000"), ("made", "1000"), ("tot", "10")]),
                change(2, &[("k", "hold"), ("id", "hold_b"), ("u", "5000"), ("rep", "hold_a,hold_0")]),
                change(3, &[("k", "claim"), ("id", "hold_b"), ("o", "ord_1")]),
                change(4, &[("k", "sold"), ("id", "hold_b"), ("o", "ord_1")]),
                change(5, &[("k", "expire"), ("ids", "hold_c,hold_d")]),
            ],
        );
        let status = |id: &str| entries[id].status.unwrap();
        assert_eq!(
            [status("hold_a"), status("hold_b"), status("hold_0"), status("hold_c"), status("hold_d")],
            ["replaced", "sold", "replaced", "expired", "expired"]
        );
        assert_eq!(entries["hold_b"].order.as_deref(), Some("ord_1"));
        assert_eq!(entries["hold_a"].new.as_ref().unwrap().version, version::join(1, 1));
    }
}
