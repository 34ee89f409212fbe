//! Making the published records: the draw and the later batches.

use thiserror::Error;

use super::{Bitmap, Hash, merkle, sha256};
use crate::wire::{BatchLane, BatchRecord, LaneSeal, Transcript};

/// Name of the shuffle in every published document.
pub const ALGORITHM: &str = "swap-or-not-90-sha256";
/// Domain separation of the seed.
const SEED_LABEL: &[u8] = b"fairgate-draw-v1";

/// A record that contradicts itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RecordError {
    /// A hash is not 32 bytes of hex.
    #[error("a hash is not 32 bytes of hex")]
    Hash,
    /// A bitmap does not fit its lane.
    #[error("a class bitmap does not fit its lane")]
    Bitmap,
    /// An interval ends before it begins, or does not continue the one before.
    #[error("an interval does not continue the one before")]
    Interval,
}

/// What is published before registration opens: SHA-256 of the secret, hex.
pub fn commitment(secret: &Hash) -> String {
    hex::encode(sha256(&[secret]))
}

/// The root over the lane roots.
pub fn cohort_root(seals: &[LaneSeal]) -> Result<Hash, RecordError> {
    let mut tree = merkle::TreeHasher::default();
    for seal in seals {
        tree.push(merkle::lane_leaf(&parse_hash(&seal.root)?));
    }
    Ok(tree.root())
}

/// `SHA-256("fairgate-draw-v1" ‖ secret ‖ cohort root ‖ beacon)`, nothing for an absent beacon.
pub fn seed(secret: &Hash, cohort_root: &Hash, randomness: Option<&Hash>) -> Hash {
    match randomness {
        Some(randomness) => sha256(&[SEED_LABEL, secret, cohort_root, randomness]),
        None => sha256(&[SEED_LABEL, secret, cohort_root]),
    }
}

/// Draws: the transcript of the sealed lanes. Without a beacon the holder of the secret could have varied a
/// registration until the seed suited, so such a transcript calls itself not verifiable.
pub fn draw(event: &str, inc: &str, secret: &Hash, seals: Vec<LaneSeal>) -> Result<Transcript, RecordError> {
    for seal in &seals {
        Bitmap::decode(&seal.class1, seal.count).ok_or(RecordError::Bitmap)?;
    }
    let cohort_root = cohort_root(&seals)?;
    Ok(Transcript {
        event: event.to_owned(),
        inc: inc.to_owned(),
        commitment: commitment(secret),
        secret: hex::encode(secret),
        algorithm: ALGORITHM.to_owned(),
        count: seals.iter().fold(0, |sum, seal| sum.saturating_add(seal.count)),
        lanes: seals,
        cohort_root: hex::encode(cohort_root),
        beacon: None,
        verifiable: false,
        seed: hex::encode(seed(secret, &cohort_root, None)),
    })
}

/// Closes batch `n` at `base` over the lanes' intervals; `None` if all of them are empty.
pub fn close_batch(
    n: u32,
    base: u64,
    lanes: Vec<BatchLane>,
    draw_seed: &Hash,
) -> Result<Option<BatchRecord>, RecordError> {
    let mut places = 0_u64;
    for lane in &lanes {
        let count = u64::from(lane.to.checked_sub(lane.from).ok_or(RecordError::Interval)?);
        Bitmap::decode(&lane.class1, count).ok_or(RecordError::Bitmap)?;
        places = places.saturating_add(count);
    }
    let seed = hex::encode(batch_seed(draw_seed, n));
    Ok((places > 0).then_some(BatchRecord { n, base, lanes, seed }))
}

/// `SHA-256(draw seed ‖ u64_be n)`.
pub fn batch_seed(draw_seed: &Hash, n: u32) -> Hash {
    sha256(&[draw_seed, &u64::from(n).to_be_bytes()])
}

/// Reads 32 bytes of hex.
pub fn parse_hash(text: &str) -> Result<Hash, RecordError> {
    let mut hash = [0; 32];
    hex::decode_to_slice(text, &mut hash).map_err(|_| RecordError::Hash)?;
    Ok(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_is_pinned_to_its_formula() {
        let (secret, root, beacon) = ([1; 32], [2; 32], [3; 32]);
        let mut message = b"fairgate-draw-v1".to_vec();
        message.extend([1; 32]);
        message.extend([2; 32]);
        assert_eq!(seed(&secret, &root, None), sha256(&[&message]));
        message.extend([3; 32]);
        assert_eq!(seed(&secret, &root, Some(&beacon)), sha256(&[&message]));
    }

    #[test]
    fn a_draw_opens_its_commitment_and_says_it_is_not_verifiable() {
        let empty = LaneSeal { count: 0, class1: String::new(), root: hex::encode(merkle::root([])) };
        let transcript = draw("evt_1", "inc", &[9; 32], vec![empty.clone(), empty]).unwrap();
        assert_eq!(transcript.commitment, commitment(&parse_hash(&transcript.secret).unwrap()));
        assert_eq!((transcript.count, transcript.verifiable), (0, false));
    }

    #[test]
    fn an_empty_batch_is_no_batch() {
        let lane = BatchLane { from: 4, to: 4, class1: String::new() };
        assert_eq!(close_batch(1, 10, vec![lane.clone()], &[0; 32]), Ok(None));
        let backwards = BatchLane { from: 4, to: 3, ..lane };
        assert_eq!(close_batch(1, 10, vec![backwards], &[0; 32]), Err(RecordError::Interval));
    }
}
