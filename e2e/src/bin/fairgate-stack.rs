//! `scripts/stack up|down|restart`: one line of JSON on stdout, everything else on stderr.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use e2e::stack::{Options, Part, RedisChoice, Sale, Scope, Stack, StackError, repository};

/// Runs a whole Fairgate on loopback.
#[derive(Parser)]
#[command(name = "scripts/stack", version)]
struct Cli {
    #[command(subcommand)]
    command: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Start everything, create the demo event, print one line of JSON.
    Up(Up),
    /// Stop exactly what `up` started.
    Down(At),
    /// Kill one part with SIGKILL and start it again on its old state and port.
    Restart {
        /// The part.
        part: Part,
        #[command(flatten)]
        at: At,
    },
}

#[derive(Args)]
struct At {
    /// Where the stack keeps state, logs and data [default: .fairgate/stack].
    #[arg(long)]
    dir: Option<PathBuf>,
}

#[derive(Args)]
struct Up {
    #[command(flatten)]
    at: At,
    /// Start Redis; its absence is an error.
    #[arg(long, conflicts_with = "no_redis")]
    redis: bool,
    /// Run without Redis.
    #[arg(long)]
    no_redis: bool,
    /// Start Postgres and Redis alone.
    #[arg(long)]
    stores_only: bool,
    /// A seats.io chart for the demo event [default: a plan of 8,897 seats].
    #[arg(long)]
    chart: Option<PathBuf>,
    /// Seconds until the on-sale. Without it the edge opens in an hour or by `POST …/open`, and the origin sells at once.
    #[arg(long, value_name = "SECONDS")]
    onsale_in: Option<u64>,
    /// Shoppers at a time (`total_active_users`).
    #[arg(long)]
    cap: Option<u32>,
    /// Admissions a minute (`new_users_per_minute`).
    #[arg(long)]
    rate: Option<u32>,
    /// Seconds a shopping session lasts.
    #[arg(long)]
    session_seconds: Option<u32>,
    /// Seconds a hold lasts.
    #[arg(long)]
    hold_seconds: Option<u32>,
    /// Lanes of the waiting room.
    #[arg(long)]
    lanes: Option<u16>,
    /// Expected hashes in each proof-of-work puzzle.
    #[arg(long)]
    pow_difficulty: Option<u64>,
}

impl At {
    fn dir(self) -> PathBuf {
        self.dir.unwrap_or_else(|| repository().join(".fairgate/stack"))
    }
}

impl Up {
    fn options(self) -> Options {
        let default = Sale::default();
        let sale = Sale {
            onsale_in_secs: self.onsale_in,
            cap: self.cap.unwrap_or(default.cap),
            rate_per_minute: self.rate.unwrap_or(default.rate_per_minute),
            session_secs: self.session_seconds.unwrap_or(default.session_secs),
            hold_secs: self.hold_seconds.unwrap_or(default.hold_secs),
            lanes: self.lanes.unwrap_or(default.lanes),
            puzzles: default.puzzles,
            difficulty: self.pow_difficulty.unwrap_or(default.difficulty),
        };
        let redis = match (self.redis, self.no_redis) {
            (true, _) => RedisChoice::Always,
            (_, true) => RedisChoice::Never,
            (false, false) => RedisChoice::Auto,
        };
        let scope = if self.stores_only { Scope::Stores } else { Scope::Everything };
        let mut options = Options { scope, redis, sale: Some(sale), ..Options::new(self.at.dir()) };
        if let Some(chart) = self.chart {
            options.chart = chart;
        }
        options
    }
}

async fn run(verb: Verb) -> Result<(), StackError> {
    match verb {
        Verb::Up(up) => {
            let mut stack = Stack::up(up.options()).await?;
            stack.detach();
            print(&stack)
        }
        Verb::Down(at) => Stack::attach(&at.dir())?.down().await,
        Verb::Restart { part, at } => {
            let stack = Stack::attach(&at.dir())?;
            stack.restart(part).await?;
            print(&stack)
        }
    }
}

fn print(stack: &Stack) -> Result<(), StackError> {
    let line = serde_json::to_string(&stack.info())
        .map_err(|source| StackError::State { path: PathBuf::from("stdout"), source })?;
    println!("{line}");
    Ok(())
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(Cli::parse().command).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("stack: {error}");
            ExitCode::FAILURE
        }
    }
}
