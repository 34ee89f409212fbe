//! `scripts/bench`: prints the figures of BENCHMARKS.md.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use e2e::bench::{self, Effort};

/// Measures the edge and the origin against bare denominators, all in one run.
#[derive(Parser)]
struct Arguments {
    /// Where the bench keeps its stack.
    #[arg(long, default_value = ".fairgate/bench")]
    dir: PathBuf,
    /// Rounds of each pair; the median counts.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Seconds of a timed round.
    #[arg(long, default_value_t = 4)]
    seconds: u64,
    /// Connections of the load generator.
    #[arg(long, default_value_t = 32)]
    connections: usize,
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let effort = Effort {
        rounds: arguments.rounds.max(1),
        round: Duration::from_secs(arguments.seconds.clamp(1, 60)),
        connections: arguments.connections.clamp(1, 256),
        ..Effort::default()
    };
    match bench::run(&arguments.dir, &effort).await {
        Ok(report) => {
            print!("{report}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}
