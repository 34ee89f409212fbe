//! One fan.

use edge_core::wire::Place;

/// What this fan will do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Temper {
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
pub enum At {
    Away,
    InLine,
    Token { jti: String, use_at: u64 },
    Shopping { sid: String, until: u64 },
    Done,
}

pub struct Fan {
    pub identity: String,
    pub lane: usize,
    pub temper: Temper,
    pub joins_at: u64,
    pub at: At,
    pub ticket: Option<(Place, String)>,
    pub position: Option<u64>,
    pub tokens_wasted: u32,
    pub sessions: u32,
}

impl Fan {
    /// Whether the sale owes this fan nothing more.
    pub fn is_served(&self) -> bool {
        match self.temper {
            Temper::Absent => true,
            Temper::Returner => self.sessions >= 2,
            _ => self.sessions >= 1,
        }
    }
}
