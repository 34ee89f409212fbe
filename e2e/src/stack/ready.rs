//! Waiting until a part answers, with a deadline, and with its log when it does not.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};

use super::process::{log_file, spawn, tail};
use super::state::State;
use super::{Part, StackError};

/// A part that is not ready by then never will be; the slowest is workerd compiling the Worker on a busy machine.
const READY_DEADLINE: Duration = Duration::from_secs(60);
/// One health check.
const CHECK_TIMEOUT: Duration = Duration::from_secs(2);
const CHECK_AGAIN: Duration = Duration::from_millis(50);

/// Starts `command` as `part`; starts it again while it ends for a reason that passes (a killed Postgres whose shared
/// memory is still attached, a port in its last moments), until the deadline.
pub(super) async fn start_until_ready(
    dir: &Path,
    state: &State,
    part: Part,
    command: &mut Command,
) -> Result<(), StackError> {
    let end = Instant::now() + READY_DEADLINE;
    let mut last = String::from("no answer yet");
    let mut restarts = 0;
    let mut process = spawn(dir, part, command)?;
    loop {
        if !process.is_alive() {
            let tail = tail(&log_file(dir, part));
            if !passes(&tail) || Instant::now() >= end || restarts >= 20 {
                return Err(StackError::Died { part, log: log_file(dir, part), tail });
            }
            restarts += 1;
            sleep(Duration::from_millis(200)).await;
            process = spawn(dir, part, command)?;
        }
        match timeout(CHECK_TIMEOUT, check(state, part)).await {
            // The port may be answered by somebody else while ours is dying: only a live process is ready.
            Ok(Ok(())) if process.is_alive() => return Ok(()),
            Ok(Ok(())) => {}
            Ok(Err(reason)) => last = reason,
            Err(_elapsed) => last = String::from("no answer in time"),
        }
        if Instant::now() >= end {
            return Err(not_ready(dir, part, last));
        }
        sleep(CHECK_AGAIN).await;
    }
}

fn not_ready(dir: &Path, part: Part, last: String) -> StackError {
    let log = log_file(dir, part);
    StackError::NotReady { part, seconds: READY_DEADLINE.as_secs(), last, tail: tail(&log), log }
}

/// Whether the reason in the log passes by itself.
fn passes(tail: &str) -> bool {
    let last = tail.lines().rev().take(3).collect::<String>();
    [
        "pre-existing shared memory block",
        "Address already in use",
        "lock file \"postmaster.pid\" already exists",
    ]
    .iter()
    .any(|reason| last.contains(reason))
}

async fn check(state: &State, part: Part) -> Result<(), String> {
    match part {
        Part::Postgres => postgres(&state.database_url()).await,
        Part::Redis => redis(state.ports.redis).await,
        Part::Psp => http(&format!("{}/_control/ledger", state.psp_url())).await,
        Part::Origin => http(&format!("{}/healthz", state.origin_url())).await,
        Part::Edge => http(&format!("{}/.well-known/jwks.json", state.edge_url())).await,
    }
}

async fn postgres(url: &str) -> Result<(), String> {
    let (client, connection) =
        tokio_postgres::connect(url, tokio_postgres::NoTls).await.map_err(|error| error.to_string())?;
    let connection = tokio::spawn(connection);
    let answer = client.simple_query("SELECT 1").await.map(drop).map_err(|error| error.to_string());
    connection.abort();
    answer
}

async fn redis(port: u16) -> Result<(), String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.map_err(|error| error.to_string())?;
    stream.write_all(b"PING\r\n").await.map_err(|error| error.to_string())?;
    let mut answer = [0u8; 7];
    stream.read_exact(&mut answer).await.map_err(|error| error.to_string())?;
    if &answer == b"+PONG\r\n" { Ok(()) } else { Err(String::from_utf8_lossy(&answer).into_owned()) }
}

async fn http(url: &str) -> Result<(), String> {
    let answer = reqwest::get(url).await.map_err(|error| error.to_string())?;
    if answer.status().is_success() { Ok(()) } else { Err(format!("{url} answered {}", answer.status())) }
}
