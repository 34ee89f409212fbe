//! One place of a lane, as its row holds it.

use serde::{Deserialize, Serialize};
use shared_token::ticket::Place;

use crate::wire::{Instant, Slot};

/// A place and whose it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The place.
    pub slot: Slot,
    /// 0 for the draw, else the batch that was open when it was given.
    pub batch: u32,
    /// Display form of the subject.
    pub identity: String,
    /// 0 for the identity's first place, one more after each spent one. (identity, visit) is unique, so a second place
    /// beside a live one cannot even be stored.
    pub visit: u32,
    /// Id of the place.
    pub jti: String,
    /// The key it is bound to now.
    pub jkt: Option<String>,
    /// Whether policy put it behind the others.
    pub demoted: bool,
    /// When it was given.
    pub joined_at: Instant,
    /// What became of it.
    pub state: State,
}

impl Entry {
    /// The coordinates its ticket carries.
    pub fn place(&self, lane: u16) -> Place {
        Place { lane, batch: self.batch, slot: self.slot.slot }
    }
}

/// The life of a place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// In line.
    Waiting,
    /// Granted: an admission token exists.
    Issued(Issued),
    /// Shopping.
    Active(Active),
    /// Used up; the identity may join anew.
    Spent,
}

/// An admission token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Issued {
    /// Its id.
    pub jti: String,
    /// Issued, Unix seconds.
    pub iat: u64,
    /// Expires, Unix seconds.
    pub exp: u64,
}

/// A session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Active {
    /// Its id.
    pub sid: String,
    /// The admission token it was got with.
    pub admission: String,
    /// First issued, Unix seconds: what `session_max_seconds` counts from.
    pub started: u64,
    /// Last issued, Unix seconds.
    pub iat: u64,
    /// Expires, Unix seconds.
    pub exp: u64,
}
