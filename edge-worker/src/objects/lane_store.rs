//! The rows of a lane.

use std::collections::HashMap;

use edge_core::lane::{Entry, Found, Needs, Restored, SealRow, State as PlaceState, Writes, seal_of};
use edge_core::wire::{Ended, Instant, Slot};
use worker::State;

use super::storage::{
    ROWS_IN, Statement, StorageError, has_table, read_json, read_pages, read_rows, transact,
};

/// `late` and `slot` name the place; (identity, visit) is unique, so one identity cannot have a second place beside a
/// live one. `detail` is the token's or the session's content.
const TABLES: [&str; 5] = [
    "CREATE TABLE IF NOT EXISTS lane (id INTEGER PRIMARY KEY CHECK (id = 0), body TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS places (late INTEGER NOT NULL, slot INTEGER NOT NULL, batch INTEGER NOT NULL, \
     identity TEXT NOT NULL, visit INTEGER NOT NULL, jti TEXT NOT NULL, jkt TEXT, demoted INTEGER NOT NULL, \
     joined_at INTEGER NOT NULL, state TEXT NOT NULL, detail TEXT, \
     PRIMARY KEY (late, slot), UNIQUE (identity, visit)) WITHOUT ROWID",
    "CREATE INDEX IF NOT EXISTS places_hot ON places (state) WHERE state IN ('issued', 'active')",
    "CREATE INDEX IF NOT EXISTS places_demoted ON places (late, slot) WHERE demoted = 1",
    "CREATE TABLE IF NOT EXISTS ended (seq INTEGER PRIMARY KEY, sid TEXT NOT NULL, at INTEGER NOT NULL)",
];

macro_rules! select_places {
    ($tail:literal) => {
        concat!(
            "SELECT json_array(late, slot, batch, identity, visit, jti, jkt, demoted, joined_at, state, ",
            "json(detail)) FROM places ",
            $tail
        )
    };
}

/// A row as SQLite hands it out.
type Row = (u8, u32, u32, String, u32, String, Option<String>, u8, u64, String, Option<serde_json::Value>);

fn entry_of(row: Row) -> Result<Entry, StorageError> {
    let (late, slot, batch, identity, visit, jti, jkt, demoted, joined_at, state, detail) = row;
    let slot = Slot { late: late != 0, slot };
    let state = match (state.as_str(), detail) {
        ("waiting", None) => PlaceState::Waiting,
        ("issued", Some(detail)) => PlaceState::Issued(of_detail(slot, detail)?),
        ("active", Some(detail)) => PlaceState::Active(of_detail(slot, detail)?),
        ("spent", None) => PlaceState::Spent,
        (other, _) => return Err(StorageError::row("places", &format!("{slot:?} is {other}"))),
    };
    let joined_at = Instant(joined_at);
    Ok(Entry { slot, batch, identity, visit, jti, jkt, demoted: demoted != 0, joined_at, state })
}

fn of_detail<T: serde::de::DeserializeOwned>(
    slot: Slot,
    detail: serde_json::Value,
) -> Result<T, StorageError> {
    serde_json::from_value(detail).map_err(|error| StorageError::row("places", &format!("{slot:?}: {error}")))
}

fn row_of(entry: &Entry) -> Result<Row, StorageError> {
    let json = |value: serde_json::Result<serde_json::Value>| {
        value.map(Some).map_err(|error| StorageError::row("places", &error))
    };
    let (state, detail) = match &entry.state {
        PlaceState::Waiting => ("waiting", None),
        PlaceState::Issued(issued) => ("issued", json(serde_json::to_value(issued))?),
        PlaceState::Active(active) => ("active", json(serde_json::to_value(active))?),
        PlaceState::Spent => ("spent", None),
    };
    Ok((
        u8::from(entry.slot.late),
        entry.slot.slot,
        entry.batch,
        entry.identity.clone(),
        entry.visit,
        entry.jti.clone(),
        entry.jkt.clone(),
        u8::from(entry.demoted),
        entry.joined_at.0,
        state.to_owned(),
        detail,
    ))
}

/// Makes the tables.
pub(super) fn create(state: &State) -> Result<(), StorageError> {
    transact(state, TABLES.map(Statement::new).into())
}

