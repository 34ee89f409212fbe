//! What an isolate counts. The only place that knows a metric's name.

use std::cell::Cell;
use std::fmt::Write as _;

macro_rules! counters {
    ($($counter:ident $name:literal $help:literal;)*) => {
        /// A number that only grows while an isolate lives.
        #[derive(Clone, Copy, Debug)]
        pub(crate) enum Counter {
            $(#[doc = $help] $counter,)*
        }

        const COUNTERS: &[(&str, &str)] = &[$(($name, $help),)*];
    };
}

counters! {
    Requests "fairgate_edge_requests_total" "Requests handled";
    Failures "fairgate_edge_failures_total" "Requests that ended in an internal failure";
    Joins "fairgate_edge_joins_total" "Joins that reached a lane";
    JoinRepeats "fairgate_edge_join_repeats_total" "Joins answered from the isolate's memory";
    JoinsLimited "fairgate_edge_joins_limited_total" "Joins refused by a rate limit";
    WorkRefused "fairgate_edge_work_refused_total" "Proofs of work that did not hold";
    ProofsRefused "fairgate_edge_proofs_refused_total" "Proofs of possession that did not hold";
    GatePassed "fairgate_edge_gate_passed_total" "Requests of admitted shoppers let through to a protected route";
    GateRefused "fairgate_edge_gate_refused_total" "Requests turned away from a protected route";
    LaneConfirmations "fairgate_edge_lane_confirmations_total" "Sessions confirmed by their lane";
    RoomCalls "fairgate_edge_room_calls_total" "Calls to a Room for a document";
    OriginCalls "fairgate_edge_origin_calls_total" "Requests forwarded to an origin";
    OriginFailures "fairgate_edge_origin_failures_total" "Requests an origin did not answer";
    CachedAnswers "fairgate_edge_cached_answers_total" "Origin reads answered from the isolate's copy";
}

thread_local! {
    static VALUES: [Cell<u64>; COUNTERS.len()] = const { [const { Cell::new(0) }; COUNTERS.len()] };
}

/// Counts one.
pub(crate) fn count(counter: Counter) {
    VALUES.with(|values| {
        if let Some(value) = values.get(counter as usize) {
            value.set(value.get().saturating_add(1));
        }
    });
}

/// The counters of this isolate in Prometheus' text format.
pub(crate) fn render(out: &mut String) {
    VALUES.with(|values| {
        for ((name, help), value) in COUNTERS.iter().zip(values) {
            // Writing to a String cannot fail.
            let _ = write!(
                out,
                "# HELP {name} {help}, by this isolate.\n# TYPE {name} counter\n{name} {}\n",
                value.get()
            );
        }
    });
}

/// One line for the log; nothing secret ever goes in.
pub(crate) fn log(event: &str, detail: &dyn std::fmt::Display) {
    worker::console_error!("{}", serde_json::json!({ "event": event, "detail": detail.to_string() }));
}

/// An event's numbers under their metrics' names.
pub(crate) fn event_metrics(stats: &edge_core::wire::Stats) -> [(&'static str, u64); 10] {
    [
        ("fairgate_event_active", stats.active),
        ("fairgate_event_granted", stats.granted),
        ("fairgate_event_cap", stats.cap),
        ("fairgate_event_serving", stats.serving),
        ("fairgate_event_queued", stats.queued),
        ("fairgate_event_joined_total", stats.joined_total),
        ("fairgate_event_admitted_total", stats.admitted_total),
        ("fairgate_event_completed_total", stats.completed_total),
        ("fairgate_event_expired_total", stats.expired_total),
        ("fairgate_event_revoked_total", stats.revoked_total),
    ]
}
