//! The smallest origin: one ready answer, so that what stands in front of it is what is measured.

use std::net::SocketAddr;

use axum::Router;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::BenchError;

/// A running upstream; ends when dropped.
pub(super) struct Upstream {
    pub(super) address: SocketAddr,
    task: JoinHandle<()>,
}

/// Serves on a free loopback port.
pub(super) async fn serve() -> Result<Upstream, BenchError> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(BenchError::Connect)?;
    let address = listener.local_addr().map_err(BenchError::Connect)?;
    let router = Router::new().fallback(|| async { "ok" });
    let task = tokio::spawn(async move {
        if let Err(error) = axum::serve(listener, router).await {
            tracing::error!(%error, "the bench's upstream ended");
        }
    });
    Ok(Upstream { address, task })
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.task.abort();
    }
}
