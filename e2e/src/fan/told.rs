//! What fans were told: the evidence that the sweep holds against the stores.

use std::collections::HashMap;
use std::sync::Mutex;

use chrono::{DateTime, Utc};

/// A hold the origin confirmed.
#[derive(Debug, Clone)]
pub struct ToldHold {
    /// The fan.
    pub fan: usize,
    /// `hold_…`.
    pub hold_id: String,
    /// Its seats.
    pub seats: Vec<String>,
    /// When the answer arrived: the seats are the fan's from then at the latest.
    pub from: DateTime<Utc>,
    /// Until when the fan may count on them: the promised expiry, or the moment the fan asked to give them back.
    pub until: DateTime<Utc>,
}

/// A booking the origin confirmed.
#[derive(Debug, Clone)]
pub struct ToldBooking {
    /// The fan.
    pub fan: usize,
    /// `bk_…`.
    pub booking_id: String,
    /// `ord_…`.
    pub order_id: String,
    /// The provider's reference, when the answer named it.
    pub payment_ref: Option<String>,
    /// The seats of the hold it was made from.
    pub seats: Vec<String>,
    /// The hold's total in minor units.
    pub total: i64,
}

/// A shopping session. Both ends are cautious: the session certainly lived in between.
#[derive(Debug, Clone)]
pub struct ToldSession {
    /// The fan.
    pub fan: usize,
    /// When the answer with the session arrived.
    pub from: DateTime<Utc>,
    /// When the fan sent what ends it, or when it expires by itself.
    pub until: DateTime<Utc>,
}

/// Everything the crowd was told, and everything that a fan saw and must not have seen.
#[derive(Debug, Default)]
pub struct Told {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    holds: HashMap<String, ToldHold>,
    bookings: Vec<ToldBooking>,
    sessions: Vec<ToldSession>,
    positions: HashMap<(usize, String), u64>,
    breaches: Vec<String>,
}

/// A copy of everything told, for the sweep.
#[derive(Debug, Default)]
pub struct Evidence {
    /// All holds.
    pub holds: Vec<ToldHold>,
    /// All bookings.
    pub bookings: Vec<ToldBooking>,
    /// All sessions.
    pub sessions: Vec<ToldSession>,
    /// The last position answered to each place (fan, place).
    pub positions: HashMap<(usize, String), u64>,
    /// What fans saw and must not have seen.
    pub breaches: Vec<String>,
}

impl Told {
    fn with<R>(&self, act: impl FnOnce(&mut Inner) -> R) -> R {
        // A panic elsewhere must not hide the evidence gathered so far.
        act(&mut self.inner.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    /// A fan was told of a hold.
    pub fn hold(&self, hold: ToldHold) {
        self.with(|inner| inner.holds.insert(hold.hold_id.clone(), hold));
    }

    /// A fan is about to give a hold back, or to pay for it.
    pub fn hold_ends(&self, hold_id: &str, at: DateTime<Utc>) {
        self.with(|inner| {
            if let Some(hold) = inner.holds.get_mut(hold_id) {
                hold.until = hold.until.min(at);
            }
        });
    }

    /// A fan was told of a booking.
    pub fn booking(&self, booking: ToldBooking) {
        self.with(|inner| inner.bookings.push(booking));
    }

    /// A fan's session is over.
    pub fn session(&self, session: ToldSession) {
        self.with(|inner| inner.sessions.push(session));
    }

    /// A fan was told a position; it may never rise for the same place.
    pub fn position(&self, fan: usize, place: &str, position: u64) {
        self.with(|inner| {
            let last = inner.positions.entry((fan, place.to_owned())).or_insert(position);
            if position > *last {
                inner.breaches.push(format!("position of fan {fan} rose from {last} to {position}"));
            }
            *last = position.min(*last);
        });
    }

    /// A fan saw what no fan may see.
    pub fn breach(&self, what: String) {
        self.with(|inner| inner.breaches.push(what));
    }

    /// Everything so far.
    #[must_use]
    pub fn evidence(&self) -> Evidence {
        self.with(|inner| Evidence {
            holds: inner.holds.values().cloned().collect(),
            bookings: inner.bookings.clone(),
            sessions: inner.sessions.clone(),
            positions: inner.positions.clone(),
            breaches: inner.breaches.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rising_position_is_a_breach() {
        let told = Told::default();
        told.position(1, "p", 9);
        told.position(1, "p", 7);
        told.position(1, "q", 30);
        assert!(told.evidence().breaches.is_empty());
        told.position(1, "p", 8);
        assert_eq!(told.evidence().breaches, ["position of fan 1 rose from 7 to 8"]);
    }
}
