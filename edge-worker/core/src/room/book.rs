//! What the Room knows of one lane.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::draw::{Bitmap, transcript::parse_hash};
use crate::wire::{Asking, BatchLane, Grant, Instant, LaneSeal, Outcomes, Report, Totals};

/// The stored part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Book {
    /// Grants ever made to this lane; stored before they are sent.
    pub granted: u64,
    /// Grants the lane has not acknowledged. Sent again with every tick until it does.
    pub outbox: VecDeque<Grant>,
    /// The lane's totals, merged by maximum.
    pub totals: Totals,
    /// One past the last late slot that stands in a batch.
    pub late_seen: u32,
    /// Number of the last ending stored.
    pub ended_seen: u64,
    /// The sealed share of the draw.
    pub seal: Option<LaneSeal>,
}

/// A book and what a restart may forget.
#[derive(Clone, Debug, Default)]
pub(super) struct LaneView {
    pub(super) book: Book,
    /// Endings whose slots may be granted again.
    pub(super) released: u64,
    /// Set-up the lane has, 0 if unknown.
    pub(super) setup_version: u64,
    /// Newest tick the lane answered, and when.
    pub(super) answered: u64,
    pub(super) heard: Option<Instant>,
    pub(super) asking: Vec<Asking>,
    /// Late slots reported since the last batch.
    pub(super) late: Option<BatchLane>,
    pub(super) changed: bool,
}

impl LaneView {
    pub(super) fn restore(book: Book) -> Self {
        Self { released: book.totals.ended.total(), book, ..Self::default() }
    }

    /// Slots this lane occupies as far as the cap is concerned. An ended session counts until its rest is over.
    pub(super) fn occupied(&self) -> u64 {
        self.book.granted.saturating_sub(self.released).saturating_sub(self.book.totals.returned)
    }

    /// Takes in a report. Everything is idempotent and tolerates reports that arrive late or twice. Returns the
    /// session ids that ended.
    pub(super) fn absorb(&mut self, report: Report, now: Instant) -> Vec<String> {
        let before =
            (self.book.totals, self.book.outbox.len(), self.book.ended_seen, self.book.seal.is_some());
        merge(&mut self.book.totals, &report.totals);
        let applied = self.book.totals.applied;
        self.book.outbox.retain(|grant| grant.seq > applied);
        if self.book.seal.is_none() {
            self.book.seal = report.seal.filter(is_sound);
        }
        let mut sids = Vec::new();
        for ended in report.ended {
            if ended.seq > self.book.ended_seen {
                self.book.ended_seen = ended.seq;
                sids.push(ended.sid);
            }
        }
        let to = u32::try_from(report.totals.joined_late).unwrap_or(u32::MAX);
        let sound =
            Bitmap::decode(&report.late_class1, u64::from(to.saturating_sub(report.late_from))).is_some();
        if report.late_from == self.book.late_seen && to > self.book.late_seen && sound {
            let longer = self.late.as_ref().is_none_or(|late| late.to < to || late.from != report.late_from);
            if longer {
                self.late = Some(BatchLane { from: report.late_from, to, class1: report.late_class1 });
            }
        }
        if report.tick >= self.answered {
            self.answered = report.tick;
            self.setup_version = report.setup_version;
            self.asking = report.asking;
            self.heard = Some(now);
        }
        let after =
            (self.book.totals, self.book.outbox.len(), self.book.ended_seen, self.book.seal.is_some());
        self.changed |= before != after;
        sids
    }

    /// The interval of the next batch: what was reported since the last, once.
    pub(super) fn take_interval(&mut self) -> BatchLane {
        let empty = BatchLane { from: self.book.late_seen, to: self.book.late_seen, class1: String::new() };
        let interval = self.late.take().filter(|late| late.from == self.book.late_seen).unwrap_or(empty);
        if interval.to > self.book.late_seen {
            self.book.late_seen = interval.to;
            self.changed = true;
        }
        interval
    }

