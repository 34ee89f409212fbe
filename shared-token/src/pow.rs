//! Proof of work: many small puzzles, each linear in its difficulty.
//!
//! Puzzle `i` is solved by a nonce `n` when the first eight bytes of SHA-256(salt ‖ u8 `i` ‖ u64_be `n`), read
//! big-endian, are below ⌊2⁶⁴ ÷ difficulty⌋. Work is a price on floods; it never buys a better position.

use sha2::block_api::compress256;

/// Bytes of the salt.
pub const SALT_BYTES: usize = 16;
/// Nonces stay below 2⁵³, so that every number type of JavaScript holds them. At 13 MH/s (the fastest wasm
/// known) one puzzle would have to run for 22 years to reach it.
pub const NONCE_LIMIT: u64 = 1 << 53;

/// Why a solution was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PowError {
    /// Not exactly one nonce per puzzle, or a challenge of no puzzles at all.
    #[error("the number of nonces is wrong")]
    WrongCount,
    /// A nonce does not solve its puzzle.
    #[error("nonce {puzzle} does not solve its puzzle")]
    Unsolved {
        /// The first puzzle that is not solved.
        puzzle: u8,
    },
}

/// The bound below which a hash solves a puzzle: ⌊2⁶⁴ ÷ difficulty⌋.
///
/// For difficulty 1 that is 2⁶⁴, one more than a `u64` holds; `u64::MAX` stands in, wrong for one hash in 2⁶⁴.
/// Difficulty 0 has no meaning and gives 0, which nothing is below: a broken price never opens the door.
#[must_use]
pub const fn threshold(difficulty: u64) -> u64 {
    match difficulty {
        0 => 0,
        1 => u64::MAX,
        // ⌊2⁶⁴ ÷ d⌋ = ⌊(2⁶⁴ − 1) ÷ d⌋, except for powers of two, where d divides 2⁶⁴ itself.
        _ if difficulty.is_power_of_two() => 1 << (64 - difficulty.trailing_zeros()),
        _ => u64::MAX / difficulty,
    }
}

/// Checks one nonce per puzzle and stops at the first that is wrong, so that rubbish costs one hash.
///
/// # Errors
/// [`PowError`].
pub fn verify(salt: &[u8; SALT_BYTES], difficulty: u64, puzzles: u8, nonces: &[u64]) -> Result<(), PowError> {
    if puzzles == 0 || nonces.len() != usize::from(puzzles) {
        return Err(PowError::WrongCount);
    }
    let threshold = threshold(difficulty);
    let mut block = Block::new(salt);
    for (puzzle, nonce) in (0..puzzles).zip(nonces) {
        if block.hash(puzzle, *nonce) >= threshold {
            return Err(PowError::Unsolved { puzzle });
        }
    }
    Ok(())
}

/// Tries `tries` nonces from `start` and returns the first that solves `puzzle`.
#[must_use]
pub fn search(salt: &[u8; SALT_BYTES], puzzle: u8, threshold: u64, start: u64, tries: u32) -> Option<u64> {
    let end = start.saturating_add(u64::from(tries)).min(NONCE_LIMIT);
    let mut block = Block::new(salt);
    (start..end).find(|nonce| block.hash(puzzle, *nonce) < threshold)
}

/// Initial state of SHA-256 (FIPS 180-4 §5.3.3).
const INITIAL: [u32; 8] =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];

/// The one padded block of a try: 25 bytes of message, 0x80, zeros, and 200 as the length in bits.
struct Block([u8; 64]);

impl Block {
    fn new(salt: &[u8; SALT_BYTES]) -> Self {
        let mut block = [0; 64];
        block[..SALT_BYTES].copy_from_slice(salt);
        block[25] = 0x80;
        block[63] = 25 * 8;
        Self(block)
    }

    /// The first eight bytes of the hash.
    fn hash(&mut self, puzzle: u8, nonce: u64) -> u64 {
        self.0[16] = puzzle;
        self.0[17..25].copy_from_slice(&nonce.to_be_bytes());
        let mut state = INITIAL;
        compress256(&mut state, std::slice::from_ref(&self.0));
        u64::from(state[0]) << 32 | u64::from(state[1])
    }
}
