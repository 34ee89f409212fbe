//! The pages and their assets, embedded in the Worker.

use edge_core::gate::own_target;

use super::prepared::matches;
use super::reply::Reply;
use super::{Answer, Call, not_found};

/// Nothing inline, nothing from elsewhere, in nobody's frame.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; \
     img-src 'self' data:; connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; \
     form-action 'self'; frame-ancestors 'none'";

/// One file of `pages/dist`.
#[derive(Debug)]
pub(crate) struct Embedded {
    route: &'static str,
    media_type: &'static str,
    etag: &'static str,
    /// Whether its name changes with its content.
    immutable: bool,
    bytes: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

fn find(path: &str) -> Option<&'static Embedded> {
    EMBEDDED.iter().find(|file| file.route == path)
}

/// Whether a page stands at this path.
pub(super) fn is_page(path: &str) -> bool {
    find(path).is_some_and(|file| !file.immutable)
}

/// A page. The waiting room forgets a place to return to that is not ours.
pub(super) fn page(call: &Call<'_>) -> Answer {
    if call.request.path() == "/waiting-room" {
        let target = call.request.param("return_to").map(decoded);
        if target.is_some_and(|target| own_target(&target, &call.config.public_origins).is_none()) {
            let kept = call.request.query().split('&').filter(|pair| !pair.starts_with("return_to="));
            let location = format!("/waiting-room?{}", kept.collect::<Vec<_>>().join("&"));
            return Reply::empty(302)
                .header("Location", location)
                .header("Cache-Control", "no-store")
                .try_into();
        }
    }
    file(call)
}

/// What a page's script reads in a query parameter.
fn decoded(value: &str) -> String {
    js_sys::decode_uri_component(&value.replace('+', " ")).map_or_else(|_| String::new(), String::from)
}

/// An embedded file.
pub(super) fn file(call: &Call<'_>) -> Answer {
    let file = find(call.request.path()).ok_or_else(not_found)?;
    let cache = if file.immutable { "public, max-age=31536000, immutable" } else { "no-cache" };
    let tags = call.request.header("If-None-Match");
    let unchanged = tags.is_some_and(|tags| matches(&tags, file.etag));
    let reply = match (unchanged, call.request.method()) {
        (true, _) => Reply::empty(304),
        (false, "HEAD") => Reply::empty(200).header("Content-Type", file.media_type),
        (false, _) => Reply::file(file.media_type, file.bytes),
    };
    reply
        .header("ETag", file.etag)
        .header("Cache-Control", cache)
        .header("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        .header("X-Content-Type-Options", "nosniff")
        .header("Referrer-Policy", "no-referrer")
        .header("Cross-Origin-Opener-Policy", "same-origin")
        .try_into()
}