/// What a lane is rebuilt from; `None` if this object holds none.
pub(super) fn load(state: &State) -> Result<Option<Restored>, StorageError> {
    if !has_table(state, "lane")? {
        return Ok(None);
    }
    let memory = read_json(state, "lane", Statement::new("SELECT body FROM lane WHERE id = 0"))?;
    let Some(memory) = memory else { return Ok(None) };
    let next = |late: u64| -> Result<u64, StorageError> {
        let statement =
            Statement::new("SELECT json_array(max(slot)) FROM places WHERE late = ?").number(late);
        let highest: Option<[Option<u64>; 1]> = read_json(state, "places", statement)?;
        Ok(highest.and_then(|[slot]| slot).map_or(0, |slot| slot.saturating_add(1)))
    };
    let demoted = "SELECT json_group_array(slot) FROM (SELECT slot FROM places \
                   WHERE late = 1 AND demoted = 1 AND slot >= ? ORDER BY slot LIMIT ?)";
    let ended = Statement::new("SELECT json_array(seq, sid, at) FROM ended ORDER BY seq");
    let ended: Vec<(u64, String, u64)> = read_rows(state, "ended", ended)?;
    Ok(Some(Restored {
        memory,
        hot: places(state, Statement::new(select_places!("WHERE state IN ('issued', 'active')")))?,
        joined: next(0)?,
        joined_late: next(1)?,
        late_demoted: read_pages(state, "places", demoted, |slot: &u32| u64::from(*slot))?,
        ended: ended.into_iter().map(|(seq, sid, at)| Ended { seq, sid, at: Instant(at) }).collect(),
    }))
}

fn places(state: &State, statement: Statement) -> Result<Vec<Entry>, StorageError> {
    let rows: Vec<Row> = read_rows(state, "places", statement)?;
    rows.into_iter().map(entry_of).collect()
}

/// The last place of each identity that has one.
pub(super) fn last_of(state: &State, identities: &[&str]) -> Result<HashMap<String, Entry>, StorageError> {
    let mut found = Vec::new();
    for wanted in identities.chunks(ROWS_IN) {
        let statement = Statement::new(select_places!(
            "JOIN (SELECT value AS wanted FROM json_each(?)) ON identity = wanted"
        ));
        found.extend(places(state, statement.json(&wanted)?)?);
    }
    // Ascending visits: the last insertion of an identity is its last place.
    found.sort_by_key(|entry| entry.visit);
    Ok(found.into_iter().map(|entry| (entry.identity.clone(), entry)).collect())
}

/// Removes everything of an incarnation that was replaced.
pub(super) fn clear(state: &State) -> Result<(), StorageError> {
    let tables = ["DELETE FROM places", "DELETE FROM ended", "DELETE FROM lane"];
    transact(state, tables.map(Statement::new).into())
}

/// What a tick needs. Ids are the caller's to add.
pub(super) fn find(state: &State, needs: &Needs) -> Result<Found, StorageError> {
    let mut entries = Vec::new();
    for slots in needs.slots.chunks(ROWS_IN) {
        let statement = Statement::new(select_places!(
            "JOIN (SELECT value ->> 0 AS l, value ->> 1 AS s FROM json_each(?)) ON late = l AND slot = s"
        ));
        entries.extend(places(state, statement.json(&slots)?)?);
    }
    let seal = if needs.seal {
        let page = "SELECT json_group_array(json_array(slot, jti, demoted)) FROM \
                    (SELECT slot, jti, demoted FROM places WHERE late = 0 AND slot >= ? ORDER BY slot LIMIT ?)";
        let rows = read_pages(state, "places", page, |row: &(u32, String, u8)| u64::from(row.0))?;
        Some(seal_of(rows.into_iter().map(|(_, jti, demoted)| SealRow { jti, demoted: demoted != 0 })))
    } else {
        None
    };
    Ok(Found {
        entries: entries.into_iter().map(|entry| (entry.slot, entry)).collect(),
        seal,
        fresh_ids: Vec::new(),
    })
}

/// Stores what a decision changed, as one transaction.
pub(super) fn write(state: &State, writes: &Writes) -> Result<(), StorageError> {
    let mut statements = Vec::new();
    for entries in writes.entries.chunks(ROWS_IN) {
        let rows: Vec<Row> = entries.iter().map(row_of).collect::<Result<_, _>>()?;
        let upsert = "INSERT INTO places SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, \
                      value ->> 5, value ->> 6, value ->> 7, value ->> 8, value ->> 9, value -> 10 ->> '$' \
                      FROM json_each(?) WHERE true ON CONFLICT (late, slot) DO UPDATE SET jkt = excluded.jkt, \
                      state = excluded.state, detail = excluded.detail";
        statements.push(Statement::new(upsert).json(&rows)?);
    }
    for ended in writes.ended.chunks(ROWS_IN) {
        let rows: Vec<(u64, &str, u64)> = ended.iter().map(|e| (e.seq, e.sid.as_str(), e.at.0)).collect();
        let insert = "INSERT INTO ended SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?)";
        statements.push(Statement::new(insert).json(&rows)?);
    }
    if let Some(seq) = writes.forget_ended {
        statements.push(Statement::new("DELETE FROM ended WHERE seq <= ?").number(seq));
    }
    if let Some(memory) = &writes.memory {
        statements.push(Statement::new("INSERT OR REPLACE INTO lane VALUES (0, ?)").json(memory)?);
    }
    transact(state, statements)
}
