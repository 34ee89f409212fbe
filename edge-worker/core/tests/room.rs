//! The Room, second by second, against lanes that are plain reports.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use edge_core::lane::{SealRow, seal_of};
use edge_core::room::{Created, FREED_SLOT_RESTS_MS, Pressure, Room};
use edge_core::wire::{
    Action, Asking, Ended, Instant, LaneStatus, Outcomes, Phase, PutConfig, PutConfigAnswer, Report, Slot,
    Tick, Totals,
};
use proptest::prelude::*;
use serde_json::{Value, json};

const LANES: usize = 3;

/// A Room and what its lanes would report.
struct Bench {
    room: Room,
    now: u64,
    totals: Vec<Totals>,
    asking: Vec<Vec<Asking>>,
    endings: Vec<Vec<Ended>>,
    /// Grants delivered, per lane.
    granted: Vec<Vec<Slot>>,
}

fn body(cap: u64, rate: u64) -> Value {
    json!({
        "title": "T", "registration_opens_at": "1970-01-01T00:00:01Z", "onsale_at": "1970-01-01T00:00:10Z",
        "closes_at": "1970-01-02T00:00:00Z", "lanes": LANES,
        "admission": {"total_active_users": cap, "new_users_per_minute": rate}
    })
}

fn put(body: &Value) -> PutConfig {
    PutConfig { event: "e".into(), body: body.to_string(), if_match: None, actor: "op".into() }
}

impl Bench {
    /// An open room with `places` drawn in each lane.
    fn open(cap: u64, rate: u64, places: u64) -> Self {
        let put = put(&body(cap, rate));
        let created = Created { inc: "inc".into(), secret: [1; 32], now: Instant(1_000) };
        let (room, _) = Room::create(&put, created).unwrap();
        let totals = Totals { joined: places, ..Totals::default() };
        let mut bench = Self {
            room,
            now: 10_000,
            totals: vec![totals; LANES],
            asking: vec![vec![]; LANES],
            endings: vec![vec![]; LANES],
            granted: vec![vec![]; LANES],
        };
        bench.second();
        assert_eq!(bench.room.phase(Instant(bench.now)), Phase::Open);
        bench
    }

    fn report(&mut self, lane: u16, tick: &Tick) -> Report {
        let at = usize::from(lane);
        for grant in &tick.grants {
            if grant.seq == self.totals[at].applied + 1 {
                self.totals[at].applied = grant.seq;
                self.granted[at].push(grant.slot);
                self.asking[at].retain(|asking| asking.slot != grant.slot);
            }
        }
        let rows =
            (0..self.totals[at].joined).map(|n| SealRow { jti: format!("{lane}-{n}"), demoted: false });
        Report {
            inc: tick.inc.clone(),
            tick: tick.number,
            setup_version: 1,
            totals: self.totals[at],
            asking: self.asking[at].clone(),
            late_class1: String::new(),
            late_from: tick.late_seen,
            ended: self.endings[at].iter().filter(|e| e.seq > tick.ended_seen).cloned().collect(),
            seal: tick.seal.then(|| seal_of(rows)),
        }
    }

    fn second(&mut self) {
        self.now += 1_000;
        let now = Instant(self.now);
        for (lane, tick) in self.room.begin_tick(now) {
            let report = self.report(lane, &tick);
            self.room.absorb(lane, report, now);
        }
        self.room.decide(now).unwrap();
        self.room.take_writes();
        for (lane, tick) in self.room.grant_round(now) {
            let report = self.report(lane, &tick);
            self.room.absorb(lane, report, now);
        }
        self.room.take_writes();
    }

    fn ask(&mut self, lane: usize, position: u64) {
        let slot = Slot { late: false, slot: u32::try_from(position).unwrap() };
        self.asking[lane].push(Asking { position, slot });
    }

    fn end(&mut self, lane: usize, sid: &str) {
        let ended = &mut self.totals[lane].ended;
        *ended = Outcomes { completed: ended.completed + 1, ..*ended };
        let seq = ended.total();
        self.endings[lane].push(Ended { seq, sid: sid.into(), at: Instant(self.now) });
    }

    fn grants(&self) -> usize {
        self.granted.iter().map(Vec::len).sum()
    }
}

