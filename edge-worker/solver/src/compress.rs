//! SHA-256 (FIPS 180-4) for the one message a try hashes: salt, puzzle and nonce in a single padded block.
//!
//! Of the sixteen words of that block only word 6 changes between 256 neighbouring nonces (it holds the nonce's
//! last byte), so the first six rounds and the schedule up to word 20 are done once per such [`Run`]. Words 7 to
//! 14 are zero. Only the first eight bytes of the hash are made.

use shared_token::pow::{NONCE_LIMIT, SALT_BYTES};

/// Rounds that do not depend on the last byte of the nonce.
const SHARED_ROUNDS: usize = 6;
/// Schedule words that do not depend on it either; word 6 does, and is filled in per nonce.
const SHARED_WORDS: usize = 21;
/// Word 15: the message is 25 bytes, in bits.
const LENGTH: u32 = 25 * 8;

/// Tries `tries` nonces from `start` and returns the first that solves `puzzle`, exactly as
/// [`shared_token::pow::search`] does.
#[must_use]
pub fn search(salt: &[u8; SALT_BYTES], puzzle: u8, threshold: u64, start: u64, tries: u32) -> Option<u64> {
    let end = start.saturating_add(u64::from(tries)).min(NONCE_LIMIT);
    let mut from = start;
    while from < end {
        let run = Run::new(salt, puzzle, from);
        let next = ((from | 0xff) + 1).min(end);
        if let Some(nonce) = (from..next).find(|nonce| run.hash(*nonce as u8) < threshold) {
            return Some(nonce);
        }
        from = next;
    }
    None
}

/// What 256 nonces that differ in their last byte have in common.
struct Run {
    state: [u32; 8],
    words: [u32; SHARED_WORDS],
}

impl Run {
    fn new(salt: &[u8; SALT_BYTES], puzzle: u8, nonce: u64) -> Self {
        let mut words = [0; SHARED_WORDS];
        for (word, bytes) in words.iter_mut().zip(salt.as_chunks().0) {
            *word = u32::from_be_bytes(*bytes);
        }
        words[4] = u32::from(puzzle) << 24 | (nonce >> 40) as u32;
        words[5] = (nonce >> 8) as u32;
        words[6] = 0x0080_0000;
        words[15] = LENGTH;
        for t in 16..SHARED_WORDS {
            words[t] = schedule(words[t - 2], words[t - 7], words[t - 15], words[t - 16]);
        }
        let mut state = INITIAL;
        for t in 0..SHARED_ROUNDS {
            state = round(state, K[t].wrapping_add(words[t]));
        }
        Self { state, words }
    }

    /// The first eight bytes of the hash for the nonce of this run that ends in `last`.
    ///
    /// The schedule lives in a ring of sixteen words. The rounds are unrolled by hand, so that every index is a
    /// constant and ring and state stay in registers: a quarter more tries a second than the same as a loop.
    #[inline]
    fn hash(&self, last: u8) -> u64 {
        let [_, _, _, _, _, w5, w6, .., w16, w17, w18, w19, w20] = self.words;
        // The nonce's last byte takes its place beside the 0x80 that ends the message.
        let w6 = w6 | u32::from(last) << 24;
        let mut state = self.state;
        state = round(state, K[6].wrapping_add(w6));
        for k in &K[7..15] {
            state = round(state, *k);
        }
        state = round(state, K[15].wrapping_add(LENGTH));
        // Words 16 to 20 are shared; the rest of the ring is words 5 to 15, still to be replaced.
        let mut ring = [w16, w17, w18, w19, w20, w5, w6, 0, 0, 0, 0, 0, 0, 0, 0, LENGTH];
        for t in 16..SHARED_WORDS {
            state = round(state, K[t].wrapping_add(ring[t & 15]));
        }
        macro_rules! rounds {
            ($($t:literal)*) => {$(
                ring[$t & 15] = schedule(ring[($t - 2) & 15], ring[($t - 7) & 15], ring[($t - 15) & 15], ring[$t & 15]);
                state = round(state, K[$t].wrapping_add(ring[$t & 15]));
            )*};
        }
        rounds!(21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42);
        rounds!(43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63);
        let [a, b, ..] = state;
        u64::from(a.wrapping_add(INITIAL[0])) << 32 | u64::from(b.wrapping_add(INITIAL[1]))
    }
}

/// Word t of the schedule from words t−2, t−7, t−15 and t−16.
#[inline(always)]
const fn schedule(w2: u32, w7: u32, w15: u32, w16: u32) -> u32 {
    let s0 = w15.rotate_right(7) ^ w15.rotate_right(18) ^ (w15 >> 3);
    let s1 = w2.rotate_right(17) ^ w2.rotate_right(19) ^ (w2 >> 10);
    s1.wrapping_add(w7).wrapping_add(s0).wrapping_add(w16)
}

/// One round; `kw` is the round's constant plus its schedule word.
#[inline(always)]
const fn round([a, b, c, d, e, f, g, h]: [u32; 8], kw: u32) -> [u32; 8] {
    let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
    let choice = g ^ (e & (f ^ g));
    let t1 = h.wrapping_add(s1).wrapping_add(choice).wrapping_add(kw);
    let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
    let majority = (a & b) | (c & (a | b));
    let t2 = s0.wrapping_add(majority);
    [t1.wrapping_add(t2), a, b, c, d.wrapping_add(t1), e, f, g]
}

/// Initial state (FIPS 180-4 §5.3.3).
const INITIAL: [u32; 8] =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];

/// Round constants (FIPS 180-4 §4.2.2).
#[rustfmt::skip]
const K: [u32; 64] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
];

#[cfg(test)]
mod tests {
    use super::*;
    use shared_token::pow;

    /// Stretches that cross a run's edge, the largest puzzle, the highest word and the upper limit.
    #[test]
    fn finds_the_same_nonces_as_the_definition() {
        let salt = std::array::from_fn(|index| (index * 37) as u8);
        let threshold = pow::threshold(64);
        for (puzzle, start) in [(0, 0), (31, 250), (255, (1 << 40) - 300), (7, NONCE_LIMIT - 600)] {
            let (mut from, mut found) = (start, 0);
            loop {
                let nonce = search(&salt, puzzle, threshold, from, 600);
                assert_eq!(nonce, pow::search(&salt, puzzle, threshold, from, 600));
                match nonce {
                    Some(nonce) if nonce < start + 600 => (from, found) = (nonce + 1, found + 1),
                    _ => break,
                }
            }
            assert!(found > 0, "no nonce in 600 tries at an expected 64 hashes");
        }
    }

    #[test]
    fn solves_what_the_edge_accepts() {
        let salt = [9; SALT_BYTES];
        let nonces: Vec<u64> = (0..32)
            .map(|puzzle| search(&salt, puzzle, pow::threshold(512), 0, u32::MAX).expect("a nonce"))
            .collect();
        assert_eq!(pow::verify(&salt, 512, 32, &nonces), Ok(()));
    }

    #[test]
    fn gives_up_after_the_tries_and_at_the_limit() {
        assert_eq!(search(&[0; SALT_BYTES], 0, 0, 0, 1000), None);
        assert_eq!(search(&[0; SALT_BYTES], 0, u64::MAX, NONCE_LIMIT, 1000), None);
        assert_eq!(search(&[0; SALT_BYTES], 0, u64::MAX, u64::MAX, 1000), None);
        assert_eq!(search(&[0; SALT_BYTES], 0, u64::MAX, 5, 0), None);
    }
}
