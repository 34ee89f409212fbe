//! Inside: choosing seats, holding, giving up, leaving. Paying is next door.

use std::time::Duration;

use chrono::DateTime;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::chance::Chance;
use super::client::Answer;
use super::crowd::Crowd;
use super::key::Key;
use super::persist::{Gone, persist};
use super::plan::{Intent, Plan};
use super::told::{ToldHold, ToldSession};
use super::waiting::Session;

/// Refusals before a fan gives up; each offers alternatives or a fresh look at the map.
const TRIES: usize = 6;
/// A minute of asking for the map, as long as any other call is repeated.
const MAP_TRIES: usize = 60;

/// A fan inside the shop.
pub(super) struct Shopper<'a> {
    pub(super) crowd: &'a Crowd,
    pub(super) fan: usize,
    pub(super) key: &'a Key,
    pub(super) session: Session,
}

/// A confirmed hold.
pub(super) struct Held {
    pub(super) hold_id: String,
    pub(super) seats: Vec<String>,
    pub(super) total: i64,
}

impl Shopper<'_> {
    /// Does what the plan says. However it ends, the session's life is recorded for the sweep.
    pub(super) async fn shop(mut self, plan: &Plan, chance: &mut Chance) -> Result<(), Gone> {
        self.crowd.counts.admitted.one();
        let outcome = self.visit(plan, chance).await;
        let until = self.session.expires_at.min(crate::clock::now());
        self.close_session(until);
        outcome
    }

    async fn visit(&mut self, plan: &Plan, chance: &mut Chance) -> Result<(), Gone> {
        sleep(plan.ponders).await;
        let Some(held) = self.hold(plan, chance).await? else {
            return self.leave(chance).await;
        };
        sleep(plan.ponders).await;
        match plan.intent {
            Intent::Abandon => {
                self.crowd.counts.abandoned.one();
                // Gone without a word: the session lives on until its time is over.
                self.close_session(self.session.expires_at);
                Ok(())
            }
            Intent::Leave => {
                self.release(&held, chance).await?;
                self.leave(chance).await
            }
            Intent::BuySecondCard => {
                self.decline(&held, chance).await?;
                self.buy(&held, 1, chance).await
            }
            Intent::BuyTwice => self.buy(&held, 2, chance).await,
            Intent::Buy => self.buy(&held, 1, chance).await,
        }
    }

    /// Records the session once; later calls change nothing.
    pub(super) fn close_session(&mut self, until: DateTime<chrono::Utc>) {
        if self.session.from < self.session.expires_at {
            self.crowd.told.session(ToldSession { fan: self.fan, from: self.session.from, until });
            self.session.from = self.session.expires_at;
        }
    }

    async fn hold(&self, plan: &Plan, chance: &mut Chance) -> Result<Option<Held>, Gone> {
        let mut body = self.wish(plan, chance).await?;
        for _ in 0..TRIES {
            let Some(wish) = body else { return Ok(None) };
            let name = unique("hold")?;
            let answer = persist(self.crowd, chance, "POST holds", || {
                self.crowd.client.write(
                    Method::POST,
                    "/holds",
                    self.key,
                    &self.session.token,
                    Some((&name, &wish)),
                )
            })
            .await?;
            match (answer.status, answer.slug()) {
                (201, _) => return self.held(&answer, &wish).map(Some),
                (409, "seats-unavailable" | "no-adjacent-block") => {
                    self.crowd.counts.taken.one();
                    // Half take what is offered nearby, half look at the map again; nobody insists on the same seats.
                    let offered = &answer.body["alternatives"][0];
                    body = if offered.is_array() && chance.percent(50) {
                        Some(json!({"seat_ids": offered}))
                    } else {
                        sleep(chance.jittered(Duration::from_millis(300), 0.5)).await;
                        self.wish(plan, chance).await?
                    };
                }
                // These would strand a single seat; others will not.
                (422, "orphan-seat") => body = self.wish(plan, chance).await?,
                // Came back for more than one person may have.
                (422, "limit-exceeded") => return Ok(None),
                (409, "sold-out") => return Ok(None),
                (403, "onsale-not-started") => {
                    sleep(chance.jittered(Duration::from_secs(1), 0.3)).await;
                    body = Some(wish);
                }
                (403, "admission-required" | "session-ended") => return Err(Gone::SessionEnded),
                _ => return Err(Gone::unexpected("POST holds", &answer)),
            }
        }
        Ok(None)
    }

    /// The seats this fan wants now; `None` when the map shows nothing free, or does not come.
    async fn wish(&self, plan: &Plan, chance: &mut Chance) -> Result<Option<Value>, Gone> {
        for _ in 0..MAP_TRIES {
            let (Some(layout), Ok(map)) = (self.crowd.layout().await, self.crowd.client.seat_bits().await)
            else {
                self.crowd.counts.repeated.one();
                sleep(chance.jittered(Duration::from_secs(1), 0.5)).await;
                continue;
            };
            return match layout.choose(&map, plan.seats, chance) {
                Ok(seats) => Ok(seats.map(|seats| json!({"seat_ids": seats}))),
                Err(error) => {
                    self.crowd.told.breach(format!("fan {}: {error}", self.fan));
                    Ok(None)
                }
            };
        }
        Err(Gone::NoAnswer { call: "GET seatmap", last: String::from("no map") })
    }

    fn held(&self, answer: &Answer, wish: &Value) -> Result<Held, Gone> {
        let strange = || Gone::unexpected("POST holds", answer);
        let seats = strings(&answer.body["seat_ids"]).ok_or_else(strange)?;
        if let Some(wanted) = strings(&wish["seat_ids"])
            && !same_seats(&wanted, &seats)
        {
            self.crowd.told.breach(format!("fan {} asked for {wanted:?} and holds {seats:?}", self.fan));
        }
        let held = Held {
            hold_id: answer.text("hold_id").ok_or_else(strange)?.to_owned(),
            total: answer.body["total"].as_i64().ok_or_else(strange)?,
            seats,
        };
        let expires = answer.text("expires_at").and_then(|text| DateTime::parse_from_rfc3339(text).ok());
        self.crowd.counts.holds.one();
        self.crowd.told.hold(ToldHold {
            fan: self.fan,
            hold_id: held.hold_id.clone(),
            seats: held.seats.clone(),
            from: crate::clock::now(),
            until: expires.ok_or_else(strange)?.to_utc(),
        });
        Ok(held)
    }

    async fn release(&self, held: &Held, chance: &mut Chance) -> Result<(), Gone> {
        self.crowd.told.hold_ends(&held.hold_id, crate::clock::now());
        let path = format!("/holds/{}", held.hold_id);
        let answer = persist(self.crowd, chance, "DELETE hold", || {
            self.crowd.client.write(Method::DELETE, &path, self.key, &self.session.token, None)
        })
        .await?;
        match (answer.status, answer.slug()) {
            (204 | 200, _) => Ok(()),
            (403, "admission-required" | "session-ended") => Err(Gone::SessionEnded),
            _ => Err(Gone::unexpected("DELETE hold", &answer)),
        }
    }

    async fn leave(&mut self, chance: &mut Chance) -> Result<(), Gone> {
        self.close_session(crate::clock::now().min(self.session.expires_at));
        let token = self.session.token.clone();
        let answer =
            persist(self.crowd, chance, "DELETE session", || self.crowd.client.leave(self.key, &token))
                .await?;
        match answer.status {
            200 | 204 => {
                self.crowd.counts.left.one();
                Ok(())
            }
            // It had expired a moment before.
            401 | 403 | 404 | 409 | 410 => Ok(()),
            _ => Err(Gone::unexpected("DELETE session", &answer)),
        }
    }
}

fn strings(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
}

fn same_seats(a: &[String], b: &[String]) -> bool {
    let sorted = |seats: &[String]| {
        let mut seats = seats.to_vec();
        seats.sort();
        seats
    };
    sorted(a) == sorted(b)
}

/// An idempotency key.
pub(super) fn unique(what: &str) -> Result<String, Gone> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| Gone::NoAnswer { call: "random bytes", last: error.to_string() })?;
    Ok(format!("{what}-{}", hex::encode(bytes)))
}
