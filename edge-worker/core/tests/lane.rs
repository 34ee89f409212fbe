//! A lane, call by call: each state of a place, each counter called twice.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashMap;

use edge_core::lane::{ADMISSION_SECONDS, ENDED_NAMED_MS, Entry, Found, Lane, Restored, State, Writes};
use edge_core::wire::{
    Ask, AskAnswer, Ending, Extended, Grant, Instant, Join, JoinAnswer, LaneSetup, Liveness, Phase, Redeem,
    RedeemAnswer, Report, Slot, Tick,
};

fn setup() -> LaneSetup {
    LaneSetup {
        event: "evt_1".into(),
        inc: "inc".into(),
        created_at: Instant(0),
        version: 1,
        lane: 3,
        registration_opens_at: Instant(1_000),
        onsale_at: Instant(10_000),
        closes_at: Instant(10_000_000),
        session_seconds: 60,
        session_max_seconds: 100,
    }
}

/// A lane with its rows.
struct Bench {
    lane: Lane,
    rows: HashMap<Slot, Entry>,
    memory: Option<edge_core::lane::Memory>,
    ids: u32,
    ticks: u64,
}

impl Bench {
    fn new() -> Self {
        let mut bench =
            Self { lane: Lane::new(setup()), rows: HashMap::new(), memory: None, ids: 0, ticks: 0 };
        bench.store();
        bench
    }

    fn store(&mut self) -> Writes {
        let writes = self.lane.take_writes();
        for entry in writes.entries.clone() {
            self.rows.insert(entry.slot, entry);
        }
        if let Some(memory) = writes.memory.clone() {
            self.memory = Some(memory);
        }
        writes
    }

    fn last_of(&self, identity: &str) -> Option<Entry> {
        self.rows.values().filter(|e| e.identity == identity).max_by_key(|e| e.visit).cloned()
    }

    fn join(&mut self, identity: &str, now: u64) -> JoinAnswer {
        self.ids += 1;
        let join = Join {
            identity: identity.into(),
            jkt: Some(identity.into()),
            demoted: false,
            jti: format!("jti{}", self.ids),
        };
        let mut found: HashMap<_, _> =
            self.last_of(identity).into_iter().map(|entry| (identity.to_owned(), entry)).collect();
        let answer = self.lane.join(&[join], &mut found, Instant(now)).remove(0);
        self.store();
        answer
    }

    fn ask(&mut self, identity: &str, now: u64) -> AskAnswer {
        let found = self.last_of(identity);
        let jti = found.as_ref().map(|e| e.jti.clone()).unwrap_or_default();
        let ask = Ask { identity: identity.into(), jti, jkt: Some(identity.into()), position: 0 };
        let answer = self.lane.ask(&ask, found.as_ref(), Instant(now));
        self.store();
        answer
    }

    fn redeem(&mut self, identity: &str, key: &str, jti: &str, now: u64) -> RedeemAnswer {
        self.ids += 1;
        let redeem = Redeem { identity: identity.into(), jti: jti.into(), jkt: Some(key.into()) };
        let answer = self.lane.redeem(&redeem, &format!("sid{}", self.ids), Instant(now));
        self.store();
        answer
    }

    fn tick_of(&mut self, phase: Phase, grants: &[(u64, u32)]) -> Tick {
        self.ticks += 1;
        Tick {
            number: self.ticks,
            inc: "inc".into(),
            setup: None,
            phase,
            seal: phase == Phase::Drawing,
            batches: 0,
            late_seen: 0,
            ended_seen: 0,
            grants: grants
                .iter()
                .map(|(seq, slot)| Grant { seq: *seq, slot: Slot { late: false, slot: *slot } })
                .collect(),
        }
    }

