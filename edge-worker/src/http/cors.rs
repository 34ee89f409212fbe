//! Answers to pages of another origin (RFC: Fetch, "CORS protocol").
//!
//! Public documents are open to everybody (`*`, set where they are made, so that their bytes stay the same for all).
//! Everything said to one fan is open, with credentials, to the deployment's own public origins.

use wasm_bindgen::JsValue;
use web_sys::Response;

use super::reply::Reply;
use super::{Answer, Call};

/// What a fan's page sends.
const REQUEST_HEADERS: &str = "Authorization, Content-Type, DPoP, Fairgate-Account, Idempotency-Key, If-Match, \
                               If-None-Match, Last-Event-ID, X-Admission-Token";
/// What it may read beyond the standard ones.
const RESPONSE_HEADERS: &str = "ETag, Fairgate-Session, Idempotent-Replayed, Location, Retry-After, \
                                RateLimit, RateLimit-Policy";

/// Answers `OPTIONS` for an address with these methods. The origins are added on the way out.
pub(super) fn preflight(methods: &'static str) -> Answer {
    Reply::empty(204)
        .header("Allow", methods)
        .header("Access-Control-Allow-Methods", methods)
        .header("Access-Control-Allow-Headers", REQUEST_HEADERS)
        .header("Access-Control-Max-Age", "600")
        .try_into()
}

/// Lets a page of one of our public origins read the answer.
pub(super) fn open_to_our_origins(call: &Call<'_>, answer: Response) -> Result<Response, JsValue> {
    let Some(origin) = call.request.header("Origin") else { return Ok(answer) };
    let open_already = answer.headers().has("Access-Control-Allow-Origin")?;
    if open_already || answer.status() == 101 || !call.config.public_origins.contains(&origin) {
        return Ok(answer);
    }
    // The headers of an answer that came from elsewhere cannot be changed in place.
    let answer =
        Response::new_with_opt_readable_stream_and_init(answer.body().as_ref(), unchecked_init(&answer))?;
    let headers = answer.headers();
    headers.set("Access-Control-Allow-Origin", &origin)?;
    headers.set("Access-Control-Allow-Credentials", "true")?;
    headers.set("Access-Control-Expose-Headers", RESPONSE_HEADERS)?;
    headers.append("Vary", "Origin")?;
    Ok(answer)
}

/// A response is accepted where its own description is asked for.
pub(crate) fn unchecked_init(answer: &Response) -> &web_sys::ResponseInit {
    wasm_bindgen::JsCast::unchecked_ref(answer)
}
