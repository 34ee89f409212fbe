//! The five parts of a stack: how each is started, and how one knows that it is ready.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;

use super::postgres::{Postgres, run};
use super::state::State;
use super::{StackError, edge, options::repository, process, ready};

/// One process of the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Part {
    /// The database.
    Postgres,
    /// The hold engine's store.
    Redis,
    /// The payment simulator.
    Psp,
    /// The booking service.
    Origin,
    /// The edge Worker in workerd.
    Edge,
}

impl Part {
    /// In the order they start; they stop in the reverse order.
    pub const ALL: [Self; 5] = [Self::Postgres, Self::Redis, Self::Psp, Self::Origin, Self::Edge];

    /// The name used on the command line, in files and in the printed `pids`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Postgres => "postgres",
            Self::Redis => "redis",
            Self::Psp => "psp",
            Self::Origin => "origin",
            Self::Edge => "edge",
        }
    }

    /// The signal that asks for an orderly end. Postgres: SIGINT is its "fast" shutdown, SIGTERM would wait for clients.
    fn stop_signal(self) -> Signal {
        match self {
            Self::Postgres => Signal::INT,
            Self::Redis | Self::Psp | Self::Origin | Self::Edge => Signal::TERM,
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How long an orderly end may take before SIGKILL: the origin finishes its requests first.
const STOP_PATIENCE: Duration = Duration::from_secs(15);

/// Starts `part` and waits until it is ready.
pub(super) async fn start(dir: &Path, state: &State, part: Part) -> Result<(), StackError> {
    let mut command = match part {
        Part::Postgres => Postgres::locate(dir)?.serve(state.ports.postgres),
        Part::Redis => redis(dir, state)?,
        Part::Psp => psp(dir, state)?,
        Part::Origin => origin(state)?,
        Part::Edge => edge::command(dir, state)?,
    };
    ready::start_until_ready(dir, state, part, &mut command).await
}

/// Ends `part` in order.
pub(super) async fn stop(dir: &Path, part: Part) -> Result<(), StackError> {
    process::stop(dir, part, part.stop_signal(), STOP_PATIENCE).await
}

/// Ends `part` as a power cut would.
pub(super) async fn kill(dir: &Path, part: Part) -> Result<(), StackError> {
    process::stop(dir, part, Signal::KILL, Duration::ZERO).await
}

/// Brings the database to the current schema.
pub(super) fn migrate(state: &State) -> Result<(), StackError> {
    run("origin migrate", origin_command(state)?.arg("migrate"), "")
}

/// Redis as a pure fast path: no persistence, so that a restart empties it, which the origin must survive.
fn redis(dir: &Path, state: &State) -> Result<Command, StackError> {
    let program = state.redis.as_ref().ok_or(StackError::RedisDisabled)?;
    let mut command = Command::new(program);
    command
        .current_dir(dir)
        .args(["--bind", "127.0.0.1", "--port", &state.ports.redis.to_string()])
        .args(["--save", "", "--appendonly", "no", "--daemonize", "no", "--dir"])
        .arg(dir);
    Ok(command)
}

fn psp(dir: &Path, state: &State) -> Result<Command, StackError> {
    let mut command = Command::new(binary("fairgate-psp", "payment simulator")?);
    command
        .env("FAIRGATE_PSP_LISTEN", format!("127.0.0.1:{}", state.ports.psp))
        .env("FAIRGATE_PSP_SECRET_KEY", &state.secrets.psp_key)
        .env("FAIRGATE_PSP_WEBHOOK_URL", format!("{}{}", state.edge_url(), edge::WEBHOOK_PATH))
        .env("FAIRGATE_PSP_WEBHOOK_SECRET", &state.secrets.psp_webhook)
        .env("FAIRGATE_PSP_STATE", dir.join("psp.journal"));
    Ok(command)
}

fn origin(state: &State) -> Result<Command, StackError> {
    let mut command = origin_command(state)?;
    command.args(["serve", "--role", "all"]);
    Ok(command)
}

fn origin_command(state: &State) -> Result<Command, StackError> {
    let mut command = Command::new(binary("origin", "booking service")?);
    command
        .env("FAIRGATE_LISTEN", format!("127.0.0.1:{}", state.ports.origin))
        .env("DATABASE_URL", state.database_url())
        .env("FAIRGATE_EDGE_SECRET", &state.secrets.edge_secret)
        .env("FAIRGATE_ADMIN_TOKEN", &state.secrets.admin_token)
        .env("FAIRGATE_JWKS_URL", format!("{}/.well-known/jwks.json", state.edge_url()))
        .env("FAIRGATE_ISSUER", edge::ISSUER)
        .env("FAIRGATE_PUBLIC_ORIGINS", edge::public_origins(state))
        .env("FAIRGATE_PSP_URL", state.psp_url())
        .env("FAIRGATE_PSP_SECRET_KEY", &state.secrets.psp_key)
        .env("FAIRGATE_PSP_WEBHOOK_SECRETS", &state.secrets.psp_webhook);
    match state.redis_url() {
        Some(url) => command.env("REDIS_URL", url),
        None => command.env_remove("REDIS_URL"),
    };
    Ok(command)
}

/// Our own binaries are built into one directory; this program (or test) is in it, or one level below.
fn binary(name: &str, what: &'static str) -> Result<PathBuf, StackError> {
    let missing = |path| StackError::Missing { what, path };
    let this = std::env::current_exe().map_err(StackError::at(name))?;
    let beside = this.parent().map(|dir| dir.join(name)).filter(|path| path.exists());
    let above = this.parent().and_then(Path::parent).map(|dir| dir.join(name));
    beside
        .or(above)
        .filter(|path| path.exists())
        .ok_or_else(|| missing(repository().join("target/debug").join(name)))
}

/// The `redis-server` on the PATH.
pub(super) fn find_redis() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join("redis-server")).find(|program| program.exists())
}
