//! What any number of processes may do at any time: make expiries visible, find claims nobody owns.

use super::{Engine, answers::list, sale::Sale};
use crate::{
    holds::{EngineError, SeatVersion},
    ids::{EventId, HoldId, OrderId},
};

/// Expired holds tidied by one script: 64 holds of up to ten seats are about 800 keys and under a millisecond.
const EXPIRE_AT_ONCE: usize = 64;
/// Rounds of one step, so that a long-dead sweeper's backlog is cleared within seconds without starving others.
const EXPIRE_ROUNDS: usize = 16;

/// A claim in the hold store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StrayClaim {
    /// The order that claimed.
    pub order: OrderId,
    /// The hold it claimed.
    pub hold: HoldId,
    /// The shopper.
    pub identity: String,
    /// When, by the store's clock, in milliseconds.
    pub claimed_ms: i64,
}

impl Engine {
    /// Makes expiries visible in map and log. Answers how many holds ended.
    pub async fn expire(&self, event: &EventId) -> Result<u64, EngineError> {
        let mut ended = 0;
        for _ in 0..EXPIRE_ROUNDS {
            let due = self
                .run(event, &self.0.scripts.due, |_, call| {
                    call.arg(EXPIRE_AT_ONCE);
                })
                .await?;
            let members = due.texts()?;
            if members.is_empty() {
                break;
            }
            ended += self.expire_members(event, &members).await?;
            if members.len() < EXPIRE_AT_ONCE {
                break;
            }
        }
        Ok(ended)
    }

    async fn expire_members(&self, event: &EventId, members: &[String]) -> Result<u64, EngineError> {
        let mut parsed = Vec::with_capacity(members.len());
        for member in members {
            let parts: Vec<&str> = member.split(' ').collect();
            let [hold, identity, seats] = parts[..] else {
                return Err(EngineError::Impossible("member of the expiry set".into()));
            };
            let hold: HoldId = hold.parse().map_err(|_| EngineError::Impossible("hold id".into()))?;
            parsed.push((hold, identity, list::<u32>(seats)?));
        }
        let answer = self
            .run(event, &self.0.scripts.expire, |keys, call| {
                for ((hold, identity, seats), member) in parsed.iter().zip(members) {
                    call.key(keys.hold(hold)).key(keys.identity(identity));
                    for index in seats {
                        call.key(keys.seat(*index));
                    }
                    call.arg(member);
                }
            })
            .await?;
        match answer.word.as_str() {
            "none" => Ok(0),
            "expired" => super::answers::number(&answer.text(0)?),
            _ => answer.unexpected(),
        }
    }

    /// Every claim the store knows.
    pub async fn claims(&self, event: &EventId) -> Result<Vec<StrayClaim>, EngineError> {
        let (keys, run_id) = self.keys(event).await?;
        let claims: Vec<(String, String)> = self
            .link()?
            .call_on(&run_id, |mut c| async move {
                redis::cmd("HGETALL").arg(keys.claims()).query_async(&mut c).await
            })
            .await?;
        claims.into_iter().map(|(order, value)| read_claim(&order, &value)).collect()
    }

    /// Repeats a committed sale of which only Postgres' side is known any more.
    pub async fn settle_claim(
        &self,
        event: &EventId,
        claim: &StrayClaim,
        seats: Vec<SeatVersion>,
    ) -> Result<(), EngineError> {
        let sale = Sale {
            order: claim.order.clone(),
            hold: claim.hold.clone(),
            identity: claim.identity.clone(),
            seats,
        };
        self.mark_sold(event, &sale).await
    }
}

fn read_claim(order: &str, value: &str) -> Result<StrayClaim, EngineError> {
    let parts: Vec<&str> = value.split(' ').collect();
    let [claimed_ms, hold, identity, _seats] = parts[..] else {
        return Err(EngineError::Impossible("claim".into()));
    };
    Ok(StrayClaim {
        order: order.parse().map_err(|_| EngineError::Impossible("order id".into()))?,
        hold: hold.parse().map_err(|_| EngineError::Impossible("hold id".into()))?,
        identity: identity.to_owned(),
        claimed_ms: super::answers::number(claimed_ms)?,
    })
}
