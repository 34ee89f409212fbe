//! Setting a sale up and getting shoppers into it, by the calls that operators and fans use.

use std::net::SocketAddr;
use std::time::Duration;

use reqwest::{Client, Method};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::BenchError;
use crate::fan::{Challenge, EventClient, Key};
use crate::stack::Info;

/// How long a fan may take from the door into the shop: seconds are normal, this is for a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// The socket behind a base URL of the stack.
pub(super) fn address(base: &str) -> Result<SocketAddr, BenchError> {
    base.trim_start_matches("http://").parse().map_err(|_| BenchError::Unexpected {
        what: "an address of the stack",
        expected: "http://<ip>:<port>".to_owned(),
        got: base.to_owned(),
    })
}

/// An operator's call at the edge; anything but success is an error.
pub(super) async fn operate(info: &Info, method: Method, path: &str, body: &Value) -> Result<(), BenchError> {
    let http = Client::builder().no_proxy().build()?;
    let call =
        http.request(method, format!("{}/admin/v1/events/{path}", info.edge)).bearer_auth(&info.admin_token);
    call.json(body).send().await?.error_for_status()?;
    Ok(())
}

/// An event at the edge alone, open for registration, with its shop behind `origin`.
pub(super) async fn event(info: &Info, event: &str, origin: Option<String>) -> Result<(), BenchError> {
    let now = crate::clock::now();
    let at = |hours| (now + chrono::TimeDelta::hours(hours)).to_rfc3339();
    let config = json!({
        "title": "Bench", "registration_opens_at": at(-1), "onsale_at": at(1), "closes_at": at(24), "lanes": super::LANES,
        "admission": {"total_active_users": 1000, "new_users_per_minute": 60_000, "session_seconds": 3600,
            "session_max_seconds": 7200, "no_show_compensation": true},
        "protect": [{"path": format!("/v1/events/{event}/shop*"), "methods": ["GET"], "proof": "dpop"}],
        "bypass": [], "origin": origin, "pow": {"puzzles": 32, "difficulty": 1},
        "accounts": null, "beacon": null, "message": {},
    });
    operate(info, Method::PUT, event, &config).await
}

/// Takes one fan through the door: joins, asks, redeems. The event must be open.
pub(super) async fn enter(client: &EventClient, key: &Key) -> Result<String, BenchError> {
    let refused = |step: &'static str, got: &crate::fan::Answer| BenchError::Unexpected {
        what: step,
        expected: "success".to_owned(),
        got: format!("{} {}", got.status, got.body),
    };
    let answer = client.challenge(key).await?;
    let challenge: Challenge =
        serde_json::from_value(answer.body.clone()).map_err(|_| refused("a challenge", &answer))?;
    let nonces = challenge.solve().ok_or_else(|| refused("a challenge", &answer))?;
    let answer = client.join(key, &challenge.challenge, &nonces).await?;
    let ticket = answer.text("ticket").ok_or_else(|| refused("a join", &answer))?.to_owned();
    let deadline = Instant::now() + PATIENCE;
    let admission = loop {
        let answer = client.ask(key, &ticket).await?;
        if let Some(token) = answer.text("admission_token") {
            break token.to_owned();
        }
        if !(answer.status == 202 || answer.is_passing()) || Instant::now() > deadline {
            return Err(refused("an admission", &answer));
        }
        sleep(Duration::from_millis(answer.body["poll_after_ms"].as_u64().unwrap_or(1000))).await;
    };
    let answer = client.enter(key, &admission).await?;
    answer.text("session_token").map(str::to_owned).ok_or_else(|| refused("a session", &answer))
}
