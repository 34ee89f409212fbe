//! Postgres: the pool, migrations, and named transactions that are tried again when Postgres asks for it.

use std::{str::FromStr, time::Duration};

use futures::future::BoxFuture;
use sqlx::{
    Connection, PgConnection, PgPool, SqlSafeStr,
    migrate::{MigrateError, Migration, MigrationType, Migrator},
    postgres::{PgConnectOptions, PgPoolOptions},
};

use crate::problem::{Kind, Problem};

/// All migrations, embedded by build.rs so that one binary brings its schema along.
static MIGRATIONS: &[(i64, &str, &str)] = include!(concat!(env!("OUT_DIR"), "/migrations.rs"));

fn migrator() -> Migrator {
    let migrations = MIGRATIONS.iter().map(|(version, name, sql)| {
        Migration::new(*version, (*name).into(), MigrationType::Simple, sql.into_sql_str(), false)
    });
    Migrator::with_migrations(migrations.collect())
}

/// A transaction that lost a race is tried this often in all; with the pauses below that is under 200 ms.
const ATTEMPTS: u32 = 5;
const RETRY_PAUSE: Duration = Duration::from_millis(10);

/// How long a request may wait for a connection before it is told to come back.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(2);

/// Opens a pool whose every connection has bounded waits.
pub fn connect(url: &str, connections: u32) -> Result<PgPool, sqlx::Error> {
    let options = PgConnectOptions::from_str(url)?.application_name("fairgate-origin").options([
        ("statement_timeout", "10000"),
        ("lock_timeout", "3000"),
        ("idle_in_transaction_session_timeout", "15000"),
    ]);
    Ok(PgPoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .connect_lazy_with(options))
}

/// Brings the schema to this binary's version.
pub async fn migrate(pool: &PgPool) -> Result<(), MigrateError> {
    migrator().run(pool).await
}

/// Runs `work` in a transaction called `name` and commits if it returns `Ok`.
///
/// `work` runs again when Postgres reports a serialization failure or a deadlock, so it must have no side effects
/// outside the transaction. It owns what it captures (clone `Arc`s into it).
pub async fn transact<T, E, F>(name: &'static str, pool: &PgPool, work: F) -> Result<T, E>
where
    F: for<'c> Fn(&'c mut PgConnection) -> BoxFuture<'c, Result<T, E>> + Send + Sync,
    E: From<sqlx::Error> + Retryable,
{
    let mut attempt = 1;
    loop {
        let outcome = once(pool, &work).await;
        match outcome {
            Err(error) if error.is_retryable() && attempt < ATTEMPTS => {
                tracing::debug!(transaction = name, attempt, "lost a race, trying again");
                tokio::time::sleep(RETRY_PAUSE * attempt).await;
                attempt += 1;
            }
            other => return other,
        }
    }
}

async fn once<T, E, F>(pool: &PgPool, work: &F) -> Result<T, E>
where
    F: for<'c> Fn(&'c mut PgConnection) -> BoxFuture<'c, Result<T, E>>,
    E: From<sqlx::Error>,
{
    let mut connection = pool.acquire().await?;
    let mut transaction = connection.begin().await?;
    let value = work(&mut transaction).await?;
    transaction.commit().await?;
    Ok(value)
}

/// Errors that know whether the same transaction may succeed at the next attempt.
pub trait Retryable {
    /// True for serialization failures and deadlocks, and nothing else.
    fn is_retryable(&self) -> bool;
}

impl Retryable for sqlx::Error {
    fn is_retryable(&self) -> bool {
        matches!(self, sqlx::Error::Database(e) if matches!(e.code().as_deref(), Some("40001" | "40P01")))
    }
}

/// A row that this program cannot have written.
#[derive(Debug, thiserror::Error)]
#[error("impossible value in {table}.{column} of {id}")]
pub struct ImpossibleRow {
    /// Table of the row.
    pub table: &'static str,
    /// Column of the value.
    pub column: &'static str,
    /// Key of the row.
    pub id: String,
}

impl From<ImpossibleRow> for sqlx::Error {
    fn from(error: ImpossibleRow) -> Self {
        sqlx::Error::Decode(Box::new(error))
    }
}

/// The one translation of a failed store into an answer: unreachable, slow or full is 503, anything else is ours.
impl From<sqlx::Error> for Problem {
    fn from(error: sqlx::Error) -> Self {
        let busy = match &error {
            sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed | sqlx::Error::Io(_) => true,
            sqlx::Error::Database(e) => e.code().is_some_and(|code| is_transient(&code)),
            _ => false,
        };
        if let sqlx::Error::Database(e) = &error
            && e.code().is_some_and(|code| is_unstorable(&code))
        {
            tracing::warn!(error = %error, "the database cannot store a value it was given");
            return Problem::new(Kind::Malformed)
                .detail("a value is out of range or has characters that no text may have");
        }
        if busy {
            tracing::warn!(error = %error, "the database is slow or gone");
            return Problem::new(Kind::Overloaded).detail("the ledger is not answering").retry_after(2);
        }
        Problem::internal(&error)
    }
}

/// Serialization, deadlock, statement and lock timeouts, connection and shutdown classes, too many connections.
fn is_transient(code: &str) -> bool {
    matches!(code, "40001" | "40P01" | "55P03" | "57014" | "53300")
        || code.starts_with("08")
        || code.starts_with("57P")
}

/// Texts with NUL, dates and times out of Postgres' range: what a client sent, not a fault of ours.
fn is_unstorable(code: &str) -> bool {
    matches!(code, "22021" | "22007" | "22008" | "22P05")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_and_outages_are_transient_and_faults_are_not() {
        for code in ["40001", "40P01", "55P03", "57014", "57P01", "08006", "53300"] {
            assert!(is_transient(code), "{code}");
        }
        for code in ["23505", "42P01", "22003"] {
            assert!(!is_transient(code) && !is_unstorable(code), "{code}");
        }
    }
}
