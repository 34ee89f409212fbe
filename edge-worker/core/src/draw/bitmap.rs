//! Class bitmaps: bit i is slot i, least significant bit first; the empty text stands for "none set".

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// One bit a slot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bitmap {
    bytes: Vec<u8>,
}

impl Bitmap {
    /// The bitmap of the slots for which `set` is true, in order.
    pub fn of(bits: impl IntoIterator<Item = bool>) -> Self {
        let mut bytes = Vec::new();
        for (index, bit) in bits.into_iter().enumerate() {
            if index % 8 == 0 {
                bytes.push(0);
            }
            if let (true, Some(last)) = (bit, bytes.last_mut()) {
                *last |= 1 << (index % 8);
            }
        }
        Self { bytes }
    }

    /// Reads the published text for `count` slots; `None` if it is not such a bitmap.
    pub fn decode(text: &str, count: u64) -> Option<Self> {
        if text.is_empty() {
            return Some(Self::default());
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let sized = u64::try_from(bytes.len()).ok()? == count.div_ceil(8);
        let spare = (bytes.len() as u64 * 8).checked_sub(count)?;
        let clean = spare == 0 || bytes.last().is_some_and(|last| u64::from(last.leading_zeros()) >= spare);
        (sized && clean).then_some(Self { bytes })
    }

    /// The published text.
    pub fn encode(&self) -> String {
        if self.bytes.iter().all(|byte| *byte == 0) {
            String::new()
        } else {
            URL_SAFE_NO_PAD.encode(&self.bytes)
        }
    }

    /// Whether slot `index` is set.
    pub fn get(&self, index: u64) -> bool {
        let byte = usize::try_from(index / 8).ok().and_then(|at| self.bytes.get(at));
        byte.is_some_and(|byte| (byte >> (index % 8)) & 1 == 1)
    }

    /// How many slots below `index` are set.
    pub fn rank(&self, index: u64) -> u64 {
        let whole = usize::try_from(index / 8).unwrap_or(usize::MAX).min(self.bytes.len());
        let full: u64 = self.bytes[..whole].iter().map(|byte| u64::from(byte.count_ones())).sum();
        let rest = self.bytes.get(whole).map_or(0, |byte| byte & !(0xff << (index % 8)));
        full + u64::from(rest.count_ones())
    }

    /// How many slots are set.
    pub fn ones(&self) -> u64 {
        self.bytes.iter().map(|byte| u64::from(byte.count_ones())).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_pinned_to_its_bytes() {
        let bits = [true, false, true, false, false, false, false, false, false, true];
        let bitmap = Bitmap::of(bits);
        assert_eq!(bitmap.encode(), "BQI");
        assert_eq!(Bitmap::decode("BQI", 10), Some(bitmap));
        assert_eq!(Bitmap::of([false; 9]).encode(), "");
    }

    #[test]
    fn refuses_a_bitmap_of_another_size_or_with_stray_bits() {
        assert_eq!(Bitmap::decode("BQI", 17), None);
        assert_eq!(Bitmap::decode("BQI", 8), None);
        assert_eq!(Bitmap::decode("BQI", 9), None, "bit 9 is set but does not exist");
        assert_eq!(Bitmap::decode("!", 8), None);
    }

    proptest::proptest! {
        #[test]
        fn ranks_count(bits: Vec<bool>) {
            let bitmap = Bitmap::of(bits.iter().copied());
            let mut rank = 0;
            for (index, bit) in bits.iter().enumerate() {
                proptest::prop_assert_eq!(bitmap.rank(index as u64), rank);
                proptest::prop_assert_eq!(bitmap.get(index as u64), *bit);
                rank += u64::from(*bit);
            }
            proptest::prop_assert_eq!(bitmap.ones(), rank);
            let back = Bitmap::decode(&bitmap.encode(), bits.len() as u64).unwrap();
            proptest::prop_assert_eq!(back.ones(), rank);
        }
    }
}
