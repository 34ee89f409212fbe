//! The origin's binary: serves, migrates, imports plans.

use clap::{Parser, Subcommand};
use origin::{
    config::{Config, Role},
    seating::{self, ImportError},
    telemetry,
};

#[derive(Parser)]
#[command(name = "origin", version, about = "Fairgate's origin: seats, holds, orders and bookings")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve requests, background work, or both.
    Serve {
        /// Which parts to run.
        #[arg(long, value_enum, default_value_t = Role::All)]
        role: Role,
        #[command(flatten)]
        config: Box<Config>,
    },
    /// Bring the database's schema to this version.
    Migrate {
        /// The database.
        #[arg(long, env = "DATABASE_URL", hide_env_values = true)]
        database_url: String,
    },
    /// Import a seating plan as a venue and print what `POST /admin/v1/venues` would answer.
    Import {
        /// The database.
        #[arg(long, env = "DATABASE_URL", hide_env_values = true)]
        database_url: String,
        /// The plan's format: seatsio or csv.
        #[arg(long, default_value = "seatsio")]
        format: String,
        /// The plan's file.
        file: std::path::PathBuf,
    },
}

fn main() -> std::process::ExitCode {
    telemetry::init_logs();
    let outcome = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())
        .and_then(|runtime| runtime.block_on(run(Cli::parse())));
    match outcome {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(error, "failed");
            std::process::ExitCode::FAILURE
        }
    }
}

async fn run(cli: Cli) -> Result<(), String> {
    match cli.command {
        Command::Serve { role, config } => origin::serve(*config, role).await.map_err(|e| e.to_string()),
        Command::Migrate { database_url } => {
            let pool = origin::db::connect(&database_url, 1).map_err(|e| e.to_string())?;
            origin::db::migrate(&pool).await.map_err(|e| e.to_string())
        }
        Command::Import { database_url, format, file } => {
            let pool = origin::db::connect(&database_url, 1).map_err(|e| e.to_string())?;
            let body = tokio::fs::read(&file).await.map_err(|e| format!("{}: {e}", file.display()))?;
            let format = format.parse().map_err(|e: ImportError| e.to_string())?;
            let imported = seating::import(&pool, format, &body).await.map_err(|e| e.to_string())?;
            println!("{}", serde_json::to_string(&imported).map_err(|e| e.to_string())?);
            Ok(())
        }
    }
}
