//! In the line: joining, watching the room's document, asking when invited, going in.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::chance::Chance;
use super::client::Answer;
use super::crowd::Crowd;
use super::key::Key;
use super::persist::{Gone, persist};
use super::work::Challenge;

/// A fan's place in line.
pub(super) struct Ticket {
    token: String,
    /// The place as the edge names it; equal places are one place.
    pub(super) place: String,
    position: Option<u64>,
    pub(super) created: bool,
}

/// A shopping session.
#[derive(Debug, Clone)]
pub(super) struct Session {
    pub(super) token: String,
    pub(super) from: DateTime<Utc>,
    pub(super) expires_at: DateTime<Utc>,
}

/// How a wait ended.
pub(super) enum Waited {
    /// Inside.
    Entered(Session),
    /// The place was used up meanwhile (the answer with the session was lost and the session is over).
    Spent,
}

/// A room that moves nobody for this long has broken its promise.
const LONGEST_WAIT: Duration = Duration::from_secs(600);
/// Solved challenges can expire while a crowd shares two processors; a page fetches another.
const CHALLENGES: usize = 5;
/// What the room's document says when it says nothing.
const FLOOR_MS: u64 = 2000;
const CEILING_MS: u64 = 30_000;

/// Gets a place, with proof of work and proof of possession.
pub(super) async fn join(crowd: &Crowd, key: &Key, chance: &mut Chance) -> Result<Ticket, Gone> {
    let client = &crowd.client;
    let mut last = None;
    for _ in 0..CHALLENGES {
        let answer = persist(crowd, chance, "GET challenge", || client.challenge(key)).await?;
        let challenge: Challenge = serde_json::from_value(answer.body.clone())
            .map_err(|_shape| Gone::unexpected("GET challenge", &answer))?;
        let Some(nonces) = solve(crowd, challenge.clone()).await else {
            return Err(Gone::unexpected("GET challenge", &answer));
        };
        let joined =
            persist(crowd, chance, "POST queue", || client.join(key, &challenge.challenge, &nonces)).await?;
        match (joined.status, joined.slug()) {
            (200 | 201, _) => return ticket(&joined),
            (410, "challenge-expired") => last = Some(joined),
            (403, "registration-not-open") => {
                sleep(chance.jittered(joined.retry_after.unwrap_or(Duration::from_secs(2)), 0.2)).await;
                last = Some(joined);
            }
            (410, slug) => return Err(Gone::SaleOver(slug.to_owned())),
            _ => return Err(Gone::unexpected("POST queue", &joined)),
        }
    }
    Err(last.map_or_else(
        || Gone::NoAnswer { call: "POST queue", last: String::from("never sent") },
        |answer| Gone::unexpected("POST queue", &answer),
    ))
}

async fn solve(crowd: &Crowd, challenge: Challenge) -> Option<Vec<String>> {
    let _turn = crowd.solvers.acquire().await.ok()?;
    tokio::task::spawn_blocking(move || challenge.solve()).await.ok()?
}

fn ticket(answer: &Answer) -> Result<Ticket, Gone> {
    let token = answer.text("ticket").ok_or_else(|| Gone::unexpected("POST queue", answer))?.to_owned();
    let position = answer.body["position"].as_u64();
    Ok(Ticket { token, place: answer.body["place"].to_string(), position, created: answer.status == 201 })
}

/// Watches the room until invited, asks, enters. No poll goes further than the shared document while it is not our turn.
pub(super) async fn wait_and_enter(
    crowd: &Crowd,
    fan: usize,
    key: &Key,
    ticket: &mut Ticket,
    chance: &mut Chance,
) -> Result<Waited, Gone> {
    let end = Instant::now() + LONGEST_WAIT;
    let mut room = Room::default();
    while Instant::now() < end {
        room.refresh(crowd, chance).await?;
        let pause = match room.phase() {
            "closed" | "sold_out" => return Err(Gone::SaleOver(room.phase().to_owned())),
            "open" | "paused" | "returns_only" if room.invites(ticket.position) => {
                match ask(crowd, fan, key, ticket, chance).await? {
                    Asked::Wait(pause) => pause,
                    Asked::Granted(admission) => match enter(crowd, key, &admission, chance).await? {
                        Some(session) => return Ok(Waited::Entered(session)),
                        None => room.floor(),
                    },
                    Asked::Spent => return Ok(Waited::Spent),
                }
            }
            _ => room.pause(ticket.position, crowd.onsale_at),
        };
        sleep(chance.jittered(pause, room.jitter())).await;
    }
    Err(Gone::NoAnswer {
        call: "waiting",
        last: format!("position {:?}, room {}", ticket.position, room.body),
    })
}

enum Asked {
    Wait(Duration),
    Granted(String),
    Spent,
}

