//! A virtual fan: real HTTP, a real key, real proof of work, and a mind of its own.
//!
//! Nothing of the product is imported. A fan knows the wire contract and what it was told; what it was told is kept, so
//! that the sweep can hold every answer against the stores.

mod chance;
mod client;
mod crowd;
mod key;
mod paying;
mod persist;
mod plan;
mod seats;
mod shopping;
mod told;
mod waiting;
mod work;

use std::sync::Arc;

use tokio::time::sleep;

pub use chance::Chance;
pub use client::{Answer, CallError, EventClient};
pub use crowd::{Count, Counts, Crowd};
pub use key::Key;
pub use persist::Gone;
pub use plan::{Arrival, Intent, Plan};
pub use seats::{Layout, MapError};
pub use told::{Evidence, Told, ToldBooking, ToldHold, ToldSession};
pub use work::Challenge;

use shopping::Shopper;
use waiting::{Waited, join, wait_and_enter};

/// One fan.
pub struct Fan {
    /// Its number in the crowd.
    pub index: usize,
    /// Its key.
    pub key: Key,
    plan: Plan,
    chance: Chance,
}

impl Fan {
    /// Fan number `index` of the crowd of `seed`.
    pub fn new(seed: u64, index: usize) -> Result<Self, getrandom::Error> {
        let mut chance = Chance::of(seed, index as u64);
        Ok(Self { index, key: Key::generate()?, plan: Plan::draw(&mut chance), chance })
    }

    /// The whole evening of a fan.
    pub async fn run(&mut self, crowd: &Arc<Crowd>) {
        self.arrive(crowd).await;
        let turns = if self.plan.returns { 2 } else { 1 };
        for turn in 0..turns {
            if turn == 1 {
                // Bought or left; comes back for more with the same key and a new place.
                self.plan = Plan { no_show: false, reloads: false, ..self.plan };
                sleep(self.plan.ponders).await;
            }
            match self.turn(crowd, turn == 0).await {
                Ok(()) => {}
                Err(Gone::SaleOver(_)) => {
                    crowd.counts.sold_out.one();
                    break;
                }
                // Time was up: allowed, and no reason to give up the evening.
                Err(Gone::SessionEnded) => {}
                Err(gone) => {
                    crowd.counts.lost.one();
                    crowd.told.breach(format!("fan {} ({:?}): {gone}", self.index, self.plan.intent));
                    break;
                }
            }
        }
        crowd.counts.finished.one();
    }

    async fn arrive(&mut self, crowd: &Crowd) {
        let until_sale = (crowd.onsale_at - crate::clock::now()).to_std().unwrap_or_default();
        sleep(match self.plan.arrival {
            Arrival::Before(thousandths) => until_sale.mul_f64(f64::from(thousandths) / 1000.0),
            Arrival::After(delay) => until_sale + delay,
        })
        .await;
    }

    /// Once through the line and the shop.
    async fn turn(&mut self, crowd: &Crowd, first: bool) -> Result<(), Gone> {
        let mut ticket = join(crowd, &self.key, &mut self.chance).await?;
        if first && ticket.created {
            crowd.counts.joined.one();
        }
        if self.plan.reloads {
            let again = join(crowd, &self.key, &mut self.chance).await?;
            if again.place != ticket.place {
                let (a, b) = (&ticket.place, &again.place);
                crowd
                    .told
                    .breach(format!("fan {} reloaded and got another place: {a}, then {b}", self.index));
            }
            ticket = again;
        }
        if self.plan.no_show {
            crowd.counts.no_shows.one();
            return Ok(());
        }
        let waited = wait_and_enter(crowd, self.index, &self.key, &mut ticket, &mut self.chance).await?;
        let Waited::Entered(session) = waited else { return Ok(()) };
        let shopper = Shopper { crowd, fan: self.index, key: &self.key, session };
        shopper.shop(&self.plan, &mut self.chance).await
    }
}
