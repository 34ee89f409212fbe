//! When an isolate asks the Room again, and what it may do with what it has.

/// A copy younger than this is served without asking: one Room call per isolate and second.
const FRESH_MS: u64 = 1_000;
/// While somebody else is asking, a copy up to this age is served rather than waited for.
const STALE_MS: u64 = 3_000;
/// Whoever asked has failed if no answer came by then (a cancelled request takes its call along).
const ASKING_MS: u64 = 2_000;
/// With a document older than this nobody new is admitted.
pub const ADMIT_MAX_AGE_MS: u64 = 30_000;

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
    /// Decides, and notes the question if the answer is [`Use::Ask`].
    ///
    /// Nobody waits on another request's promise: in a Worker a cancelled request would take its waiters along.
    pub fn consult(&mut self, now_ms: u64) -> Use {
        let age = self.age_ms(now_ms);
        if age.is_some_and(Self::is_fresh) {
            return Use::Copy;
        }
        if self.asked_at_ms.is_some_and(|at| now_ms.saturating_sub(at) < ASKING_MS) {
            return if age.is_some_and(|age| age < STALE_MS) { Use::Copy } else { Use::Wait };
        }
        self.asked_at_ms = Some(now_ms);
        Use::Ask
    }

    /// The question asked at `asked_at_ms` was answered. The copy counts as old as the question.
    pub fn answered(&mut self, asked_at_ms: u64) {
        self.copied_at_ms = Some(asked_at_ms);
        self.asked_at_ms = None;
    }

    /// The question failed; the next request asks again.
    pub fn failed(&mut self) {
        self.asked_at_ms = None;
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

    #[test]
    fn one_question_per_second_whatever_the_crowd() {
        let mut freshness = Freshness::default();
        let mut asked = 0;
        for now in (10_000..20_000).step_by(7) {
            match freshness.consult(now) {
                Use::Ask => {
                    asked += 1;
                    freshness.answered(now);
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
        assert_eq!(freshness.consult(0), Use::Ask);
        assert_eq!(freshness.consult(1), Use::Wait);
        freshness.answered(0);
        assert_eq!(freshness.consult(999), Use::Copy);
        assert_eq!(freshness.consult(1_500), Use::Ask);
        assert_eq!(freshness.consult(1_501), Use::Copy);
        assert_eq!(freshness.consult(2_999), Use::Copy);
        assert_eq!(freshness.consult(3_001), Use::Wait, "too old to serve, and one is still asking");
        assert_eq!(freshness.consult(3_500), Use::Ask, "who asked is gone");
    }

    #[test]
    fn a_failed_question_is_asked_again_at_once() {
        let mut freshness = Freshness::default();
        assert_eq!(freshness.consult(0), Use::Ask);
        freshness.failed();
        assert_eq!(freshness.consult(1), Use::Ask);
        assert_eq!(freshness.age_ms(1), None);
    }
}