    fn tick(&mut self, tick: &Tick, now: u64) -> Report {
        let needs = self.lane.needs(tick);
        let entries = needs.slots.iter().filter_map(|s| Some((*s, self.rows.get(s)?.clone()))).collect();
        self.ids += 1;
        let fresh_ids = (0..needs.slots.len()).map(|n| format!("adm{}-{n}", self.ids)).collect();
        let mut rows: Vec<_> = self.rows.values().filter(|e| !e.slot.late).collect();
        rows.sort_by_key(|e| e.slot);
        let seal = needs.seal.then(|| {
            edge_core::lane::seal_of(
                rows.iter().map(|e| edge_core::lane::SealRow { jti: e.jti.clone(), demoted: e.demoted }),
            )
        });
        let report = self.lane.tick(tick, Found { entries, seal, fresh_ids }, Instant(now));
        self.store();
        report
    }

    fn open(&mut self, grants: &[(u64, u32)], now: u64) -> Report {
        let tick = self.tick_of(Phase::Open, grants);
        self.tick(&tick, now)
    }

    /// Joins, is granted, redeems; returns the session.
    fn admit(&mut self, identity: &str, seq: u64, slot: u32, now: u64) -> (String, String) {
        self.join(identity, 2_000);
        self.open(&[(seq, slot)], now);
        let AskAnswer::Granted { jti, .. } = self.ask(identity, now) else { panic!("not granted") };
        let RedeemAnswer::Admitted { sid, created: true, .. } = self.redeem(identity, identity, &jti, now)
        else {
            panic!("not admitted")
        };
        (sid, jti)
    }

    /// The process dies; the rows stay.
    fn crash(&mut self) {
        let next = |late| self.rows.keys().filter(|slot| slot.late == late).count() as u64;
        let hot = |e: &&Entry| matches!(e.state, State::Issued(_) | State::Active(_));
        self.lane = Lane::restore(Restored {
            memory: self.memory.clone().unwrap(),
            hot: self.rows.values().filter(hot).cloned().collect(),
            joined: next(false),
            joined_late: next(true),
            late_demoted: vec![],
            ended: vec![],
        });
    }
}

fn place_of(answer: &JoinAnswer) -> (u32, u32, String, bool) {
    match answer {
        JoinAnswer::Joined { place, jti, created, .. } => (place.batch, place.slot, jti.clone(), *created),
        other => panic!("{other:?}"),
    }
}

#[test]
fn one_identity_has_one_place_and_it_survives_a_crash() {
    let mut bench = Bench::new();
    let (batch, slot, jti, created) = place_of(&bench.join("a", 2_000));
    assert_eq!((batch, slot, created), (0, 0, true));
    assert_eq!(place_of(&bench.join("a", 3_000)), (0, 0, jti.clone(), false), "a second call");
    assert_eq!(place_of(&bench.join("b", 3_000)).1, 1);
    bench.crash();
    assert_eq!(place_of(&bench.join("a", 20_000)), (0, 0, jti, false), "even after the opening");
    assert_eq!(place_of(&bench.join("c", 4_000)).1, 2, "slots go on where they were");
}

#[test]
fn joining_follows_the_lanes_own_clock() {
    let mut bench = Bench::new();
    assert_eq!(bench.join("a", 999), JoinAnswer::NotOpen { opens_at: Instant(1_000) });
    assert_eq!(place_of(&bench.join("a", 9_999)).0, 0);
    assert_eq!(place_of(&bench.join("b", 10_000)).0, 1, "late though nobody sealed");
    assert_eq!(bench.join("c", 10_000_000), JoinAnswer::Closed);
    let closed = bench.tick_of(Phase::Closed, &[]);
    bench.tick(&closed, 20_000);
    assert_eq!(bench.join("a", 20_000), JoinAnswer::Closed);
}

