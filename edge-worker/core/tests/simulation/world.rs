//! The world: clock, network, machines, fans, and the checks of every second.

use std::collections::{BTreeMap, HashMap, HashSet};

use edge_core::draw::position_of;
use edge_core::lane::{Lane, lane_of};
use edge_core::room::{Created, Room};
use edge_core::wire::{
    Action, Ask, AskAnswer, Ending, Instant, Join, JoinAnswer, PutConfig, Redeem, RedeemAnswer, Report, Tick,
};

use crate::disk::{LaneDisk, RoomDisk};
use crate::fan::{At, Fan, Temper};

const LANES: u16 = 4;

/// Chances in a hundred.
#[derive(Clone, Copy)]
pub(crate) struct Faults {
    pub(crate) lost: u64,
    pub(crate) repeated: u64,
    pub(crate) delayed: u64,
    pub(crate) crash: u64,
}

impl Faults {
    pub(crate) const NONE: Self = Self { lost: 0, repeated: 0, delayed: 0, crash: 0 };
    pub(crate) const MANY: Self = Self { lost: 15, repeated: 15, delayed: 15, crash: 4 };
}

enum Message {
    Command(u16, Tick),
    Answer(u16, Report),
}

pub(crate) struct World {
    now: Instant,
    rng: u64,
    ids: u64,
    cap: u64,
    pub(crate) faults: Faults,
    room: Option<Room>,
    room_disk: RoomDisk,
    lanes: Vec<(Option<Lane>, LaneDisk)>,
    late_mail: Vec<(u64, Message)>,
    fans: Vec<Fan>,
    served_at: Option<u64>,
    serving: u64,
    seed: Option<String>,
    issued_tokens: HashMap<String, u64>,
    burned: HashSet<String>,
    pub(crate) peak: u64,
    pause_at: Option<u64>,
    fresh_redeemed: u64,
}

impl World {
    pub(crate) fn new(seed: u64, fans: usize, cap: u64, faults: Faults) -> Self {
        let body = serde_json::json!({
            "title": "Simulated", "registration_opens_at": "1970-01-01T00:00:02Z",
            "onsale_at": "1970-01-01T00:00:20Z", "closes_at": "1970-01-02T00:00:00Z", "lanes": LANES,
            "admission": {"total_active_users": cap, "new_users_per_minute": 600, "session_seconds": 60,
                          "session_max_seconds": 120}
        });
        let put = PutConfig { event: "e".into(), body: body.to_string(), if_match: None, actor: "t".into() };
        let created = Created { inc: "inc".into(), secret: [7; 32], now: Instant(1_000) };
        let (mut room, _) = Room::create(&put, created).expect("valid");
        let mut room_disk = RoomDisk::default();
        room_disk.apply(room.take_writes());
        let mut world = Self {
            now: Instant(1_000),
            rng: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            ids: 0,
            cap,
            faults,
            room: Some(room),
            room_disk,
            lanes: (0..LANES).map(|_| (None, LaneDisk::default())).collect(),
            late_mail: Vec::new(),
            fans: Vec::new(),
            served_at: None,
            serving: 0,
            seed: None,
            issued_tokens: HashMap::new(),
            burned: HashSet::new(),
            peak: 0,
            pause_at: None,
            fresh_redeemed: 0,
        };
        for n in 0..fans {
            let fan = world.new_fan(n);
            world.fans.push(fan);
        }
        world
    }

    fn new_fan(&mut self, n: usize) -> Fan {
        let identity = format!("key:{n}");
        let temper = match self.roll(10) {
            0..=1 => Temper::Absent,
            2 => Temper::Vanisher,
            3 => Temper::Dawdler,
            4 => Temper::Returner,
            _ => Temper::Buyer,
        };
        // Two thirds before the opening, the others during the first minute after it.
        let joins_at = if self.roll(3) < 2 { 3 + self.roll(16) } else { 20 + self.roll(60) };
        let lane = usize::from(lane_of(&identity, LANES, &[3; 32]));
        Fan {
            identity,
            lane,
            temper,
            joins_at,
            at: At::Away,
            ticket: None,
            position: None,
            tokens_wasted: 0,
            sessions: 0,
        }
    }

    fn roll(&mut self, sides: u64) -> u64 {
        self.rng ^= self.rng << 13;
        self.rng ^= self.rng >> 7;
        self.rng ^= self.rng << 17;
        (self.rng >> 11) % sides
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.roll(100) < percent
    }

    fn id(&mut self, kind: &str) -> String {
        self.ids += 1;
        format!("{kind}{}", self.ids)
    }

    /// Runs `lead` seconds before and `seconds` after.
    pub(crate) fn run(&mut self, lead: u64, seconds: u64) {
        for _ in 0..lead + seconds {
            self.now = self.now.plus_ms(900 + self.roll(200));
            self.room_second();
            for fan in 0..self.fans.len() {
                self.fan_second(fan);
            }
            self.check();
        }
    }

    pub(crate) fn pause(&mut self, on: bool) {
        let room = self.room.as_mut().expect("up");
        let action = if on { Action::Pause } else { Action::Resume };
        room.act(action, "t", self.now).expect("possible");
        self.room_disk.apply(room.take_writes());
        self.pause_at = on.then_some(self.now.seconds());
    }

