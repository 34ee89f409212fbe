//! What the origin says of its stock.

use serde::{Deserialize, Serialize};

use super::Room;
use super::phase::Stage;
use crate::wire::{AuditEntry, Instant, Inventory};

/// Whether there is anything to be let in for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stock {
    /// Something is for sale.
    Available,
    /// Nothing is, but holds are outstanding.
    ReturnsOnly,
    /// Nothing is, and nothing is held.
    SoldOut,
}

impl Stock {
    /// Reads the origin's numbers. An event without any stock is one whose plan is not known yet, not one sold out.
    fn of(inventory: Inventory) -> Self {
        match inventory {
            Inventory { available: 0, held: 0, sold: 0 } => Self::Available,
            Inventory { available: 0, held: 0, .. } => Self::SoldOut,
            Inventory { available: 0, .. } => Self::ReturnsOnly,
            Inventory { .. } => Self::Available,
        }
    }
}

/// The origin's answer to `/internal/pressure`, as far as the Room uses it. Foreign origins leave members out.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Pressure {
    /// For sale now.
    pub available: Option<u64>,
    /// In somebody's hold.
    pub held: Option<u64>,
    /// Sold.
    pub sold: Option<u64>,
    /// Status of the event in the catalogue.
    pub status: Option<String>,
}

impl Room {
    /// Forgets stock: the origin in charge does not know this event, or is another one since. Nobody is then kept out
    /// for what an origin said that has no say any more.
    pub fn forget_stock(&mut self) {
        self.memory.inventory = None;
        self.memory.progress.stock = Stock::Available;
        self.pressure_at = None;
    }

    /// Takes in what the origin said. Silence or missing numbers leave everything as it is.
    pub fn absorb_pressure(&mut self, pressure: &Pressure, now: Instant) {
        if let (Some(available), Some(held), Some(sold)) = (pressure.available, pressure.held, pressure.sold)
        {
            let inventory = Inventory { available, held, sold };
            self.memory.inventory = Some(inventory);
            self.memory.progress.stock = Stock::of(inventory);
            self.pressure_at = Some(now);
        }
        if pressure.status.as_deref() == Some("canceled") && self.memory.progress.stage != Stage::Closed {
            self.memory.progress.stage = Stage::Closed;
            self.writes.audit.push(AuditEntry {
                at: now,
                actor: "origin".to_owned(),
                action: "close".to_owned(),
                detail: serde_json::json!({ "status": "canceled" }),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_for_sale_is_sold_out_only_when_nothing_is_held() {
        let of = |available, held, sold| Stock::of(Inventory { available, held, sold });
        assert_eq!(of(1, 0, 9), Stock::Available);
        assert_eq!(of(0, 1, 9), Stock::ReturnsOnly);
        assert_eq!(of(0, 0, 9), Stock::SoldOut);
        assert_eq!(of(0, 0, 0), Stock::Available);
    }
}
