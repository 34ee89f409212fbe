//! Running the service: listen, answer, work, stop gracefully.

use std::{future::Future, io};

use axum::serve::ListenerExt;
use tokio::{net::TcpListener, signal::unix::SignalKind};

use crate::{
    AppState,
    config::{Config, DRAIN_TIMEOUT, Role},
    jobs, router,
    service::{Service, StartError, driver_router},
};

/// Why serving ended.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The service could not be put together.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The address cannot be listened on, or signals cannot be awaited.
    #[error("cannot listen: {0}")]
    Listen(#[from] io::Error),
}

/// Serves until SIGTERM or SIGINT.
pub async fn serve(config: Config, role: Role) -> Result<(), ServeError> {
    let state = Service::new(config)?;
    let listener = TcpListener::bind(state.config.listen).await?;
    let mut terminate = tokio::signal::unix::signal(SignalKind::terminate())?;
    tracing::info!(listen = %listener.local_addr()?, ?role, "serving");
    let signal = async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = tokio::signal::ctrl_c() => {}
        }
    };
    serve_on(state, role, listener, signal).await
}

/// Serves on a listener until `stop` completes: new connections are refused, requests in flight get time to end, live
/// streams are closed, background work ends after its current step.
pub async fn serve_on(
    state: AppState,
    role: Role,
    listener: TcpListener,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<(), ServeError> {
    let work =
        [role.drives().then(|| jobs::start(&state)), role.answers().then(|| jobs::start_posting(&state))];
    let routes = if role.answers() { router(state.clone()) } else { driver_router(state.clone()) };
    // A hold is a few hundred bytes each way: waiting to fill a packet would cost more than the work itself.
    let listener = listener.tap_io(|stream| {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY");
        }
    });
    let stopping = state.clone();
    let graceful = axum::serve(listener, routes).with_graceful_shutdown(async move {
        stop.await;
        stopping.stopping.send_replace(true);
    });
    let mut stopped = state.stopping.subscribe();
    let overdue = async move {
        // An error means the sender is gone, and with it the service.
        let _ = stopped.wait_for(|stopping| *stopping).await;
        tokio::time::sleep(DRAIN_TIMEOUT).await;
    };
    tokio::select! {
        outcome = graceful.into_future() => outcome?,
        () = overdue => tracing::warn!("requests were still running when time was up"),
    }
    state.stopping.send_replace(true);
    for work in work.into_iter().flatten() {
        work.finish().await;
    }
    state.db.close().await;
    Ok(())
}
