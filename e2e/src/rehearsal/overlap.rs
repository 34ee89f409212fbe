//! Checks that need nothing but what fans were told.

use std::collections::HashMap;

use chrono::{DateTime, Utc};

use crate::fan::{Evidence, ToldHold};

/// The most sessions that certainly lived at one moment. Both ends of every interval are cautious, so a number above the
/// cap is proof of an overshoot.
#[must_use]
pub fn peak_sessions(evidence: &Evidence) -> usize {
    let mut edges: Vec<(DateTime<Utc>, i64)> = Vec::new();
    for session in evidence.sessions.iter().filter(|session| session.until > session.from) {
        edges.push((session.from, 1));
        edges.push((session.until, -1));
    }
    // At one instant ends come before starts: a slot that returns may be taken at once.
    edges.sort();
    let mut live = 0i64;
    let peak = edges.iter().map(|(_, step)| {
        live += step;
        live
    });
    usize::try_from(peak.max().unwrap_or(0)).unwrap_or(0)
}

/// Seats promised to two fans at once, whether held or booked.
#[must_use]
pub fn double_promises(evidence: &Evidence) -> Vec<String> {
    let mut breaches = Vec::new();
    let mut booked: HashMap<&str, &str> = HashMap::new();
    for booking in &evidence.bookings {
        for seat in &booking.seats {
            if let Some(other) = booked.insert(seat, &booking.booking_id)
                && other != booking.booking_id
            {
                breaches.push(format!(
                    "oversold: seat {seat} was confirmed in {other} and in {}",
                    booking.booking_id
                ));
            }
        }
    }
    let mut holds: HashMap<&str, Vec<&ToldHold>> = HashMap::new();
    for hold in evidence.holds.iter().filter(|hold| hold.until > hold.from) {
        for seat in &hold.seats {
            holds.entry(seat).or_default().push(hold);
        }
    }
    for (seat, mut promised) in holds {
        promised.sort_by_key(|hold| (hold.from, hold.until));
        for pair in promised.windows(2) {
            let (first, second) = (pair[0], pair[1]);
            // One fan may replace their own hold; the old one is gone the moment the new one stands.
            if second.from < first.until && first.fan != second.fan {
                breaches
                    .push(format!("seat {seat} was held for fans {} and {} at once", first.fan, second.fan));
            }
        }
    }
    breaches
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;
    use crate::fan::{ToldBooking, ToldSession};

    fn at(second: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::seconds(second)
    }

    #[test]
    fn the_peak_counts_overlaps_only() {
        let session = |from, until| ToldSession { fan: 0, from: at(from), until: at(until) };
        let evidence = Evidence {
            sessions: vec![session(0, 5), session(5, 9), session(1, 3), session(7, 7)],
            ..Evidence::default()
        };
        assert_eq!(peak_sessions(&evidence), 2);
    }

    #[test]
    fn a_seat_promised_twice_is_found() {
        let hold = |fan, from, until| ToldHold {
            fan,
            hold_id: format!("hold_{fan}"),
            seats: vec!["A-1".into()],
            from: at(from),
            until: at(until),
        };
        let after = Evidence { holds: vec![hold(1, 0, 5), hold(2, 5, 9)], ..Evidence::default() };
        assert!(double_promises(&after).is_empty());
        let during = Evidence { holds: vec![hold(1, 0, 5), hold(2, 4, 9)], ..Evidence::default() };
        assert_eq!(double_promises(&during).len(), 1);
        let booking = |id: &str| ToldBooking {
            fan: 1,
            booking_id: id.into(),
            order_id: id.into(),
            payment_ref: None,
            seats: vec!["A-1".into()],
            total: 1,
        };
        let sold = Evidence { bookings: vec![booking("bk_1"), booking("bk_2")], ..Evidence::default() };
        assert_eq!(double_promises(&sold).len(), 1);
    }
}
