//! Reads and calls the origin answers: its map and layout from copies, the rest forwarded.

use std::cell::RefCell;
use std::rc::Rc;

use edge_core::gate::{ADMIT_MAX_AGE_MS, Copy, Prefix, RateLimiter, Recent, Rule};
use shared_token::ids::EventId;

use super::gate::{FORWARDED_METHODS, is_preflight};
use super::prepared::{Prepared, bytes_of};
use super::{Answer, Call, Failure, cors, gate, not_found, reads_the_same};
use crate::copied::Copied;
use crate::events::event_state;
use crate::origin;
use crate::problem::{Kind, Problem};
use crate::sessions::Session;
use crate::telemetry::{Counter, count};

/// Copies an isolate keeps at least: maps and layouts of a few events in their formats.
const COPIES: usize = 24;
/// Changes kept at least, apart from the others: whoever invents versions displaces no map.
const CHANGES: usize = 64;
/// Bytes of each kind an isolate keeps at most, together half of its 128 MB. A layout of 100,000 seats has some ten
/// megabytes as it is and one compressed.
const COPIES_BYTES: u64 = 48 * 1024 * 1024;
const CHANGES_BYTES: u64 = 16 * 1024 * 1024;
/// Cookies of other events' sessions looked at where an address names no event.
const MAX_SESSIONS: usize = 8;
/// Callbacks of a payment provider from one network: a burst of retries, then 100 a second.
const WEBHOOK_BURST: u32 = 1_000;
const WEBHOOK_REFILL_MS: u64 = 10;
const WEBHOOK_PREFIXES: usize = 1_000;

type Copies = Recent<String, Rc<Copied<Prepared>>>;

thread_local! {
    static COPIED: RefCell<Copies> = RefCell::new(Recent::new(COPIES));
    static CHANGED: RefCell<Copies> = RefCell::new(Recent::new(CHANGES));
    static BY_PREFIX: RefCell<RateLimiter<Prefix>> =
        RefCell::new(RateLimiter::new(WEBHOOK_BURST, WEBHOOK_REFILL_MS, WEBHOOK_PREFIXES));
}

/// Map, layout and changes of an event: the same for everyone, so one fetch a second serves all.
pub(super) async fn copied(call: &Call<'_>, event: &EventId, what: Copy) -> Answer {
    let method = call.request.method();
    if !matches!(method, "GET" | "HEAD") {
        return gate::pass(call, event).await;
    }
    let state = event_state(event);
    let view = match state.gate_at_hand(call.now.0) {
        Some(view) => Some(view),
        None => state.routes_if_any(call).await?,
    };
    let base = match &view {
        Some(view) if view.routes.rule(method, call.request.path()) != Rule::Open => {
            return gate::pass(call, event).await;
        }
        Some(view) => view.document.config.origin.as_deref(),
        None => None,
    };
    serve_copy(call, base.unwrap_or(&call.config.origin), what).await
}

async fn serve_copy(call: &Call<'_>, base: &str, what: Copy) -> Answer {
    if !reads_the_same(call.request.path()) {
        return Err(not_found());
    }
    let query = what.query(call.request.query()).ok_or_else(|| {
        let detail = "`format` is bin or json, `planes` 1 or 2, `since` a version; each at most once.";
        Problem::new(Kind::Malformed, detail)
    })?;
    let encoding = encoding(&call.request.header("Accept-Encoding").unwrap_or_default());
    let target = format!("{}{query}", call.request.path());
    let copied = copy_named(what, format!("{encoding} {base}{target}"));
    let known = copied.kept();
    let lasting = known.clone().filter(|copy| copy.is_immutable());
    let copy = match lasting.or_else(|| copied.at_hand(call.now.0)) {
        Some(copy) => copy,
        None => {
            let ask = async |_| fetch(call, base, &target, encoding, known).await.map(Some);
            let copy = copied.obtain(ADMIT_MAX_AGE_MS, ask).await?;
            shed(what);
            copy.ok_or_else(not_found)?
        }
    };
    count(Counter::CachedAnswers);
    let tags = call.request.header("If-None-Match");
    Ok(copy.respond(call.request.method(), tags.as_deref())?)
}

fn with_copies<T>(what: Copy, act: impl FnOnce(&mut Copies, u64) -> T) -> T {
    match what {
        Copy::Changes => CHANGED.with_borrow_mut(|copies| act(copies, CHANGES_BYTES)),
        Copy::Layout | Copy::Map => COPIED.with_borrow_mut(|copies| act(copies, COPIES_BYTES)),
    }
}

fn copy_named(what: Copy, name: String) -> Rc<Copied<Prepared>> {
    with_copies(what, |copies, _| {
        if let Some(copied) = copies.get(&name) {
            return Rc::clone(copied);
        }
        let copied = Rc::<Copied<Prepared>>::default();
        copies.insert(name, Rc::clone(&copied));
        copied
    })
}

/// Forgets copies until the rest fits.
fn shed(what: Copy) {
    with_copies(what, |copies, most| {
        let held = |copies: &Copies| -> u64 {
            copies.values().filter_map(|copied| copied.kept()).map(|copy| copy.size()).sum()
        };
        while held(copies) > most {
            copies.shed();
        }
    });
}

