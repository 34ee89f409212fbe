//! What fans do in a second, each call checked where it is made.

use std::collections::HashMap;

use edge_core::draw::position_of;
use edge_core::wire::{Ask, AskAnswer, Ending, Join, JoinAnswer, Redeem, RedeemAnswer};

use crate::fan::{At, Temper};
use crate::world::World;

impl World {
    pub(crate) fn fan_second(&mut self, n: usize) {
        let second = self.now.seconds();
        // A lost request, as the fan sees it.
        if self.chance(self.faults.lost) {
            return;
        }
        match self.fans[n].at.clone() {
            At::Away if second >= self.fans[n].joins_at => self.join(n),
            At::InLine if self.fans[n].temper != Temper::Absent && self.roll(2) == 0 => self.ask(n),
            At::Token { jti, use_at } if second >= use_at => self.redeem(n, &jti),
            At::Shopping { sid, until } if second >= until => self.leave(n, &sid),
            _ => {}
        }
    }

    fn join(&mut self, n: usize) {
        let jti = self.id("jti");
        let identity = self.fans[n].identity.clone();
        let join = Join {
            identity: identity.clone(),
            jkt: Some(identity.clone()),
            demoted: n.is_multiple_of(7),
            jti,
        };
        let answer = self.on_lane(self.fans[n].lane, |lane, disk, now, _| {
            let found = disk.last_of(&identity).cloned();
            let mut found: HashMap<_, _> = found.into_iter().map(|e| (identity.clone(), e)).collect();
            // The same identity twice in one batch: one place.
            let answers = lane.join(&[join.clone(), join], &mut found, now);
            if let [JoinAnswer::Joined { jti: a, .. }, JoinAnswer::Joined { jti: b, created, .. }] =
                &answers[..]
            {
                assert!(a == b && !created);
            }
            answers.into_iter().next()
        });
        if let Some(Some(JoinAnswer::Joined { place, jti, .. })) = answer {
            let fan = &mut self.fans[n];
            fan.ticket = Some((place, jti));
            fan.position = None;
            fan.at = At::InLine;
        }
    }

    /// Polls the published records and asks if invited.
    fn ask(&mut self, n: usize) {
        let Some((place, jti)) = self.fans[n].ticket.clone() else { return };
        let Some(transcript) = &self.room_disk.transcript else { return };
        let position = position_of(place, transcript, &self.room_disk.batches).expect("own records");
        let Some(position) = position else { return };
        assert_eq!(*self.fans[n].position.get_or_insert(position), position, "a position never changes");
        if position >= self.serving {
            return;
        }
        let identity = self.fans[n].identity.clone();
        let ask = Ask { jkt: Some(identity.clone()), identity, jti, position };
        let answer = self.on_lane(self.fans[n].lane, |lane, disk, now, _| {
            let found = if lane.knows(&ask) { None } else { disk.last_of(&ask.identity).cloned() };
            lane.ask(&ask, found.as_ref(), now)
        });
        match answer {
            Some(AskAnswer::Granted { jti, iat, exp }) => {
                self.issued_tokens.insert(jti.clone(), iat);
                let fan = &mut self.fans[n];
                let wait = if fan.temper == Temper::Dawdler && fan.tokens_wasted == 0 {
                    fan.tokens_wasted = 1;
                    exp - iat + 5
                } else {
                    1
                };
                fan.at = At::Token { jti, use_at: self.now.seconds() + wait };
            }
            Some(AskAnswer::PlaceSpent) => self.fans[n].at = At::Away,
            // A redemption whose answer was lost: the session runs out by itself.
            Some(AskAnswer::AlreadyAdmitted | AskAnswer::Wait { .. }) | None => {}
            Some(other) => panic!("{other:?}"),
        }
    }

    fn redeem(&mut self, n: usize, jti: &str) {
        let identity = self.fans[n].identity.clone();
        let redeem = Redeem { jkt: Some(identity.clone()), identity, jti: jti.to_owned() };
        let sid = self.id("sid");
        let answer = self.on_lane(self.fans[n].lane, |lane, _, now, _| {
            let first = lane.redeem(&redeem, &sid, now);
            // The same token by the same key again: the same session; by another key: nothing.
            if let RedeemAnswer::Admitted { sid, .. } = &first {
                let again = lane.redeem(&redeem, "other", now);
                assert!(matches!(again, RedeemAnswer::Admitted { sid: s, created: false, .. } if s == *sid));
                let thief = Redeem { jkt: Some("thief".into()), ..redeem.clone() };
                assert_eq!(lane.redeem(&thief, "other", now), RedeemAnswer::Used);
            }
            first
        });
        let shops = 2 + self.roll(16);
        let second = self.now.seconds();
        match answer {
            Some(RedeemAnswer::Admitted { sid, created, .. }) => {
                if created {
                    assert!(self.burned.insert(jti.to_owned()), "a token is burned once");
                    let issued = self.issued_tokens.get(jti).copied().unwrap_or(0);
                    self.fresh_redeemed += u64::from(self.pause_at.is_some_and(|at| issued > at + 2));
                }
                let fan = &mut self.fans[n];
                let until = if fan.temper == Temper::Vanisher { u64::MAX } else { second + shops };
                fan.at = At::Shopping { sid, until };
                if fan.temper == Temper::Vanisher {
                    fan.sessions = 1;
                }
            }
            Some(RedeemAnswer::Expired | RedeemAnswer::Used) => self.fans[n].at = At::InLine,
            None => {}
        }
    }

    fn leave(&mut self, n: usize, sid: &str) {
        let ended = self.on_lane(self.fans[n].lane, |lane, _, now, _| {
            lane.end(sid, Ending::Left, now);
            let once = lane.status().totals.ended.total();
            lane.end(sid, Ending::Completed, now);
            assert_eq!(lane.status().totals.ended.total(), once, "ending twice counts once");
        });
        if ended.is_some() {
            let fan = &mut self.fans[n];
            fan.sessions += 1;
            fan.at = if fan.is_served() { At::Done } else { At::Away };
        }
    }
}
