//! Problem documents (RFC 9457): every refusal the edge makes by itself.

use std::borrow::Cow;

use edge_core::wire::Instant;
use js_sys::Uint8Array;
use serde_json::{Map, Value};
use wasm_bindgen::JsValue;

use crate::http::prepared::Prepared;
use crate::http::reply::Reply;

/// Of every problem document.
const MEDIA_TYPE: &str = "application/problem+json";

macro_rules! kinds {
    ($($kind:ident $status:literal $slug:literal $title:literal $help:literal;)*) => {
        /// A kind of refusal: fixes slug, status and title.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Kind {
            $(#[doc = $title] $kind,)*
        }

        impl Kind {
            /// All kinds, for `/problems/{slug}` and for tests.
            pub(crate) const ALL: &'static [Self] = &[$(Self::$kind,)*];

            /// Last segment of `type`.
            pub(crate) const fn slug(self) -> &'static str {
                match self { $(Self::$kind => $slug,)* }
            }

            /// HTTP status.
            pub(crate) const fn status(self) -> u16 {
                match self { $(Self::$kind => $status,)* }
            }

            /// Short summary, the same for every occurrence.
            pub(crate) const fn title(self) -> &'static str {
                match self { $(Self::$kind => $title,)* }
            }

            /// What to do about it, for the page of this kind.
            pub(crate) const fn help(self) -> &'static str {
                match self { $(Self::$kind => $help,)* }
            }
        }
    };
}

kinds! {
    Malformed 400 "malformed" "The request is malformed"
        "The request does not have the form this call requires. `detail` names the part.";
    ProofFailed 401 "proof-of-possession-failed" "Possession of the key was not proved"
        "Send a DPoP proof (RFC 9449) by the key the token names: `htm` and `htu` of this request, `iat` within 60 seconds of `server_time`, a fresh `jti`, and `ath` where a token is presented. If your clock is wrong, take the time from `server_time`.";
    TicketInvalid 401 "ticket-invalid" "This is not a ticket for this event"
        "The ticket is missing, damaged, of another event, or from before the event was created anew. Join the line again: the same key keeps its place.";
    AdmissionInvalid 401 "admission-token-invalid" "This is not a usable admission token"
        "The admission token is missing, damaged, of another event or key, or ran out unused. Ask for admission again with the ticket: the place is kept.";
    OperatorRequired 401 "unauthorized" "This call is for operators"
        "Send `Authorization: Bearer <admin token>`.";
    RegistrationNotOpen 403 "registration-not-open" "Registration has not opened"
        "Joining begins at `registration_opens_at`. Everybody who joins before the sale begins has the same chance: being first does not help.";
    Denied 403 "denied" "The request was refused"
        "The event's policy refuses this request.";
    AdmissionRequired 403 "admission-required" "Only admitted shoppers may do this"
        "A live session is needed. Go through the waiting room of the event and ask for admission when it is your turn.";
    NotFound 404 "not-found" "There is nothing here"
        "The edge serves nothing at this address.";
    UnknownEvent 404 "unknown-event" "There is no such event"
        "No event of this id has been configured at the edge.";
    NotDrawn 404 "not-drawn" "The draw has not happened yet"
        "The transcript is published once the line has been drawn.";
    MethodNotAllowed 405 "method-not-allowed" "This method is not possible here"
        "`Allow` names the methods of this address.";
    AlreadyAdmitted 409 "already-admitted" "This place has a live session"
        "You are already in. Use the session you have; it ends when it expires or when you leave.";
    PlaceMoved 409 "place-moved" "The place was moved to another key"
        "This place was taken along to another device or key. Its ticket is worth nothing here any more.";
    PlaceSpent 409 "place-spent" "The place has been used"
        "A place lets one shopper in once. Join again for a new place behind the others.";
    AdmissionUsed 409 "admission-already-used" "The admission token has been used"
        "An admission token opens one session, once, for the key it was given to.";
    WrongPhase 409 "wrong-phase" "Not possible in the present state of the room"
        "`phase` is the state the room is in.";
    ChallengeExpired 410 "challenge-expired" "The challenge has run out"
        "Fetch a new challenge and solve that.";
    RoomClosed 410 "room-closed" "The sale is over"
        "The room of this event has closed.";
    SoldOut 410 "sold-out" "Everything is sold"
        "Nothing is for sale and nothing is held that could come back.";
    VersionChanged 412 "version-changed" "The event was changed by somebody else"
        "Read the event again, apply your change to that, and send its `ETag` as `If-Match`.";
    TooLarge 413 "payload-too-large" "The body is too large"
        "The body of this call has a bound; `limit` names it in bytes.";
    WrongMediaType 415 "unsupported-media-type" "The body is not JSON"
        "Send the body as `Content-Type: application/json`.";
    WorkInvalid 422 "proof-of-work-invalid" "The proof of work does not hold"
        "Each puzzle needs one nonce, in order, as a decimal string; the hash of salt, puzzle number and nonce must be below the threshold.";
    ConfigInvalid 422 "config-invalid" "The event's configuration is not valid"
        "`errors` names every fault by its JSON pointer. Nothing was changed.";
    MatchRequired 428 "if-match-required" "Say which version you replace"
        "The event exists. Read it and send its `ETag` as `If-Match`, so that nobody's change is lost.";
    TooManyAttempts 429 "too-many-attempts" "Too many attempts"
        "Wait for `Retry-After` seconds and try again. Trying faster brings nothing: the order of the line does not depend on speed.";
    Internal 500 "internal" "Something failed here"
        "The edge failed to handle the request. It is logged; trying again may help.";
    OriginUnreachable 502 "origin-unreachable" "The booking service cannot be reached"
        "The edge could not reach the booking service. A write may or may not have happened: repeat it with the same Idempotency-Key.";
    RoomUnavailable 503 "room-unavailable" "The waiting room cannot answer right now"
        "The objects that run the room did not answer. Places are kept; try again after `Retry-After`.";
    OriginTimeout 504 "origin-timeout" "The booking service did not answer in time"
        "The booking service took too long. A write may or may not have happened: repeat it with the same Idempotency-Key.";
}