/// What the origin serves now; the copy `known` if that is still the same.
async fn fetch(
    call: &Call<'_>,
    base: &str,
    target: &str,
    encoding: &str,
    known: Option<Rc<Prepared>>,
) -> Result<Rc<Prepared>, Problem> {
    let unreadable = |error: wasm_bindgen::JsValue| {
        crate::telemetry::log("origin-copy-unreadable", &format!("{error:?}"));
        Problem::new(Kind::OriginUnreachable, "The booking service's answer broke off.").retry_after(2)
    };
    let etag = known.as_ref().and_then(|copy| copy.etag());
    let sent = origin::fetch_copy(call, base, target, encoding, etag).await;
    let answer = sent.map_err(|failure| match failure {
        Failure::Refused(problem) => problem,
        Failure::Threw(error) => unreadable(error),
    })?;
    if let (304, Some(known)) = (answer.status(), known) {
        return Ok(known);
    }
    if answer.status() >= 500 {
        let detail = "The booking service cannot serve this right now.";
        return Err(Problem::new(Kind::OriginUnreachable, detail).retry_after(2));
    }
    let source = answer.headers();
    let header = |name: &str| source.get(name).ok().flatten();
    let mut headers = vec![
        ("Access-Control-Allow-Origin", "*".to_owned()),
        ("Access-Control-Expose-Headers", "ETag, Retry-After".to_owned()),
        ("Vary", "Accept-Encoding".to_owned()),
    ];
    for name in ["Content-Type", "Content-Encoding", "Cache-Control", "Retry-After", "Link"] {
        headers.extend(header(name).map(|value| (name, value)));
    }
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let etag = header("ETag").unwrap_or_default();
    let body = bytes_of(&answer).await.map_err(unreadable)?;
    Prepared::of(answer.status(), body, &etag, &headers).map(Rc::new).map_err(unreadable)
}

/// The best encoding of the two an origin offers.
fn encoding(accepted: &str) -> &'static str {
    let accepts = |wanted: &str| {
        accepted.split(',').any(|offer| {
            let mut parts = offer.split(';').map(str::trim);
            parts.next() == Some(wanted) && !parts.any(|part| matches!(part, "q=0" | "q=0.0"))
        })
    };
    if accepts("br") {
        "br"
    } else if accepts("gzip") {
        "gzip"
    } else {
        "identity"
    }
}

/// Every other address below `/v1`.
pub(super) async fn other(call: &Call<'_>) -> Answer {
    if is_preflight(call) {
        return cors::preflight(FORWARDED_METHODS);
    }
    let path = call.request.path();
    if call.config.webhook_paths.iter().any(|listed| listed == path) {
        limit_webhooks(call)?;
        return origin::forward(call, &call.config.origin, None).await;
    }
    if path == "/v1/webhooks" || path.starts_with("/v1/webhooks/") {
        return Err(not_found());
    }
    if path.starts_with("/v1/layouts/") && matches!(call.request.method(), "GET" | "HEAD") {
        return serve_copy(call, &call.config.origin, Copy::Layout).await;
    }
    origin::forward(call, &call.config.origin, any_session(call).as_deref()).await
}

fn limit_webhooks(call: &Call<'_>) -> Result<(), Problem> {
    let Some(client) = call.request.client(&call.config) else { return Ok(()) };
    if call.config.local && client.is_loopback() {
        return Ok(());
    }
    let taken = BY_PREFIX.with_borrow_mut(|limiter| limiter.take(client.prefix(), call.now.0));
    taken.map_err(|wait_ms| {
        Problem::new(Kind::TooManyAttempts, "Too many callbacks from this network.")
            .retry_after(wait_ms.div_ceil(1000).max(1))
    })
}

/// A correctly signed session where the address names no event: the one presented, or the latest of the cookies'.
fn any_session(call: &Call<'_>) -> Option<Rc<Session>> {
    let verify = |token: &str| Session::verify(token, &call.config, call.now.0).ok();
    let bearer = call.request.credential(&["bearer", "dpop"]);
    bearer.and_then(|token| verify(&token)).or_else(|| {
        let cookies = call.request.header("Cookie")?;
        let prefix = call.config.session_cookie_prefix();
        let named = cookies.split(';').filter_map(|pair| pair.trim().split_once('='));
        let tokens =
            named.filter(|(name, _)| name.starts_with(prefix)).map(|(_, token)| token.trim_matches('"'));
        tokens.take(MAX_SESSIONS).filter_map(verify).max_by_key(|session| session.claims.iat)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encoding_is_chosen_from_what_is_accepted() {
        for (accepted, chosen) in [
            ("", "identity"),
            ("gzip, deflate, br", "br"),
            ("gzip;q=0.5", "gzip"),
            ("br;q=0, gzip", "gzip"),
            ("gzip;q=0", "identity"),
            ("*", "identity"),
        ] {
            assert_eq!(encoding(accepted), chosen, "{accepted}");
        }
    }
}
