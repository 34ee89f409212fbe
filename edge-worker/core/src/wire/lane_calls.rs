//! Calls to a lane: what the Worker asks for one fan, and the frame in which all commands travel.

use serde::{Deserialize, Serialize};
use shared_token::ticket::Place;

use super::{Instant, Report, Tick, Totals};

/// Give this identity its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Join {
    /// Display form of the subject (`key:…`, `acct:…`, `form:…`).
    pub identity: String,
    /// Thumbprint of the fan's key; absent for a fan without JavaScript.
    pub jkt: Option<String>,
    /// Whether policy puts the place behind the others.
    pub demoted: bool,
    /// Fresh random id, used only if the place is new.
    pub jti: String,
}

/// Answer to [`Join`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JoinAnswer {
    /// The identity's place, durable.
    Joined {
        /// Where it is.
        place: Place,
        /// Id of the place, fixed for its life.
        jti: String,
        /// Incarnation of the event.
        inc: String,
        /// When it was given, Unix seconds.
        issued_at: u64,
        /// Whether it was given by this call.
        created: bool,
    },
    /// Registration has not opened.
    NotOpen {
        /// When it will.
        opens_at: Instant,
    },
    /// The room is closed.
    Closed,
    /// An operator barred this key.
    KeyBarred,
    /// No such event.
    NoEvent,
}

/// May this fan come in now?
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// Display form of the subject.
    pub identity: String,
    /// Id of the place (the ticket's).
    pub jti: String,
    /// Key that proved possession.
    pub jkt: Option<String>,
    /// Position computed from the ticket and the published documents.
    pub position: u64,
}

/// Answer to [`Ask`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AskAnswer {
    /// Noted; ask again.
    Wait {
        /// When.
        poll_after_ms: u64,
    },
    /// Here is the admission token's content: the same until it is used or expires.
    Granted {
        /// Token id.
        jti: String,
        /// Issued, Unix seconds.
        iat: u64,
        /// Expires, Unix seconds.
        exp: u64,
    },
    /// A session of this place lives.
    AlreadyAdmitted,
    /// The place was bound to another key.
    PlaceMoved,
    /// The place was used; join again for a new one.
    PlaceSpent,
    /// Nothing is for sale and nothing is held.
    SoldOut,
    /// The room is closed.
    Closed,
    /// The lane does not know this place or event.
    Unknown,
}

/// Burn an admission token for a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Redeem {
    /// Display form of the subject.
    pub identity: String,
    /// Id of the admission token.
    pub jti: String,
    /// Key that proved possession.
    pub jkt: Option<String>,
}

/// Answer to [`Redeem`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RedeemAnswer {
    /// The session.
    Admitted {
        /// Session id.
        sid: String,
        /// Batch of its place.
        batch: u32,
        /// Issued, Unix seconds.
        iat: u64,
        /// Expires, Unix seconds.
        exp: u64,
        /// Whether this call created it.
        created: bool,
    },
    /// The token was used, and by this key its session is over; or by another key.
    Used,
    /// The token ran out before it was used.
    Expired,
}

/// How a session ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The fan left.
    Left,
    /// The purchase is done.
    Completed,
    /// The origin or an operator took it back.
    Revoked,
    /// It ran out. Only a lane's own clock says so.
    Expired,
}

/// Whether a session lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Liveness {
    /// It does.
    Live {
        /// Current expiry, Unix seconds.
        exp: u64,
    },
    /// It does not, or never did.
    Ended,
}

/// Answer to an extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Extended {
    /// The session as it now is; sign it anew with the same `sid`.
    Prolonged {
        /// Issued, Unix seconds.
        iat: u64,
        /// Expires, Unix seconds.
        exp: u64,
        /// Batch of its place.
        batch: u32,
    },
    /// There is nothing to extend.
    Ended,
}

/// A lane's numbers for operators.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneStatus {
    /// Totals.
    pub totals: Totals,
    /// Fans asking now.
    pub asking: u64,
    /// Tokens issued and neither redeemed nor returned.
    pub issued: u64,
    /// Live sessions.
    pub active: u64,
}

/// A command to a lane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LaneCommand {
    /// See [`Join`].
    Join(Join),
    /// See [`Ask`].
    Ask(Ask),
    /// See [`Redeem`].
    Redeem(Redeem),
    /// Does this session live?
    Confirm {
        /// Session.
        sid: String,
    },
    /// End this session; ending an ended one changes nothing.
    End {
        /// Session.
        sid: String,
        /// How.
        ending: Ending,
    },
    /// Prolong this session.
    Extend {
        /// Session.
        sid: String,
        /// Expiry of the token presented, Unix seconds: what is added to.
        exp: u64,
        /// By how much.
        seconds: u64,
    },
    /// See [`Tick`].
    Tick(Tick),
    /// The lane's numbers.
    Status,
    /// Forget everything, if it is still about this incarnation.
    Erase {
        /// Incarnation.
        inc: String,
    },
}

/// Answer to a [`LaneCommand`], variant by variant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LaneReply {
    /// To `Join`.
    Join(JoinAnswer),
    /// To `Ask`.
    Ask(AskAnswer),
    /// To `Redeem`.
    Redeem(RedeemAnswer),
    /// To `Confirm` and `End` (the state after it).
    Session(Liveness),
    /// To `Extend`.
    Extend(Extended),
    /// To `Tick`.
    Report(Report),
    /// To `Status`.
    Status(LaneStatus),
    /// To `Erase`.
    Erased,
    /// The lane failed; the text is for the log.
    Failed(String),
}
