//! Recomputing the draw as any outsider may: from the published transcript alone.

use std::collections::HashMap;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Rounds of swap-or-not, as in the Ethereum consensus specification.
const ROUNDS: u8 = 90;

/// One lane of the transcript.
struct Lane {
    count: u64,
    class1: Vec<u8>,
    root: Vec<u8>,
}

impl Lane {
    fn is_class1(&self, slot: u64) -> bool {
        let byte = usize::try_from(slot / 8).ok().and_then(|at| self.class1.get(at)).copied().unwrap_or(0);
        byte >> (slot % 8) & 1 == 1
    }

    fn class0_before(&self, slot: u64) -> u64 {
        (0..slot).filter(|slot| !self.is_class1(*slot)).count() as u64
    }
}

/// Checks the transcript against itself and against every position that fans of the draw were told.
#[must_use]
pub fn verify(transcript: &Value, positions: &HashMap<(usize, String), u64>) -> Vec<String> {
    match recompute(transcript) {
        Ok((seed, lanes)) => {
            let mut breaches = Vec::new();
            for ((fan, place), told) in positions {
                if let Some(computed) = position(place, &seed, &lanes)
                    && computed != *told
                {
                    breaches.push(format!(
                        "draw: fan {fan} at {place} was told {told}, the transcript says {computed}"
                    ));
                }
            }
            breaches
        }
        Err(fault) => vec![format!("draw: {fault}")],
    }
}

fn recompute(transcript: &Value) -> Result<(Vec<u8>, Vec<Lane>), String> {
    let bytes = |name: &str| {
        let text = transcript[name].as_str().ok_or_else(|| format!("{name} is missing"))?;
        hex::decode(text).map_err(|error| format!("{name}: {error}"))
    };
    let (secret, commitment, cohort_root, seed) =
        (bytes("secret")?, bytes("commitment")?, bytes("cohort_root")?, bytes("seed")?);
    if Sha256::digest(&secret).as_slice() != commitment {
        return Err(String::from("the secret is not what was committed to"));
    }
    let beacon = match transcript["beacon"]["randomness"].as_str() {
        Some(text) => hex::decode(text).map_err(|error| format!("beacon: {error}"))?,
        None => Vec::new(),
    };
    let expected = Sha256::new()
        .chain_update(b"fairgate-draw-v1")
        .chain_update(&secret)
        .chain_update(&cohort_root)
        .chain_update(beacon);
    if expected.finalize().as_slice() != seed {
        return Err(String::from("the seed does not follow from secret, root and beacon"));
    }
    let lanes = lanes(transcript)?;
    let total: u64 = lanes.iter().map(|lane| lane.count).sum();
    if transcript["count"].as_u64() != Some(total) {
        return Err(format!("count is {}, the lanes have {total}", transcript["count"]));
    }
    let leaves: Vec<Vec<u8>> = lanes.iter().map(|lane| hash(&[&[0], &lane.root])).collect();
    if merkle_root(&leaves) != cohort_root {
        return Err(String::from("the cohort root is not the root over the lanes"));
    }
    Ok((seed, lanes))
}

fn lanes(transcript: &Value) -> Result<Vec<Lane>, String> {
    let lanes = transcript["lanes"].as_array().ok_or("lanes are missing")?;
    let lane = |lane: &Value| {
        let root = lane["root"].as_str().ok_or("a lane without root")?;
        Ok(Lane {
            count: lane["count"].as_u64().ok_or("a lane without count")?,
            class1: URL_SAFE_NO_PAD
                .decode(lane["class1"].as_str().unwrap_or(""))
                .map_err(|error| format!("class1: {error}"))?,
            root: hex::decode(root).map_err(|error| format!("root: {error}"))?,
        })
    };
    lanes.iter().map(lane).collect()
}

/// The position of a place of the draw; `None` for places of later batches.
fn position(place: &str, seed: &[u8], lanes: &[Lane]) -> Option<u64> {
    let place: Value = serde_json::from_str(place).ok()?;
    if place["batch"].as_u64()? != 0 {
        return None;
    }
    let at = usize::try_from(place["lane"].as_u64()?).ok()?;
    let (lane, slot) = (lanes.get(at)?, place["slot"].as_u64()?);
    let class0: u64 = lanes.iter().map(|lane| lane.class0_before(lane.count)).sum();
    let class0_ahead: u64 = lanes[..at].iter().map(|lane| lane.class0_before(lane.count)).sum();
    if !lane.is_class1(slot) {
        return shuffled(class0_ahead + lane.class0_before(slot), class0, seed);
    }
    let all_ahead: u64 = lanes[..at].iter().map(|lane| lane.count).sum();
    let total: u64 = lanes.iter().map(|lane| lane.count).sum();
    let index = (all_ahead - class0_ahead) + (slot - lane.class0_before(slot));
    Some(class0 + shuffled(index, total - class0, &hash(&[seed, &[1]]))?)
}

/// `compute_shuffled_index` of the consensus specification.
fn shuffled(mut index: u64, count: u64, seed: &[u8]) -> Option<u64> {
    for round in 0..ROUNDS {
        let head = hash(&[seed, &[round]]);
        let pivot = u64::from_le_bytes(head.get(..8)?.try_into().ok()?).checked_rem(count)?;
        let flip = (pivot + count - index) % count;
        let place = index.max(flip);
        let window = u32::try_from(place / 256).ok()?.to_le_bytes();
        let source = hash(&[seed, &[round], &window]);
        let byte = source[usize::try_from(place % 256 / 8).ok()?];
        if byte >> (place % 8) & 1 == 1 {
            index = flip;
        }
    }
    Some(index)
}

/// RFC 6962's tree over ready-made leaf hashes.
fn merkle_root(leaves: &[Vec<u8>]) -> Vec<u8> {
    match leaves {
        [] => hash(&[]),
        [leaf] => leaf.clone(),
        _ => {
            let split = leaves.len().next_power_of_two() / 2;
            let (left, right) = leaves.split_at(split);
            hash(&[&[1], &merkle_root(left), &merkle_root(right)])
        }
    }
}

fn hash(parts: &[&[u8]]) -> Vec<u8> {
    parts.iter().fold(Sha256::new(), |hash, part| hash.chain_update(part)).finalize().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From `@chainsafe/swap-or-not-shuffle`, an independent implementation.
    #[test]
    fn the_shuffle_is_the_specifications() {
        let all =
            |seed: &[u8], count| (0..count).map(|i| shuffled(i, count, seed).unwrap()).collect::<Vec<_>>();
        assert_eq!(all(&[0; 32], 10), [9, 7, 4, 1, 8, 0, 5, 6, 3, 2]);
        let counting: Vec<u8> = (1..=32).collect();
        assert_eq!(all(&counting, 33)[..8], [26, 5, 27, 25, 18, 23, 13, 8]);
    }

    #[test]
    fn a_transcript_with_another_secret_is_refused() {
        let transcript = serde_json::json!({
            "secret": "00".repeat(32), "commitment": "11".repeat(32), "cohort_root": "22".repeat(32), "seed": "33".repeat(32),
        });
        assert_eq!(verify(&transcript, &HashMap::new()), ["draw: the secret is not what was committed to"]);
    }
}