    fn room_second(&mut self) {
        if self.chance(self.faults.crash) {
            self.room = None;
        }
        if self.room.is_none() {
            if self.chance(50) {
                return;
            }
            self.room = self.room_disk.restore(self.now);
        }
        let now = self.now;
        let Some(room) = self.room.as_mut() else { return };
        let commands = room.begin_tick(now);
        self.post(commands);
        let due: Vec<_> = {
            let ms = now.0;
            let (due, rest) = std::mem::take(&mut self.late_mail).into_iter().partition(|(at, _)| *at <= ms);
            self.late_mail = rest;
            due
        };
        for (_, message) in due {
            self.deliver(message);
        }
        let Some(room) = self.room.as_mut() else { return };
        room.decide(now).expect("own records");
        let writes = room.take_writes();
        // A crash before the write forgets what was decided; nothing of it was sent.
        if self.chance(self.faults.crash) {
            self.room = None;
            return;
        }
        self.room_disk.apply(writes);
        if self.chance(self.faults.crash) {
            self.room = None;
            return;
        }
        let Some(room) = self.room.as_mut() else { return };
        let round = room.grant_round(now);
        self.post(round);
        let Some(room) = self.room.as_mut() else { return };
        self.room_disk.apply(room.take_writes());
    }

    fn post(&mut self, commands: Vec<(u16, Tick)>) {
        for (lane, tick) in commands {
            self.send(|| Message::Command(lane, tick.clone()));
        }
    }

    fn send(&mut self, message: impl Fn() -> Message) {
        if self.chance(self.faults.lost) {
            return;
        }
        let copies = if self.chance(self.faults.repeated) { 2 } else { 1 };
        for _ in 0..copies {
            if self.chance(self.faults.delayed) {
                let at = self.now.0 + self.roll(8_000);
                self.late_mail.push((at, message()));
            } else {
                self.deliver(message());
            }
        }
    }

    fn deliver(&mut self, message: Message) {
        match message {
            Message::Command(lane, tick) => {
                if let Some(report) = self.lane_tick(usize::from(lane), &tick) {
                    self.send(|| Message::Answer(lane, report.clone()));
                }
            }
            Message::Answer(lane, report) => {
                if let Some(room) = self.room.as_mut() {
                    room.absorb(lane, report, self.now);
                }
            }
        }
    }

    fn lane_tick(&mut self, lane: usize, tick: &Tick) -> Option<Report> {
        if self.lanes[lane].0.is_none() && self.lanes[lane].1.restore().is_none() {
            self.lanes[lane].0 = tick.setup.clone().map(Lane::new);
        }
        let tick = tick.clone();
        self.on_lane(lane, |lane, disk, now, ids| {
            let fresh_id = || {
                *ids += 1;
                format!("adm{ids}")
            };
            let found = disk.find(lane, &tick, fresh_id);
            lane.tick(&tick, found, now)
        })
    }

    /// One call on a lane as its shell does it: look up, decide, write, answer; with crashes in between.
    fn on_lane<R>(
        &mut self,
        lane: usize,
        call: impl FnOnce(&mut Lane, &LaneDisk, Instant, &mut u64) -> R,
    ) -> Option<R> {
        if self.chance(self.faults.crash) {
            self.lanes[lane].0 = None;
        }
        let crash_before = self.chance(self.faults.crash);
        let crash_after = self.chance(self.faults.crash);
        let (live, disk) = &mut self.lanes[lane];
        if live.is_none() {
            *live = disk.restore();
        }
        let object = live.as_mut()?;
        let answer = call(object, disk, self.now, &mut self.ids);
        let writes = object.take_writes();
        if crash_before {
            *live = None;
            return None;
        }
        disk.apply(writes);
        if crash_after {
            *live = None;
            return None;
        }
        Some(answer)
    }

    fn fan_second(&mut self, n: usize) {
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

    fn check(&mut self) {
        let occupied: u64 = self.lanes.iter().map(|(_, disk)| disk.occupied()).sum();
        assert!(occupied <= self.cap, "{occupied} admitted under a cap of {}", self.cap);
        self.peak = self.peak.max(occupied);
        for (_, disk) in &self.lanes {
            let mut live = BTreeMap::new();
            for entry in disk.entries.values().filter(|e| e.state != edge_core::lane::State::Spent) {
                assert!(live.insert(&entry.identity, entry.slot).is_none(), "one place per identity");
            }
        }
        if let Some(room) = &self.room {
            let document = room.document(self.now);
            assert!(document.serving >= self.serving, "serving never goes back");
            self.serving = document.serving;
            if let Some(seed) = &document.draw.seed {
                assert_eq!(self.seed.get_or_insert_with(|| seed.clone()), seed, "the draw is the same");
            }
            let stats = room.stats(&[], self.now);
            assert!(stats.active + stats.granted <= self.cap.max(occupied), "{stats:?}");
        }
        if self.unserved() == 0 && self.served_at.is_none() {
            self.served_at = Some(self.now.seconds());
        }
    }

    pub(crate) fn unserved(&self) -> usize {
        self.fans.iter().filter(|fan| !fan.is_served()).count()
    }

    pub(crate) fn seconds_until_served(&self) -> u64 {
        self.served_at.unwrap_or(u64::MAX).saturating_sub(20)
    }

    pub(crate) fn admitted(&self) -> u64 {
        self.fresh_redeemed
    }

    pub(crate) fn admitted_with_fresh_tokens_since_pause(&self, before: u64) -> u64 {
        self.fresh_redeemed - before
    }
}
