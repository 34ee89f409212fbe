//! RFC 6962 Merkle tree hashes over a lane's slots and over the lanes.

use super::{Hash, sha256};

/// Leaf prefix of RFC 6962.
const LEAF: u8 = 0x00;
/// Node prefix of RFC 6962.
const NODE: u8 = 0x01;

/// The leaf of one slot: `SHA-256(0x00 ‖ u64_be slot ‖ SHA-256(jti) ‖ class)`. The id is hashed so that the leaf can be
/// shown without showing the id.
pub fn slot_leaf(slot: u64, jti: &str, demoted: bool) -> Hash {
    sha256(&[&[LEAF], &slot.to_be_bytes(), &sha256(&[jti.as_bytes()]), &[u8::from(demoted)]])
}

/// The entry of a lane in the tree over lanes: `SHA-256(0x00 ‖ lane root)`.
pub fn lane_leaf(root: &Hash) -> Hash {
    sha256(&[&[LEAF], root])
}

/// Builds a tree hash leaf by leaf with one hash a level, so that a lane of any size is sealed while its rows stream
/// by.
#[derive(Clone, Debug, Default)]
pub struct TreeHasher {
    /// Roots of the complete subtrees to the left, largest first, each with its height.
    subtrees: Vec<(u32, Hash)>,
}

impl TreeHasher {
    /// Appends a leaf hash.
    pub fn push(&mut self, leaf: Hash) {
        let (mut height, mut root) = (0, leaf);
        while let Some((_, left)) = self.subtrees.pop_if(|(left, _)| *left == height) {
            root = sha256(&[&[NODE], &left, &root]);
            height += 1;
        }
        self.subtrees.push((height, root));
    }

    /// The tree hash of the leaves so far; of none: `SHA-256("")`.
    pub fn root(&self) -> Hash {
        let mut subtrees = self.subtrees.iter().rev().map(|(_, root)| *root);
        let Some(last) = subtrees.next() else { return sha256(&[]) };
        subtrees.fold(last, |right, left| sha256(&[&[NODE], &left, &right]))
    }
}

/// The tree hash of `leaves`.
pub fn root(leaves: impl IntoIterator<Item = Hash>) -> Hash {
    let mut hasher = TreeHasher::default();
    for leaf in leaves {
        hasher.push(leaf);
    }
    hasher.root()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The recursive definition of RFC 6962, section 2.1.
    fn by_definition(leaves: &[Hash]) -> Hash {
        match leaves {
            [] => sha256(&[]),
            [leaf] => *leaf,
            _ => {
                let half = leaves.len().next_power_of_two() / 2;
                let (left, right) = leaves.split_at(half);
                sha256(&[&[NODE], &by_definition(left), &by_definition(right)])
            }
        }
    }

    #[test]
    fn streams_to_the_same_root_as_the_definition() {
        for count in 0..70_u64 {
            let leaves: Vec<Hash> = (0..count).map(|n| slot_leaf(n, "jti", n % 3 == 0)).collect();
            assert_eq!(root(leaves.iter().copied()), by_definition(&leaves), "{count} leaves");
        }
    }

    #[test]
    fn an_empty_lane_is_the_hash_of_nothing() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(hex::encode(root([])), empty);
    }

    /// RFC 6962's own test tree (Certificate Transparency's seven standard leaves).
    #[test]
    fn agrees_with_the_certificate_transparency_vectors() {
        let inputs = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657"];
        let leaves = inputs.map(|input| sha256(&[&[LEAF], &hex::decode(input).unwrap()]));
        assert_eq!(
            hex::encode(root(leaves)),
            "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c"
        );
    }

    #[test]
    fn a_leaf_is_pinned_to_its_bytes() {
        let inner = sha256(&[b"abc"]);
        let mut message = vec![0_u8];
        message.extend([0, 0, 0, 0, 0, 0, 0, 5]);
        message.extend(inner);
        message.push(1);
        assert_eq!(slot_leaf(5, "abc", true), sha256(&[&message]));
        assert_ne!(slot_leaf(5, "abc", true), slot_leaf(5, "abc", false));
    }
}
