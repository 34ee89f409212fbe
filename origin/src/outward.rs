//! Calls out (payment provider, the edge's keys): HTTP over TLS, every wait bounded.

use std::{fmt, time::Duration};

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// A payment intent with everything expanded is about 8 kB; a key set is smaller.
const ANSWER_MAX_BYTES: usize = 512 * 1024;
/// Idle connections kept to one host: as many as orders driven at once.
const IDLE_MAX: usize = 32;

/// No connection, no whole answer, or not in time. Whether the call had an effect is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unanswered(pub String);

/// An HTTP client for `https`, and for `http` on a developer's machine. Cheap to clone.
#[derive(Clone)]
pub struct Transport(Client<HttpsConnector<HttpConnector>, Full<Bytes>>);

impl Transport {
    /// A client that trusts the web's certificate authorities.
    ///
    /// # Errors
    /// The TLS provider supports no safe protocol version.
    pub fn new() -> Result<Self, rustls::Error> {
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        http.set_nodelay(true);
        http.set_connect_timeout(Some(CONNECT_TIMEOUT));
        let https = HttpsConnectorBuilder::new()
            .with_provider_and_webpki_roots(rustls::crypto::ring::default_provider())?
            .https_or_http()
            .enable_http1()
            .wrap_connector(http);
        Ok(Self(Client::builder(TokioExecutor::new()).pool_max_idle_per_host(IDLE_MAX).build(https)))
    }

    /// Sends a request and reads the whole answer within `limit`.
    ///
    /// # Errors
    /// [`Unanswered`].
    pub async fn send(
        &self,
        request: Request<Full<Bytes>>,
        limit: Duration,
    ) -> Result<(StatusCode, Bytes), Unanswered> {
        let exchange = async {
            let answer = self.0.request(request).await.map_err(|error| unanswered(&error))?;
            let status = answer.status();
            let body = Limited::new(answer.into_body(), ANSWER_MAX_BYTES).collect().await;
            let body = body.map_err(|error| Unanswered(error.to_string()))?;
            Ok((status, body.to_bytes()))
        };
        tokio::time::timeout(limit, exchange)
            .await
            .map_err(|_| Unanswered(format!("no answer within {} ms", limit.as_millis())))?
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Transport")
    }
}

fn unanswered(error: &dyn std::error::Error) -> Unanswered {
    let mut chain = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        chain.push_str(": ");
        chain.push_str(&cause.to_string());
        source = cause.source();
    }
    Unanswered(chain)
}
