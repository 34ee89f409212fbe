//! Map versions: generation × 2³² + sequence.

/// Bits of the sequence. At 1,000 changes a second a generation lasts seven weeks.
const SEQUENCE_BITS: u32 = 32;

/// The version of a sequence in a generation. Generations stay below 2²¹ (the schema checks it), so versions stay
/// below 2⁵³ and are exact in JSON.
pub const fn join(generation: u64, sequence: u64) -> u64 {
    (generation << SEQUENCE_BITS) | (sequence & ((1 << SEQUENCE_BITS) - 1))
}

/// Generation and sequence of a version.
pub const fn split(version: u64) -> (u64, u64) {
    (version >> SEQUENCE_BITS, version & ((1 << SEQUENCE_BITS) - 1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn joins_and_splits(generation in 0u64..1 << 21, sequence in 0u64..1 << 32) {
            let version = join(generation, sequence);
            prop_assert_eq!(split(version), (generation, sequence));
            prop_assert!(version < 1 << 53);
        }

        #[test]
        fn a_later_generation_is_always_greater(g in 0u64..(1 << 21) - 1, a in 0u64..1 << 32, b in 0u64..1 << 32) {
            prop_assert!(join(g, a) < join(g + 1, b));
        }
    }
}
