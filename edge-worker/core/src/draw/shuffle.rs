//! Swap-or-not: the Ethereum consensus specification's `compute_shuffled_index`.
//!
//! A keyed permutation computed for one index without the others, so a place is checked with 180 hashes instead of a
//! shuffle of everybody.

use super::{Hash, sha256};

/// Rounds of the specification (`SHUFFLE_ROUND_COUNT`).
const ROUNDS: u8 = 90;

/// The position of `index` among `count` under `seed`; `None` if it is not among them.
pub fn compute_shuffled_index(index: u64, count: u64, seed: &Hash) -> Option<u64> {
    if index >= count {
        return None;
    }
    let mut index = index;
    for round in 0..ROUNDS {
        let pivot = first_u64_le(&sha256(&[seed, &[round]])) % count;
        // pivot < count and index < count, so neither the sum nor the difference wraps.
        let flip = (pivot + (count - index)) % count;
        let position = index.max(flip);
        // The specification hashes `position / 256` as four bytes: counts stay below 2^40.
        let block = u32::try_from(position / 256).ok()?;
        let source = sha256(&[seed, &[round], &block.to_le_bytes()]);
        let bit = position % 256;
        let byte = source.get(usize::try_from(bit / 8).ok()?).copied()?;
        if (byte >> (bit % 8)) & 1 == 1 {
            index = flip;
        }
    }
    Some(index)
}

fn first_u64_le(hash: &Hash) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&hash[..8]);
    u64::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    struct Vectors {
        vectors: Vec<Vector>,
    }

    #[derive(serde::Deserialize)]
    struct Vector {
        seed: String,
        count: u64,
        shuffled: Vec<u64>,
    }

    #[test]
    fn agrees_with_an_independent_implementation() {
        let vectors: Vectors = serde_json::from_str(include_str!("../../vectors/swap-or-not.json")).unwrap();
        assert!(vectors.vectors.len() >= 3);
        for vector in vectors.vectors {
            let seed: Hash = hex::decode(vector.seed).unwrap().try_into().unwrap();
            for (index, expected) in vector.shuffled.iter().enumerate() {
                let position = compute_shuffled_index(index as u64, vector.count, &seed);
                assert_eq!(position, Some(*expected), "index {index} of {}", vector.count);
            }
        }
    }

    #[test]
    fn refuses_an_index_outside() {
        assert_eq!(compute_shuffled_index(0, 0, &[0; 32]), None);
        assert_eq!(compute_shuffled_index(5, 5, &[0; 32]), None);
        assert_eq!(compute_shuffled_index(0, 1, &[0; 32]), Some(0));
    }

    /// Over many seeds every position is equally likely for a given index: chi-squared far below any suspicion.
    #[test]
    fn is_uniform_over_seeds() {
        const COUNT: u64 = 20;
        const SEEDS: u32 = 4000;
        let mut hits = [0_f64; COUNT as usize];
        for n in 0..SEEDS {
            let seed = sha256(&[&n.to_be_bytes()]);
            hits[compute_shuffled_index(7, COUNT, &seed).unwrap() as usize] += 1.0;
        }
        let expected = f64::from(SEEDS) / COUNT as f64;
        let chi: f64 = hits.iter().map(|hit| (hit - expected).powi(2) / expected).sum();
        // 19 degrees of freedom: 43.8 is exceeded once in a thousand; the seeds are fixed, so this never flickers.
        assert!(chi < 43.8, "chi-squared {chi}");
    }

    proptest::proptest! {
        #[test]
        fn is_a_permutation(seed: [u8; 32], count in 1_u64..300) {
            let mut seen = vec![false; count as usize];
            for index in 0..count {
                let position = compute_shuffled_index(index, count, &seed).unwrap() as usize;
                proptest::prop_assert!(!std::mem::replace(&mut seen[position], true));
            }
        }
    }
}
