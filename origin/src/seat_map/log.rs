//! The recent part of the change log, and what changed since a version.

use std::collections::{BTreeMap, VecDeque};

use serde::Serialize;

use super::version;
use crate::holds::engine::Change;

/// Changes a process keeps: at 100 a second, more than three minutes; about 3 MB an event.
const KEEP: usize = 20_000;

/// What changed between two versions: every seat once, at its last state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Delta {
    /// The version these changes lead to.
    pub version: u64,
    /// Seat indices now available.
    pub available: Vec<u32>,
    /// Seat indices now held.
    pub held: Vec<u32>,
    /// Seat indices now sold or blocked.
    pub sold: Vec<u32>,
    /// Area changes; none in this release.
    pub areas: Vec<String>,
}

/// The version lies outside what is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SinceError {
    /// An earlier generation, or changes that are no longer kept: read the map.
    TooOld,
    /// A generation this process has not seen yet.
    Ahead,
}

#[derive(Clone, Copy)]
enum State {
    Available,
    Held,
    Sold,
}

/// Changes after `start`, without a gap, up to `end`.
#[derive(Debug, Default)]
pub struct Log {
    generation: u64,
    start: u64,
    end: u64,
    changes: VecDeque<Change>,
}

impl Log {
    /// The sequence to ask changes after, for a read of `generation`.
    pub fn wanted(&self) -> u64 {
        self.end
    }

    /// The version the log leads to.
    pub fn version(&self) -> u64 {
        version::join(self.generation, self.end)
    }

    /// Takes in a read of changes after [`Log::wanted`] that leads to `sequence`. With a gap, or in another generation,
    /// the log begins anew.
    pub fn advance(&mut self, generation: u64, sequence: u64, changes: Vec<Change>) {
        if generation != self.generation {
            *self = Self { generation, start: 0, end: 0, changes: VecDeque::new() };
        }
        // The fields are the ledger's; kept here they would be most of the log's memory.
        let fresh: Vec<Change> = changes
            .into_iter()
            .filter(|change| change.sequence > self.end)
            .map(|change| Change { fields: Vec::new(), ..change })
            .collect();
        let gapless = (self.end + 1..=sequence).eq(fresh.iter().map(|c| c.sequence));
        if gapless {
            self.changes.extend(fresh);
        } else {
            self.changes.clear();
            self.start = sequence;
        }
        self.end = sequence.max(self.end);
        while self.changes.len() > KEEP {
            if let Some(oldest) = self.changes.pop_front() {
                self.start = oldest.sequence;
            }
        }
    }

    /// What changed after `since`. A reader that saw a fresher process is answered with its own version and nothing.
    pub fn since(&self, since: u64) -> Result<Delta, SinceError> {
        let (generation, sequence) = version::split(since);
        if generation > self.generation {
            return Err(SinceError::Ahead);
        }
        if generation < self.generation || sequence < self.start {
            return Err(SinceError::TooOld);
        }
        let mut last = BTreeMap::new();
        for change in self.changes.iter().filter(|change| change.sequence > sequence) {
            for (seats, state) in [
                (&change.available, State::Available),
                (&change.held, State::Held),
                (&change.sold, State::Sold),
            ] {
                last.extend(seats.iter().map(|index| (*index, state)));
            }
        }
        let mut delta = Delta { version: self.version().max(since), ..Delta::default() };
        for (index, state) in last {
            match state {
                State::Available => delta.available.push(index),
                State::Held => delta.held.push(index),
                State::Sold => delta.sold.push(index),
            }
        }
        Ok(delta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(sequence: u64, available: &[u32], held: &[u32], sold: &[u32]) -> Change {
        Change {
            sequence,
            available: available.into(),
            held: held.into(),
            sold: sold.into(),
            fields: Vec::new(),
        }
    }

    fn log() -> Log {
        let mut log = Log::default();
        log.advance(
            2,
            3,
            vec![change(1, &[], &[], &[]), change(2, &[], &[4, 5], &[]), change(3, &[4], &[], &[5])],
        );
        log
    }

    #[test]
    fn the_last_state_of_a_seat_wins() {
        let delta = log().since(version::join(2, 1)).unwrap();
        assert_eq!((delta.available, delta.held, delta.sold), (vec![4], vec![], vec![5]));
        assert_eq!(delta.version, version::join(2, 3));
        assert_eq!(log().since(version::join(2, 3)).unwrap().available, Vec::<u32>::new());
    }

    #[test]
    fn older_generations_are_too_old_and_fresher_readers_keep_their_version() {
        assert_eq!(log().since(version::join(1, 900)), Err(SinceError::TooOld));
        assert_eq!(log().since(version::join(3, 1)), Err(SinceError::Ahead));
        assert_eq!(log().since(version::join(2, 9)).unwrap().version, version::join(2, 9));
    }

    #[test]
    fn the_fields_of_changes_are_not_kept() {
        let mut log = Log::default();
        let fields = vec![("by".to_owned(), "key:a".to_owned())];
        log.advance(1, 1, vec![Change { fields, ..change(1, &[], &[3], &[]) }]);
        assert_eq!(log.changes, [change(1, &[], &[3], &[])]);
    }

    #[test]
    fn a_gap_begins_anew() {
        let mut log = log();
        log.advance(2, 9, vec![change(8, &[1], &[], &[]), change(9, &[2], &[], &[])]);
        assert_eq!(log.since(version::join(2, 3)), Err(SinceError::TooOld));
        assert_eq!(log.since(version::join(2, 9)).unwrap().available, Vec::<u32>::new());
        log.advance(3, 1, vec![change(1, &[], &[], &[])]);
        assert_eq!(log.since(version::join(2, 9)), Err(SinceError::TooOld));
        assert_eq!(log.version(), version::join(3, 1));
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut log = Log::default();
        let many = u64::try_from(KEEP).unwrap() + 10;
        log.advance(1, many, (1..=many).map(|n| change(n, &[1], &[], &[])).collect());
        assert_eq!(log.since(version::join(1, 9)), Err(SinceError::TooOld));
        assert!(log.since(version::join(1, 10)).is_ok());
    }
}
