//! Sessions: alive, prolonged, ended; and what runs out by itself.

use super::{Active, ENDED_NAMED_MS, Entry, Lane, SLOT_OUTLIVES_TOKEN_SECONDS, State};
use crate::wire::{Ended, Ending, Extended, Instant, Liveness};

impl Lane {
    /// Whether the session lives. No leeway: a token past its `exp` is past it.
    pub fn confirm(&self, sid: &str, now: Instant) -> Liveness {
        match self.live(sid, now) {
            Some((_, active)) => Liveness::Live { exp: active.exp },
            None => Liveness::Ended,
        }
    }

    /// Ends the session and spends its place. A second ending finds nothing and counts nothing.
    pub fn end(&mut self, sid: &str, ending: Ending, now: Instant) -> Liveness {
        let entry = self.sessions.get(sid).and_then(|identity| self.hot.get(identity)).cloned();
        if let Some(entry) = entry {
            self.spend(entry, sid, ending, now);
        }
        Liveness::Ended
    }

    /// Moves the expiry to `seconds` after `exp`, the expiry of the token that was presented: never past the event's
    /// bound and never back. The same token prolongs once, however often its answer is repeated.
    pub fn extend(&mut self, sid: &str, exp: u64, seconds: u64, now: Instant) -> Extended {
        let Some((entry, active)) = self.live(sid, now) else { return Extended::Ended };
        let (mut entry, mut active) = (entry.clone(), active.clone());
        let latest = active.started.saturating_add(self.memory.setup.session_max_seconds);
        active.exp = exp.saturating_add(seconds).min(latest).max(active.exp);
        active.iat = now.seconds().max(active.iat);
        let answer = Extended::Prolonged { iat: active.iat, exp: active.exp, batch: entry.batch };
        entry.state = State::Active(active);
        self.store(entry);
        answer
    }

    fn live(&self, sid: &str, now: Instant) -> Option<(&Entry, &Active)> {
        let entry = self.hot.get(self.sessions.get(sid)?)?;
        match &entry.state {
            State::Active(active) if now.seconds() < active.exp => Some((entry, active)),
            _ => None,
        }
    }

    fn spend(&mut self, mut entry: Entry, sid: &str, ending: Ending, now: Instant) {
        entry.state = State::Spent;
        self.store(entry);
        let outcomes = &mut self.memory.totals.ended;
        match ending {
            Ending::Left => outcomes.left += 1,
            Ending::Completed => outcomes.completed += 1,
            Ending::Revoked => outcomes.revoked += 1,
            Ending::Expired => outcomes.expired += 1,
        }
        let ended = Ended { seq: outcomes.total(), sid: sid.to_owned(), at: now };
        self.writes.ended.push(ended.clone());
        self.ended.push_back(ended);
        self.memory_changed = true;
    }

    /// Takes back what ran out: tokens nobody redeemed return to their place in line, sessions nobody ended end.
    /// Slots outlive tokens, so the fan's last second is never somebody else's first.
    pub(super) fn sweep(&mut self, now: Instant) {
        let over = |exp: u64| now.seconds() >= exp.saturating_add(SLOT_OUTLIVES_TOKEN_SECONDS);
        let due: Vec<Entry> = self
            .hot
            .values()
            .filter(|entry| match &entry.state {
                State::Issued(token) => over(token.exp),
                State::Active(active) => over(active.exp),
                State::Waiting | State::Spent => false,
            })
            .cloned()
            .collect();
        for mut entry in due {
            if let State::Active(active) = &entry.state {
                let sid = active.sid.clone();
                self.spend(entry, &sid, Ending::Expired, now);
            } else {
                entry.state = State::Waiting;
                self.store(entry);
                self.memory.totals.returned += 1;
                self.memory_changed = true;
            }
        }
        while self.ended.front().is_some_and(|ended| now.since(ended.at) > ENDED_NAMED_MS) {
            self.writes.forget_ended = self.ended.pop_front().map(|ended| ended.seq);
        }
    }
}
