//! `GET …/draw` and `GET …/batches/{n}`: the records anybody can check the order with.

use shared_token::ids::EventId;

use super::{Answer, Call};
use crate::events::event_state;
use crate::problem::{Kind, Problem};

pub(super) async fn draw(call: &Call<'_>, event: &EventId) -> Answer {
    let state = event_state(event);
    let gate = state.gate(call).await?;
    let drawn = state.drawn(call.env, &gate).await?;
    let drawn = drawn
        .ok_or_else(|| Problem::new(Kind::NotDrawn, "The line has not been drawn yet.").retry_after(2))?;
    let tags = call.request.header("If-None-Match");
    Ok(drawn.document.respond(call.request.method(), tags.as_deref())?)
}

pub(super) async fn batch(call: &Call<'_>, event: &EventId, n: &str) -> Answer {
    let absent = || Problem::new(Kind::NotFound, "There is no such batch, or it has not been closed yet.");
    let n: u32 = n.parse().map_err(|_| absent())?;
    let state = event_state(event);
    let gate = state.gate(call).await?;
    let batch = state.batch(call.env, &gate, n).await?.ok_or_else(absent)?;
    let tags = call.request.header("If-None-Match");
    Ok(batch.document.respond(call.request.method(), tags.as_deref())?)
}
