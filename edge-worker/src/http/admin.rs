//! `/admin/v1/events/{event}`: what operators do.

use edge_core::wire::{Action, ConfigAnswer, PhaseAnswer, PutConfigAnswer};
use serde_json::json;
use shared_token::ids::EventId;
use shared_token::keys::same_secret;

use super::reply::Reply;
use super::{Answer, Call, allow, not_found};
use crate::events::forget;
use crate::objects::RoomClient;
use crate::problem::{Kind, Problem};
use crate::sessions::{heard_within, unavailable};

/// A hundred rules of half a kilobyte and texts in twenty languages.
const BODY_BYTES: usize = 128 * 1024;
/// Removing an event visits every lane; an operator would rather wait than not know.
const TIMEOUT_MS: i32 = 30_000;
/// Who an operator is beyond the shared token: their own word, for the audit.
const ACTOR_HEADER: &str = "Fairgate-Operator";
const ACTOR_CHARS: usize = 100;

impl Call<'_> {
    /// Requires the operators' token.
    pub(super) fn operator(&self) -> Result<(), Problem> {
        let presented = self.request.credential(&["bearer"]).unwrap_or_default();
        if same_secret(&presented, &self.config.admin_token) {
            return Ok(());
        }
        Err(Problem::new(Kind::OperatorRequired, "Send `Authorization: Bearer <admin token>`."))
    }

    fn actor(&self) -> String {
        let named = self.request.header(ACTOR_HEADER).filter(|name| !name.trim().is_empty());
        named.map_or_else(|| "operator".to_owned(), |name| name.trim().chars().take(ACTOR_CHARS).collect())
    }
}

pub(super) async fn route(call: &Call<'_>, rest: &str) -> Answer {
    call.operator()?;
    let (event, action) = rest.split_once('/').map_or((rest, None), |(event, action)| (event, Some(action)));
    let event: EventId = event.parse().map_err(|_| {
        Problem::new(Kind::Malformed, "An event id is 1 to 64 letters, digits, dashes and underscores.")
    })?;
    let room = RoomClient::new(call.env, &event).map_err(unavailable)?;
    match action {
        None => match call.request.method() {
            "PUT" => put(call, &event, &room).await,
            "DELETE" => delete(call, &event, &room).await,
            _ => allow(call, "GET, PUT, DELETE", async |_| get(&room).await).await,
        },
        Some("stats") => allow(call, "GET", async |_| stats(&room).await).await,
        Some("audit") => allow(call, "GET", async |_| audit(&room).await).await,
        Some(name) => {
            let action = match name {
                "pause" => Action::Pause,
                "resume" => Action::Resume,
                "open" => Action::Open,
                "close" => Action::Close,
                _ => return Err(not_found()),
            };
            allow(call, "POST", async |call| act(call, &event, &room, action).await).await
        }
    }
}

async fn put(call: &Call<'_>, event: &EventId, room: &RoomClient) -> Answer {
    let body = call.request.json_bytes(BODY_BYTES).await?;
    let body =
        String::from_utf8(body).map_err(|_| Problem::new(Kind::Malformed, "The body is not UTF-8."))?;
    let if_match = call.request.header("If-Match");
    let answer = heard_within(TIMEOUT_MS, room.put_config(body, if_match, call.actor())).await?;
    forget(event);
    match answer {
        PutConfigAnswer::Created(config) => configuration(201, &config),
        PutConfigAnswer::Replaced(config) => configuration(200, &config),
        PutConfigAnswer::Invalid { faults } => {
            Err(Problem::new(Kind::ConfigInvalid, "Nothing was changed; `errors` names every fault.")
                .with("errors", json!(faults))
                .into())
        }
        PutConfigAnswer::MatchRequired => {
            Err(Problem::new(Kind::MatchRequired, "The event exists; send its `ETag` as `If-Match`.").into())
        }
        PutConfigAnswer::MatchFailed { etag } => {
            Err(Problem::new(Kind::VersionChanged, "The event has another version now.")
                .with("etag", etag)
                .into())
        }
    }
}

async fn get(room: &RoomClient) -> Answer {
    let config = heard_within(TIMEOUT_MS, room.config()).await?.ok_or_else(unknown)?;
    configuration(200, &config)
}

fn configuration(status: u16, answer: &ConfigAnswer) -> Answer {
    Reply::json(status, &answer.config).header("ETag", answer.etag.clone()).try_into()
}

async fn delete(call: &Call<'_>, event: &EventId, room: &RoomClient) -> Answer {
    heard_within(TIMEOUT_MS, room.delete(call.actor())).await?.ok_or_else(unknown)?;
    forget(event);
    Reply::empty(204).try_into()
}

async fn act(call: &Call<'_>, event: &EventId, room: &RoomClient, action: Action) -> Answer {
    let answer = heard_within(TIMEOUT_MS, room.act(action, call.actor())).await?.ok_or_else(unknown)?;
    forget(event);
    match answer {
        PhaseAnswer::Done { phase } => Reply::json(200, &json!({ "phase": phase })).try_into(),
        PhaseAnswer::Refused { from, action } => {
            Err(Problem::new(Kind::WrongPhase, "The room's state does not allow this.")
                .with("phase", json!(from))
                .with("action", json!(action))
                .into())
        }
    }
}

async fn stats(room: &RoomClient) -> Answer {
    let stats = heard_within(TIMEOUT_MS, room.stats()).await?.ok_or_else(unknown)?;
    Reply::json(200, &stats).try_into()
}

async fn audit(room: &RoomClient) -> Answer {
    let entries = heard_within(TIMEOUT_MS, room.audit()).await?.ok_or_else(unknown)?;
    Reply::json(200, &json!({ "entries": entries })).try_into()
}

fn unknown() -> Problem {
    Problem::new(Kind::UnknownEvent, "There is no such event.")
}
