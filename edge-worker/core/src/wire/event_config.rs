//! The operator's configuration of an event.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Fault, Instant, event_reader};

/// Lanes of one event at most: a lane serves about 500 joins/s, so this is 128,000 joins/s, and a tick to each stays
/// within the thousand subrequests a Worker invocation may make.
pub const MAX_LANES: u16 = 256;
/// How an event is run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventConfig {
    /// Name shown to fans.
    pub title: String,
    /// From here on fans may register.
    pub registration_opens_at: Instant,
    /// The draw: who registered before is equal.
    pub onsale_at: Instant,
    /// The end of the sale.
    pub closes_at: Instant,
    /// Number of lanes, fixed for the life of the event.
    pub lanes: u16,
    /// The limits of letting in.
    pub admission: Admission,
    /// Routes that need a live session.
    pub protect: Vec<Protect>,
    /// Routes that never do, even if a protected pattern covers them.
    pub bypass: Vec<Route>,
    /// Base address of the origin, if it is not the deployment's.
    pub origin: Option<String>,
    /// Price of a challenge.
    pub pow: Pow,
    /// Verified accounts (not yet available, always absent).
    pub accounts: Option<()>,
    /// Randomness beacon of the draw (not yet available, always absent).
    pub beacon: Option<()>,
    /// The operator's words to fans, by language.
    pub message: BTreeMap<String, String>,
}

/// The limits of letting in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Admission {
    /// Hard cap of shoppers admitted and not yet finished.
    pub total_active_users: u64,
    /// New shoppers a minute, spread smoothly.
    pub new_users_per_minute: u64,
    /// Life of a session.
    pub session_seconds: u64,
    /// Life of a session with all extensions.
    pub session_max_seconds: u64,
    /// Whether invitations run ahead of free places by the measured share of fans who do not answer.
    pub no_show_compensation: bool,
}

/// A path pattern (`*` matches anything, `/` too) and its methods.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Route {
    /// The pattern.
    pub path: String,
    /// Methods it covers; empty means all.
    pub methods: Vec<String>,
}

/// A protected route.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Protect {
    /// The pattern (`*` matches anything, `/` too).
    pub path: String,
    /// Methods it covers; empty means all.
    pub methods: Vec<String>,
    /// Whether a write proves possession of the key.
    pub proof: Proof,
}

/// Proof of possession on a protected route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Proof {
    /// Methods other than GET and HEAD carry a DPoP proof.
    Dpop,
    /// The session alone suffices.
    None,
}

/// The price of a challenge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pow {
    /// Puzzles in a challenge.
    pub puzzles: u8,
    /// Expected hashes for one puzzle.
    pub difficulty: u64,
}

impl EventConfig {
    /// Reads an operator's document about `event`, naming every fault by its JSON pointer.
    pub fn parse(event: &str, body: &[u8]) -> Result<Self, Vec<Fault>> {
        event_reader::read(event, body)
    }

    /// What of `next` cannot follow this configuration, since places stand on it; `drawn` from the draw on.
    pub fn refuse_change(&self, next: &Self, drawn: bool) -> Vec<Fault> {
        let mut faults = Vec::new();
        let mut fixed = |pointer: &str, detail: &str| {
            faults.push(Fault { pointer: pointer.into(), detail: detail.into() });
        };
        if next.lanes != self.lanes {
            fixed("/lanes", "cannot change: every place stands in a lane");
        }
        if drawn && next.onsale_at != self.onsale_at {
            fixed("/onsale_at", "cannot change: the draw has begun");
        }
        if drawn && next.registration_opens_at != self.registration_opens_at {
            fixed("/registration_opens_at", "cannot change: the draw has begun");
        }
        faults
    }
}