    /// Adds a grant; returns its number.
    pub(super) fn grant(&mut self, asking: Asking) {
        self.book.granted += 1;
        self.book.outbox.push_back(Grant { seq: self.book.granted, slot: asking.slot });
        self.asking.retain(|other| other.slot != asking.slot);
        self.changed = true;
    }
}

/// Whether a seal can be drawn from; one that cannot is not taken, so it can be told again.
fn is_sound(seal: &LaneSeal) -> bool {
    Bitmap::decode(&seal.class1, seal.count).is_some() && parse_hash(&seal.root).is_ok()
}

/// The later of two reports is their maximum, field by field, whatever order they come in.
pub(super) fn merge(known: &mut Totals, told: &Totals) {
    let Totals { joined, joined_late, applied, admitted, returned, ended } = told;
    known.joined = known.joined.max(*joined);
    known.joined_late = known.joined_late.max(*joined_late);
    known.applied = known.applied.max(*applied);
    known.admitted = known.admitted.max(*admitted);
    known.returned = known.returned.max(*returned);
    let Outcomes { left, completed, revoked, expired } = ended;
    known.ended.left = known.ended.left.max(*left);
    known.ended.completed = known.ended.completed.max(*completed);
    known.ended.revoked = known.ended.revoked.max(*revoked);
    known.ended.expired = known.ended.expired.max(*expired);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Ended, Slot};

    fn report(tick: u64, n: u64) -> Report {
        let ended = Outcomes { left: n, ..Outcomes::default() };
        Report {
            inc: "i".into(),
            tick,
            setup_version: 1,
            totals: Totals { joined: n, joined_late: n, applied: n, admitted: n, returned: 0, ended },
            asking: vec![],
            late_class1: String::new(),
            late_from: 0,
            ended: (1..=n).map(|seq| Ended { seq, sid: format!("s{seq}"), at: Instant(0) }).collect(),
            seal: None,
        }
    }

    proptest::proptest! {
        /// Any order, any repetition, any loss but of the last: the same book.
        #[test]
        fn absorbing_is_idempotent_and_order_free(order in proptest::collection::vec(0_u64..8, 0..40)) {
            let slot = Slot { late: false, slot: 0 };
            let mut view = LaneView::default();
            for n in 0..8 {
                view.grant(Asking { position: n, slot });
            }
            let mut sids = Vec::new();
            for n in order {
                sids.extend(view.absorb(report(n, n), Instant(n)));
                let outbox: Vec<u64> = view.book.outbox.iter().map(|grant| grant.seq).collect();
                let expected: Vec<u64> = (view.book.totals.applied + 1..=8).collect();
                proptest::prop_assert_eq!(outbox, expected);
            }
            sids.extend(view.absorb(report(8, 8), Instant(8)));
            proptest::prop_assert_eq!(view.absorb(report(8, 8), Instant(9)), Vec::<String>::new());
            let mut once = sids.clone();
            once.dedup();
            proptest::prop_assert_eq!(&once, &sids, "an ending is told once");
            proptest::prop_assert_eq!(sids.last().map(String::as_str), Some("s8"));
            proptest::prop_assert_eq!(view.book.totals.ended.left, 8);
            proptest::prop_assert_eq!(view.book.granted, 8);
            proptest::prop_assert!(view.book.outbox.is_empty());
        }
    }

    #[test]
    fn an_interval_is_taken_once() {
        let mut view = LaneView::default();
        view.absorb(report(1, 3), Instant(0));
        assert_eq!(view.take_interval(), BatchLane { from: 0, to: 3, class1: String::new() });
        assert_eq!(
            view.take_interval(),
            BatchLane { from: 3, to: 3, class1: String::new() },
            "a second call"
        );
        view.absorb(report(2, 5), Instant(0));
        assert_eq!(view.take_interval().to, 3, "a report about an interval already closed is not used");
    }
}