#[test]
fn the_draw_waits_for_every_lane_and_never_changes() {
    let mut bench = Bench::open(10, 600, 5);
    let drawn = bench.room.transcript().cloned().unwrap();
    assert_eq!((drawn.count, drawn.lanes.len()), (15, LANES));
    for _ in 0..3 {
        bench.second();
        assert_eq!(bench.room.transcript(), Some(&drawn));
    }
    let document = bench.room.document(Instant(bench.now));
    assert_eq!(document.draw.seed, Some(drawn.seed));
    assert_eq!(document.draw.verifiable, Some(false), "there is no beacon");
    assert_eq!(bench.room.act(Action::Open, "op", Instant(bench.now)), Ok(Phase::Open), "a second opening");
    assert_eq!(bench.room.transcript().map(|t| t.count), Some(15));
}

#[test]
fn a_freed_slot_rests_until_every_document_names_its_session() {
    let mut bench = Bench::open(1, 6_000, 5);
    bench.second();
    bench.ask(0, 0);
    bench.ask(1, 1);
    bench.second();
    bench.second();
    assert_eq!(bench.grants(), 1);
    bench.end(0, "sid");
    bench.second();
    let heard = bench.now;
    let gate = bench.room.gate_document(Instant(bench.now));
    assert_eq!(gate.ended, ["sid"], "named as soon as the Room knows");
    assert_eq!(bench.grants(), 1, "not yet granted again");
    while bench.grants() == 1 {
        bench.second();
    }
    assert!(bench.now - heard >= FREED_SLOT_RESTS_MS);
    assert!(bench.now - heard <= 3_000, "an ending returns its slot within four seconds");
}

#[test]
fn pause_and_stock_stop_grants_and_a_lower_cap_drains() {
    let mut bench = Bench::open(4, 6_000, 10);
    bench.second();
    let now = Instant(bench.now);
    bench.room.act(Action::Pause, "op", now).unwrap();
    bench.ask(0, 0);
    bench.second();
    assert_eq!(bench.grants(), 0);
    bench.room.act(Action::Resume, "op", now).unwrap();
    let stock = |available, held| Pressure {
        available: Some(available),
        held: Some(held),
        sold: Some(9),
        status: Some("onsale".into()),
    };
    for (pressure, phase) in [(stock(0, 3), Phase::ReturnsOnly), (stock(0, 0), Phase::SoldOut)] {
        bench.room.absorb_pressure(&pressure, Instant(bench.now));
        bench.second();
        assert_eq!((bench.room.phase(Instant(bench.now)), bench.grants()), (phase, 0));
    }
    bench.room.absorb_pressure(&Pressure::default(), Instant(bench.now));
    assert_eq!(bench.room.phase(Instant(bench.now)), Phase::SoldOut, "silence changes nothing");
    bench.room.forget_stock();
    assert_eq!(bench.room.phase(Instant(bench.now)), Phase::Open, "an origin without the event has no say");
    assert_eq!(bench.room.document(Instant(bench.now)).inventory, None);
    bench.room.absorb_pressure(&stock(0, 0), Instant(bench.now));
    let mut body = body(4, 6_000);
    for (origin, phase) in [(json!(null), Phase::SoldOut), (json!("https://other"), Phase::Open)] {
        body["origin"] = origin;
        let put = PutConfig { if_match: Some("*".into()), ..put(&body) };
        let answer = bench.room.replace(&put, Instant(bench.now));
        assert!(matches!(answer, PutConfigAnswer::Replaced(_)), "{answer:?}");
        assert_eq!(bench.room.phase(Instant(bench.now)), phase, "another origin's word ends with it");
    }
    bench.room.absorb_pressure(&stock(1, 0), Instant(bench.now));
    bench.second();
    bench.second();
    assert_eq!(bench.grants(), 1);
    let canceled = Pressure { status: Some("canceled".into()), ..stock(5, 0) };
    bench.room.absorb_pressure(&canceled, Instant(bench.now));
    assert_eq!(bench.room.phase(Instant(bench.now)), Phase::Closed);
}

#[test]
fn serving_never_stands_still_while_there_is_room() {
    let mut bench = Bench::open(5, 6_000, 100);
    let mut serving = 0;
    let mut still = 0;
    for _ in 0..120 {
        // Nobody ever answers.
        bench.second();
        let next = bench.room.document(Instant(bench.now)).serving;
        still = if next == serving { still + 1 } else { 0 };
        assert!(still <= 10 || next == 300, "serving stands at {next}");
        serving = next;
    }
    assert!(serving >= 55, "five places, ten seconds each, doubled at most: {serving}");
}

