//! A whole Fairgate on loopback: Postgres, Redis, the payment simulator, the origin, and the edge in workerd.
//!
//! Two users: `scripts/stack` (through the binary `fairgate-stack`), whose stacks outlive the command, and tests, whose
//! stacks end when the [`Stack`] is dropped. Everything a stack writes is under its directory.

mod demo_event;
mod edge;
mod error;
mod options;
mod parts;
mod ports;
mod postgres;
mod process;
mod ready;
mod state;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::Signal;
use serde::Serialize;

pub use edge::workerd;
pub use error::StackError;
pub use options::{Options, RedisChoice, Sale, Scope, repository};
pub use parts::Part;

use process::Recorded;
use state::State;

/// A running stack. Dropping it ends every process, unless it was [detached](Stack::detach).
pub struct Stack {
    dir: PathBuf,
    state: State,
    keep: bool,
    remove_dir: bool,
}

/// What `scripts/stack up` prints: all that a client, an operator or a test needs.
#[derive(Debug, Clone, Serialize)]
pub struct Info {
    /// Base URL of the edge, where fans and operators of the waiting room go.
    pub edge: String,
    /// Base URL of the origin, for its operators.
    pub origin: String,
    /// Base URL of the payment simulator.
    pub psp: String,
    /// The operators' bearer token at both services.
    pub admin_token: String,
    /// What the edge proves itself with to the origin.
    pub edge_secret: String,
    /// The demo event.
    pub event: Option<String>,
    /// The origin's database.
    pub database_url: String,
    /// Redis, when there is one.
    pub redis_url: Option<String>,
    /// The process ids by part.
    pub pids: BTreeMap<&'static str, i32>,
}

impl Stack {
    /// Starts everything and creates the demo event. On failure nothing is left running.
    pub async fn up(options: Options) -> Result<Self, StackError> {
        let dir = std::path::absolute(&options.dir).map_err(StackError::at(&options.dir))?;
        if Part::ALL.iter().any(|part| Recorded::load(&dir, *part).is_some_and(|process| process.is_alive()))
        {
            return Err(StackError::AlreadyRunning(dir));
        }
        let redis = match options.redis {
            RedisChoice::Never => None,
            RedisChoice::Auto => parts::find_redis(),
            RedisChoice::Always => Some(parts::find_redis().ok_or(StackError::NoRedisServer)?),
        };
        let chart = fs::read_to_string(&options.chart).map_err(StackError::at(&options.chart))?;
        state::prepare_dir(&dir)?;
        let state = State::generate(redis)?;
        state.save(&dir)?;
        let mut stack = Self { dir, state, keep: false, remove_dir: options.remove_dir };
        stack.start_stores().await?;
        if options.scope == Scope::Stores {
            return Ok(stack);
        }
        stack.start_services().await?;
        if let Some(sale) = &options.sale {
            let event = demo_event::create(&stack.state, &chart, sale, crate::clock::now()).await?;
            stack.state.event = Some(event);
            stack.state.save(&stack.dir)?;
        }
        Ok(stack)
    }

    /// Takes hold of a stack that an earlier command started. It keeps running when this value is dropped.
    pub fn attach(dir: &Path) -> Result<Self, StackError> {
        let dir = std::path::absolute(dir).map_err(StackError::at(dir))?;
        let state = State::load(&dir)?;
        Ok(Self { dir, state, keep: true, remove_dir: false })
    }

    /// Lets the stack outlive this value.
    pub fn detach(&mut self) {
        self.keep = true;
    }

    /// Ends everything this stack started, in order, and nothing else. Stopping a stopped stack is no error.
    pub async fn down(&self) -> Result<(), StackError> {
        for part in Part::ALL.iter().rev() {
            parts::stop(&self.dir, *part).await?;
        }
        Ok(())
    }

    /// Ends `part` as a power cut would.
    pub async fn kill(&self, part: Part) -> Result<(), StackError> {
        parts::kill(&self.dir, part).await
    }

    /// Starts a killed `part` again on its old state and port and waits until it is ready.
    pub async fn start(&self, part: Part) -> Result<(), StackError> {
        parts::start(&self.dir, &self.state, part).await
    }

    /// Kills `part` and starts it again on its old state and port.
    pub async fn restart(&self, part: Part) -> Result<(), StackError> {
        if part == Part::Redis && self.state.redis.is_none() {
            return Err(StackError::RedisDisabled);
        }
        self.kill(part).await?;
        self.start(part).await
    }

    /// Addresses, credentials and process ids.
    #[must_use]
    pub fn info(&self) -> Info {
        let pid = |part: &Part| Recorded::load(&self.dir, *part).map(|process| (part.name(), process.pid));
        Info {
            edge: self.state.edge_url(),
            origin: self.state.origin_url(),
            psp: self.state.psp_url(),
            admin_token: self.state.secrets.admin_token.clone(),
            edge_secret: self.state.secrets.edge_secret.clone(),
            event: self.state.event.clone(),
            database_url: self.state.database_url(),
            redis_url: self.state.redis_url(),
            pids: Part::ALL.iter().filter_map(pid).collect(),
        }
    }

    /// Where the log of `part` is.
    #[must_use]
    pub fn log(&self, part: Part) -> PathBuf {
        process::log_file(&self.dir, part)
    }

    async fn start_stores(&self) -> Result<(), StackError> {
        postgres::Postgres::locate(&self.dir)?.initialise(&self.state)?;
        let redis = async {
            match self.state.redis {
                Some(_) => self.start(Part::Redis).await,
                None => Ok(()),
            }
        };
        tokio::try_join!(self.start(Part::Postgres), redis)?;
        Ok(())
    }

    async fn start_services(&self) -> Result<(), StackError> {
        parts::migrate(&self.state)?;
        tokio::try_join!(self.start(Part::Psp), self.start(Part::Origin), self.start(Part::Edge))?;
        Ok(())
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        if self.keep {
            return;
        }
        // No waiting in a destructor: a test's stack has no state worth an orderly end.
        for part in Part::ALL.iter().rev() {
            if let Some(process) = Recorded::load(&self.dir, *part) {
                let children = process.children();
                process.signal(Signal::KILL);
                children.iter().for_each(|child| child.signal(Signal::KILL));
            }
        }
        if self.remove_dir && !std::thread::panicking() {
            // A dying database may still write; what is left then is under .fairgate/tests and harmless.
            let _left = fs::remove_dir_all(&self.dir);
        }
    }
}
