//! Why a bench could not be run.

use std::path::PathBuf;

use crate::fan::CallError;
use crate::stack::StackError;

/// Every variant names the step that failed.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// The stack did not start or stop.
    #[error(transparent)]
    Stack(#[from] StackError),
    /// A call of a fan failed.
    #[error("a fan's call failed: {0}")]
    Call(#[from] CallError),
    /// An operator's call failed.
    #[error("an operator's call failed: {0}")]
    Operator(#[from] reqwest::Error),
    /// A file or process of the bench.
    #[error("{path}: {source}")]
    Io {
        /// Which one.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A measured connection broke.
    #[error("the load generator lost a connection: {0}")]
    Connection(#[from] hyper::Error),
    /// A socket could not be opened.
    #[error("the load generator could not connect: {0}")]
    Connect(std::io::Error),
    /// No random bytes for keys.
    #[error("no random bytes: {0}")]
    Random(#[from] getrandom::Error),
    /// A request that cannot be written down.
    #[error("a request cannot be formed: {0}")]
    Request(#[from] http::Error),
    /// A round had answers that it must not have, so its rate means nothing.
    #[error("{what}: expected {expected}, got {got}")]
    Unexpected {
        /// Which measurement.
        what: &'static str,
        /// The answer it needs.
        expected: String,
        /// What came.
        got: String,
    },
}

impl BenchError {
    /// For `map_err` on I/O at `path`.
    pub(super) fn at(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }
}
