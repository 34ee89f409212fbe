//! Calls to a lane: from the Worker for one fan, from the Room once a tick.

use serde::{Deserialize, Serialize};
use shared_token::ticket::Place;

use super::{Ended, Instant, LaneSeal, Outcomes, Phase};

/// A place's name within its lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "(u8, u32)", into = "(u8, u32)")]
pub struct Slot {
    /// False: a slot of the draw; true: of the later batches.
    pub late: bool,
    /// Number.
    pub slot: u32,
}

impl From<(u8, u32)> for Slot {
    fn from((late, slot): (u8, u32)) -> Self {
        Self { late: late != 0, slot }
    }
}

impl From<Slot> for (u8, u32) {
    fn from(slot: Slot) -> Self {
        (u8::from(slot.late), slot.slot)
    }
}

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

/// What a lane must know of its event. Pushed by the Room with ticks, pulled by a lane that knows nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneSetup {
    /// Event.
    pub event: String,
    /// Its incarnation.
    pub inc: String,
    /// When that incarnation was created: a later one replaces an earlier one, never the reverse.
    pub created_at: Instant,
    /// Number of the configuration; only grows within an incarnation.
    pub version: u64,
    /// This lane.
    pub lane: u16,
    /// Start of registration.
    pub registration_opens_at: Instant,
    /// The draw.
    pub onsale_at: Instant,
    /// The end.
    pub closes_at: Instant,
    /// Life of a session.
    pub session_seconds: u64,
    /// Life of a session with all extensions.
    pub session_max_seconds: u64,
}

/// One grant: let this place in. Numbered per lane without gaps, so loss, repetition and reordering are visible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// Number in its lane, from 1.
    pub seq: u64,
    /// The place.
    pub slot: Slot,
}

/// The Room's command of one second to one lane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tick {
    /// Only grows; an older one is answered but its phase is ignored.
    pub number: u64,
    /// Incarnation this is about.
    pub inc: String,
    /// Set-up, if the lane's last report was behind.
    pub setup: Option<LaneSetup>,
    /// State of the room.
    pub phase: Phase,
    /// Seal the draw, if that is not done, and report the seal.
    pub seal: bool,
    /// Batches closed so far: late joins belong to the next.
    pub batches: u32,
    /// One past the last late slot the Room has in a batch.
    pub late_seen: u32,
    /// Last ending the Room has stored.
    pub ended_seen: u64,
    /// Grants the lane has not acknowledged, in order.
    pub grants: Vec<Grant>,
}

/// A fan who asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "(u64, Slot)", into = "(u64, Slot)")]
pub struct Asking {
    /// Position in line.
    pub position: u64,
    /// The place.
    pub slot: Slot,
}

impl From<(u64, Slot)> for Asking {
    fn from((position, slot): (u64, Slot)) -> Self {
        Self { position, slot }
    }
}

impl From<Asking> for (u64, Slot) {
    fn from(asking: Asking) -> Self {
        (asking.position, asking.slot)
    }
}

/// Totals of a lane. Every field only grows, so the maximum of two reports is the later one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Places given in the draw's numbering.
    pub joined: u64,
    /// Places given later.
    pub joined_late: u64,
    /// Grants applied: also the number of the last one.
    pub applied: u64,
    /// Admission tokens redeemed.
    pub admitted: u64,
    /// Grants that came back unused.
    pub returned: u64,
    /// Sessions ended, by outcome.
    pub ended: Outcomes,
}

/// A lane's answer to a tick.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Incarnation this is about.
    pub inc: String,
    /// Number of the tick this answers.
    pub tick: u64,
    /// Version of the set-up the lane has.
    pub setup_version: u64,
    /// Totals, stored before they are sent.
    pub totals: Totals,
    /// Fans asking, lowest positions first, bounded.
    pub asking: Vec<Asking>,
    /// Demoted late slots from the tick's `late_seen` up to `totals.joined_late`, base64url bitmap.
    pub late_class1: String,
    /// First slot of that bitmap.
    pub late_from: u32,
    /// Endings after the tick's `ended_seen`, of the last 60 s.
    pub ended: Vec<Ended>,
    /// The sealed share of the draw, if the tick wanted it and there is one.
    pub seal: Option<LaneSeal>,
}

impl Report {
    /// The answer of an object that holds no lane: it is about no incarnation, so the Room sends the set-up again.
    pub fn of_nobody(tick: u64) -> Self {
        Self {
            inc: String::new(),
            tick,
            setup_version: 0,
            totals: Totals::default(),
            asking: Vec::new(),
            late_class1: String::new(),
            late_from: 0,
            ended: Vec::new(),
            seal: None,
        }
    }
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
