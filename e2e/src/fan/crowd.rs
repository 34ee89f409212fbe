//! What the fans of one crowd have in common: the address, what they were told, and the counters one watches.

use std::sync::atomic::{AtomicU64, Ordering};

use chrono::{DateTime, Utc};
use tokio::sync::{OnceCell, Semaphore};

use super::client::EventClient;
use super::seats::Layout;
use super::told::Told;

/// Proof of work at a time, machine-wide: a crowd of real fans brings its own processors, this one shares two.
const SOLVERS: usize = 2;

/// Shared by every fan of a rehearsal.
pub struct Crowd {
    /// The event as fans reach it.
    pub client: EventClient,
    /// What fans were told.
    pub told: Told,
    /// The counters.
    pub counts: Counts,
    /// When the sale opens.
    pub onsale_at: DateTime<Utc>,
    pub(super) solvers: Semaphore,
    layout: OnceCell<Option<Layout>>,
}

/// How many fans have come how far. Each counts an event once, so they only grow.
#[derive(Debug, Default)]
pub struct Counts {
    /// Fans that got a place for the first time.
    pub joined: Count,
    /// Sessions opened.
    pub admitted: Count,
    /// Holds confirmed.
    pub holds: Count,
    /// Requests for seats that somebody else was faster to.
    pub taken: Count,
    /// Bookings confirmed.
    pub bookings: Count,
    /// Seats in them.
    pub seats: Count,
    /// Cards declined.
    pub declined: Count,
    /// Fans that went away while holding seats, without a word.
    pub abandoned: Count,
    /// Fans that left through the door.
    pub left: Count,
    /// Fans that never came when they were called.
    pub no_shows: Count,
    /// Fans told that everything is sold.
    pub sold_out: Count,
    /// Calls that failed for a reason that passes (a killed edge, overload) and were repeated.
    pub repeated: Count,
    /// Fans whose journey ended in something they cannot be expected to understand.
    pub lost: Count,
    /// Fans whose journey is over.
    pub finished: Count,
}

/// A counter that only grows.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    /// One more.
    pub fn one(&self) {
        self.add(1);
    }

    /// `n` more.
    pub fn add(&self, n: usize) {
        self.0.fetch_add(n as u64, Ordering::Relaxed);
    }

    /// The number so far.
    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Crowd {
    /// A crowd before the gates of `event` at `edge`.
    pub fn new(edge: &str, event: &str, onsale_at: DateTime<Utc>) -> Result<Self, reqwest::Error> {
        Ok(Self {
            client: EventClient::new(edge, event)?,
            told: Told::default(),
            counts: Counts::default(),
            onsale_at,
            solvers: Semaphore::new(SOLVERS),
            layout: OnceCell::new(),
        })
    }

    /// The seating plan. Its address is immutable, so one download serves the crowd, as a cache would.
    pub async fn layout(&self) -> Option<&Layout> {
        let fetch = || async {
            match self.client.read("/layout").await {
                Ok(answer) if answer.status == 200 => Ok(Layout::parse(&answer.body)),
                _ => Err(()),
            }
        };
        self.layout.get_or_try_init(fetch).await.ok()?.as_ref()
    }
}
