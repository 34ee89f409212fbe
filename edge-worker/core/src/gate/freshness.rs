//! When an isolate asks the Room again, and what it may do with what it has.

/// A copy younger than this is served without asking: one Room call per isolate and second.
const FRESH_MS: u64 = 1_000;
/// Whoever asked has failed if no answer came by then (a cancelled request takes its call along).
const ASKING_MS: u64 = 2_000;
/// With a document older than this nobody new is admitted.
pub const ADMIT_MAX_AGE_MS: u64 = 30_000;
/// Whoever was admitted keeps shopping through an outage of the Room: which routes there are and where the origin is
/// may be this old. Whether a session lives is asked of its lane as soon as the list of ended ones is old.
pub const ROUTES_MAX_AGE_MS: u64 = 60 * 60 * 1_000;
/// Who waits for somebody else's answer looks after this long, then after twice as long, up to the other bound: a
/// crowd that waits costs an isolate less the longer it does.
const LOOK_AGAIN_MS: u64 = 5;
const LOOK_AGAIN_MAX_MS: u64 = 100;

/// Age of a cached copy and of the question for a new one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Freshness {
    /// When the copy at hand was asked for; absent if there is none.
    copied_at_ms: Option<u64>,
    /// When somebody asked for a newer one and has not reported back.
    asked_at_ms: Option<u64>,
}

/// What a request does about a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Serve the copy.
    Copy,
    /// Ask for a new one, then serve that.
    Ask,
    /// Somebody is asking and there is nothing to serve: look again in a moment.
    Wait,
}

impl Freshness {
    /// Decides, and notes the question if the answer is [`Use::Ask`]. While somebody else is asking, a copy not older
    /// than `lasts_ms` is served rather than waited for.
    ///
    /// Nobody waits on another request's promise: in a Worker a cancelled request would take its waiters along.
    pub fn consult(&mut self, now_ms: u64, lasts_ms: u64) -> Use {
        let age = self.age_ms(now_ms);
        if age.is_some_and(Self::is_fresh) {
            return Use::Copy;
        }
        if self.asked_at_ms.is_some_and(|at| now_ms.saturating_sub(at) < ASKING_MS) {
            return if age.is_some_and(|age| age <= lasts_ms) { Use::Copy } else { Use::Wait };
        }
        self.asked_at_ms = Some(now_ms);
        Use::Ask
    }

    /// The question asked at `asked_at_ms` was answered. Whether the answer becomes the copy, which then counts as old
    /// as the question: an answer that comes after a younger one does not.
    #[must_use]
    pub fn answered(&mut self, asked_at_ms: u64) -> bool {
        self.settled(asked_at_ms);
        let newest = self.copied_at_ms.is_none_or(|at| at <= asked_at_ms);
        if newest {
            self.copied_at_ms = Some(asked_at_ms);
        }
        newest
    }

    /// The question asked at `asked_at_ms` failed; the next request asks again.
    pub fn failed(&mut self, asked_at_ms: u64) {
        self.settled(asked_at_ms);
    }

    /// Somebody else may have asked since, and is still waiting.
    fn settled(&mut self, asked_at_ms: u64) {
        self.asked_at_ms = self.asked_at_ms.filter(|at| *at != asked_at_ms);
    }

    /// How long to wait before looking for the `looks`-th time whether an answer came.
    pub fn look_again_ms(looks: u32) -> u64 {
        LOOK_AGAIN_MS.saturating_mul(1 << looks.min(16)).min(LOOK_AGAIN_MAX_MS)
    }

    /// Whether a copy of this age is served without asking.
    pub fn is_fresh(age_ms: u64) -> bool {
        age_ms < FRESH_MS
    }

    /// Age of the copy.
    pub fn age_ms(&self, now_ms: u64) -> Option<u64> {
        self.copied_at_ms.map(|at| now_ms.saturating_sub(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LASTS: u64 = ADMIT_MAX_AGE_MS;

    #[test]
    fn one_question_per_second_whatever_the_crowd() {
        let mut freshness = Freshness::default();
        let mut asked = 0;
        for now in (10_000..20_000).step_by(7) {
            match freshness.consult(now, LASTS) {
                Use::Ask => {
                    asked += 1;
                    assert!(freshness.answered(now));
                }
                Use::Copy => {}
                Use::Wait => panic!("nothing to wait for"),
            }
        }
        assert_eq!(asked, 10);
    }

    #[test]
    fn the_crowd_is_served_the_old_copy_while_one_asks() {
        let mut freshness = Freshness::default();
        assert_eq!(freshness.consult(0, LASTS), Use::Ask);
        assert_eq!(freshness.consult(1, LASTS), Use::Wait);
        assert!(freshness.answered(0));
        assert_eq!(freshness.consult(999, LASTS), Use::Copy);
        assert_eq!(freshness.consult(29_000, LASTS), Use::Ask);
        assert_eq!(freshness.consult(30_000, LASTS), Use::Copy);
        assert_eq!(freshness.consult(30_001, LASTS), Use::Wait, "too old to serve, and one is still asking");
        assert_eq!(freshness.consult(30_001, ROUTES_MAX_AGE_MS), Use::Copy, "not for everything");
        assert_eq!(freshness.consult(31_000, LASTS), Use::Ask, "who asked is gone");
    }

    #[test]
    fn a_failed_question_is_asked_again_at_once() {
        let mut freshness = Freshness::default();
        assert_eq!(freshness.consult(0, LASTS), Use::Ask);
        freshness.failed(0);
        assert_eq!(freshness.consult(1, LASTS), Use::Ask);
        assert_eq!(freshness.age_ms(1), None);
    }

    /// Regression: an answer that took long overwrote a younger one.
    #[test]
    fn a_late_answer_neither_overwrites_a_younger_one_nor_ends_its_question() {
        let mut freshness = Freshness::default();
        assert_eq!(freshness.consult(0, LASTS), Use::Ask);
        assert_eq!(freshness.consult(2_500, LASTS), Use::Ask);
        freshness.failed(0);
        assert_eq!(freshness.consult(2_501, LASTS), Use::Wait, "the second question is still open");
        assert!(freshness.answered(2_500));
        assert!(!freshness.answered(0));
        assert_eq!(freshness.age_ms(3_000), Some(500));
    }

    #[test]
    fn waiting_costs_less_the_longer_it_takes() {
        let waits: Vec<u64> = (0..7).map(Freshness::look_again_ms).collect();
        assert_eq!(waits, [5, 10, 20, 40, 80, 100, 100]);
        assert_eq!(Freshness::look_again_ms(u32::MAX), 100);
    }
}
