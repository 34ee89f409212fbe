//! Judging what the stores say.

use serde::Serialize;
use utoipa::ToSchema;

/// What Postgres says of an event, at one moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger {
    /// Seats of the event.
    pub capacity: u32,
    /// Indices sold.
    pub sold: Vec<u32>,
    /// Indices kept back.
    pub blocked: Vec<u32>,
    /// Faults found by queries, in words.
    pub faults: Vec<String>,
    /// Sums.
    pub money: Money,
}

/// Money of an event's orders, minor units of its currency.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub(super) struct Money {
    /// ISO 4217.
    pub currency: String,
    /// Orders whose money is taken (also those whose refund is under way).
    pub captured: i64,
    /// Confirmed bookings.
    pub booked: i64,
    /// Money on its way back.
    pub refund_pending: i64,
    /// Money given back.
    pub refunded: i64,
    /// Orders sold whose money is still to be taken.
    pub to_capture: i64,
    /// Orders whose outcome is open.
    pub open_orders: i64,
    /// Orders whose outcome nobody knows yet.
    pub unknown_orders: i64,
    /// Claims for support.
    pub open_claims: i64,
}

/// What the hold store shows.
#[derive(Clone, Debug, Default)]
pub(super) struct Shown {
    /// One bit a seat, least significant first: for sale.
    pub available: Vec<u8>,
    /// Sold.
    pub sold: Vec<u8>,
    /// Blocked.
    pub blocked: Vec<u8>,
}

/// The verdict.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct Invariants {
    /// Nothing is wrong.
    pub ok: bool,
    /// Seats of the event.
    pub capacity: u32,
    /// Seats anybody may hold.
    pub available: u32,
    /// Seats held or being paid.
    pub held: u32,
    /// Seats sold.
    pub sold: u32,
    /// Seats kept back.
    pub blocked: u32,
    /// The map shows exactly what the ledger says is sold and blocked.
    pub redis_matches_postgres: bool,
    /// Sums.
    pub money: Money,
    /// What is wrong, in words.
    pub breaches: Vec<String>,
}

fn bit(bits: &[u8], index: u32) -> bool {
    bits.get((index / 8) as usize).is_some_and(|byte| byte >> (index % 8) & 1 == 1)
}

/// Seats whose display differs from the ledger.
pub(super) fn mismatches(ledger: &Ledger, shown: &Shown) -> Vec<u32> {
    let mut sold = vec![false; ledger.capacity as usize];
    let mut blocked = vec![false; ledger.capacity as usize];
    for (marks, indices) in [(&mut sold, &ledger.sold), (&mut blocked, &ledger.blocked)] {
        for index in indices {
            if let Some(mark) = marks.get_mut(*index as usize) {
                *mark = true;
            }
        }
    }
    let differs = |index: &u32| {
        let (sold, blocked) = (sold[*index as usize], blocked[*index as usize]);
        bit(&shown.sold, *index) != sold
            || bit(&shown.blocked, *index) != blocked
            || (bit(&shown.available, *index) && (sold || blocked))
    };
    (0..ledger.capacity).filter(differs).collect()
}

/// Puts the verdict together. `shown` is absent where the hold store could not be read.
pub(super) fn judge(ledger: Ledger, shown: Option<&Shown>) -> Invariants {
    let mut breaches = ledger.faults.clone();
    let (sold, blocked) = (count(&ledger.sold), count(&ledger.blocked));
    let differing = shown.map(|shown| mismatches(&ledger, shown));
    match &differing {
        None => breaches.push("the hold store could not be read".to_owned()),
        Some(seats) if !seats.is_empty() => {
            let some: Vec<String> = seats.iter().take(10).map(ToString::to_string).collect();
            breaches.push(format!(
                "{} seats are shown otherwise than sold: {}",
                seats.len(),
                some.join(", ")
            ));
        }
        Some(_) => {}
    }
    let available =
        shown.map_or(0, |shown| (0..ledger.capacity).filter(|i| bit(&shown.available, *i)).count());
    let available = u32::try_from(available).unwrap_or(u32::MAX);
    let taken = available.saturating_add(sold).saturating_add(blocked);
    if taken > ledger.capacity {
        breaches.push(format!(
            "available + sold + blocked = {taken} exceeds the capacity of {}",
            ledger.capacity
        ));
    }
    let money = &ledger.money;
    if money.captured + money.to_capture != money.booked + money.refund_pending {
        breaches.push(format!(
            "captured {} + to capture {} differs from booked {} + refund pending {}",
            money.captured, money.to_capture, money.booked, money.refund_pending
        ));
    }
    Invariants {
        ok: breaches.is_empty(),
        capacity: ledger.capacity,
        available,
        held: ledger.capacity.saturating_sub(taken),
        sold,
        blocked,
        redis_matches_postgres: differing.is_some_and(|seats| seats.is_empty()),
        money: ledger.money,
        breaches,
    }
}

fn count(seats: &[u32]) -> u32 {
    u32::try_from(seats.len()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger() -> Ledger {
        Ledger { capacity: 10, sold: vec![0, 9], blocked: vec![3], ..Ledger::default() }
    }

    fn shown() -> Shown {
        // Seats 1 and 2 are held, 4 to 8 free.
        Shown { available: vec![0b1111_0000, 1], sold: vec![1, 2], blocked: vec![0b1000, 0] }
    }

    #[test]
    fn held_is_what_nobody_else_accounts_for() {
        let verdict = judge(ledger(), Some(&shown()));
        assert!(verdict.ok, "{:?}", verdict.breaches);
        assert_eq!((verdict.available, verdict.held, verdict.sold, verdict.blocked), (5, 2, 2, 1));
    }

    #[test]
    fn a_sold_seat_that_is_shown_free_is_a_breach() {
        let mut shown = shown();
        shown.available[0] |= 1;
        let verdict = judge(ledger(), Some(&shown));
        assert!(!verdict.ok && !verdict.redis_matches_postgres);
        assert_eq!(mismatches(&ledger(), &shown), [0]);
    }

    #[test]
    fn money_without_a_booking_is_a_breach() {
        let mut ledger = ledger();
        ledger.money.captured = 4500;
        assert!(!judge(ledger.clone(), Some(&shown())).ok);
        ledger.money.booked = 4500;
        assert!(judge(ledger, Some(&shown())).ok);
    }
}
