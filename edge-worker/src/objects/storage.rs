//! SQLite of an object: statements in, JSON out, several writes as one transaction.
//!
//! Sets of rows go in as JSON texts (`json_each`), so a batch of joins costs two crossings and not two for each fan.
//! Rows come back as a JSON text each, or, where there may be hundreds of thousands, as a text for each page of them.
//! No text holds a whole set: the runtime's SQLite refuses one above 2.2 MB.

use js_sys::{Function, Reflect};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use worker::{SqlStorage, SqlStorageValue, State, Storage};

/// Rows that go in as one text. One of a place, the largest, is below 700 bytes (an account's identity has up to 260):
/// 700 kB.
pub(super) const ROWS_IN: usize = 1_000;
/// Rows that come back as one text, of numbers and ids only: below 50 bytes each, 500 kB.
const ROWS_OF_A_PAGE: usize = 10_000;

/// A statement that failed, or a row that is not what we wrote.
#[derive(Debug)]
pub(super) struct StorageError(String);

impl std::fmt::Display for StorageError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<worker::Error> for StorageError {
    fn from(error: worker::Error) -> Self {
        Self(error.to_string())
    }
}

impl StorageError {
    /// A row of `table` that is not what we wrote.
    pub(super) fn row(table: &str, error: &dyn std::fmt::Display) -> Self {
        Self(format!("a row of {table} makes no sense: {error}"))
    }
}

/// A statement and what it binds.
pub(super) struct Statement {
    text: &'static str,
    bindings: Vec<SqlStorageValue>,
}

impl Statement {
    /// A statement without bindings.
    pub(super) fn new(text: &'static str) -> Self {
        Self { text, bindings: Vec::new() }
    }

    /// Binds a value as JSON text.
    pub(super) fn json(mut self, value: &impl Serialize) -> Result<Self, StorageError> {
        let text = serde_json::to_string(value).map_err(|error| StorageError(error.to_string()))?;
        self.bindings.push(SqlStorageValue::String(text));
        Ok(self)
    }

    /// Binds a text.
    pub(super) fn text(mut self, value: impl Into<String>) -> Self {
        self.bindings.push(SqlStorageValue::String(value.into()));
        self
    }

    /// Binds a number; those we store stay far below 2^53.
    pub(super) fn number(mut self, value: u64) -> Self {
        self.bindings.push(SqlStorageValue::Integer(i64::try_from(value).unwrap_or(i64::MAX)));
        self
    }

    fn run(self, sql: &SqlStorage) -> Result<worker::SqlCursor, StorageError> {
        Ok(sql.exec(self.text, self.bindings)?)
    }
}

/// The value of a query that returns one row with one text; `None` if there is no row or it is null.
pub(super) fn read_text(state: &State, statement: Statement) -> Result<Option<String>, StorageError> {
    let row = statement.run(&state.storage().sql())?.raw().next().transpose()?;
    match row.and_then(|row| row.into_iter().next()) {
        Some(SqlStorageValue::String(text)) => Ok(Some(text)),
        None | Some(SqlStorageValue::Null) => Ok(None),
        Some(other) => Err(StorageError(format!("a query for a text returned {other:?}"))),
    }
}

/// Like [`read_text`], as a value of JSON.
pub(super) fn read_json<T: DeserializeOwned>(
    state: &State,
    table: &str,
    statement: Statement,
) -> Result<Option<T>, StorageError> {
    let Some(text) = read_text(state, statement)? else { return Ok(None) };
    serde_json::from_str(&text).map(Some).map_err(|error| StorageError::row(table, &error))
}

/// The rows of a query that returns one JSON text for each.
pub(super) fn read_rows<T: DeserializeOwned>(
    state: &State,
    table: &str,
    statement: Statement,
) -> Result<Vec<T>, StorageError> {
    let mut rows = Vec::new();
    for row in statement.run(&state.storage().sql())?.raw() {
        let Some(SqlStorageValue::String(text)) = row?.into_iter().next() else {
            return Err(StorageError::row(table, &"it is not a text"));
        };
        rows.push(serde_json::from_str(&text).map_err(|error| StorageError::row(table, &error))?);
    }
    Ok(rows)
}

/// The rows of a query that binds a key and a number of rows, and returns that many from that key on, in the order of
/// their keys, as one JSON text.
pub(super) fn read_pages<T: DeserializeOwned>(
    state: &State,
    table: &str,
    page: &'static str,
    key: impl Fn(&T) -> u64,
) -> Result<Vec<T>, StorageError> {
    let mut rows: Vec<T> = Vec::new();
    loop {
        let from = rows.last().map_or(0, |row| key(row).saturating_add(1));
        let statement = Statement::new(page).number(from).number(ROWS_OF_A_PAGE as u64);
        let next: Vec<T> = read_json(state, table, statement)?.unwrap_or_default();
        let more = next.len() == ROWS_OF_A_PAGE;
        rows.extend(next);
        if !more {
            return Ok(rows);
        }
    }
}

/// Whether our tables exist: an event that was never created must not leave any.
pub(super) fn has_table(state: &State, name: &str) -> Result<bool, StorageError> {
    let statement =
        Statement::new("SELECT name FROM sqlite_master WHERE type = 'table' AND name = ?").text(name);
    Ok(read_text(state, statement)?.is_some())
}

/// Runs the statements as one transaction: all or none, whatever happens between them. Nothing is awaited.
pub(super) fn transact(state: &State, statements: Vec<Statement>) -> Result<(), StorageError> {
    if statements.is_empty() {
        return Ok(());
    }
    let storage: Storage = state.storage();
    let sql = storage.sql();
    let raw: &JsValue = storage.as_raw().as_ref();
    let begin: Function = Reflect::get(raw, &"transactionSync".into())
        .and_then(JsCast::dyn_into)
        .map_err(|_| StorageError("this runtime has no transactionSync".to_owned()))?;
    let body = Closure::once_assert_unwind_safe(move || -> Result<(), JsValue> {
        for statement in statements {
            let text = statement.text;
            statement.run(&sql).map_err(|error| JsValue::from_str(&format!("{text}: {error}")))?;
        }
        Ok(())
    });
    begin
        .call1(raw, body.as_ref())
        .map(|_| ())
        .map_err(|error| StorageError(error.as_string().unwrap_or_else(|| format!("{error:?}"))))
}
