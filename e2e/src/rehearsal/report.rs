//! The end of the evening: the sweep, and what is printed.

use std::fmt;
use std::sync::atomic::Ordering;

use super::{Peak, Stores, double_promises, peak_sessions, verify_draw};
use crate::fan::{Crowd, Evidence, Fan};

/// How many breaches are printed; the rest is counted.
const SHOWN: usize = 20;

/// The end of the evening.
#[derive(Debug)]
pub struct Report {
    fans: usize,
    admitted: u64,
    cap: u64,
    peak_inside: u64,
    peak_outside: usize,
    seats_sold: usize,
    oversold: usize,
    captured: i64,
    booked: i64,
    lines: Vec<String>,
    /// Everything that broke a promise. Empty on a good evening.
    pub breaches: Vec<String>,
}

impl Report {
    /// Holds everything the crowd was told against the stores, the transcript and the buyers' own lists.
    pub(super) async fn sweep(crowd: &Crowd, stores: &Stores, fans: &[Fan], cap: u64, peak: &Peak) -> Self {
        let evidence = crowd.told.evidence();
        let mut report = Self {
            fans: usize::try_from(crowd.counts.finished.get()).unwrap_or(usize::MAX),
            admitted: crowd.counts.admitted.get(),
            cap,
            peak_inside: peak.inside.load(Ordering::Relaxed),
            peak_outside: peak_sessions(&evidence),
            seats_sold: stores.seats_booked(),
            oversold: stores.oversold(),
            captured: stores.captured(),
            booked: stores.booked(),
            lines: details(crowd, peak, &evidence),
            breaches: evidence.breaches.clone(),
        };
        report.breaches.extend(double_promises(&evidence));
        report.breaches.extend(stores.breaches(&evidence));
        if report.peak_outside as u64 > report.cap {
            report.breaches.push(format!(
                "overshoot: fans counted {} sessions at once, the cap is {}",
                report.peak_outside, report.cap
            ));
        }
        match crowd.client.read("/draw").await {
            Ok(answer) if answer.status == 200 => {
                report.breaches.extend(verify_draw(&answer.body, &evidence.positions));
            }
            Ok(answer) => report.breaches.push(format!("draw: {} {}", answer.status, answer.body)),
            Err(error) => report.breaches.push(format!("draw: {error}")),
        }
        for fan in fans {
            if let Err(breach) = own_bookings(crowd, &evidence, fan).await {
                report.breaches.push(breach);
            }
        }
        report
    }

    /// Whether every promise was kept.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.breaches.is_empty()
    }
}

/// A buyer reads their bookings by their key alone, long after the session: every booking they were told must be there.
async fn own_bookings(crowd: &Crowd, evidence: &Evidence, fan: &Fan) -> Result<(), String> {
    let told: Vec<_> = evidence.bookings.iter().filter(|booking| booking.fan == fan.index).collect();
    if told.is_empty() {
        return Ok(());
    }
    let answer = crowd
        .client
        .own("/v1/users/me/bookings?limit=20", &fan.key)
        .await
        .map_err(|error| error.to_string())?;
    let listed = answer.body["bookings"].as_array().cloned().unwrap_or_default();
    for booking in told {
        if !listed.iter().any(|row| row["booking_id"].as_str() == Some(&booking.booking_id)) {
            return Err(format!(
                "fan {} does not see {} among their bookings: {} {}",
                fan.index, booking.booking_id, answer.status, answer.body
            ));
        }
    }
    Ok(())
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.lines {
            writeln!(f, "{line}")?;
        }
        for breach in self.breaches.iter().take(SHOWN) {
            writeln!(f, "BREACH {breach}")?;
        }
        if self.breaches.len() > SHOWN {
            writeln!(f, "… and {} more", self.breaches.len() - SHOWN)?;
        }
        write!(
            f,
            "fans {}, admitted {}, peak active {} of cap {} (counted by fans: {}), seats sold {}, oversold {}, \
             money captured {}.{:02} against bookings {}.{:02}, breaches {}",
            self.fans,
            self.admitted,
            self.peak_inside,
            self.cap,
            self.peak_outside,
            self.seats_sold,
            self.oversold,
            self.captured / 100,
            self.captured % 100,
            self.booked / 100,
            self.booked % 100,
            self.breaches.len()
        )
    }
}

fn details(crowd: &Crowd, peak: &Peak, evidence: &Evidence) -> Vec<String> {
    let c = &crowd.counts;
    vec![
        format!(
            "places {}, no-shows {}, holds {}, seats taken by others {}, cards declined {}, abandoned {}, left {}",
            c.joined.get(),
            c.no_shows.get(),
            c.holds.get(),
            c.taken.get(),
            c.declined.get(),
            c.abandoned.get(),
            c.left.get()
        ),
        format!(
            "bookings {}, told the sale was over {}, calls repeated after a failure {}, positions checked {}, looks at the stats {}",
            c.bookings.get(),
            c.sold_out.get(),
            c.repeated.get(),
            evidence.positions.len(),
            peak.looks.load(Ordering::Relaxed)
        ),
    ]
}
