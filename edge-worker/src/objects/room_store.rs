//! The rows of a Room.

use edge_core::room::{Restored, Writes};
use edge_core::wire::{AuditEntry, Instant};
use worker::State;

use super::storage::{
    ROWS_IN, Statement, StorageError, has_table, read_json, read_rows, read_text, transact,
};

/// The audit only grows: two triggers refuse anything else.
const TABLES: [&str; 8] = [
    "CREATE TABLE IF NOT EXISTS room (id INTEGER PRIMARY KEY CHECK (id = 0), body TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS lanes (lane INTEGER PRIMARY KEY, body TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS draw (id INTEGER PRIMARY KEY CHECK (id = 0), body TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS batches (n INTEGER PRIMARY KEY, body TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS ended (sid TEXT PRIMARY KEY, heard INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS audit (id INTEGER PRIMARY KEY AUTOINCREMENT, body TEXT NOT NULL)",
    "CREATE TRIGGER IF NOT EXISTS audit_stands BEFORE UPDATE ON audit \
     BEGIN SELECT RAISE(ABORT, 'the audit only grows'); END",
    "CREATE TRIGGER IF NOT EXISTS audit_stays BEFORE DELETE ON audit \
     BEGIN SELECT RAISE(ABORT, 'the audit only grows'); END",
];

/// Makes the tables.
pub(super) fn create(state: &State) -> Result<(), StorageError> {
    transact(state, TABLES.map(Statement::new).into())
}

/// What a Room is rebuilt from; `None` if this object holds no event.
pub(super) fn load(state: &State) -> Result<Option<Restored>, StorageError> {
    if !has_table(state, "room")? {
        return Ok(None);
    }
    let memory = read_json(state, "room", Statement::new("SELECT body FROM room WHERE id = 0"))?;
    let Some(memory) = memory else { return Ok(None) };
    let ended = Statement::new("SELECT json_array(sid, heard) FROM ended ORDER BY heard");
    let ended: Vec<(String, u64)> = read_rows(state, "ended", ended)?;
    Ok(Some(Restored {
        memory,
        books: read_rows(state, "lanes", Statement::new("SELECT body FROM lanes ORDER BY lane"))?,
        transcript: read_json(state, "draw", Statement::new("SELECT body FROM draw WHERE id = 0"))?,
        ended: ended.into_iter().map(|(sid, heard)| (sid, Instant(heard))).collect(),
    }))
}

/// The text of a batch.
pub(super) fn batch(state: &State, n: u32) -> Result<Option<String>, StorageError> {
    read_text(state, Statement::new("SELECT body FROM batches WHERE n = ?").number(u64::from(n)))
}

/// The text of the draw.
pub(super) fn draw(state: &State) -> Result<Option<String>, StorageError> {
    read_text(state, Statement::new("SELECT body FROM draw WHERE id = 0"))
}

/// The audit, oldest first.
pub(super) fn audit(state: &State) -> Result<Vec<AuditEntry>, StorageError> {
    read_rows(state, "audit", Statement::new("SELECT body FROM audit ORDER BY id"))
}

/// Stores what a decision changed, as one transaction. The draw and a batch are inserted, never replaced.
pub(super) fn write(state: &State, writes: &Writes) -> Result<(), StorageError> {
    let mut statements = Vec::new();
    if let Some(transcript) = &writes.transcript {
        statements.push(Statement::new("INSERT INTO draw VALUES (0, ?)").json(transcript)?);
    }
    for batch in &writes.batches {
        let insert = Statement::new("INSERT INTO batches VALUES (?, ?)").number(u64::from(batch.n));
        statements.push(insert.json(batch)?);
    }
    for (lane, book) in &writes.books {
        let upsert = Statement::new("INSERT OR REPLACE INTO lanes VALUES (?, ?)").number(u64::from(*lane));
        statements.push(upsert.json(book)?);
    }
    for ended in writes.ended.chunks(ROWS_IN) {
        let rows: Vec<(&str, u64)> = ended.iter().map(|(sid, heard)| (sid.as_str(), heard.0)).collect();
        let insert = "INSERT OR IGNORE INTO ended SELECT value ->> 0, value ->> 1 FROM json_each(?)";
        statements.push(Statement::new(insert).json(&rows)?);
    }
    if let Some(before) = writes.forget_ended_before {
        statements.push(Statement::new("DELETE FROM ended WHERE heard < ?").number(before.0));
    }
    for entry in &writes.audit {
        statements.push(Statement::new("INSERT INTO audit (body) VALUES (?)").json(entry)?);
    }
    if let Some(memory) = &writes.memory {
        statements.push(Statement::new("INSERT OR REPLACE INTO room VALUES (0, ?)").json(memory)?);
    }
    transact(state, statements)
}