async fn ask(
    crowd: &Crowd,
    fan: usize,
    key: &Key,
    ticket: &mut Ticket,
    chance: &mut Chance,
) -> Result<Asked, Gone> {
    let token = ticket.token.clone();
    let answer = persist(crowd, chance, "POST admission", || crowd.client.ask(key, &token)).await?;
    match (answer.status, answer.slug()) {
        (202, _) => {
            if let Some(position) = answer.body["position"].as_u64() {
                crowd.told.position(fan, &ticket.place, position);
                ticket.position = Some(position);
            }
            let after = answer.body["poll_after_ms"].as_u64().map(Duration::from_millis);
            Ok(Asked::Wait(after.or(answer.retry_after).unwrap_or(Duration::from_millis(FLOOR_MS))))
        }
        (200, _) => match answer.text("admission_token") {
            Some(token) => Ok(Asked::Granted(token.to_owned())),
            None => Err(Gone::unexpected("POST admission", &answer)),
        },
        (409, "place-spent" | "already-admitted") => Ok(Asked::Spent),
        (410, slug) => Err(Gone::SaleOver(slug.to_owned())),
        _ => Err(Gone::unexpected("POST admission", &answer)),
    }
}

/// Redeems the admission token; `None` when it expired on the way, which returns the place to the line.
async fn enter(
    crowd: &Crowd,
    key: &Key,
    admission: &str,
    chance: &mut Chance,
) -> Result<Option<Session>, Gone> {
    let answer = persist(crowd, chance, "POST session", || crowd.client.enter(key, admission)).await?;
    let from = crate::clock::now();
    let session = || {
        let expires = DateTime::parse_from_rfc3339(answer.text("expires_at")?).ok()?;
        Some(Session { token: answer.text("session_token")?.to_owned(), from, expires_at: expires.to_utc() })
    };
    match (answer.status, answer.slug()) {
        (200 | 201, _) => session().map(Some).ok_or_else(|| Gone::unexpected("POST session", &answer)),
        (401 | 409, _) => Ok(None),
        _ => Err(Gone::unexpected("POST session", &answer)),
    }
}

/// The last copy of the room's document.
#[derive(Default)]
struct Room {
    etag: Option<String>,
    body: Value,
}

impl Room {
    async fn refresh(&mut self, crowd: &Crowd, chance: &mut Chance) -> Result<(), Gone> {
        let etag = self.etag.clone();
        let answer = persist(crowd, chance, "GET room", || crowd.client.room(etag.as_deref())).await?;
        match answer.status {
            304 => Ok(()),
            200 => {
                self.etag = answer.etag;
                self.body = answer.body;
                Ok(())
            }
            _ => Err(Gone::unexpected("GET room", &answer)),
        }
    }

    fn phase(&self) -> &str {
        self.body["phase"].as_str().unwrap_or("")
    }

    /// Whether to ask: one's turn has come, or one does not know one's position yet.
    fn invites(&self, position: Option<u64>) -> bool {
        position.is_none_or(|position| position < self.body["serving"].as_u64().unwrap_or(0))
    }

    fn floor(&self) -> Duration {
        Duration::from_millis(self.body["poll"]["floor_ms"].as_u64().unwrap_or(FLOOR_MS))
    }

    fn ceiling(&self) -> Duration {
        Duration::from_millis(self.body["poll"]["ceiling_ms"].as_u64().unwrap_or(CEILING_MS))
    }

    fn jitter(&self) -> f64 {
        self.body["poll"]["jitter"].as_f64().unwrap_or(0.3)
    }

    /// Half of what is left to wait, within floor and ceiling: rarely while far, often when near.
    fn pause(&self, position: Option<u64>, onsale_at: DateTime<Utc>) -> Duration {
        let until_sale = (onsale_at - crate::clock::now()).to_std().unwrap_or_default();
        let rate = self.body["admit_rate_per_minute"].as_u64().unwrap_or(0).max(1);
        let ahead = position.unwrap_or(0).saturating_sub(self.body["serving"].as_u64().unwrap_or(0));
        let in_line = Duration::from_secs(ahead.saturating_mul(60) / rate);
        (until_sale.max(in_line) / 2).clamp(self.floor(), self.ceiling())
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_fan_polls_rarely_while_far_and_never_faster_than_allowed() {
        let poll = json!({"floor_ms": 2000, "ceiling_ms": 30000, "jitter": 0.3});
        let room =
            Room { etag: None, body: json!({"serving": 100, "admit_rate_per_minute": 600, "poll": poll}) };
        let past = crate::clock::now() - TimeDelta::minutes(1);
        assert_eq!(room.pause(Some(101), past), Duration::from_secs(2));
        assert_eq!(room.pause(Some(200), past), Duration::from_secs(5));
        assert_eq!(room.pause(Some(100_000), past), Duration::from_secs(30));
        assert!(room.invites(Some(99)) && room.invites(None) && !room.invites(Some(100)));
    }
}
