//! What the operator sets, and the hard limits nobody sets.

use std::{fmt, net::SocketAddr, time::Duration};

use clap::{Args, ValueEnum};

/// A setting that never appears in logs.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// The secret itself.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Which parts of the service a process runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Role {
    /// Answers requests.
    Api,
    /// Runs background work; answers only health and metrics.
    Driver,
    /// Both.
    All,
}

impl Role {
    /// Does this process answer requests?
    pub fn answers(self) -> bool {
        matches!(self, Self::Api | Self::All)
    }

    /// Does this process run background work?
    pub fn drives(self) -> bool {
        matches!(self, Self::Driver | Self::All)
    }
}

/// The service's settings, from flags or the environment.
#[derive(Clone, Debug, Args)]
pub struct Config {
    /// Address to listen on.
    #[arg(long, env = "FAIRGATE_LISTEN", default_value = "127.0.0.1:9000")]
    pub listen: SocketAddr,
    /// Postgres, the truth about what is sold.
    #[arg(long, env = "DATABASE_URL", hide_env_values = true)]
    pub database_url: Secret,
    /// Redis, the fast path of holds.
    #[arg(long, env = "REDIS_URL", hide_env_values = true)]
    pub redis_url: Option<Secret>,
    /// Shared secret by which the edge is known.
    #[arg(long, env = "FAIRGATE_EDGE_SECRET", hide_env_values = true)]
    pub edge_secret: Secret,
    /// Operators' bearer token.
    #[arg(long, env = "FAIRGATE_ADMIN_TOKEN", hide_env_values = true)]
    pub admin_token: Secret,
    /// Where the edge publishes its public keys.
    #[arg(long, env = "FAIRGATE_JWKS_URL")]
    pub jwks_url: String,
    /// The `iss` of the edge's tokens.
    #[arg(long, env = "FAIRGATE_ISSUER")]
    pub issuer: String,
    /// Origins under which fans see the service, for the `htu` of proofs.
    #[arg(long, env = "FAIRGATE_PUBLIC_ORIGINS", value_delimiter = ',')]
    pub public_origins: Vec<String>,
    /// Base URL of the payment provider.
    #[arg(long, env = "FAIRGATE_PSP_URL", default_value = "https://api.stripe.com")]
    pub psp_url: String,
    /// Secret key at the payment provider.
    #[arg(long, env = "FAIRGATE_PSP_SECRET_KEY", hide_env_values = true)]
    pub psp_secret_key: Option<Secret>,
    /// Secrets under which the provider signs webhooks; several during a rotation.
    #[arg(long, env = "FAIRGATE_PSP_WEBHOOK_SECRETS", hide_env_values = true, value_delimiter = ',')]
    pub psp_webhook_secrets: Vec<Secret>,
    /// Connections to Postgres a process keeps at most.
    #[arg(long, env = "FAIRGATE_DB_CONNECTIONS", default_value_t = 24)]
    pub db_connections: u32,
}

/// Largest body of an ordinary request: 64 kB holds a hold of the largest permitted size a hundred times over.
pub const BODY_MAX_BYTES: usize = 64 * 1024;

/// Largest seating plan: 100,000 seats × about 300 B of seats.io JSON = 30 MB, rounded up.
pub const PLAN_MAX_BYTES: usize = 48 * 1024 * 1024;

/// An ordinary request ends within this time. A purchase drives its saga inline for up to 10 s, plus one answer of
/// a slow store.
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(15);

/// Operators' calls (import of a large plan) may take longer.
pub const ADMIN_TIMEOUT: Duration = Duration::from_secs(60);

/// Time given to requests in flight once shutdown begins: longer than any ordinary request.
pub const DRAIN_TIMEOUT: Duration = Duration::from_secs(20);
