//! The load generator: a fixed number of keep-alive connections, each sending its next request when the last answer
//! is complete (a closed loop). The same for the measured side and its denominator.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::BenchError;

/// A request as it is sent: cheap to make again.
#[derive(Clone)]
pub(super) struct Shot {
    pub(super) method: http::Method,
    pub(super) uri: String,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Bytes,
}

impl Shot {
    /// A GET without headers.
    pub(super) fn get(path: impl Into<String>) -> Self {
        Self { method: http::Method::GET, uri: path.into(), headers: Vec::new(), body: Bytes::new() }
    }

    /// The same with one more header.
    #[must_use]
    pub(super) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    fn request(&self, host: &str) -> Result<Request<Full<Bytes>>, http::Error> {
        let mut request = Request::builder().method(&self.method).uri(&self.uri).header("host", host);
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        request.body(Full::new(self.body.clone()))
    }
}

/// How much a round sends.
#[derive(Clone)]
pub(super) enum Amount {
    /// The same request until the time is over.
    For(Duration, Shot),
    /// Each of these once.
    Each(Arc<Vec<Shot>>),
}

/// What a round brought.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) per_second: f64,
    statuses: BTreeMap<u16, usize>,
}

impl Outcome {
    /// The rate, if every answer had this status.
    pub(super) fn all(&self, status: u16, what: &'static str) -> Result<f64, BenchError> {
        if self.statuses.keys().eq([&status]) {
            return Ok(self.per_second);
        }
        Err(BenchError::Unexpected {
            what,
            expected: format!("only {status}"),
            got: format!("{:?}", self.statuses),
        })
    }
}

/// Runs one round against `address`.
pub(super) async fn press(
    address: SocketAddr,
    connections: usize,
    amount: Amount,
) -> Result<Outcome, BenchError> {
    let mut senders = Vec::with_capacity(connections);
    for _ in 0..connections {
        senders.push(connect(address).await?);
    }
    let next = Arc::new(AtomicUsize::new(0));
    let host: Arc<str> = address.to_string().into();
    let start = Instant::now();
    let workers: Vec<_> = senders
        .into_iter()
        .map(|sender| tokio::spawn(work(sender, Arc::clone(&host), amount.clone(), Arc::clone(&next), start)))
        .collect();
    let mut outcome = Outcome::default();
    for worker in workers {
        let counted = worker.await.map_err(|error| BenchError::Connect(std::io::Error::other(error)))??;
        for (status, count) in counted {
            *outcome.statuses.entry(status).or_default() += count;
        }
    }
    let answered: usize = outcome.statuses.values().sum();
    outcome.per_second = answered as f64 / start.elapsed().as_secs_f64();
    Ok(outcome)
}

async fn connect(address: SocketAddr) -> Result<SendRequest<Full<Bytes>>, BenchError> {
    let stream = TcpStream::connect(address).await.map_err(BenchError::Connect)?;
    stream.set_nodelay(true).map_err(BenchError::Connect)?;
    let (sender, connection) = handshake(TokioIo::new(stream)).await?;
    // Its end is seen by the sender, whose next request then fails.
    tokio::spawn(connection);
    Ok(sender)
}

async fn work(
    mut sender: SendRequest<Full<Bytes>>,
    host: Arc<str>,
    amount: Amount,
    next: Arc<AtomicUsize>,
    start: Instant,
) -> Result<BTreeMap<u16, usize>, BenchError> {
    let mut statuses = BTreeMap::new();
    loop {
        let shot = match &amount {
            Amount::For(length, shot) => (start.elapsed() < *length).then_some(shot),
            Amount::Each(shots) => shots.get(next.fetch_add(1, Ordering::Relaxed)),
        };
        let Some(shot) = shot else { return Ok(statuses) };
        sender.ready().await?;
        let answer = sender.send_request(shot.request(&host)?).await?;
        *statuses.entry(answer.status().as_u16()).or_default() += 1;
        answer.into_body().collect().await?;
    }
}
