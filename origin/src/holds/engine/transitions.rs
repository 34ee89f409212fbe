//! The transitions of a hold, as calls of the scripts.

use chrono::{DateTime, Utc};

use super::{
    Engine,
    answers::{Answer, csv, instant, list, number},
};
use crate::{
    holds::{
        EngineError, ExtendOutcome, Held, HeldSeat, Hold, HoldOutcome, HoldRequest, HoldState, ReleaseOutcome,
    },
    ids::{EventId, HoldId, OrderId},
};

/// A request that names one's own seats is asked again with the keys of the holds it replaces; those can change
/// in between only by the same shopper's other requests.
const REPLACE_ATTEMPTS: u32 = 4;

impl Engine {
    /// Takes all the seats or none. One round trip, two if own holds are replaced.
    pub async fn hold(&self, request: &HoldRequest) -> Result<HoldOutcome, EngineError> {
        let hold_id = HoldId::fresh().map_err(|e| EngineError::Impossible(e.to_string()))?;
        let token = crate::ids::random_text().map_err(|e| EngineError::Impossible(e.to_string()))?;
        let mut replaced: Vec<(HoldId, Vec<u32>)> = Vec::new();
        for _ in 0..REPLACE_ATTEMPTS {
            let answer = self.ask_hold(request, &hold_id, &token, &replaced).await?;
            match answer.word.as_str() {
                "held" => return held(request, &answer, false),
                "replay" => return held(request, &answer, true),
                "taken" => return Ok(HoldOutcome::SeatsTaken(numbers(&answer)?)),
                "reused" => return Ok(HoldOutcome::KeyReused),
                "limit" => {
                    let (limit, used) = (number(&answer.text(0)?)?, number(&answer.text(1)?)?);
                    return Ok(HoldOutcome::LimitExceeded { limit, used });
                }
                "replace" => {
                    replaced.clear();
                    for pair in answer.texts()?.chunks_exact(2) {
                        let id = pair[0].parse().map_err(|_| EngineError::Impossible("hold id".into()))?;
                        replaced.push((id, list(&pair[1])?));
                    }
                }
                _ => return answer.unexpected(),
            }
        }
        Err(EngineError::Overloaded)
    }

    async fn ask_hold(
        &self,
        request: &HoldRequest,
        hold_id: &HoldId,
        token: &str,
        replaced: &[(HoldId, Vec<u32>)],
    ) -> Result<Answer, EngineError> {
        let total: i64 = request.seats.iter().map(|seat| seat.price).sum();
        self.run(&request.event, &self.0.scripts.hold, |keys, call| {
            call.key(keys.identity(&request.identity));
            call.key(keys.idempotency(&request.identity, &request.idempotency_key));
            call.key(keys.hold(hold_id));
            for seat in &request.seats {
                call.key(keys.seat(seat.index));
            }
            for (id, seats) in replaced {
                call.key(keys.hold(id));
                for index in seats {
                    call.key(keys.seat(*index));
                }
            }
            call.arg(hold_id.as_str()).arg(token).arg(&request.identity);
            call.arg(u64::from(request.hold_seconds) * 1000).arg(u64::from(request.hold_max_seconds) * 1000);
            call.arg(request.limit).arg(&request.fingerprint);
            call.arg(csv(request.seats.iter().map(|seat| seat.index)));
            call.arg(csv(request.seats.iter().map(|seat| seat.price)));
            call.arg(total).arg(&request.currency);
            for (id, _) in replaced {
                call.arg(id.as_str());
            }
        })
        .await
    }

    /// The hold with its state by the store's clock; none if the store never had it or no longer remembers.
    pub async fn load_hold(&self, event: &EventId, hold: &HoldId) -> Result<Option<Hold>, EngineError> {
        let answer = self
            .run(event, &self.0.scripts.load, |keys, call| {
                call.key(keys.hold(hold));
            })
            .await?;
        let texts = answer.texts()?;
        let (now, fields) = texts.split_first().ok_or_else(|| EngineError::Impossible("load".into()))?;
        if fields.is_empty() { Ok(None) } else { read_hold(event, hold, instant(now)?, fields).map(Some) }
    }

    /// The live holds of an identity, oldest first.
    pub async fn holds_of(&self, event: &EventId, identity: &str) -> Result<Vec<Hold>, EngineError> {
        let answer = self
            .run(event, &self.0.scripts.owned, |keys, call| {
                call.key(keys.identity(identity));
            })
            .await?;
        let mut holds = Vec::new();
        for pair in answer.texts()?.get(1..).unwrap_or_default().chunks_exact(2) {
            let Some(id) = pair[0].strip_prefix("h:") else { continue };
            let id: HoldId = id.parse().map_err(|_| EngineError::Impossible("hold id".into()))?;
            if let Some(hold) = self.load_hold(event, &id).await?
                && matches!(hold.state, HoldState::Live | HoldState::Claimed(_))
            {
                holds.push(hold);
            }
        }
        holds.sort_by_key(|hold| hold.created_at);
        Ok(holds)
    }

