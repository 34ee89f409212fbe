//! Asking for admission and burning the token.

use super::memory::Asker;
use super::{ASK_AGAIN_MS, Active, Entry, Lane, State};
use crate::wire::{Ask, AskAnswer, Instant, Phase, Redeem, RedeemAnswer};

impl Lane {
    /// Whether [`Lane::ask`] can answer without the identity's row.
    pub fn knows(&self, ask: &Ask) -> bool {
        self.hot.contains_key(&ask.identity)
            || self
                .asking
                .get(&ask.identity)
                .is_some_and(|asker| asker.jti == ask.jti && asker.jkt == ask.jkt)
    }

    /// Notes that this fan asks, or hands out what was granted. `found` is the identity's last place; it may be absent
    /// if [`Lane::knows`] said so.
    pub fn ask(&mut self, ask: &Ask, found: Option<&Entry>, now: Instant) -> AskAnswer {
        let entry = self.hot.get(&ask.identity).or(found);
        if let Some(entry) = entry {
            if entry.jti != ask.jti || entry.state == State::Spent {
                return AskAnswer::PlaceSpent;
            }
            if entry.jkt != ask.jkt {
                return AskAnswer::PlaceMoved;
            }
            match &entry.state {
                State::Active(_) => return AskAnswer::AlreadyAdmitted,
                State::Issued(token) if self.may_issue(now) && now.seconds() < token.exp => {
                    return AskAnswer::Granted { jti: token.jti.clone(), iat: token.iat, exp: token.exp };
                }
                State::Issued(_) => return AskAnswer::Wait { poll_after_ms: ASK_AGAIN_MS },
                State::Waiting | State::Spent => {}
            }
        }
        match self.memory.phase {
            Phase::Closed => return AskAnswer::Closed,
            Phase::SoldOut => return AskAnswer::SoldOut,
            _ if now >= self.memory.setup.closes_at => return AskAnswer::Closed,
            _ => {}
        }
        let noted =
            self.asking.get(&ask.identity).filter(|asker| asker.jti == ask.jti && asker.jkt == ask.jkt);
        let Some(slot) = entry.map(|entry| entry.slot).or(noted.map(|asker| asker.slot)) else {
            return AskAnswer::Unknown;
        };
        let asker =
            Asker { slot, jti: ask.jti.clone(), jkt: ask.jkt.clone(), position: ask.position, at: now };
        self.asking.insert(ask.identity.clone(), asker);
        AskAnswer::Wait { poll_after_ms: ASK_AGAIN_MS }
    }

    /// Burns an admission token for a session of id `sid`. Only a token that stands in the row is worth anything, so
    /// it is used once; the same token by the same key finds its session while that lives.
    pub fn redeem(&mut self, redeem: &Redeem, sid: &str, now: Instant) -> RedeemAnswer {
        let seconds = now.seconds();
        let Some(entry) = self.hot.get(&redeem.identity).filter(|entry| entry.jkt == redeem.jkt) else {
            return RedeemAnswer::Used;
        };
        match &entry.state {
            State::Issued(token) if token.jti == redeem.jti => {
                if seconds >= token.exp {
                    return RedeemAnswer::Expired;
                }
            }
            State::Active(active) if active.admission == redeem.jti && seconds < active.exp => {
                return admitted(active, entry.batch, false);
            }
            _ => return RedeemAnswer::Used,
        }
        let mut entry = entry.clone();
        let active = Active {
            sid: sid.to_owned(),
            admission: redeem.jti.clone(),
            started: seconds,
            iat: seconds,
            exp: seconds.saturating_add(self.memory.setup.session_seconds),
        };
        let answer = admitted(&active, entry.batch, true);
        entry.state = State::Active(active);
        self.store(entry);
        self.memory.totals.admitted += 1;
        self.memory_changed = true;
        answer
    }
}

fn admitted(active: &Active, batch: u32, created: bool) -> RedeemAnswer {
    RedeemAnswer::Admitted { sid: active.sid.clone(), batch, iat: active.iat, exp: active.exp, created }
}
