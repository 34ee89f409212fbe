//! The fan's side of the proof of work, written from the contract.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use sha2::{Digest, Sha256};

/// A challenge as the edge hands it out.
#[derive(Debug, Clone, Deserialize)]
pub struct Challenge {
    /// Opaque; goes back as it came.
    pub challenge: String,
    /// How many puzzles.
    pub puzzles: u8,
    /// Expected hashes a puzzle.
    pub difficulty: u64,
    /// 16 bytes, base64url.
    pub salt: String,
}

impl Challenge {
    /// The nonces that solve it, as decimal strings; `None` when the salt is not base64url or no nonce exists.
    #[must_use]
    pub fn solve(&self) -> Option<Vec<String>> {
        let salt = URL_SAFE_NO_PAD.decode(&self.salt).ok()?;
        let threshold = (1u128 << 64).checked_div(u128::from(self.difficulty))?;
        (0..self.puzzles)
            .map(|puzzle| solve_one(&salt, puzzle, threshold).map(|nonce| nonce.to_string()))
            .collect()
    }
}

fn solve_one(salt: &[u8], puzzle: u8, threshold: u128) -> Option<u64> {
    let prefix = Sha256::new().chain_update(salt).chain_update([puzzle]);
    (0..u64::MAX).find(|nonce| {
        let digest = prefix.clone().chain_update(nonce.to_be_bytes()).finalize();
        let mut head = [0u8; 8];
        head.copy_from_slice(&digest[..8]);
        u128::from(u64::from_be_bytes(head)) < threshold
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_nonce_is_below_the_threshold() {
        let salt = [7u8; 16];
        let challenge = Challenge {
            challenge: String::new(),
            puzzles: 4,
            difficulty: 64,
            salt: URL_SAFE_NO_PAD.encode(salt),
        };
        for (puzzle, nonce) in challenge.solve().unwrap().iter().enumerate() {
            let nonce: u64 = nonce.parse().unwrap();
            let mut input = salt.to_vec();
            input.push(u8::try_from(puzzle).unwrap());
            input.extend(nonce.to_be_bytes());
            let digest = Sha256::digest(&input);
            assert!(u64::from_be_bytes(digest[..8].try_into().unwrap()) < u64::MAX / 64);
        }
    }

    #[test]
    fn a_free_challenge_and_a_bad_one() {
        let mut challenge =
            Challenge { challenge: String::new(), puzzles: 2, difficulty: 1, salt: String::from("AA") };
        assert_eq!(challenge.solve().unwrap(), ["0", "0"]);
        challenge.difficulty = 0;
        assert_eq!(challenge.solve(), None);
    }
}
