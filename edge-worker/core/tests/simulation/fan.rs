//! One fan.

use edge_core::wire::Place;

/// What this fan will do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Temper {
    /// Stays until served, shops, leaves.
    Buyer,
    /// Shops and closes the browser: the session runs out.
    Vanisher,
    /// Registers and never comes back.
    Absent,
    /// Gets a token and never uses it, at first.
    Dawdler,
    /// Shops, then joins again.
    Returner,
}

/// Where this fan is.
#[derive(Clone, Debug)]
pub(crate) enum At {
    Away,
    InLine,
    Token { jti: String, use_at: u64 },
    Shopping { sid: String, until: u64 },
    Done,
}

pub(crate) struct Fan {
    pub(crate) identity: String,
    pub(crate) lane: usize,
    pub(crate) temper: Temper,
    pub(crate) joins_at: u64,
    pub(crate) at: At,
    pub(crate) ticket: Option<(Place, String)>,
    pub(crate) position: Option<u64>,
    pub(crate) tokens_wasted: u32,
    pub(crate) sessions: u32,
}

impl Fan {
    /// Whether the sale owes this fan nothing more.
    pub(crate) fn is_served(&self) -> bool {
        match self.temper {
            Temper::Absent => true,
            Temper::Returner => self.sessions >= 2,
            _ => self.sessions >= 1,
        }
    }
}
