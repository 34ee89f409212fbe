//! `GET /metrics`: what this isolate counted, and the numbers of the events named in the query, in Prometheus' format.

use std::fmt::Write as _;

use edge_core::wire::Stats;
use shared_token::ids::EventId;

use super::reply::Reply;
use super::{Answer, Call};
use crate::objects::RoomClient;
use crate::sessions::{heard, unavailable};
use crate::telemetry;

/// Events one scrape may ask for: each is a call to every lane.
const MAX_EVENTS: usize = 16;

pub(super) async fn metrics(call: &Call<'_>) -> Answer {
    call.operator()?;
    let mut text = String::new();
    telemetry::render(&mut text);
    let named = call.request.query().split('&').filter_map(|pair| pair.strip_prefix("event="));
    let events: Vec<EventId> = named.take(MAX_EVENTS).filter_map(|event| event.parse().ok()).collect();
    for event in events {
        let room = RoomClient::new(call.env, &event).map_err(unavailable)?;
        if let Some(stats) = heard(room.stats()).await? {
            render(&mut text, &event, &stats);
        }
    }
    Reply::text(200, "text/plain; version=0.0.4; charset=utf-8", text)
        .header("Cache-Control", "no-store")
        .try_into()
}

fn render(out: &mut String, event: &EventId, stats: &Stats) {
    for (name, value) in telemetry::event_metrics(stats) {
        // Writing to a String cannot fail; an event id needs no escaping.
        let _ = writeln!(out, "{name}{{event=\"{event}\"}} {value}");
    }
}
