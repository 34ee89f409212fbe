//! Holds a second at the origin, against the same script sent raw by `redis-benchmark`.

use std::process::Stdio;
use std::sync::Arc;

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;

use super::load::{Amount, Shot, press};
use super::{BenchError, Effort, Figure, sale};
use crate::fan::{EventClient, Key};
use crate::stack::Info;

const SEATS_A_HOLD: usize = 2;
/// The demo event sells six tickets to one identity.
const HOLDS_A_FAN: usize = 3;

pub(super) async fn measure(info: &Info, effort: &Effort) -> Result<Vec<Figure>, BenchError> {
    let (Some(event), Some(redis)) = (info.event.as_deref(), info.redis_url.as_deref()) else {
        return Ok(Vec::new());
    };
    sale::operate(info, Method::POST, &format!("{event}/open"), &json!({})).await?;
    let client = EventClient::new(&info.edge, event)?;
    let seats = seat_ids(&client).await?;
    // One hold more than is measured: its script call is the pattern for the denominator.
    let rounds = effort.rounds.min(seats.len() / SEATS_A_HOLD / effort.holds.max(1)).max(1);
    let shots = shots(info, event, &client, &seats, rounds * effort.holds + 1).await?;
    let origin = sale::address(&info.origin)?;
    let Some((pattern, measured)) = shots.split_last() else { return Ok(Vec::new()) };
    let script = Script::of_one_hold(redis, origin, pattern).await?;

    let (mut held, mut raw) = (Vec::new(), Vec::new());
    for shots in measured.chunks(effort.holds) {
        raw.push(script.benchmark(redis, effort.connections).await?);
        let outcome = press(origin, effort.connections, Amount::Each(Arc::new(shots.to_vec()))).await?;
        held.push(outcome.all(201, "holds")?);
    }
    Ok(vec![Figure::of(
        "holds of two seats (HTTP, verified, answered)",
        "raw EVALSHA of the same script",
        None,
        held,
        raw,
    )])
}

async fn seat_ids(client: &EventClient) -> Result<Vec<String>, BenchError> {
    let layout = client.read("/layout").await?;
    let ids = layout.body["seats"].as_array().map(|seats| {
        seats.iter().filter_map(|seat| seat["seat_id"].as_str().map(str::to_owned)).collect::<Vec<_>>()
    });
    ids.filter(|ids| !ids.is_empty()).ok_or_else(|| BenchError::Unexpected {
        what: "the layout",
        expected: "seats".to_owned(),
        got: format!("{} {:.200}", layout.status, layout.body.to_string()),
    })
}

/// Real shoppers, each with a session of their own, and as many holds as their ticket limit allows.
async fn shots(
    info: &Info,
    event: &str,
    client: &EventClient,
    seats: &[String],
    holds: usize,
) -> Result<Vec<Shot>, BenchError> {
    let sessions: Vec<String> = stream::iter(0..holds.div_ceil(HOLDS_A_FAN))
        .map(|_| async { sale::enter(client, &Key::generate()?).await })
        .buffer_unordered(64)
        .try_collect()
        .await?;
    let pairs = seats.chunks_exact(SEATS_A_HOLD).take(holds);
    let shot = |(n, pair): (usize, &[String])| {
        let body = json!({"seat_ids": pair}).to_string();
        let session = sessions.get(n / HOLDS_A_FAN).cloned().unwrap_or_default();
        Shot {
            method: http::Method::POST,
            uri: format!("/v1/events/{event}/holds"),
            headers: Vec::new(),
            body: Bytes::from(body),
        }
        .with("content-type", "application/json")
        .with("fairgate-edge", &info.edge_secret)
        .with("fairgate-session", session)
        .with("idempotency-key", format!("bench-{n}"))
    };
    Ok(pairs.enumerate().map(shot).collect())
}

/// The script call of one hold, as Redis saw it.
struct Script {
    words: Vec<String>,
}

