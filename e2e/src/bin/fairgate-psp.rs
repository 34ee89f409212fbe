//! The payment simulator as a program.

use std::path::PathBuf;

use clap::Parser;
use e2e::psp::{self, delivery::Receiver};
use tokio::net::TcpListener;

/// A payment provider in Stripe's API shape for tests and demonstrations.
#[derive(Parser)]
struct Arguments {
    /// Address to listen on.
    #[arg(long, env = "FAIRGATE_PSP_LISTEN", default_value = "127.0.0.1:9100")]
    listen: String,
    /// The merchant's secret key.
    #[arg(long, env = "FAIRGATE_PSP_SECRET_KEY", hide_env_values = true)]
    secret_key: String,
    /// Where webhooks go; none are sent without it.
    #[arg(long, env = "FAIRGATE_PSP_WEBHOOK_URL", requires = "webhook_secret")]
    webhook_url: Option<String>,
    /// What webhooks are signed with.
    #[arg(long, env = "FAIRGATE_PSP_WEBHOOK_SECRET", hide_env_values = true)]
    webhook_secret: Option<String>,
    /// Append-only file that keeps the state over a restart.
    #[arg(long, env = "FAIRGATE_PSP_STATE")]
    state: Option<PathBuf>,
    /// Seed of identifiers and webhook faults; random if absent.
    #[arg(long, env = "FAIRGATE_PSP_SEED")]
    seed: Option<u64>,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    tracing_subscriber::fmt().with_env_filter(tracing_subscriber::EnvFilter::from_default_env()).init();
    let arguments = Arguments::parse();
    let receiver =
        arguments.webhook_url.zip(arguments.webhook_secret).map(|(url, secret)| Receiver { url, secret });
    let seed = match arguments.seed {
        Some(seed) => seed,
        None => getrandom::u64()?,
    };
    let listener = TcpListener::bind(&arguments.listen).await?;
    let config = psp::Config { secret_key: arguments.secret_key, receiver, state: arguments.state, seed };
    psp::serve(listener, config).await?;
    Ok(())
}
