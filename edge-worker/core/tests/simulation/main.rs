//! A sale in miniature: the real Room and lanes, fans who come, stay away, buy, leave and come back, and a network and
//! machines that lose, repeat, delay and crash. Every second is checked.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod acts;
mod disk;
mod fan;
mod world;

use world::{Faults, World};

/// Without faults: everybody who stays is served, promptly.
#[test]
fn a_quiet_sale_serves_everybody() {
    let mut world = World::new(1, 200, 20, Faults::NONE);
    world.run(20, 500);
    assert_eq!(world.unserved(), 0);
    // 20 tokens left to expire (150 s each), 20 vanished sessions (90 s), 140 sessions of about 14 s: 6,800 s of slots
    // under a cap of 20 are 340 s at best.
    assert!(world.seconds_until_served() < 440, "{}", world.seconds_until_served());
    assert!(world.peak >= 18, "the cap is used: {}", world.peak);
}

/// With faults for five minutes, then without: the cap holds all along and nobody is stuck afterwards.
#[test]
fn lost_repeated_delayed_and_crashed_the_cap_holds_and_nobody_is_stuck() {
    for seed in 0..24 {
        let mut world = World::new(seed, 120, 12, Faults::MANY);
        world.run(20, 300);
        world.faults = Faults::NONE;
        world.run(0, 1_500);
        assert_eq!(world.unserved(), 0, "seed {seed}");
    }
}

/// A paused room lets nobody in and goes on afterwards.
#[test]
fn a_pause_lets_nobody_in() {
    let mut world = World::new(7, 100, 10, Faults::NONE);
    world.run(20, 60);
    world.pause(true);
    world.run(0, 2);
    let before = world.admitted();
    world.run(0, 60);
    assert_eq!(world.admitted_with_fresh_tokens_since_pause(before), 0);
    world.pause(false);
    world.run(0, 600);
    assert_eq!(world.unserved(), 0);
}
