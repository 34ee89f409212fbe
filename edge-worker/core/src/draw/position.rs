//! From a ticket's place and the published records to a position in line.

use super::transcript::{RecordError, parse_hash};
use super::{Bitmap, Hash, compute_shuffled_index, sha256};
use crate::wire::{BatchRecord, Place, Transcript};

/// One record prepared for lookups: the draw, or one batch. Parse once, ask for many places.
#[derive(Clone, Debug)]
pub struct Order {
    base: u64,
    /// Per lane: first slot, one past the last, demoted slots.
    lanes: Vec<(u32, u32, Bitmap)>,
    count: [u64; 2],
    seed: [Hash; 2],
}

impl Order {
    /// Prepares the draw.
    pub fn of_draw(transcript: &Transcript) -> Result<Self, RecordError> {
        let lanes = transcript.lanes.iter().map(|lane| {
            let to = u32::try_from(lane.count).map_err(|_| RecordError::Interval)?;
            Ok((0, to, lane.class1.as_str()))
        });
        Self::new(0, &transcript.seed, lanes)
    }

    /// Prepares a batch.
    pub fn of_batch(batch: &BatchRecord) -> Result<Self, RecordError> {
        let lanes = batch.lanes.iter().map(|lane| Ok((lane.from, lane.to, lane.class1.as_str())));
        Self::new(batch.base, &batch.seed, lanes)
    }

    fn new<'a>(
        base: u64,
        seed: &str,
        intervals: impl Iterator<Item = Result<(u32, u32, &'a str), RecordError>>,
    ) -> Result<Self, RecordError> {
        let mut lanes = Vec::new();
        let mut count = [0_u64; 2];
        for interval in intervals {
            let (from, to, class1) = interval?;
            let slots = u64::from(to.checked_sub(from).ok_or(RecordError::Interval)?);
            let demoted = Bitmap::decode(class1, slots).ok_or(RecordError::Bitmap)?;
            count[1] += demoted.ones();
            count[0] += slots - demoted.ones();
            lanes.push((from, to, demoted));
        }
        let seed = parse_hash(seed)?;
        Ok(Self { base, lanes, count, seed: [seed, sha256(&[&seed, &[0x01]])] })
    }

    /// How many places stand here.
    pub fn count(&self) -> u64 {
        self.count[0] + self.count[1]
    }

    /// The position of a lane's slot; `None` if it does not stand here.
    pub fn position(&self, lane: u16, slot: u32) -> Option<u64> {
        let lane = usize::from(lane);
        let (from, to, demoted) = self.lanes.get(lane)?;
        if !(*from..*to).contains(&slot) {
            return None;
        }
        let within = u64::from(slot - from);
        let class = usize::from(demoted.get(within));
        let of_class = |bitmap: &Bitmap, slots: u64| match class {
            0 => slots - bitmap.rank(slots),
            _ => bitmap.rank(slots),
        };
        let earlier: u64 =
            self.lanes[..lane].iter().map(|(from, to, bitmap)| of_class(bitmap, u64::from(to - from))).sum();
        let index = earlier + of_class(demoted, within);
        let shuffled = compute_shuffled_index(index, self.count[class], &self.seed[class])?;
        Some(self.base + shuffled + if class == 1 { self.count[0] } else { 0 })
    }
}

/// The position of a ticket's place in the draw or in the first of `batches` that has it; `None` while no record does.
/// `batches` are in order and need not begin before the ticket's own.
pub fn position_of(
    place: Place,
    transcript: &Transcript,
    batches: &[BatchRecord],
) -> Result<Option<u64>, RecordError> {
    if place.batch == 0 {
        return Ok(Order::of_draw(transcript)?.position(place.lane, place.slot));
    }
    for batch in batches {
        if let Some(position) = position_in_batch(place, batch)? {
            return Ok(Some(position));
        }
    }
    Ok(None)
}

/// The position of a late place if it stands in `batch`.
pub fn position_in_batch(place: Place, batch: &BatchRecord) -> Result<Option<u64>, RecordError> {
    if place.batch == 0 || batch.n < place.batch {
        return Ok(None);
    }
    Ok(Order::of_batch(batch)?.position(place.lane, place.slot))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::{close_batch, draw, merkle};
    use crate::wire::{BatchLane, LaneSeal};

    fn seal(demoted: &[bool]) -> LaneSeal {
        let leaves = demoted.iter().enumerate().map(|(n, class)| merkle::slot_leaf(n as u64, "x", *class));
        LaneSeal {
            count: demoted.len() as u64,
            class1: Bitmap::of(demoted.iter().copied()).encode(),
            root: hex::encode(merkle::root(leaves)),
        }
    }

    #[test]
    fn every_place_has_its_own_position_and_the_demoted_stand_behind() {
        let lanes = [vec![false, true, false], vec![], vec![true, true, false, false, false]];
        let transcript = draw("e", "i", &[7; 32], lanes.iter().map(|l| seal(l)).collect()).unwrap();
        let mut seen = [None; 8];
        for (lane, classes) in lanes.iter().enumerate() {
            for (slot, demoted) in classes.iter().enumerate() {
                let place = Place { lane: lane as u16, batch: 0, slot: slot as u32 };
                let position = position_of(place, &transcript, &[]).unwrap().unwrap();
                assert_eq!(seen[position as usize].replace(*demoted), None, "taken twice");
            }
        }
        assert_eq!(
            seen.iter().map(|c| c.unwrap()).collect::<Vec<_>>(),
            [[false; 5].as_slice(), &[true; 3]].concat()
        );
        let outside = Place { lane: 1, batch: 0, slot: 0 };
        assert_eq!(position_of(outside, &transcript, &[]), Ok(None));
    }

    #[test]
    fn a_late_place_belongs_to_the_first_batch_that_has_it() {
        let transcript = draw("e", "i", &[7; 32], vec![seal(&[false; 4])]).unwrap();
        let seed = parse_hash(&transcript.seed).unwrap();
        let lane = |from, to| vec![BatchLane { from, to, class1: String::new() }];
        let batches = [
            close_batch(1, 4, lane(0, 2), &seed).unwrap().unwrap(),
            close_batch(2, 6, lane(2, 5), &seed).unwrap().unwrap(),
        ];
        let at = |batch, slot| position_of(Place { lane: 0, batch, slot }, &transcript, &batches).unwrap();
        assert!((4..6).contains(&at(1, 0).unwrap()));
        // Joined while batch 1 was open, but after its interval was closed.
        assert!((6..9).contains(&at(1, 3).unwrap()));
        assert!((6..9).contains(&at(2, 4).unwrap()));
        assert_eq!(at(2, 5), None);
    }
}
