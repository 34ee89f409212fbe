//! A small seeded generator (splitmix64): a campaign that found a fault can be run again with its seed.

/// Seeded dice for webhook faults and identifiers. Not for secrets.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// Dice that fall the same way for the same seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// True with the given probability; a fraction outside 0..=1 is clamped.
    pub fn chance(&mut self, fraction: f64) -> bool {
        // 53 bits fill a double's mantissa exactly.
        let unit = (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        unit < fraction
    }
}

#[cfg(test)]
mod tests {
    use super::Dice;

    #[test]
    fn the_same_seed_falls_the_same_way() {
        let (mut a, mut b) = (Dice::new(7), Dice::new(7));
        assert!((0..100).all(|_| a.next_u64() == b.next_u64()));
    }

    #[test]
    fn certain_and_impossible() {
        let mut dice = Dice::new(1);
        assert!((0..1000).all(|_| dice.chance(1.0)));
        assert!((0..1000).all(|_| !dice.chance(0.0)));
    }
}
