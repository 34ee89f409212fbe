//! `GET /healthz` and `GET /.well-known/jwks.json`.

use super::reply::Reply;
use super::{Answer, Call};

/// The isolate runs and its configuration was read; it says nothing about the objects or an origin.
pub(super) fn healthz() -> Answer {
    let text = "ok\n".to_owned();
    Reply::text(200, "text/plain; charset=utf-8", text).header("Cache-Control", "no-store").try_into()
}

/// The public keys of our tokens.
pub(super) async fn jwks(call: &Call<'_>) -> Answer {
    Reply::text(200, "application/jwk-set+json", call.config.keys.jwks_json())
        .header("Cache-Control", "public, max-age=300")
        .header("Access-Control-Allow-Origin", "*")
        .try_into()
}
