//! Sealing the draw: the lane's share, fixed for ever.

use crate::draw::{Bitmap, merkle};
use crate::wire::LaneSeal;

/// One place of the draw, in slot order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealRow {
    /// Id of the place.
    pub jti: String,
    /// Its class now: from here on it is fixed.
    pub demoted: bool,
}

/// Seals the places of the draw's numbering, given in slot order from 0 without gaps.
pub fn seal_of(rows: impl IntoIterator<Item = SealRow>) -> LaneSeal {
    let mut tree = merkle::TreeHasher::default();
    let mut classes = Vec::new();
    for (slot, row) in (0_u64..).zip(rows) {
        tree.push(merkle::slot_leaf(slot, &row.jti, row.demoted));
        classes.push(row.demoted);
    }
    LaneSeal {
        count: classes.len() as u64,
        class1: Bitmap::of(classes).encode(),
        root: hex::encode(tree.root()),
    }
}
