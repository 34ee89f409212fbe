//! One multiplexed connection to Redis with every wait bounded.
//!
//! Each new connection asks for the server's `run_id` first: a server that was restarted or replaced has forgotten
//! something, and the engine compares the id with what Postgres recorded before it trusts what it finds.

use std::{
    future::Future,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use redis::{AsyncConnectionConfig, RedisResult, aio::MultiplexedConnection};
use tokio::{
    sync::{Mutex, Semaphore},
    time::timeout,
};

use crate::{clock::Clock, holds::EngineError};

/// A script takes well under a millisecond; a second pipeline length of 512 of them is still under half a second.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(500);
const CONNECT_TIMEOUT: Duration = Duration::from_millis(500);
/// Commands in flight per process.
const IN_FLIGHT: usize = 512;
const PERMIT_TIMEOUT: Duration = Duration::from_millis(200);
/// After a failed attempt to connect, callers are refused at once for this long.
const RECONNECT_EVERY: Duration = Duration::from_millis(250);
/// A connection that does not answer so many times in a row is given up.
const TIMEOUTS_IN_A_ROW: u32 = 3;

/// An open connection and the server behind it.
#[derive(Clone)]
pub(crate) struct Open {
    connection: MultiplexedConnection,
    pub(crate) run_id: Arc<str>,
    serial: u64,
}

/// The way to Redis.
pub(crate) struct Link {
    client: redis::Client,
    clock: Clock,
    open: RwLock<Option<Open>>,
    connecting: Mutex<Attempt>,
    permits: Semaphore,
    timeouts: AtomicU32,
}

#[derive(Default)]
struct Attempt {
    failed_at: Option<Instant>,
    serial: u64,
}

impl Link {
    pub(crate) fn new(url: &str, clock: Clock) -> RedisResult<Self> {
        Ok(Self {
            client: redis::Client::open(url)?,
            clock,
            open: RwLock::new(None),
            connecting: Mutex::new(Attempt::default()),
            permits: Semaphore::new(IN_FLIGHT),
            timeouts: AtomicU32::new(0),
        })
    }

    /// Runs one command or pipeline with a permit, on the open connection, within the time limit.
    pub(crate) async fn call<T, F, Fut>(&self, command: F) -> Result<T, EngineError>
    where
        F: FnOnce(MultiplexedConnection) -> Fut,
        Fut: Future<Output = RedisResult<T>>,
    {
        self.call_if(|_| true, command).await
    }

    /// The same on that very server only. Between a look at the server and the call the connection may have been
    /// replaced, and a server that came in its place may remember a generation that Postgres has since raised.
    pub(crate) async fn call_on<T, F, Fut>(&self, run_id: &str, command: F) -> Result<T, EngineError>
    where
        F: FnOnce(MultiplexedConnection) -> Fut,
        Fut: Future<Output = RedisResult<T>>,
    {
        self.call_if(|open| *open.run_id == *run_id, command).await
    }

    async fn call_if<T, F, Fut>(
        &self,
        wanted: impl FnOnce(&Open) -> bool,
        command: F,
    ) -> Result<T, EngineError>
    where
        F: FnOnce(MultiplexedConnection) -> Fut,
        Fut: Future<Output = RedisResult<T>>,
    {
        let permit = timeout(PERMIT_TIMEOUT, self.permits.acquire()).await;
        let Ok(Ok(_permit)) = permit else { return Err(EngineError::Overloaded) };
        let open = self.open().await?;
        if !wanted(&open) {
            return Err(EngineError::Rebuilding);
        }
        match timeout(ANSWER_TIMEOUT, command(open.connection.clone())).await {
            Ok(Ok(value)) => {
                self.timeouts.store(0, Ordering::Relaxed);
                Ok(value)
            }
            Ok(Err(error)) if error.is_timeout() => Err(self.timed_out(&open)),
            Err(_) => Err(self.timed_out(&open)),
            Ok(Err(error)) => {
                if error.is_io_error() || error.is_connection_dropped() || error.is_unrecoverable_error() {
                    self.give_up(open.serial);
                }
                Err(EngineError::Unavailable(error.to_string()))
            }
        }
    }

    fn timed_out(&self, open: &Open) -> EngineError {
        if self.timeouts.fetch_add(1, Ordering::Relaxed) + 1 >= TIMEOUTS_IN_A_ROW {
            self.timeouts.store(0, Ordering::Relaxed);
            self.give_up(open.serial);
        }
        EngineError::Unavailable("no answer in time".into())
    }

    fn give_up(&self, serial: u64) {
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        if open.as_ref().is_some_and(|o| o.serial == serial) {
            tracing::warn!("gave up a connection to Redis");
            *open = None;
        }
    }

    fn at_hand(&self) -> Option<Open> {
        self.open.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The open connection; opens one if there is none, unless that failed a moment ago.
    pub(crate) async fn open(&self) -> Result<Open, EngineError> {
        if let Some(open) = self.at_hand() {
            return Ok(open);
        }
        let mut attempt = self.connecting.lock().await;
        if let Some(open) = self.at_hand() {
            return Ok(open);
        }
        let now = self.clock.instant();
        if attempt.failed_at.is_some_and(|at| now.duration_since(at) < RECONNECT_EVERY) {
            return Err(EngineError::Unavailable("not connected".into()));
        }
        attempt.serial += 1;
        match self.connect(attempt.serial).await {
            Ok(open) => {
                attempt.failed_at = None;
                *self.open.write().unwrap_or_else(PoisonError::into_inner) = Some(open.clone());
                Ok(open)
            }
            Err(reason) => {
                attempt.failed_at = Some(self.clock.instant());
                tracing::warn!(reason, "no connection to Redis");
                Err(EngineError::Unavailable(reason))
            }
        }
    }

    async fn connect(&self, serial: u64) -> Result<Open, String> {
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CONNECT_TIMEOUT))
            .set_response_timeout(Some(ANSWER_TIMEOUT));
        let opening = self.client.get_multiplexed_async_connection_with_config(&config);
        let mut connection = timeout(CONNECT_TIMEOUT * 2, opening)
            .await
            .map_err(|_| "connecting took too long".to_owned())?
            .map_err(|error| error.to_string())?;
        let info: String = redis::cmd("INFO")
            .arg("server")
            .query_async(&mut connection)
            .await
            .map_err(|error| error.to_string())?;
        let run_id = info
            .lines()
            .find_map(|line| line.strip_prefix("run_id:"))
            .ok_or_else(|| "the server names no run_id".to_owned())?;
        Ok(Open { connection, run_id: run_id.trim().into(), serial })
    }
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpListener,
    };

    use super::*;

    /// A server that tells its `run_id` and says OK to everything else.
    async fn server(run_id: &'static str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("redis://{}", listener.local_addr().unwrap());
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut bytes = [0u8; 4096];
            while let Ok(read @ 1..) = stream.read(&mut bytes).await {
                let text = String::from_utf8_lossy(&bytes[..read]).into_owned();
                for command in text.split('*').skip(1) {
                    let info = format!("run_id:{run_id}");
                    let answer = if command.contains("$4\r\nINFO\r\n") {
                        format!("${}\r\n{info}\r\n", info.len())
                    } else {
                        "+OK\r\n".to_owned()
                    };
                    stream.write_all(answer.as_bytes()).await.unwrap();
                }
            }
        });
        url
    }

    #[tokio::test]
    async fn what_is_meant_for_one_server_is_not_said_to_another() {
        let link = Link::new(&server("new").await, Clock).unwrap();
        let ping = |mut c: MultiplexedConnection| async move { redis::cmd("PING").query_async(&mut c).await };
        let refused: Result<String, EngineError> = link.call_on("old", ping).await;
        assert!(matches!(refused, Err(EngineError::Rebuilding)), "{refused:?}");
        let answered: Result<String, EngineError> = link.call_on("new", ping).await;
        assert_eq!(answered.unwrap(), "OK");
    }
}
