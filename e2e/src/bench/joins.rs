//! Joins a second, each durable when it is answered, against a Durable Object that only echoes the same body.

use std::sync::Arc;

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use serde_json::json;

use super::bare::Bare;
use super::load::{Amount, Shot, press};
use super::{BenchError, Effort, Figure, sale};
use crate::fan::{Challenge, EventClient, Key};
use crate::stack::Info;

const EVENT: &str = "evt_bench_joins";

pub(super) async fn measure(info: &Info, bare: &Bare, effort: &Effort) -> Result<Vec<Figure>, BenchError> {
    sale::event(info, EVENT, None).await?;
    let client = EventClient::new(&info.edge, EVENT)?;
    let edge = sale::address(&info.edge)?;
    let (mut joined, mut echoed) = (Vec::new(), Vec::new());
    for _ in 0..effort.rounds {
        let shots = Arc::new(prepare(info, &client, effort).await?);
        let round = |address| press(address, effort.joiners, Amount::Each(Arc::clone(&shots)));
        echoed.push(round(bare.echo).await?.all(200, "the bare echo")?);
        joined.push(round(edge).await?.all(201, "joins")?);
    }
    Ok(vec![Figure::of(
        "joins, durable",
        "bare Worker → Durable Object echo (JS)",
        Some(0.4),
        joined,
        echoed,
    )])
}

/// Keys, solved challenges and proofs, made before the clock starts: what a fan's phone does is not measured.
async fn prepare(info: &Info, client: &EventClient, effort: &Effort) -> Result<Vec<Shot>, BenchError> {
    stream::iter(0..effort.joins)
        .map(|_| shot(info, client))
        .buffer_unordered(effort.connections)
        .try_collect()
        .await
}

async fn shot(info: &Info, client: &EventClient) -> Result<Shot, BenchError> {
    let key = Key::generate()?;
    let answer = client.challenge(&key).await?;
    let refused = || BenchError::Unexpected {
        what: "a challenge",
        expected: "200".to_owned(),
        got: format!("{} {}", answer.status, answer.body),
    };
    let challenge: Challenge = serde_json::from_value(answer.body.clone()).map_err(|_| refused())?;
    let nonces = challenge.solve().ok_or_else(refused)?;
    let path = format!("/v1/events/{EVENT}/queue");
    let proof = key.proof("POST", &format!("{}{path}", info.edge), None, crate::clock::now().timestamp())?;
    let body = json!({"challenge": challenge.challenge, "nonces": nonces, "jwk": key.jwk()}).to_string();
    Ok(Shot { method: http::Method::POST, uri: path, headers: Vec::new(), body: Bytes::from(body) }
        .with("content-type", "application/json")
        .with("dpop", proof))
}
