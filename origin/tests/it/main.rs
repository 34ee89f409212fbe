//! The origin against real Postgres and Redis.
//!
//! `FAIRGATE_TEST_DATABASE_URL` names a Postgres where databases may be created (each test gets a fresh one),
//! `FAIRGATE_TEST_REDIS_URL` a Redis (each test uses its own event ids).

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod bookings;
mod catalogue;
mod claims;
mod faults;
mod harness;
mod hold_lives;
mod holds;
mod money;
mod plans;
mod purchases;
mod saga;
mod seat_map;
mod service;
mod webhooks;
