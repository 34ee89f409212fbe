//! The packed seat map through the edge, against a worker with a ready answer of the same size.

use super::bare::Bare;
use super::load::{Amount, Shot, press};
use super::{BenchError, Effort, Figure, sale};
use crate::fan::EventClient;
use crate::stack::Info;

fn event(info: &Info) -> Result<&str, BenchError> {
    info.event.as_deref().ok_or_else(|| BenchError::Unexpected {
        what: "the stack",
        expected: "a demo event".to_owned(),
        got: "none".to_owned(),
    })
}

/// Bytes of the packed map.
pub(super) async fn size(info: &Info) -> Result<usize, BenchError> {
    Ok(EventClient::new(&info.edge, event(info)?)?.seat_bits().await?.len())
}

pub(super) async fn measure(info: &Info, bare: &Bare, effort: &Effort) -> Result<Vec<Figure>, BenchError> {
    let edge = sale::address(&info.edge)?;
    let map = Shot::get(format!("/v1/events/{}/seatmap?format=bin", event(info)?));
    let (mut rates, mut ready) = (Vec::new(), Vec::new());
    for _ in 0..effort.rounds {
        let round = |address, shot: &Shot| {
            press(address, effort.connections, Amount::For(effort.round, shot.clone()))
        };
        ready.push(round(bare.ready, &Shot::get("/")).await?.all(200, "the ready answer")?);
        rates.push(round(edge, &map).await?.all(200, "the seat map")?);
    }
    Ok(vec![Figure::of(
        "seat map GET (packed, 8,897 seats)",
        "ready answer of the same size (JS)",
        Some(0.8),
        rates,
        ready,
    )])
}
