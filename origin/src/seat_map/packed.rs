//! The packed map on the wire: `FGM1`, version, number of seats, then one bit a seat per plane.

/// First bytes of every packed map.
pub(super) const MAGIC: &[u8; 4] = b"FGM1";
/// Magic, u64 version, u32 seats.
pub(super) const HEADER_LEN: usize = 16;

/// How many planes a reader wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planes {
    /// Available or not.
    One,
    /// And a second plane: sold or blocked.
    Two,
}

impl Planes {
    /// The number in query and ETag.
    pub const fn count(self) -> u8 {
        match self {
            Self::One => 1,
            Self::Two => 2,
        }
    }
}

/// Encodes a map. `available` and `taken` hold one bit a seat, least significant first; bits behind the last seat
/// are cleared.
pub fn encode(version: u64, seats: u32, available: &[u8], taken: Option<&[u8]>) -> Vec<u8> {
    let plane_len = (seats as usize).div_ceil(8);
    let mut bytes = Vec::with_capacity(HEADER_LEN + 2 * plane_len);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&version.to_be_bytes());
    bytes.extend_from_slice(&seats.to_be_bytes());
    push_plane(&mut bytes, seats, available);
    if let Some(taken) = taken {
        push_plane(&mut bytes, seats, taken);
    }
    bytes
}

fn push_plane(bytes: &mut Vec<u8>, seats: u32, plane: &[u8]) {
    let len = (seats as usize).div_ceil(8);
    for at in 0..len {
        let byte = plane.get(at).copied().unwrap_or(0);
        let last_bits = seats % 8;
        let mask = if at + 1 == len && last_bits != 0 { (1u8 << last_bits) - 1 } else { 0xff };
        bytes.push(byte & mask);
    }
}

/// The bit of a seat in a plane.
pub(super) fn bit(plane: &[u8], index: u32) -> bool {
    plane.get(index as usize / 8).is_some_and(|byte| byte & (1 << (index % 8)) != 0)
}

/// Set bits among the first `seats`.
pub(super) fn count(plane: &[u8], seats: u32) -> u32 {
    let mut clean = Vec::with_capacity(plane.len());
    push_plane(&mut clean, seats, plane);
    clean.iter().map(|byte| byte.count_ones()).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_bytes_are_pinned() {
        let bytes = encode((3 << 32) | 5, 10, &[0b0000_0101, 0xff], Some(&[0b1000_0000, 0b10]));
        assert_eq!(hex::encode(bytes), "46474d310000000300000005".to_owned() + "0000000a" + "0503" + "8002");
    }

    proptest! {
        #[test]
        fn every_seat_is_found_again(seats in 0u32..300, version in 0u64..1 << 53, bits in proptest::collection::vec(any::<u8>(), 40)) {
            let bytes = encode(version, seats, &bits, Some(&bits));
            let plane_len = (seats as usize).div_ceil(8);
            prop_assert_eq!(bytes.len(), HEADER_LEN + 2 * plane_len);
            prop_assert_eq!(&bytes[4..12], &version.to_be_bytes()[..]);
            for index in 0..seats {
                prop_assert_eq!(bit(&bytes[HEADER_LEN..HEADER_LEN + plane_len], index), bit(&bits, index));
            }
            let plain: u32 = (0..seats).map(|i| u32::from(bit(&bits, i))).sum();
            prop_assert_eq!(count(&bits, seats), plain);
            prop_assert_eq!(count(&bytes[HEADER_LEN..HEADER_LEN + plane_len], seats), plain);
        }
    }
}