impl Script {
    /// Watches Redis while one hold is made.
    async fn of_one_hold(redis: &str, origin: std::net::SocketAddr, hold: &Shot) -> Result<Self, BenchError> {
        let mut monitor = Command::new("redis-cli")
            .args(["-u", redis, "MONITOR"])
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(BenchError::at("redis-cli"))?;
        let missing = || BenchError::Unexpected {
            what: "redis-cli MONITOR",
            expected: "the script of a hold".to_owned(),
            got: "none".to_owned(),
        };
        let mut lines = BufReader::new(monitor.stdout.take().ok_or_else(missing)?).lines();
        // Its first line is "OK": from then on every command is seen.
        lines.next_line().await.map_err(BenchError::at("redis-cli"))?;
        press(origin, 1, Amount::Each(Arc::new(vec![hold.clone()]))).await?.all(201, "the pattern hold")?;
        while let Some(line) = lines.next_line().await.map_err(BenchError::at("redis-cli"))? {
            let words = quoted(&line);
            let is_script = words.first().is_some_and(|word| word.eq_ignore_ascii_case("evalsha"));
            if is_script && words.iter().any(|word| word.starts_with("hold_")) {
                return Ok(Self { words });
            }
        }
        Err(missing())
    }

    /// The same call, with every key but the event's own made unique by redis-benchmark, so that each run takes the
    /// path of a successful hold; on a copy of the event's generation, so that the real event is left alone.
    async fn benchmark(&self, redis: &str, connections: usize) -> Result<f64, BenchError> {
        let count: usize = self.words.get(2).and_then(|word| word.parse().ok()).unwrap_or(0);
        let Some(meta) = self.words.get(3) else { return Ok(f64::NAN) };
        let copy = |key: &str| key.replacen("{ev:", "{ev:bench-", 1);
        let generation = self.words.get(3 + count).map_or("1", String::as_str);
        // Only where it is absent: the copy's log goes on from round to round, and so must its sequence.
        for (field, value) in [("gen", generation), ("ready", "1"), ("seq", "1")] {
            run(Command::new("redis-cli").args(["-u", redis, "HSETNX", &copy(meta), field, value])).await?;
        }
        // Keys 1 to 8 are the event's; the rest belong to the one hold.
        let words = self.words.iter().enumerate().map(|(at, word)| match at.checked_sub(3) {
            Some(key) if key < 8 => copy(word),
            Some(key) if key < count => format!("{}:__rand_int__", copy(word)),
            _ => word.clone(),
        });
        let connections = connections.to_string();
        let flags = ["-u", redis, "-n", "40000", "-c", &connections, "-r", "1000000000", "--csv"];
        let printed = run(Command::new("redis-benchmark").args(flags).args(words)).await?;
        let wrong = || BenchError::Unexpected {
            what: "redis-benchmark",
            expected: "a rate".to_owned(),
            got: printed.clone(),
        };
        let last = printed.lines().last().ok_or_else(wrong)?;
        let rate = last.split("\",\"").nth(1).ok_or_else(wrong)?;
        rate.trim_matches('"').parse().map_err(|_| wrong())
    }
}

async fn run(command: &mut Command) -> Result<String, BenchError> {
    let program = command.as_std().get_program().to_owned();
    let output = command.output().await.map_err(BenchError::at(&program))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(text);
    }
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(BenchError::Unexpected { what: "a Redis tool", expected: "success".to_owned(), got: error })
}

/// The words of a MONITOR line: `<time> [0 <client>] "word" "word"`. Our scripts' arguments are plain ASCII; an
/// escaped quote is the only escape they can contain.
fn quoted(line: &str) -> Vec<String> {
    let unescaped = line.replace("\\\"", "\u{1}");
    unescaped.split('"').skip(1).step_by(2).map(|word| word.replace('\u{1}', "\"")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_monitor_line() {
        let line = r#"1700000000.1 [0 127.0.0.1:5] "EVALSHA" "abc" "1" "{ev:e}:meta" "say \"hi\"" """#;
        assert_eq!(quoted(line), ["EVALSHA", "abc", "1", "{ev:e}:meta", "say \"hi\"", ""]);
    }
}
