//! `GET /problems/{slug}`: what a problem's `type` points to.

use super::reply::Reply;
use super::{Answer, Call};
use crate::origin;
use crate::problem::Kind;

/// Ours are explained here; others are the booking service's, reached under the same address.
pub(super) async fn explain(call: &Call<'_>, slug: &str) -> Answer {
    let Some(kind) = Kind::ALL.iter().find(|kind| kind.slug() == slug) else {
        return origin::forward(call, &call.config.origin, None).await;
    };
    let text = format!(
        "{}\n\nHTTP status {}, type /problems/{slug}\n\n{}\n",
        kind.title(),
        kind.status(),
        kind.help()
    );
    Reply::text(200, "text/plain; charset=utf-8", text)
        .header("Cache-Control", "public, max-age=3600")
        .header("X-Content-Type-Options", "nosniff")
        .try_into()
}
