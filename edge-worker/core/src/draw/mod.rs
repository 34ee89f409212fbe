//! The verifiable order: who stands where is a function of published records and nothing else.
//!
//! A lane seals its slots into a Merkle root and a bitmap of demoted places ([`merkle`], [`bitmap`]); the Room turns
//! the seals of all lanes and a secret it committed to beforehand into a seed ([`transcript`]); a place's position is
//! the swap-or-not shuffle of its index ([`shuffle`], [`position`]). Anybody holding a ticket, the transcript and the
//! batch records computes the same position.

pub mod bitmap;
pub mod merkle;
pub mod position;
pub mod shuffle;
pub mod transcript;

pub use bitmap::Bitmap;
pub use position::{Order, position_in_batch, position_of};
pub use shuffle::compute_shuffled_index;
pub use transcript::{ALGORITHM, close_batch, commitment, draw};

use sha2::{Digest, Sha256};

/// A SHA-256 digest.
pub type Hash = [u8; 32];

/// SHA-256 over the concatenation of `parts`.
pub(crate) fn sha256(parts: &[&[u8]]) -> Hash {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().into()
}
