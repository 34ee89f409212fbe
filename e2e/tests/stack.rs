//! The stack itself: it starts, survives the death of every part, and stops exactly what it started.

use std::process::Command;

use e2e::stack::{Options, Part, Stack, StackError};
use serde_json::Value;

const SEATS: u64 = 8897;

async fn json(request: reqwest::RequestBuilder) -> (u16, Value) {
    match request.send().await {
        Ok(answer) => (answer.status().as_u16(), answer.json().await.unwrap_or(Value::Null)),
        Err(error) => (0, Value::String(error.to_string())),
    }
}

#[tokio::test]
async fn every_part_comes_back_on_its_old_state_and_port() {
    let options = Options::for_test("stack");
    let dir = options.dir.clone();
    let stack = Stack::up(options.clone()).await.unwrap();
    assert!(matches!(Stack::up(options).await, Err(StackError::AlreadyRunning(_))));
    let info = stack.info();
    let event = info.event.clone().unwrap();
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let room = format!("{}/v1/events/{event}/room", info.edge);
    let invariants = format!("{}/admin/v1/events/{event}/invariants", info.origin);

    let (status, body) = json(http.get(&room)).await;
    assert_eq!((status, body["phase"].as_str()), (200, Some("registration")), "{body}");
    let commitment = body["draw"]["commitment"].clone();
    assert!(commitment.is_string(), "{body}");

    for part in Part::ALL {
        if part == Part::Redis && info.redis_url.is_none() {
            continue;
        }
        stack.restart(part).await.unwrap();
        let after = stack.info();
        assert_ne!(after.pids[part.name()], info.pids[part.name()], "{part}");
        assert_eq!(
            (&after.edge, &after.origin, &after.database_url),
            (&info.edge, &info.origin, &info.database_url)
        );
    }

    let (status, body) = json(http.get(&room)).await;
    assert_eq!((status, &body["draw"]["commitment"]), (200, &commitment), "{body}");
    let (status, body) = json(http.get(&invariants).bearer_auth(&info.admin_token)).await;
    assert_eq!(
        (status, body["capacity"].as_u64(), body["ok"].as_bool()),
        (200, Some(SEATS), Some(true)),
        "{body}"
    );

    let mut bystander = Command::new("sleep").arg("600").spawn().unwrap();
    stack.down().await.unwrap();
    assert!(http.get(&room).send().await.is_err());
    assert!(http.get(&invariants).send().await.is_err());
    assert!(bystander.try_wait().unwrap().is_none());
    bystander.kill().unwrap();
    bystander.wait().unwrap();
    assert!(Stack::attach(&dir).unwrap().info().pids.is_empty());
}

#[tokio::test]
async fn a_missing_chart_is_said_before_anything_starts() {
    let mut options = Options::for_test("chart");
    options.chart = "/nonexistent/chart.json".into();
    let error = Stack::up(options.clone()).await.err().unwrap().to_string();
    assert!(error.contains("/nonexistent/chart.json"), "{error}");
    assert!(!options.dir.exists());
}