/// A refusal on its way out.
#[derive(Debug)]
pub(crate) struct Problem {
    kind: Kind,
    detail: Cow<'static, str>,
    retry_after_secs: Option<u64>,
    extensions: Map<String, Value>,
    allow: Option<&'static str>,
}

impl Problem {
    /// A refusal of this kind, described to its receiver.
    pub(crate) fn new(kind: Kind, detail: impl Into<Cow<'static, str>>) -> Self {
        Self { kind, detail: detail.into(), retry_after_secs: None, extensions: Map::new(), allow: None }
    }

    /// The Room or a lane did not answer.
    pub(crate) fn room_unavailable() -> Self {
        Self::new(Kind::RoomUnavailable, "The waiting room did not answer; your place is kept.")
            .retry_after(2)
    }

    /// 405 with the methods that are possible.
    pub(crate) fn method_not_allowed(allow: &'static str) -> Self {
        Self {
            allow: Some(allow),
            ..Self::new(Kind::MethodNotAllowed, "See `Allow` for what is possible here.")
        }
    }

    /// When to try again.
    pub(crate) fn retry_after(mut self, seconds: u64) -> Self {
        self.retry_after_secs = Some(seconds);
        self
    }

    /// A member beyond the standard ones.
    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.extensions.insert(name.to_owned(), value.into());
        self
    }

    /// Its kind.
    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// The document. Every 401 says what time it is, for clients whose clock is wrong.
    pub(crate) fn body(&self, now: Instant) -> Value {
        let mut body = self.extensions.clone();
        body.insert("type".into(), format!("/problems/{}", self.kind.slug()).into());
        body.insert("title".into(), self.kind.title().into());
        body.insert("status".into(), self.kind.status().into());
        body.insert("detail".into(), Value::String(self.detail.clone().into_owned()));
        if self.kind.status() == 401 {
            body.insert("server_time".into(), now.to_string().into());
        }
        Value::Object(body)
    }

    /// An answer that is the same for everyone: for a kind that tells no time.
    pub(crate) fn prepared(&self) -> Result<Prepared, JsValue> {
        let body = self.body(Instant(0)).to_string();
        let headers = [("Content-Type", MEDIA_TYPE), ("Cache-Control", "no-store")];
        Prepared::of(self.kind.status(), Uint8Array::from(body.as_bytes()), "", &headers)
    }

    /// The answer.
    pub(crate) fn reply(&self, now: Instant) -> Reply {
        let mut reply = Reply::text(self.kind.status(), MEDIA_TYPE, self.body(now).to_string())
            .header("Cache-Control", "no-store");
        if let Some(seconds) = self.retry_after_secs {
            reply = reply.header("Retry-After", seconds.to_string());
        }
        if let Some(allow) = self.allow {
            reply = reply.header("Allow", allow);
        }
        match self.kind {
            Kind::ProofFailed | Kind::TicketInvalid | Kind::AdmissionInvalid => {
                reply.header("WWW-Authenticate", "DPoP algs=\"EdDSA ES256\"")
            }
            Kind::OperatorRequired => reply.header("WWW-Authenticate", "Bearer realm=\"fairgate-admin\""),
            _ => reply,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_are_distinct_and_every_kind_says_what_to_do() {
        for (index, kind) in Kind::ALL.iter().enumerate() {
            assert!(kind.slug().bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'));
            assert!((400..600).contains(&kind.status()));
            assert!(!kind.title().is_empty() && !kind.help().is_empty());
            assert!(Kind::ALL.iter().skip(index + 1).all(|other| other.slug() != kind.slug()));
        }
    }

    #[test]
    fn every_kind_is_documented() {
        let documented = include_str!("../../docs/problems.md").split("## Edge").nth(1).unwrap();
        for kind in Kind::ALL {
            let row = format!("| `{}` | {} |", kind.slug(), kind.status());
            assert!(documented.contains(&row), "docs/problems.md lacks {row}");
        }
    }

    #[test]
    fn server_time_on_401() {
        for kind in Kind::ALL {
            let body = Problem::new(*kind, "why").body(Instant(0));
            assert_eq!(body["type"], format!("/problems/{}", kind.slug()));
            assert_eq!(body["status"], kind.status());
            assert_eq!(body.get("server_time").is_some(), kind.status() == 401, "{}", kind.slug());
        }
    }

    #[test]
    fn extensions_do_not_displace_the_standard_members() {
        let body = Problem::new(Kind::TooLarge, "x").with("limit", 5).with("status", 200).body(Instant(0));
        assert_eq!((&body["limit"], &body["status"]), (&5.into(), &413.into()));
    }
}