#[test]
fn a_seal_is_fixed_and_what_comes_after_is_late() {
    let mut bench = Bench::new();
    bench.join("a", 2_000);
    let tick = bench.tick_of(Phase::Drawing, &[]);
    let first = bench.tick(&tick, 5_000).seal.unwrap();
    assert_eq!(first.count, 1);
    assert_eq!(place_of(&bench.join("b", 5_500)).0, 1, "an early opening makes later joins late");
    let again = bench.tick_of(Phase::Drawing, &[]);
    assert_eq!(bench.tick(&again, 6_000).seal, Some(first.clone()), "a second call");
    bench.crash();
    let again = bench.tick_of(Phase::Drawing, &[]);
    assert_eq!(bench.tick(&again, 7_000).seal, Some(first));
}

#[test]
fn a_grant_is_applied_once_by_its_number() {
    let mut bench = Bench::new();
    bench.join("a", 2_000);
    bench.join("b", 2_000);
    let gap = bench.open(&[(2, 1)], 20_000);
    assert_eq!(gap.totals.applied, 0, "a gap waits");
    let report = bench.open(&[(1, 0), (2, 1)], 20_000);
    assert_eq!((report.totals.applied, report.totals.returned), (2, 0));
    let again = bench.open(&[(1, 0), (2, 1)], 21_000);
    assert_eq!(again.totals, report.totals, "a second call");
    assert_eq!(bench.lane.status().issued, 2);
    // A third grant for a place that has its token comes back unused: never two tokens for one place.
    let double = bench.open(&[(3, 0)], 21_000);
    assert_eq!((double.totals.applied, double.totals.returned), (3, 1));
    assert_eq!(bench.lane.status().issued, 2);
}

#[test]
fn a_granted_fan_gets_the_same_token_until_it_is_used() {
    let mut bench = Bench::new();
    bench.join("a", 2_000);
    assert!(matches!(bench.ask("a", 20_000), AskAnswer::Wait { .. }));
    let report = bench.open(&[], 20_500);
    assert_eq!(report.asking.len(), 1);
    let report = bench.open(&[(1, 0)], 21_000);
    assert!(report.asking.is_empty());
    let granted = bench.ask("a", 21_000);
    let AskAnswer::Granted { jti, iat, exp } = granted.clone() else { panic!("{granted:?}") };
    assert_eq!((iat, exp), (21, 21 + ADMISSION_SECONDS));
    assert_eq!(bench.ask("a", 22_000), granted, "a second call");
    bench.crash();
    assert!(matches!(bench.ask("a", 22_000), AskAnswer::Wait { .. }), "no tick heard yet: nothing is issued");
    bench.open(&[], 23_000);
    assert_eq!(bench.ask("a", 23_000), granted, "the same after a crash");
    let admitted = bench.redeem("a", "a", &jti, 24_000);
    let RedeemAnswer::Admitted { sid, exp, created: true, .. } = admitted.clone() else {
        panic!("{admitted:?}")
    };
    assert_eq!(exp, 84);
    let again = bench.redeem("a", "a", &jti, 25_000);
    assert!(matches!(again, RedeemAnswer::Admitted { sid: ref s, created: false, .. } if *s == sid));
    assert_eq!(bench.redeem("a", "thief", &jti, 25_000), RedeemAnswer::Used);
    assert_eq!(bench.ask("a", 25_000), AskAnswer::AlreadyAdmitted);
    assert_eq!(bench.lane.status().totals.admitted, 1);
    bench.lane.end(&sid, Ending::Completed, Instant(26_000));
    bench.store();
    assert_eq!(bench.redeem("a", "a", &jti, 27_000), RedeemAnswer::Used);
    assert_eq!(bench.ask("a", 27_000), AskAnswer::PlaceSpent);
}

