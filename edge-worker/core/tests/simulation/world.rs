//! The world: clock, network, machines, fans, and the checks of every second.

use std::collections::{BTreeMap, HashMap, HashSet};

use edge_core::lane::{Lane, lane_of};
use edge_core::room::{Created, Room};
use edge_core::wire::{Action, Instant, PutConfig, Report, Tick};

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
    pub(crate) now: Instant,
    pub(crate) rng: u64,
    pub(crate) ids: u64,
    pub(crate) cap: u64,
    pub(crate) faults: Faults,
    pub(crate) room: Option<Room>,
    pub(crate) room_disk: RoomDisk,
    pub(crate) lanes: Vec<(Option<Lane>, LaneDisk)>,
    late_mail: Vec<(u64, Message)>,
    pub(crate) fans: Vec<Fan>,
    pub(crate) served_at: Option<u64>,
    pub(crate) serving: u64,
    pub(crate) seed: Option<String>,
    pub(crate) issued_tokens: HashMap<String, u64>,
    pub(crate) burned: HashSet<String>,
    pub(crate) peak: u64,
    pub(crate) pause_at: Option<u64>,
    pub(crate) fresh_redeemed: u64,
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

    pub(crate) fn roll(&mut self, sides: u64) -> u64 {
        self.rng ^= self.rng << 13;
        self.rng ^= self.rng >> 7;
        self.rng ^= self.rng << 17;
        (self.rng >> 11) % sides
    }

    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.roll(100) < percent
    }

    pub(crate) fn id(&mut self, kind: &str) -> String {
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
    pub(crate) fn on_lane<R>(
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
