//! `GET /v1/events/{event}/room`: the document every fan polls. The same bytes for everyone; no cookie is read or set.

use shared_token::ids::EventId;

use super::{Answer, Call};
use crate::events::event_state;

pub(super) async fn room(call: &Call<'_>, event: &EventId) -> Answer {
    let document = event_state(event).room(call).await?;
    let tags = call.request.header("If-None-Match");
    Ok(document.respond(call.request.method(), tags.as_deref())?)
}