#[test]
fn an_unredeemed_token_returns_its_place_to_the_line() {
    let mut bench = Bench::new();
    let (_, slot, place_jti, _) = place_of(&bench.join("a", 2_000));
    bench.open(&[(1, 0)], 20_000);
    let AskAnswer::Granted { jti, exp, .. } = bench.ask("a", 20_000) else { panic!("not granted") };
    let report = bench.open(&[], (exp + 29) * 1_000);
    assert_eq!(report.totals.returned, 0, "the slot outlives the token by 30 s");
    assert_eq!(bench.redeem("a", "a", &jti, exp * 1_000), RedeemAnswer::Expired);
    let report = bench.open(&[], (exp + 30) * 1_000);
    assert_eq!(report.totals.returned, 1);
    assert_eq!(bench.open(&[], (exp + 31) * 1_000).totals.returned, 1, "a second call");
    assert_eq!(bench.redeem("a", "a", &jti, (exp + 31) * 1_000), RedeemAnswer::Used);
    assert_eq!(place_of(&bench.join("a", (exp + 31) * 1_000)), (0, slot, place_jti, false), "the same place");
    assert!(matches!(bench.ask("a", (exp + 31) * 1_000), AskAnswer::Wait { .. }));
}

#[test]
fn a_lane_that_hears_no_tick_or_a_pause_hands_nothing_out() {
    let mut bench = Bench::new();
    bench.join("a", 2_000);
    bench.open(&[(1, 0)], 20_000);
    assert!(matches!(bench.ask("a", 24_999), AskAnswer::Granted { .. }));
    assert!(matches!(bench.ask("a", 25_000), AskAnswer::Wait { .. }), "five seconds of silence");
    let pause = bench.tick_of(Phase::Paused, &[]);
    bench.tick(&pause, 26_000);
    assert!(matches!(bench.ask("a", 26_000), AskAnswer::Wait { .. }));
    let older = Tick { number: pause.number - 1, phase: Phase::Open, ..pause };
    bench.tick(&older, 26_100);
    assert!(matches!(bench.ask("a", 26_100), AskAnswer::Wait { .. }), "an older tick changes no phase");
}

/// Regression: a tick that was held up until after a pause issued its tokens.
#[test]
fn an_older_tick_grants_nothing_after_a_pause() {
    let mut bench = Bench::new();
    bench.join("a", 2_000);
    let held_up = bench.tick_of(Phase::Open, &[(1, 0)]);
    let pause = bench.tick_of(Phase::Paused, &[]);
    assert_eq!(bench.tick(&pause, 20_000).totals.applied, 0);
    assert_eq!(bench.tick(&held_up, 20_100).totals.applied, 0);
    let resumed = bench.tick_of(Phase::Open, &[(1, 0)]);
    assert_eq!(bench.tick(&resumed, 21_000).totals.applied, 1, "the Room sends it again");
}

#[test]
fn every_ending_counts_once_and_frees_the_place() {
    let mut bench = Bench::new();
    for (n, ending) in [Ending::Left, Ending::Completed, Ending::Revoked].into_iter().enumerate() {
        let identity = format!("f{n}");
        let (sid, _) = bench.admit(&identity, n as u64 + 1, n as u32, 20_000);
        assert_eq!(bench.lane.confirm(&sid, Instant(21_000)), Liveness::Live { exp: 80 });
        for _ in 0..2 {
            assert_eq!(bench.lane.end(&sid, ending, Instant(22_000)), Liveness::Ended);
        }
        bench.store();
        assert_eq!(bench.lane.confirm(&sid, Instant(22_000)), Liveness::Ended);
    }
    let (sid, _) = bench.admit("f3", 4, 3, 20_000);
    assert_eq!(bench.lane.confirm(&sid, Instant(79_999)), Liveness::Live { exp: 80 });
    assert_eq!(bench.lane.confirm(&sid, Instant(80_000)), Liveness::Ended, "no leeway on exp");
    assert_eq!(bench.open(&[], 109_000).totals.ended.expired, 0, "the slot outlives the token");
    let report = bench.open(&[], 110_000);
    assert_eq!(bench.open(&[], 111_000).totals.ended, report.totals.ended, "a second call");
    let ended = report.totals.ended;
    assert_eq!((ended.left, ended.completed, ended.revoked, ended.expired), (1, 1, 1, 1));
    assert_eq!(report.ended.last().map(|e| e.sid.clone()), Some(sid));
    let (batch, _, _, created) = place_of(&bench.join("f3", 111_000));
    assert_eq!((batch, created), (1, true), "a new place in the open batch");
}

