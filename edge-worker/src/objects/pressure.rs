//! Asking an origin how it is.

use std::time::Duration;

use edge_core::room::Pressure;
use futures::future::{Either, select};
use worker::{Delay, Env, Fetch, Headers, Method, Request, RequestInit};

/// An origin that takes longer than this says nothing.
const TIMEOUT_MS: u64 = 500;

/// What an origin says of an event.
pub(super) enum Word {
    /// How it is.
    Pressure(Pressure),
    /// It does not know the event, or there is no such call: it has no say.
    Unknown,
}

/// The origin's word on this event. `None` if it gave none in time or speaks otherwise.
pub(super) async fn ask(env: &Env, event: &str, origin: Option<&str>) -> Option<Word> {
    let own = env.var("FAIRGATE_ORIGIN").ok()?.to_string();
    let own = own.trim_end_matches('/');
    let base = origin.unwrap_or(own);
    // The token is the deployment's origin's. An origin named in an event's configuration must not learn it.
    let token =
        if base == own { Some(env.var("FAIRGATE_ORIGIN_ADMIN_TOKEN").ok()?.to_string()) } else { None };
    // An event id needs no escaping: letters, digits, dash and underscore.
    let address = format!("{base}/internal/pressure?event={event}");
    let call = std::pin::pin!(fetch(address, token));
    let timeout = std::pin::pin!(Delay::from(Duration::from_millis(TIMEOUT_MS)));
    match select(call, timeout).await {
        Either::Left((answer, _)) => answer.ok().flatten(),
        Either::Right(_) => None,
    }
}

async fn fetch(address: String, token: Option<String>) -> worker::Result<Option<Word>> {
    let headers = Headers::new();
    if let Some(token) = token {
        headers.set("Authorization", &format!("Bearer {token}"))?;
    }
    let mut init = RequestInit::new();
    init.with_method(Method::Get).with_headers(headers);
    let mut response = Fetch::Request(Request::new_with_init(&address, &init)?).send().await?;
    Ok(match response.status_code() {
        200 => serde_json::from_str(&response.text().await?).ok().map(Word::Pressure),
        404 => Some(Word::Unknown),
        _ => None,
    })
}
