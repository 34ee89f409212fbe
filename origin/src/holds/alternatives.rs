//! Seats to offer instead of taken ones: blocks of the same size, free, side by side, nearby.

use crate::{
    seat_map::{SeatState, Snapshot},
    seating::Plan,
};

/// Blocks offered at most.
const OFFERED: usize = 3;
/// Blocks whose distances differ by less than this share are near-equal: a crowd refused at the same moment must not
/// be sent to the same block.
const NEAR_EQUAL: f64 = 0.5;
/// Another category is as far away as this many times the distance.
const OTHER_CATEGORY: f64 = 4.0;

/// Up to three blocks of as many seats as `wanted`, nearest first among randomised near-equals. Accessible places are
/// offered only to those who wanted one.
pub(crate) fn alternatives(plan: &Plan, map: &Snapshot, wanted: &[u32], mut random: u64) -> Vec<Vec<u32>> {
    let seats: Vec<_> = wanted.iter().filter_map(|index| plan.seat(*index)).collect();
    let Some(first) = seats.first() else { return Vec::new() };
    let count = seats.len() as f64;
    let (x, y) =
        (seats.iter().map(|s| s.x).sum::<f64>() / count, seats.iter().map(|s| s.y).sum::<f64>() / count);
    let accessible = seats.iter().any(|seat| seat.accessible);
    let mut blocks: Vec<(f64, u32)> = Vec::new();
    for start in 0..plan.len() {
        let Some(seat) = plan.seat(start) else { continue };
        if !block(plan, start, wanted.len()).all(|index| is_free(plan, map, index, accessible)) {
            continue;
        }
        if block(plan, start, wanted.len()).count() < wanted.len() {
            continue;
        }
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let jitter = 1.0 + NEAR_EQUAL * ((random >> 33) as f64 / (1u64 << 31) as f64);
        let penalty = if seat.category == first.category { 1.0 } else { OTHER_CATEGORY };
        let distance = ((seat.x - x).powi(2) + (seat.y - y).powi(2)).sqrt() + 1.0;
        blocks.push((distance * penalty * jitter, start));
    }
    blocks.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut offered: Vec<Vec<u32>> = Vec::new();
    for (_, start) in blocks {
        let candidate: Vec<u32> = block(plan, start, wanted.len()).collect();
        if !offered.iter().flatten().any(|index| candidate.contains(index)) {
            offered.push(candidate);
        }
        if offered.len() == OFFERED {
            break;
        }
    }
    offered
}

/// `len` seats from `start` to the right; fewer if the row ends.
fn block(plan: &Plan, start: u32, len: usize) -> impl Iterator<Item = u32> + '_ {
    std::iter::successors(Some(start), |index| plan.right_of(*index)).take(len)
}

fn is_free(plan: &Plan, map: &Snapshot, index: u32, accessible: bool) -> bool {
    map.state(index) == SeatState::Available
        && plan.seat(index).is_some_and(|seat| seat.accessible <= accessible)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::{clock::Clock, holds::engine::MapRead, seating::Seat};

    /// Two rows of six; the last seat of the second row is a wheelchair place.
    fn plan() -> Plan {
        let seat = |index: u32| Seat {
            seat_id: index.to_string(),
            section: String::new(),
            row: (index / 6).to_string(),
            number: (index % 6 * 2).to_string(),
            x: f64::from(index % 6),
            y: f64::from(index / 6),
            category: "c".into(),
            accessible: index == 11,
            companion: false,
            restricted_view: false,
            right: (index % 6 != 5).then_some(index + 1),
        };
        Plan::new((0..12).map(seat).collect(), Vec::new(), &HashMap::from([("c".to_owned(), 1)])).unwrap()
    }

    fn map(free: &[u32]) -> Snapshot {
        let mut available = vec![0u8; 2];
        for index in free {
            available[*index as usize / 8] |= 1 << (index % 8);
        }
        let read = MapRead {
            generation: 1,
            sequence: 1,
            available,
            sold: vec![0; 2],
            blocked: vec![0; 2],
            changes: Vec::new(),
        };
        Snapshot::new(&read, 12, Clock.instant())
    }

    #[test]
    fn blocks_are_whole_adjacent_free_and_disjoint() {
        for random in 0..50 {
            let offered = alternatives(&plan(), &map(&[1, 2, 4, 5, 6, 7, 8, 9, 10]), &[0, 1], random);
            assert_eq!(offered.len(), 3);
            let mut all: Vec<u32> = offered.iter().flatten().copied().collect();
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), 6, "{offered:?}");
            for pair in &offered {
                assert_eq!(pair[1], pair[0] + 1);
                assert_ne!(pair[0], 5, "5 and 6 are in different rows");
            }
        }
    }

    #[test]
    fn wheelchair_places_go_only_to_those_who_wanted_one() {
        assert_eq!(alternatives(&plan(), &map(&[11]), &[0], 1), Vec::<Vec<u32>>::new());
        assert_eq!(alternatives(&plan(), &map(&[10, 11]), &[11], 1).len(), 2);
        assert_eq!(alternatives(&plan(), &map(&[]), &[0], 1), Vec::<Vec<u32>>::new());
    }

    #[test]
    fn a_crowd_is_not_sent_to_one_block() {
        let free: Vec<u32> = (0..12).filter(|index| *index != 0).collect();
        let firsts: std::collections::HashSet<_> = (0..64)
            .map(|random| alternatives(&plan(), &map(&free), &[0], random * 7919)[0].clone())
            .collect();
        assert!(firsts.len() > 1);
    }
}
