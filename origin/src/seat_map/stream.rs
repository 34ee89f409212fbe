//! Seat map changes as server-sent events.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    extract::{Path, State},
    response::{
        IntoResponse, Response, Sse,
        sse::{Event, KeepAlive},
    },
};
use futures::Stream;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use tokio::sync::watch;

use super::http::find_event;
use crate::{
    AppState,
    admitted::single,
    body::Params,
    events::OnShelf,
    problem::{Kind, Problem, Refusal},
};

/// Proxies close connections that are silent for a minute or less.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// Listeners of one process; each costs a task and a few kilobytes.
const LISTENERS_MAX: usize = 20_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StreamQuery {
    since: Option<u64>,
}

/// Changes as they happen. `Last-Event-ID` (or `?since`) resumes; without either the stream begins at the map at hand.
#[utoipa::path(get, path = "/v1/events/{event}/seatmap/stream", tag = "seat map",
    params(("event" = String, Path), ("since" = Option<u64>, Query)),
    responses((status = 200, description = "text/event-stream of `seats` and `reset` events")))]
pub(super) async fn stream(
    State(state): State<AppState>,
    Path(event): Path<String>,
    Params(query): Params<StreamQuery>,
    headers: HeaderMap,
) -> Refusal<Response> {
    let on_shelf = find_event(&state, &event).await?;
    let since = match single(&headers, "last-event-id") {
        Some(text) => Some(text.parse().map_err(|_| Problem::new(Kind::Malformed).detail("Last-Event-ID"))?),
        None => query.since,
    };
    let map = state.maps.current(&on_shelf).await?;
    if state.stopping.receiver_count() > LISTENERS_MAX {
        return Err(Kind::Overloaded.into());
    }
    let listener = Listener {
        versions: state.maps.watch(Arc::clone(&on_shelf)),
        stopping: state.stopping.subscribe(),
        seen: since.unwrap_or_else(|| map.version()),
        begun: false,
        on_shelf,
        state,
    };
    let sse = Sse::new(events(listener)).keep_alive(KeepAlive::new().interval(HEARTBEAT).text("still here"));
    let mut response = sse.into_response();
    // Reverse proxies that buffer by default know this one.
    response
        .headers_mut()
        .insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    Ok(response)
}

struct Listener {
    state: AppState,
    on_shelf: Arc<OnShelf>,
    versions: watch::Receiver<u64>,
    stopping: watch::Receiver<bool>,
    seen: u64,
    begun: bool,
}

fn events(listener: Listener) -> impl Stream<Item = Result<Event, Infallible>> {
    futures::stream::unfold(listener, |mut listener| async move {
        let event = listener.next().await?;
        Some((Ok(event), listener))
    })
}

impl Listener {
    /// The next event; none when the process stops, so that clients reconnect elsewhere.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if *self.stopping.borrow() {
                return None;
            }
            if let Ok(outcome) = self.state.maps.since(&self.on_shelf, self.seen).await {
                let Ok(delta) = outcome else { return self.reset().await };
                let news = delta.version != self.seen;
                if news || !self.begun {
                    self.begun = true;
                    self.seen = delta.version;
                    let event = Event::default().id(delta.version.to_string()).event("seats");
                    return event.json_data(&delta).ok();
                }
            }
            tokio::select! {
                changed = self.versions.changed() => if changed.is_err() { return None },
                changed = self.stopping.changed() => if changed.is_err() { return None },
            }
        }
    }

    /// The version asked for cannot be continued: the client fetches the map again and goes on from here.
    async fn reset(&mut self) -> Option<Event> {
        let map = self.state.maps.current(&self.on_shelf).await.ok()?;
        (self.begun, self.seen) = (true, map.version());
        let data = serde_json::json!({"version": self.seen});
        Event::default().id(self.seen.to_string()).event("reset").json_data(data).ok()
    }
}
