//! The proof-of-work search loop for browsers: plain wasm, no imports, no allocation, no JavaScript glue.
//!
//! A page's worker writes the 16 bytes of the challenge's salt to [`input_ptr`], then calls [`solve`] in slices
//! short enough to be stopped between them. What solves a puzzle is defined by [`shared_token::pow`]; the loop
//! here ([`search`]) gives the same answers from a compression function made for this one message shape.

mod compress;

pub use compress::search;
use shared_token::pow::SALT_BYTES;
use std::sync::atomic::{AtomicU8, Ordering};

/// What [`solve`] returns when no nonce was found.
const NOT_FOUND: i64 = -1;

/// The salt. Atomics let JavaScript write behind Rust's back without `static mut`; they cost nothing here.
static SALT: [AtomicU8; SALT_BYTES] = [const { AtomicU8::new(0) }; SALT_BYTES];

/// Address of the 16 bytes that take the salt.
// SAFETY: the name is exported once in this module, and nothing else of the binary calls it.
#[unsafe(no_mangle)]
pub extern "C" fn input_ptr() -> *mut u8 {
    SALT.as_ptr().cast_mut().cast()
}

/// Tries `tries` nonces from `start` for `puzzle`; the nonce, or -1 when none of them solves it.
// SAFETY: the name is exported once in this module, and nothing else of the binary calls it.
#[unsafe(no_mangle)]
pub extern "C" fn solve(puzzle: u32, threshold: u64, start: u64, tries: u32) -> i64 {
    let Ok(puzzle) = u8::try_from(puzzle) else { return NOT_FOUND };
    let salt = std::array::from_fn(|index| SALT[index].load(Ordering::Relaxed));
    // A nonce is below 2⁵³, so the conversion never fails.
    search(&salt, puzzle, threshold, start, tries)
        .map_or(NOT_FOUND, |nonce| i64::try_from(nonce).unwrap_or(NOT_FOUND))
}
