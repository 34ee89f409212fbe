//! A whole sale with virtual fans against a real stack; exits non-zero when any promise was broken.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use e2e::rehearsal::{RehearsalError, Report, Settings, rehearse};
use e2e::stack::{Options, Sale, Stack, repository};

/// Sends virtual fans through a sale and sweeps the invariants from outside.
#[derive(Parser)]
#[command(version)]
struct Cli {
    /// How many fans.
    #[arg(long, default_value_t = 2000)]
    fans: usize,
    /// Decides what every fan does.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Kill workerd with SIGKILL this many seconds after the opening, and start it again.
    #[arg(long, value_name = "SECONDS")]
    kill_edge_after: Option<u64>,
    /// The evening must be over this many seconds after the opening.
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    patience: u64,
    /// Use the running stack in this directory and its demo event, instead of a stack of one's own.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["cap", "rate", "opening", "session_seconds", "pow_difficulty"])]
    attach: Option<PathBuf>,
    /// Shoppers at a time.
    #[arg(long, default_value_t = 200)]
    cap: u32,
    /// Admissions a minute.
    #[arg(long, default_value_t = 4000)]
    rate: u32,
    /// Seconds until the on-sale.
    #[arg(long, default_value_t = 30)]
    opening: u64,
    /// Seconds a shopping session lasts; those who abandon theirs keep the slot for so long.
    #[arg(long, default_value_t = 45)]
    session_seconds: u32,
    /// Expected hashes in each of the 32 puzzles.
    #[arg(long, default_value_t = 128)]
    pow_difficulty: u64,
}

impl Cli {
    fn settings(&self) -> Settings {
        Settings {
            fans: self.fans,
            seed: self.seed,
            kill_edge_after: self.kill_edge_after.map(Duration::from_secs),
            patience: Duration::from_secs(self.patience),
        }
    }

    fn options(&self) -> Options {
        let sale = Sale {
            onsale_in_secs: Some(self.opening),
            cap: self.cap,
            rate_per_minute: self.rate,
            session_secs: self.session_seconds,
            // A hold outlives the session by a little, so that both endings of an abandoned basket are seen.
            hold_secs: self.session_seconds.saturating_add(15),
            difficulty: self.pow_difficulty,
            ..Sale::default()
        };
        let dir = repository().join(format!(".fairgate/rehearsal-{}", std::process::id()));
        Options { sale: Some(sale), ..Options::new(dir) }
    }
}

async fn run(cli: &Cli) -> Result<Report, RehearsalError> {
    if let Some(dir) = &cli.attach {
        return rehearse(&Stack::attach(dir)?, &cli.settings()).await;
    }
    let options = cli.options();
    let dir = options.dir.clone();
    let stack = Stack::up(options).await?;
    let report = rehearse(&stack, &cli.settings()).await?;
    stack.down().await?;
    if report.is_clean() {
        // Kept after a breach: the logs and the data are the evidence.
        let _left = std::fs::remove_dir_all(dir);
    } else {
        println!("the stopped stack, with its logs and data, is in {}", dir.display());
    }
    Ok(report)
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(&Cli::parse()).await {
        Ok(report) => {
            println!("{report}");
            if report.is_clean() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("rehearsal: {error}");
            ExitCode::FAILURE
        }
    }
}
