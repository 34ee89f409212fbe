//! Limiting what one key or network may ask of an isolate.

use std::hash::Hash;

use super::Recent;

/// Token buckets by key, in bounded memory.
///
/// Each isolate counts alone: the limit is a brake on floods in front of the lanes, not a quota.
#[derive(Debug)]
pub struct RateLimiter<K> {
    buckets: Recent<K, Bucket>,
    burst: u32,
    refill_ms: u64,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    left: u32,
    counted_at_ms: u64,
}

impl<K: Eq + Hash> RateLimiter<K> {
    /// `burst` tries at once, then one every `refill_ms`; the last `keys` keys are remembered.
    pub fn new(burst: u32, refill_ms: u64, keys: usize) -> Self {
        Self { buckets: Recent::new(keys), burst, refill_ms: refill_ms.max(1) }
    }

    /// Takes one try of `key`, or says in how many milliseconds there will be one.
    pub fn take(&mut self, key: K, now_ms: u64) -> Result<(), u64> {
        let full = Bucket { left: self.burst, counted_at_ms: now_ms };
        let mut bucket = self.buckets.get(&key).map_or(full, |bucket| *bucket);
        let refills = now_ms.saturating_sub(bucket.counted_at_ms) / self.refill_ms;
        if refills > 0 {
            bucket.left =
                bucket.left.saturating_add(u32::try_from(refills).unwrap_or(u32::MAX)).min(self.burst);
            bucket.counted_at_ms =
                bucket.counted_at_ms.saturating_add(refills.saturating_mul(self.refill_ms));
        }
        let taken = bucket.left.checked_sub(1);
        if let Some(left) = taken {
            bucket.left = left;
        }
        self.buckets.insert(key, bucket);
        let elapsed = now_ms.saturating_sub(bucket.counted_at_ms);
        taken.map(|_| ()).ok_or_else(|| self.refill_ms.saturating_sub(elapsed).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_then_the_rate() {
        let mut limiter = RateLimiter::new(3, 1000, 10);
        for _ in 0..3 {
            assert_eq!(limiter.take("a", 5_000), Ok(()));
        }
        assert_eq!(limiter.take("a", 5_400), Err(600));
        assert_eq!(limiter.take("b", 5_400), Ok(()), "another key has its own");
        assert_eq!(limiter.take("a", 6_000), Ok(()));
        assert_eq!(limiter.take("a", 6_999), Err(1));
        assert_eq!(limiter.take("a", 7_000), Ok(()));
    }

    #[test]
    fn idleness_fills_no_more_than_the_burst() {
        let mut limiter = RateLimiter::new(2, 10, 10);
        assert_eq!(limiter.take((), 0), Ok(()));
        for _ in 0..2 {
            assert_eq!(limiter.take((), u64::MAX), Ok(()));
        }
        assert!(limiter.take((), u64::MAX).is_err());
    }

    #[test]
    fn a_clock_stepped_back_neither_fills_nor_panics() {
        let mut limiter = RateLimiter::new(1, 1000, 10);
        assert_eq!(limiter.take((), 10_000), Ok(()));
        assert_eq!(limiter.take((), 3_000), Err(1000));
    }
}
