//! The gate: an admitted fan's read, and a stranger's, against a worker that only passes requests on.

use reqwest::Method;
use serde_json::json;

use super::bare::Bare;
use super::load::{Amount, Shot, press};
use super::upstream::Upstream;
use super::{BenchError, Effort, Figure, sale};
use crate::fan::{EventClient, Key};
use crate::stack::Info;

const EVENT: &str = "evt_bench_gate";

pub(super) async fn measure(
    info: &Info,
    bare: &Bare,
    upstream: &Upstream,
    effort: &Effort,
) -> Result<Vec<Figure>, BenchError> {
    sale::event(info, EVENT, Some(format!("http://{}", upstream.address))).await?;
    sale::operate(info, Method::POST, &format!("{EVENT}/open"), &json!({})).await?;
    let client = EventClient::new(&info.edge, EVENT)?;
    let session = sale::enter(&client, &Key::generate()?).await?;

    let edge = sale::address(&info.edge)?;
    let path = format!("/v1/events/{EVENT}/shop");
    let cookie = format!("consent=1; fairgate-{EVENT}={session}; theme=dark");
    let admitted = Shot::get(&path).with("cookie", &cookie);
    let (mut passed, mut admitted_rates, mut rejected_rates) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..effort.rounds {
        let round = |address, shot: &Shot| {
            press(address, effort.connections, Amount::For(effort.round, shot.clone()))
        };
        passed.push(round(bare.passthrough, &admitted).await?.all(200, "the bare pass-through")?);
        admitted_rates.push(round(edge, &admitted).await?.all(200, "an admitted fan")?);
        rejected_rates.push(round(edge, &Shot::get(&path)).await?.all(403, "a rejected request")?);
    }
    let against = "bare pass-through worker (JS)";
    Ok(vec![
        Figure::of("gate: admitted fan, forwarded", against, Some(0.5), admitted_rates, passed.clone()),
        Figure::of("gate: rejected request", against, Some(0.5), rejected_rates, passed),
    ])
}
