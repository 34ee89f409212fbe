//! What can go wrong while a stack starts, restarts or stops.

use std::path::PathBuf;

use super::Part;

/// Why the stack could not do what was asked. Every variant says what to do or shows the log that explains it.
#[derive(Debug, thiserror::Error)]
pub enum StackError {
    /// The directory holds something that no stack of ours wrote, so nothing in it is touched.
    #[error("{0} is not empty and was not made by this program; choose another --dir")]
    ForeignDirectory(PathBuf),
    /// A stack runs there already.
    #[error("a stack already runs in {0}; stop it first with `scripts/stack down --dir {0}`")]
    AlreadyRunning(PathBuf),
    /// No stack was ever started there.
    #[error("no stack in {0}; start one with `scripts/stack up --dir {0}`")]
    NoStack(PathBuf),
    /// A program the stack needs is absent.
    #[error("{what} not found at {path}; run `scripts/setup`")]
    Missing {
        /// What is absent.
        what: &'static str,
        /// Where it was looked for.
        path: PathBuf,
    },
    /// Redis was asked for (or is the only hold engine) and is not installed.
    #[error(
        "redis-server is not installed; run `scripts/setup` as root, or install it (apt-get install redis-server)"
    )]
    NoRedisServer,
    /// The stack was started without Redis, so there is nothing to restart.
    #[error("this stack runs without redis")]
    RedisDisabled,
    /// A part died while starting.
    #[error("{part} stopped while starting; the end of {log}:\n{tail}")]
    Died {
        /// Which part.
        part: Part,
        /// Its log file.
        log: PathBuf,
        /// The last lines of that log.
        tail: String,
    },
    /// A part did not become ready in time.
    #[error("{part} was not ready after {seconds} s ({last}); the end of {log}:\n{tail}")]
    NotReady {
        /// Which part.
        part: Part,
        /// The deadline.
        seconds: u64,
        /// The last answer of its health check.
        last: String,
        /// Its log file.
        log: PathBuf,
        /// The last lines of that log.
        tail: String,
    },
    /// A one-shot program (initdb, migrate) failed.
    #[error("{what} failed ({status}):\n{output}")]
    Command {
        /// What was run.
        what: &'static str,
        /// How it ended.
        status: String,
        /// The end of its output.
        output: String,
    },
    /// A process would not die.
    #[error("{part} (pid {pid}) did not stop")]
    Unstoppable {
        /// Which part.
        part: Part,
        /// Its process id.
        pid: i32,
    },
    /// A service refused one of the set-up calls.
    #[error("{call} answered {status}: {body}")]
    Refused {
        /// Method and path.
        call: String,
        /// The status code.
        status: u16,
        /// The problem document.
        body: String,
    },
    /// The answer of a set-up call is not what the contract says.
    #[error("{call}: {detail}")]
    Unexpected {
        /// Method and path.
        call: String,
        /// What is wrong with it.
        detail: String,
    },
    /// No free loopback port was found.
    #[error("no free loopback port between {0} and {1}")]
    NoPort(u16, u16),
    /// The workerd configuration template and this program disagree.
    #[error("the workerd template asks for {{{{{0}}}}}, which the stack does not know")]
    Template(String),
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The state file is damaged.
    #[error("{path}: {source}")]
    State {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: serde_json::Error,
    },
    /// A call to one of the services failed.
    #[error("http: {0}")]
    Http(#[from] reqwest::Error),
    /// The operating system gave no random bytes.
    #[error("no random bytes: {0}")]
    Random(#[from] getrandom::Error),
}

impl StackError {
    /// An I/O error with the path it happened at.
    pub(super) fn at(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }
}
