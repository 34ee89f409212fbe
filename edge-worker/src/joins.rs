//! What this isolate remembers of joins: places just given, and how often keys and networks tried, to join or for
//! events there are none of.

use std::cell::RefCell;

use edge_core::gate::{Prefix, RateLimiter, Recent};
use edge_core::wire::Instant;
use shared_token::ids::EventId;
use shared_token::thumbprint::Thumbprint;
use shared_token::ticket::Place;

use crate::http::Call;
use crate::problem::{Kind, Problem};
use crate::telemetry::{Counter, count};

/// How long a repeated join is answered without its lane. Short: a place that is spent meanwhile is no place any more.
const REPEAT_MS: u64 = 5_000;
/// Keys remembered: ten seconds of 2,000 joins a second.
const KEYS: usize = 20_000;
/// A key joins once; ten tries cover reloads and second tabs, then one every two seconds.
const KEY_BURST: u32 = 10;
const KEY_REFILL_MS: u64 = 2_000;
/// A network may be a campus or a carrier: 600 at once, then 20 a second.
const PREFIX_BURST: u32 = 600;
const PREFIX_REFILL_MS: u64 = 50;

/// Events that no Room knows, asked for from one network: a page of links to old sales at once, then ten a second.
const UNKNOWN_BURST: u32 = 200;
const UNKNOWN_REFILL_MS: u64 = 100;

type Key = (EventId, Thumbprint);

thread_local! {
    static PLACES: RefCell<Recent<Key, (Known, Instant)>> = RefCell::new(Recent::new(KEYS));
    static BY_KEY: RefCell<RateLimiter<Thumbprint>> =
        RefCell::new(RateLimiter::new(KEY_BURST, KEY_REFILL_MS, KEYS));
    static BY_PREFIX: RefCell<RateLimiter<Prefix>> =
        RefCell::new(RateLimiter::new(PREFIX_BURST, PREFIX_REFILL_MS, KEYS));
    static UNKNOWN: RefCell<RateLimiter<Prefix>> =
        RefCell::new(RateLimiter::new(UNKNOWN_BURST, UNKNOWN_REFILL_MS, KEYS));
}

/// A place this isolate has answered with.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    /// The signed ticket.
    pub(crate) ticket: String,
    /// Incarnation of the event.
    pub(crate) inc: String,
    /// Where the place is.
    pub(crate) place: Place,
}

/// The place just given to this key, if it is of this incarnation.
pub(crate) fn known(event: &EventId, jkt: &Thumbprint, inc: &str, now: Instant) -> Option<Known> {
    PLACES.with_borrow_mut(|places| {
        let (known, at) = places.get(&(event.clone(), *jkt))?;
        (known.inc == inc && now.since(*at) < REPEAT_MS).then(|| known.clone())
    })
}

/// Remembers a place.
pub(crate) fn remember(event: &EventId, jkt: &Thumbprint, known: &Known, now: Instant) {
    PLACES.with_borrow_mut(|places| places.insert((event.clone(), *jkt), (known.clone(), now)));
}

/// Forgets a place: it is spent.
pub(crate) fn forget(event: &EventId, jkt: &Thumbprint) {
    PLACES.with_borrow_mut(|places| places.remove(&(event.clone(), *jkt)));
}

/// Limits what a network may try before anything is computed for it.
pub(crate) fn limit_prefix(call: &Call<'_>) -> Result<(), Problem> {
    let Some(prefix) = counted(call) else { return Ok(()) };
    BY_PREFIX.with_borrow_mut(|limiter| limiter.take(prefix, call.now.0)).map_err(limited)
}

/// Limits for how many events unknown here a network has a Room asked.
pub(crate) fn limit_unknown(call: &Call<'_>) -> Result<(), Problem> {
    let Some(prefix) = counted(call) else { return Ok(()) };
    UNKNOWN.with_borrow_mut(|limiter| limiter.take(prefix, call.now.0)).map_err(|wait_ms| {
        Problem::new(Kind::TooManyAttempts, "Too many events that are not known here.")
            .retry_after(wait_ms.div_ceil(1000).max(1))
    })
}

/// The network that is counted. Without an address there is nobody to count: only a deployment outside Cloudflare has
/// none.
fn counted(call: &Call<'_>) -> Option<Prefix> {
    let client = call.request.client(&call.config)?;
    (!call.config.local || !client.is_loopback()).then(|| client.prefix())
}

/// Limits how often a key that has proved itself asks its lane for a place.
pub(crate) fn limit_key(jkt: &Thumbprint, now: Instant) -> Result<(), Problem> {
    BY_KEY.with_borrow_mut(|limiter| limiter.take(*jkt, now.0)).map_err(limited)
}

fn limited(wait_ms: u64) -> Problem {
    count(Counter::JoinsLimited);
    Problem::new(Kind::TooManyAttempts, "Too many attempts to join; your place is kept.")
        .retry_after(wait_ms.div_ceil(1000).max(1))
}
