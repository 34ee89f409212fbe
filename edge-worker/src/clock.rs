//! The one place of this binary that reads a clock.

use edge_core::wire::Instant;

/// Now. In a Worker the clock stands still between I/O operations.
pub(crate) fn now() -> Instant {
    // `Date.now()` is a whole, positive number of milliseconds far below 2^53.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "see above")]
    let ms = js_sys::Date::now() as u64;
    Instant(ms)
}