#[test]
fn endings_are_named_for_a_minute_and_told_until_stored() {
    let mut bench = Bench::new();
    let (sid, _) = bench.admit("a", 1, 0, 20_000);
    bench.lane.end(&sid, Ending::Left, Instant(21_000));
    bench.store();
    assert_eq!(bench.open(&[], 22_000).ended.len(), 1);
    assert_eq!(bench.open(&[], 23_000).ended.len(), 1, "until the Room has it");
    let seen = Tick { ended_seen: 1, ..bench.tick_of(Phase::Open, &[]) };
    assert!(bench.tick(&seen, 24_000).ended.is_empty());
    let late = bench.open(&[], 21_000 + ENDED_NAMED_MS + 1);
    assert!(late.ended.is_empty(), "a minute is twice what an isolate trusts");
    assert_eq!(late.totals.ended.left, 1, "the total stays");
}

#[test]
fn an_extension_moves_the_end_within_the_bound() {
    let mut bench = Bench::new();
    let (sid, jti) = bench.admit("a", 1, 0, 20_000);
    let extended = bench.lane.extend(&sid, 80, 30, Instant(30_000));
    assert_eq!(extended, Extended::Prolonged { iat: 30, exp: 110, batch: 0 });
    let again = bench.lane.extend(&sid, 80, 30, Instant(30_500));
    assert_eq!(again, Extended::Prolonged { iat: 30, exp: 110, batch: 0 }, "a second call by the same token");
    let shorter = bench.lane.extend(&sid, 80, 5, Instant(30_600));
    assert_eq!(shorter, Extended::Prolonged { iat: 30, exp: 110, batch: 0 }, "never back");
    let bounded = bench.lane.extend(&sid, 110, 1_000, Instant(31_000));
    assert_eq!(bounded, Extended::Prolonged { iat: 31, exp: 120, batch: 0 }, "100 s in all");
    assert_eq!(
        bench.lane.extend(&sid, 120, 1_000, Instant(32_000)),
        Extended::Prolonged { iat: 32, exp: 120, batch: 0 }
    );
    bench.store();
    bench.crash();
    assert_eq!(bench.lane.confirm(&sid, Instant(119_000)), Liveness::Live { exp: 120 });
    let again = bench.redeem("a", "a", &jti, 119_000);
    assert!(matches!(again, RedeemAnswer::Admitted { exp: 120, created: false, .. }), "{again:?}");
    assert_eq!(bench.lane.extend(&sid, 120, 10, Instant(120_000)), Extended::Ended);
    assert_eq!(bench.lane.extend("nobody", 40, 10, Instant(30_000)), Extended::Ended);
}

#[test]
fn another_key_or_another_place_is_told_apart() {
    let mut bench = Bench::new();
    let (_, _, jti, _) = place_of(&bench.join("a", 2_000));
    let found = bench.last_of("a");
    let mut ask = Ask { identity: "a".into(), jti, jkt: Some("other".into()), position: 0 };
    assert_eq!(bench.lane.ask(&ask, found.as_ref(), Instant(20_000)), AskAnswer::PlaceMoved);
    ask.jti = "older".into();
    assert_eq!(bench.lane.ask(&ask, found.as_ref(), Instant(20_000)), AskAnswer::PlaceSpent);
    ask.identity = "nobody".into();
    assert_eq!(bench.lane.ask(&ask, None, Instant(20_000)), AskAnswer::Unknown);
}

#[test]
fn sold_out_and_closed_are_said() {
    let mut bench = Bench::new();
    bench.join("a", 2_000);
    for (phase, answer) in [(Phase::SoldOut, AskAnswer::SoldOut), (Phase::Closed, AskAnswer::Closed)] {
        let tick = bench.tick_of(phase, &[]);
        bench.tick(&tick, 20_000);
        assert_eq!(bench.ask("a", 20_000), answer);
    }
}