    /// Prolongs a hold once, by its event's length, within its absolute limit.
    pub async fn extend(&self, hold: &Hold, hold_seconds: u32) -> Result<ExtendOutcome, EngineError> {
        let answer = self
            .on_hold(&self.0.scripts.extend, hold, |call| {
                call.arg(u64::from(hold_seconds) * 1000);
            })
            .await?;
        match answer.word.as_str() {
            "extended" => Ok(ExtendOutcome::Extended {
                expires_at: instant(&answer.text(0)?)?,
                version: answer.version(&answer.text(1)?)?,
            }),
            "already" => Ok(ExtendOutcome::AlreadyExtended),
            "claimed" => Ok(ExtendOutcome::Claimed),
            "gone" => Ok(ExtendOutcome::Gone),
            _ => answer.unexpected(),
        }
    }

    /// Frees the seats that are still the hold's own.
    pub async fn release(&self, hold: &Hold) -> Result<ReleaseOutcome, EngineError> {
        let answer = self.on_hold(&self.0.scripts.release, hold, |_| {}).await?;
        match answer.word.as_str() {
            "released" => Ok(ReleaseOutcome::Released),
            "over" => Ok(ReleaseOutcome::AlreadyOver),
            "claimed" => Ok(ReleaseOutcome::Claimed),
            _ => answer.unexpected(),
        }
    }

    /// A script on one hold: its key, its identity's, its seats', then id, identity and seats.
    pub(super) async fn on_hold(
        &self,
        script: &redis::Script,
        hold: &Hold,
        more: impl Fn(&mut redis::ScriptInvocation<'_>),
    ) -> Result<Answer, EngineError> {
        self.run(&hold.event, script, |keys, call| {
            call.key(keys.hold(&hold.hold_id)).key(keys.identity(&hold.identity));
            for seat in &hold.seats {
                call.key(keys.seat(seat.index));
            }
            call.arg(hold.hold_id.as_str()).arg(&hold.identity);
            call.arg(csv(hold.seats.iter().map(|seat| seat.index)));
            more(call);
        })
        .await
    }
}

pub(super) fn numbers(answer: &Answer) -> Result<Vec<u32>, EngineError> {
    answer.texts()?.iter().map(|text| number(text)).collect()
}

fn held(request: &HoldRequest, answer: &Answer, replayed: bool) -> Result<HoldOutcome, EngineError> {
    let joined = answer.text(0)?;
    let parts: Vec<&str> = joined.split('|').collect();
    let [id, token, made, expires, max, extended, sequence, at, prices, total, currency, replaced] =
        parts[..]
    else {
        return Err(EngineError::Impossible("held: wrong length".into()));
    };
    let id_of = |text: &str| text.parse::<HoldId>().map_err(|_| EngineError::Impossible("hold id".into()));
    let prices: Vec<i64> = list(prices)?;
    let seats = request.seats.iter().zip(prices).map(|(seat, price)| HeldSeat { index: seat.index, price });
    let hold = Hold {
        hold_id: id_of(id)?,
        event: request.event.clone(),
        identity: request.identity.clone(),
        token: token.to_owned(),
        seats: seats.collect(),
        total: number(total)?,
        currency: currency.to_owned(),
        created_at: instant(made)?,
        expires_at: instant(expires)?,
        max_expires_at: instant(max)?,
        extended: extended == "1",
        state: HoldState::Live,
    };
    let replaced =
        replaced.split(',').filter(|id| !id.is_empty()).map(id_of).collect::<Result<Vec<_>, _>>()?;
    let version = answer.version(sequence)?;
    Ok(HoldOutcome::Held(Box::new(Held { hold, version, at: instant(at)?, replaced, replayed })))
}

fn read_hold(
    event: &EventId,
    hold_id: &HoldId,
    now: DateTime<Utc>,
    fields: &[String],
) -> Result<Hold, EngineError> {
    let get = |name: &str| {
        let pair = fields.chunks_exact(2).find(|pair| pair[0] == name);
        pair.map(|pair| pair[1].as_str())
    };
    let need =
        |name: &str| get(name).ok_or_else(|| EngineError::Impossible(format!("{hold_id} lacks {name}")));
    let order = || -> Result<OrderId, EngineError> {
        need("ord")?.parse().map_err(|_| EngineError::Impossible("order id".into()))
    };
    let expires_at = instant(need("exp")?)?;
    let state = match need("st")? {
        "live" if expires_at <= now => HoldState::Expired,
        "live" => HoldState::Live,
        "claimed" => HoldState::Claimed(order()?),
        "sold" => HoldState::Sold(order()?),
        "released" => HoldState::Released,
        "expired" => HoldState::Expired,
        other => return Err(EngineError::Impossible(format!("{hold_id} is {other}"))),
    };
    let (indices, prices): (Vec<u32>, Vec<i64>) = (list(need("seats")?)?, list(need("prices")?)?);
    Ok(Hold {
        hold_id: hold_id.clone(),
        event: event.clone(),
        identity: need("by")?.to_owned(),
        token: need("tok")?.to_owned(),
        seats: indices.into_iter().zip(prices).map(|(index, price)| HeldSeat { index, price }).collect(),
        total: number(need("tot")?)?,
        currency: need("cur")?.to_owned(),
        created_at: instant(need("made")?)?,
        expires_at,
        max_expires_at: instant(need("max")?)?,
        extended: need("ext")? == "1",
        state,
    })
}
