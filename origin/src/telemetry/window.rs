//! Latencies of the last ten seconds in log-spaced buckets, small enough to publish and to add up across processes.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

/// Length of the window: long enough for a p99 of some hundred requests a second, short enough for a controller
/// that decides every second or two.
pub const WINDOW_SECS: u64 = 10;
const SLOTS: usize = WINDOW_SECS as usize;
/// Bucket i ends at 1 ms × 2^(i/2): 28 buckets reach 11.6 s, each at most 41% wide.
const BUCKETS: usize = 28;

#[derive(Clone, Copy)]
struct Second {
    number: u64,
    buckets: [u32; BUCKETS],
    untimed: u32,
    errors: u32,
    pool_wait_ms: u32,
}

const EMPTY: Second =
    Second { number: u64::MAX, buckets: [0; BUCKETS], untimed: 0, errors: 0, pool_wait_ms: 0 };

/// A ring of seconds.
pub struct Window {
    start: Instant,
    seconds: Mutex<[Second; SLOTS]>,
}

/// Sums over a window, of one process or of several.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Merged {
    /// Requests per bucket.
    pub buckets: Vec<u64>,
    /// Requests whose latency says nothing of this service.
    #[serde(default)]
    pub untimed: u64,
    /// Requests answered with 5xx.
    pub errors: u64,
    /// Longest wait for a database connection, milliseconds.
    pub pool_wait_ms: u64,
}

fn bucket_of(took: Duration) -> usize {
    let micros = took.as_micros().max(1) as f64;
    let exponent = ((micros / 1000.0).log2() * 2.0).ceil();
    if exponent <= 0.0 { 0 } else { (exponent as usize).min(BUCKETS - 1) }
}

fn bucket_end_ms(bucket: usize) -> f64 {
    2f64.powf(bucket as f64 / 2.0)
}

impl Window {
    /// An empty window; seconds are counted from `start`.
    pub fn new(start: Instant) -> Self {
        Self { start, seconds: Mutex::new([EMPTY; SLOTS]) }
    }

    fn at<R>(&self, now: Instant, change: impl FnOnce(&mut Second) -> R) -> R {
        let number = now.duration_since(self.start).as_secs();
        let mut seconds = self.seconds.lock().unwrap_or_else(PoisonError::into_inner);
        let second = &mut seconds[(number % WINDOW_SECS) as usize];
        if second.number != number {
            *second = Second { number, ..EMPTY };
        }
        change(second)
    }

    /// Counts one request; without its latency if that was another service's.
    pub fn record(&self, now: Instant, took: Option<Duration>, error: bool) {
        self.at(now, |second| {
            let count = match took {
                Some(took) => &mut second.buckets[bucket_of(took)],
                None => &mut second.untimed,
            };
            *count = count.saturating_add(1);
            second.errors = second.errors.saturating_add(u32::from(error));
        });
    }

    /// Notes how long a probe waited for a database connection.
    pub fn record_pool_wait(&self, now: Instant, waited: Duration) {
        let waited = u32::try_from(waited.as_millis()).unwrap_or(u32::MAX);
        self.at(now, |second| second.pool_wait_ms = second.pool_wait_ms.max(waited));
    }

    /// Sums of the last [`WINDOW_SECS`] seconds.
    pub fn sum(&self, now: Instant) -> Merged {
        let number = now.duration_since(self.start).as_secs();
        let seconds = self.seconds.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sums = Merged { buckets: vec![0; BUCKETS], ..Merged::default() };
        for second in seconds.iter().filter(|s| s.number <= number && number - s.number < WINDOW_SECS) {
            for (sum, count) in sums.buckets.iter_mut().zip(second.buckets) {
                *sum += u64::from(count);
            }
            sums.untimed += u64::from(second.untimed);
            sums.errors += u64::from(second.errors);
            sums.pool_wait_ms = sums.pool_wait_ms.max(u64::from(second.pool_wait_ms));
        }
        sums
    }
}

impl Merged {
    /// Adds another process' sums.
    pub fn add(&mut self, other: &Self) {
        self.buckets.resize(self.buckets.len().max(other.buckets.len()), 0);
        for (sum, count) in self.buckets.iter_mut().zip(&other.buckets) {
            *sum = sum.saturating_add(*count);
        }
        self.untimed = self.untimed.saturating_add(other.untimed);
        self.errors = self.errors.saturating_add(other.errors);
        self.pool_wait_ms = self.pool_wait_ms.max(other.pool_wait_ms);
    }

    /// Requests in the window whose latency counts.
    pub fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// Upper end of the bucket in which the `share` quantile lies; none without requests.
    pub fn quantile_ms(&self, share: f64) -> Option<f64> {
        let count = self.count();
        if count == 0 {
            return None;
        }
        let rank = ((count as f64) * share).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (bucket, n) in self.buckets.iter().enumerate() {
            seen += n;
            if seen >= rank {
                return Some(bucket_end_ms(bucket));
            }
        }
        None
    }

    /// Share of requests that ended with 5xx.
    pub fn error_rate(&self) -> f64 {
        let count = self.count().saturating_add(self.untimed);
        if count == 0 { 0.0 } else { self.errors as f64 / count as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;

    #[test]
    fn quantiles_lie_in_the_right_bucket_and_old_seconds_vanish() {
        let start = Clock.instant();
        let window = Window::new(start);
        for _ in 0..98 {
            window.record(start, Some(Duration::from_millis(4)), false);
        }
        for _ in 0..2 {
            window.record(start, Some(Duration::from_millis(900)), true);
        }
        let sums = window.sum(start);
        assert_eq!(sums.quantile_ms(0.5), Some(4.0));
        assert_eq!(sums.quantile_ms(0.99), Some(1024.0));
        assert!((sums.error_rate() - 0.02).abs() < 1e-9);
        let later = start + Duration::from_secs(WINDOW_SECS);
        assert_eq!(window.sum(later).quantile_ms(0.5), None);
        window.record(later, Some(Duration::from_millis(1)), false);
        assert_eq!(window.sum(later).count(), 1);
    }

    #[test]
    fn a_slow_provider_shows_in_errors_and_not_in_latencies() {
        let start = Clock.instant();
        let window = Window::new(start);
        window.record(start, Some(Duration::from_millis(4)), false);
        for error in [true, false, false] {
            window.record(start, None, error);
        }
        let mut sums = window.sum(start);
        assert_eq!(sums.quantile_ms(1.0), Some(4.0));
        assert!((sums.error_rate() - 0.25).abs() < 1e-9);
        sums.add(&window.sum(start));
        assert!((sums.error_rate() - 0.25).abs() < 1e-9);
    }

    #[test]
    fn sums_of_processes_add_up() {
        let start = Clock.instant();
        let (a, b) = (Window::new(start), Window::new(start));
        a.record(start, Some(Duration::from_millis(1)), false);
        b.record(start, Some(Duration::from_secs(100)), true);
        let mut sum = a.sum(start);
        sum.add(&b.sum(start));
        assert_eq!(sum.count(), 2);
        assert_eq!(sum.quantile_ms(1.0), Some(bucket_end_ms(BUCKETS - 1)));
    }
}
