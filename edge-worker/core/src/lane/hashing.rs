//! Which lane an identity belongs to.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The lane of an identity among `lanes`: a keyed hash, so that one identity always meets the same lane and nobody
/// outside can choose it. `identity` is the display form of the subject; `lanes` of zero count as one.
pub fn lane_of(identity: &str, lanes: u16, key: &[u8; 32]) -> u16 {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return 0 };
    mac.update(identity.as_bytes());
    let tag = mac.finalize().into_bytes();
    let mut head = [0; 8];
    head.copy_from_slice(&tag[..8]);
    // 64 bits reduced to at most 16: the bias is below 2^-48.
    let lane = u64::from_be_bytes(head) % u64::from(lanes.max(1));
    u16::try_from(lane).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads_evenly_and_depends_on_the_key() {
        let mut hits = [0_u32; 16];
        for n in 0..16_000 {
            hits[usize::from(lane_of(&format!("key:{n}"), 16, &[1; 32]))] += 1;
        }
        assert!(hits.iter().all(|hit| (850..1150).contains(hit)), "{hits:?}");
        let moved = (0..100).filter(|n| {
            let identity = format!("key:{n}");
            lane_of(&identity, 16, &[1; 32]) != lane_of(&identity, 16, &[2; 32])
        });
        assert!(moved.count() > 80);
        assert_eq!(lane_of("key:a", 1, &[0; 32]), 0);
    }
}