#[test]
fn the_pace_is_unknown_until_measured_and_then_the_real_one() {
    let mut bench = Bench::open(1_000, 600, 100);
    let pace = |bench: &Bench| bench.room.gate_document(Instant(bench.now)).admitted_per_minute;
    for position in 0..150 {
        bench.ask(0, position);
    }
    let mut known = 0;
    for second in 0..10 {
        bench.second();
        if let Some(pace) = pace(&bench) {
            known += 1;
            assert!((500..=600).contains(&pace), "{pace} in second {second}");
        }
    }
    assert!((4..=6).contains(&known), "after a few ticks: {known}");
    bench.room.act(Action::Pause, "op", Instant(bench.now)).unwrap();
    bench.second();
    bench.room.act(Action::Resume, "op", Instant(bench.now)).unwrap();
    bench.second();
    assert_eq!(pace(&bench), None, "what was measured before a pause is forgotten");
}

#[test]
fn stats_are_disjoint_and_below_the_cap() {
    let mut bench = Bench::open(4, 6_000, 10);
    for lane in 0..LANES {
        bench.ask(lane, lane as u64);
    }
    bench.second();
    bench.second();
    let stats = bench.room.stats(&[], Instant(bench.now));
    assert_eq!((stats.active, stats.granted, stats.cap, stats.queued), (0, 3, 4, 30));
    bench.totals[0].admitted = 1;
    bench.second();
    let stats = bench.room.stats(&[], Instant(bench.now));
    assert_eq!((stats.active, stats.granted, stats.admitted_total, stats.queued), (1, 2, 1, 29));
    bench.end(0, "s");
    bench.second();
    let stats = bench.room.stats(&[], Instant(bench.now));
    assert_eq!((stats.active, stats.granted, stats.completed_total), (0, 2, 1));
}

#[test]
fn stats_stay_below_the_cap_when_a_lane_answered_before_its_slots_were_granted_again() {
    let mut bench = Bench::open(3, 6_000, 10);
    for position in 0..3 {
        bench.ask(0, position);
    }
    bench.second();
    bench.second();
    bench.totals[0].admitted = 3;
    bench.second();
    let status = LaneStatus { totals: bench.totals[0], active: 3, ..LaneStatus::default() };
    for n in 0..3 {
        bench.end(0, &format!("s{n}"));
        bench.ask(1, 3 + n);
    }
    while bench.grants() < 6 {
        bench.second();
    }
    let stats = bench.room.stats(&[(0, status)], Instant(bench.now));
    assert_eq!((stats.active, stats.granted, stats.completed_total), (0, 3, 3), "the newer totals count");
    let newer = Totals { admitted: 2, ..bench.totals[1] };
    let status = LaneStatus { totals: newer, active: 2, ..LaneStatus::default() };
    let stats = bench.room.stats(&[(1, status)], Instant(bench.now));
    assert_eq!((stats.active, stats.granted), (2, 1), "and so do a status's, where it is newer");
}

#[test]
fn the_version_grows_with_changes_and_only_with_them() {
    let mut bench = Bench::open(4, 6_000, 0);
    bench.second();
    let version = |bench: &Bench| bench.room.document(Instant(bench.now)).version;
    let before = version(&bench);
    bench.second();
    assert_eq!(version(&bench), before);
    bench.room.act(Action::Pause, "op", Instant(bench.now)).unwrap();
    assert_eq!(version(&bench), before + 1);
}

proptest! {
    /// Whoever asks, however they are spread over lanes: the lowest positions go first, and never more than the cap.
    #[test]
    fn grants_go_in_order_among_those_who_ask(
        askers in proptest::collection::btree_map(0_u64..60, 0_usize..LANES, 1..40),
        cap in 1_u64..20,
    ) {
        let mut bench = Bench::open(cap, 60_000, 20);
        // Everybody is invited before anybody asks.
        while bench.room.document(Instant(bench.now)).serving < 60 {
            bench.second();
        }
        for (position, lane) in &askers {
            bench.ask(*lane, *position);
        }
        bench.second();
        bench.second();
        let mut granted: Vec<u32> = bench.granted.iter().flatten().map(|slot| slot.slot).collect();
        granted.sort_unstable();
        let expected: Vec<u32> =
            askers.keys().take(usize::try_from(cap).unwrap()).map(|position| u32::try_from(*position).unwrap()).collect();
        prop_assert_eq!(granted, expected);
    }
}
