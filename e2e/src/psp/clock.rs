//! The simulator's time: Unix seconds of the crate's one clock.

/// Unix seconds.
#[must_use]
pub fn now() -> u64 {
    u64::try_from(crate::clock::now().timestamp()).unwrap_or(0)
}
