//! Chance that repeats: the same seed gives the same crowd.

use std::time::Duration;

/// SplitMix64 (Steele, Lea, Flood 2014): tiny, seedable, good enough for behaviour; never used for keys.
#[derive(Debug, Clone)]
pub struct Chance(u64);

impl Chance {
    /// The chance of fan number `index` in the crowd of `seed`.
    #[must_use]
    pub fn of(seed: u64, index: u64) -> Self {
        let mut chance = Self(seed ^ index.wrapping_mul(0xD6E8_FEB8_6659_FD93));
        chance.next();
        chance
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`; 0 when there is none.
    pub fn below(&mut self, bound: usize) -> usize {
        let Ok(bound) = u64::try_from(bound) else { return 0 };
        let pick = self.next().checked_rem(bound).unwrap_or(0);
        usize::try_from(pick).unwrap_or(0)
    }

    /// A number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        // 53 bits are what a double holds exactly.
        let bits = (self.next() >> 11) as f64;
        bits / 9_007_199_254_740_992.0
    }

    /// True with probability `percent`/100.
    pub fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// A duration between `from` and `to`.
    pub fn between(&mut self, from: Duration, to: Duration) -> Duration {
        from + to.saturating_sub(from).mul_f64(self.unit())
    }

    /// `middle` spread evenly over ±`share` of itself.
    pub fn jittered(&mut self, middle: Duration, share: f64) -> Duration {
        let share = share.clamp(0.0, 1.0);
        middle.mul_f64(1.0 - share + 2.0 * share * self.unit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_crowd() {
        let draws = |seed| (0..8).map(|i| Chance::of(seed, i).below(1000)).collect::<Vec<_>>();
        assert_eq!(draws(7), draws(7));
        assert_ne!(draws(7), draws(8));
    }

    #[test]
    fn bounds_hold() {
        let mut chance = Chance::of(1, 1);
        assert_eq!(chance.below(0), 0);
        for _ in 0..1000 {
            assert!(chance.below(3) < 3);
            let spread = chance.jittered(Duration::from_secs(10), 0.3);
            assert!((7.0..=13.0).contains(&spread.as_secs_f64()));
        }
    }
}
