//! What orders and operators do to seats: claim them, give them back, have them sold, blocked or freed.

use super::{
    Engine,
    answers::{csv, instant},
    transitions::numbers,
};
use crate::{
    holds::{Claim, EngineError, Hold, SeatVersion, Unclaimed},
    ids::{EventId, HoldId, OrderId},
};

/// A sale to be repeated in the hold store.
#[derive(Clone, Debug)]
pub struct Sale {
    /// The order that bought.
    pub order: OrderId,
    /// The hold it claimed.
    pub hold: HoldId,
    /// The buyer: the text of the subject.
    pub identity: String,
    /// Seats with their versions after the sale.
    pub seats: Vec<SeatVersion>,
}

impl Engine {
    /// Gives the hold's seats to the order, without any timer. The order and its claim row
    /// ([`crate::holds::store::insert_claim`]) must be durable before.
    pub async fn claim_for_sale(
        &self,
        event: &EventId,
        hold: &HoldId,
        order: &OrderId,
    ) -> Result<Claim, EngineError> {
        let Some(hold) = self.load_hold(event, hold).await? else { return Ok(Claim::HoldGone) };
        let answer = self
            .on_hold(&self.0.scripts.claim, &hold, |call| {
                call.arg(order.as_str());
            })
            .await?;
        match answer.word.as_str() {
            "claimed" => Ok(Claim::Claimed),
            "gone" => Ok(Claim::HoldGone),
            "lost" => Ok(Claim::SeatsLost(numbers(&answer)?)),
            "by" => {
                let order =
                    answer.text(0)?.parse().map_err(|_| EngineError::Impossible("order id".into()))?;
                Ok(Claim::ClaimedBy(order))
            }
            _ => answer.unexpected(),
        }
    }

    /// Gives the claim up: the hold lives again for at least `min_ttl_secs`, within its absolute limit. The claim row
    /// ([`crate::holds::store::drop_claim`]) must be gone before.
    pub async fn unclaim(
        &self,
        event: &EventId,
        hold: &HoldId,
        order: &OrderId,
        min_ttl_secs: u32,
    ) -> Result<Unclaimed, EngineError> {
        let Some(hold) = self.load_hold(event, hold).await? else { return Ok(Unclaimed::NotClaimed) };
        let answer = self
            .on_hold(&self.0.scripts.unclaim, &hold, |call| {
                call.arg(order.as_str()).arg(u64::from(min_ttl_secs) * 1000);
            })
            .await?;
        match answer.word.as_str() {
            "restored" => Ok(Unclaimed::Restored(instant(&answer.text(0)?)?)),
            "freed" => Ok(Unclaimed::Freed),
            "not" => Ok(Unclaimed::NotClaimed),
            _ => answer.unexpected(),
        }
    }

    /// Repeats a committed sale here. Idempotent by the seats' versions.
    pub async fn mark_sold(&self, event: &EventId, sale: &Sale) -> Result<(), EngineError> {
        let hold = self.load_hold(event, &sale.hold).await?;
        let seats = hold.map(|hold| csv(hold.seats.iter().map(|seat| seat.index))).unwrap_or_default();
        let order = sale.order.as_str();
        self.settle(event, "sold", (&sale.hold, &sale.identity, order, &seats), &sale.seats).await
    }

    /// Repeats a committed block here; `hold` is the operator's own hold of the seats.
    pub async fn mark_blocked(
        &self,
        event: &EventId,
        hold: &Hold,
        seats: &[SeatVersion],
    ) -> Result<(), EngineError> {
        let held = csv(hold.seats.iter().map(|seat| seat.index));
        self.settle(event, "blocked", (&hold.hold_id, &hold.identity, "", &held), seats).await
    }

    /// Repeats a block of which only Postgres' side is known any more.
    pub async fn repeat_blocked(
        &self,
        event: &EventId,
        nobody: &HoldId,
        seats: &[SeatVersion],
    ) -> Result<(), EngineError> {
        self.settle(event, "blocked", (nobody, "operator:block", "", ""), seats).await
    }

    async fn settle(
        &self,
        event: &EventId,
        kind: &str,
        (hold, identity, order, held): (&HoldId, &str, &str, &str),
        seats: &[SeatVersion],
    ) -> Result<(), EngineError> {
        let answer = self
            .run(event, &self.0.scripts.settle, |keys, call| {
                call.key(keys.hold(hold)).key(keys.identity(identity));
                for seat in seats {
                    call.key(keys.seat(seat.index));
                }
                call.arg(kind).arg(hold.as_str()).arg(identity);
                call.arg(csv(seats.iter().map(|s| s.index))).arg(csv(seats.iter().map(|s| s.version)));
                call.arg(order).arg(held);
            })
            .await?;
        if matches!(answer.word.as_str(), "settled" | "known") { Ok(()) } else { answer.unexpected() }
    }

    /// Repeats here that seats are available again in Postgres (refund, unblock). `owner` is who had bought them.
    pub async fn mark_freed(
        &self,
        event: &EventId,
        owner: Option<&str>,
        seats: &[SeatVersion],
    ) -> Result<(), EngineError> {
        let answer = self
            .run(event, &self.0.scripts.free, |keys, call| {
                call.key(keys.identity(owner.unwrap_or_default()));
                for seat in seats {
                    call.key(keys.seat(seat.index));
                }
                call.arg(csv(seats.iter().map(|s| s.index))).arg(csv(seats.iter().map(|s| s.version)));
            })
            .await?;
        if matches!(answer.word.as_str(), "freed" | "known") { Ok(()) } else { answer.unexpected() }
    }
}
