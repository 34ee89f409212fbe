//! SQLite of an object: statements in, JSON out, several writes as one transaction.
//!
//! Sets of rows cross the border between SQLite and us as one JSON text each way (`json_each`, `json_group_array`), so
//! a batch of joins costs two crossings and not two for each fan.

use js_sys::{Function, Reflect};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use worker::{SqlStorage, SqlStorageValue, State, Storage};

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
