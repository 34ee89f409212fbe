//! The seat map: which seats are free, by version.
//!
//! Map content is the fold of the change log at its version, nothing else. A process reads the packed map from the
//! hold store at most every 500 ms per event, compresses it once, and serves those bytes to everybody; changes and
//! streams come from the log read along with it. When the hold store is gone, the last map goes on being served.

pub mod http;
mod log;
mod maps;
mod packed;
mod snapshot;
mod stream;
pub mod version;

pub use http::{cacheable, find_event, router};
pub use log::{Delta, Log, SinceError};
pub use maps::Maps;
pub use packed::{Planes, encode};
pub use snapshot::{Body, Counts, SeatState, Snapshot};
