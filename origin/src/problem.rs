//! Problem documents (RFC 9457): the only shape in which this service refuses anything.
//!
//! Domain errors become a [`Problem`] at the border. What went wrong inside is logged once and never sent.

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use http::{HeaderValue, StatusCode, header};
use serde_json::{Map, Value, json};

macro_rules! kinds {
    ($( $(#[$doc:meta])* $name:ident = ($status:ident, $slug:literal, $title:literal), )*) => {
        /// Every kind of refusal of this service. `docs/problems.md` has a paragraph for each (a test walks them).
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Kind { $( $(#[$doc])* $name, )* }

        impl Kind {
            /// All kinds, for the documentation walk and for `/problems/{slug}`.
            pub const ALL: &'static [Kind] = &[$( Kind::$name, )*];

            /// The last segment of `type`.
            pub const fn slug(self) -> &'static str {
                match self { $( Kind::$name => $slug, )* }
            }

            /// The HTTP status.
            pub const fn status(self) -> StatusCode {
                match self { $( Kind::$name => StatusCode::$status, )* }
            }

            /// The short human text, the same for every occurrence.
            pub const fn title(self) -> &'static str {
                match self { $( Kind::$name => $title, )* }
            }
        }
    };
}

kinds! {
    /// The request is not well-formed HTTP, JSON or query.
    Malformed = (BAD_REQUEST, "malformed", "The request is malformed"),
    /// The request is well-formed but some field is wrong; `errors` names each.
    Invalid = (UNPROCESSABLE_ENTITY, "invalid", "Some fields are invalid"),
    /// A documented feature this release does not have yet.
    NotSupported = (UNPROCESSABLE_ENTITY, "not-supported", "Not supported yet"),
    /// No such resource, or not this caller's.
    NotFound = (NOT_FOUND, "not-found", "Not found"),
    /// The path exists, the method does not.
    MethodNotAllowed = (METHOD_NOT_ALLOWED, "method-not-allowed", "Method not allowed"),
    /// The body is larger than the route takes.
    PayloadTooLarge = (PAYLOAD_TOO_LARGE, "payload-too-large", "The body is too large"),
    /// The body is not JSON.
    UnsupportedMediaType = (UNSUPPORTED_MEDIA_TYPE, "unsupported-media-type", "Unsupported media type"),
    /// A fault of ours.
    Internal = (INTERNAL_SERVER_ERROR, "internal", "Internal error"),
    /// The call did not come through the edge.
    EdgeRequired = (FORBIDDEN, "edge-required", "This service answers only to its edge"),
    /// No valid session of an admitted shopper.
    AdmissionRequired = (FORBIDDEN, "admission-required", "Admission required"),
    /// A session of another event.
    WrongEvent = (FORBIDDEN, "wrong-event", "The session belongs to another event"),
    /// Neither session nor proof of possession.
    ProofOfPossessionFailed = (UNAUTHORIZED, "proof-of-possession-failed", "Proof of possession failed"),
    /// No valid operator token.
    Unauthorized = (UNAUTHORIZED, "unauthorized", "A valid operator token is required"),
    /// No such event.
    UnknownEvent = (NOT_FOUND, "unknown-event", "Unknown event"),
    /// No such venue.
    UnknownVenue = (NOT_FOUND, "unknown-venue", "Unknown venue"),
    /// An event of that id exists.
    EventExists = (CONFLICT, "event-exists", "The event exists already"),
    /// A seating plan that breaks rules; `errors` names every fault.
    PlanInvalid = (UNPROCESSABLE_ENTITY, "plan-invalid", "The seating plan is invalid"),
    /// Seats that the event does not have.
    UnknownSeats = (NOT_FOUND, "unknown-seats", "Unknown seats"),
    /// Seats that somebody else has.
    SeatsUnavailable = (CONFLICT, "seats-unavailable", "Some seats are no longer available"),
    /// More seats than one buyer may have.
    LimitExceeded = (UNPROCESSABLE_ENTITY, "limit-exceeded", "Ticket limit exceeded"),
    /// Sales have not begun.
    OnsaleNotStarted = (FORBIDDEN, "onsale-not-started", "The sale has not started"),
    /// The event is offsale, postponed or canceled.
    EventNotOnSale = (CONFLICT, "event-not-on-sale", "The event is not on sale"),
    /// The hold's time is over.
    HoldExpired = (GONE, "hold-expired", "The hold has expired"),
    /// The hold is being paid.
    HoldInPurchase = (CONFLICT, "hold-in-purchase", "The hold is being purchased"),
    /// A hold can be extended once.
    AlreadyExtended = (CONFLICT, "already-extended", "The hold was extended already"),
    /// The seat store is being rebuilt.
    HoldsRebuilding = (SERVICE_UNAVAILABLE, "holds-rebuilding", "Holds are being rebuilt"),
    /// Too busy, or a store is slow or gone.
    Overloaded = (SERVICE_UNAVAILABLE, "overloaded", "The service is overloaded"),
    /// Changes since that version are no longer kept.
    VersionTooOld = (GONE, "version-too-old", "That version is too old"),
    /// No `Idempotency-Key`.
    IdempotencyKeyMissing = (BAD_REQUEST, "idempotency-key-missing", "Idempotency-Key is missing"),
    /// The key was used for another request.
    IdempotencyKeyReused = (UNPROCESSABLE_ENTITY, "idempotency-key-reused", "Idempotency-Key was used for another request"),
    /// The first request of that key is still running.
    IdempotencyInProgress = (CONFLICT, "idempotency-in-progress", "The first request is still running"),
    /// The card was declined.
    PaymentFailed = (PAYMENT_REQUIRED, "payment-failed", "The payment failed"),
    /// The payment provider could not be reached before money moved.
    PaymentProviderUnavailable = (SERVICE_UNAVAILABLE, "payment-provider-unavailable", "The payment provider is unavailable"),
    /// Seats went to somebody else while the payment ran.
    SeatsReassigned = (CONFLICT, "seats-reassigned", "The seats were reassigned"),
    /// A webhook that the provider did not sign.
    WebhookSignatureInvalid = (BAD_REQUEST, "webhook-signature-invalid", "The webhook's signature is invalid"),
}

/// A refusal on its way to the client.
#[derive(Debug, Clone)]
pub struct Problem {
    kind: Kind,
    detail: Option<String>,
    extensions: Map<String, Value>,
    retry_after_secs: Option<u64>,
}

/// What a client of a busy service is told to wait when nobody knows better.
const RETRY_AFTER_SECS: u64 = 1;

impl Problem {
    /// A problem of `kind` with nothing else said.
    pub fn new(kind: Kind) -> Self {
        let retry_after_secs = (kind.status() == StatusCode::SERVICE_UNAVAILABLE).then_some(RETRY_AFTER_SECS);
        Self { kind, detail: None, extensions: Map::new(), retry_after_secs }
    }

    /// A fault of ours: the chain is logged here, once, and the client learns only that it happened.
    pub fn internal(error: &dyn std::error::Error) -> Self {
        let mut chain = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            chain.push_str(": ");
            chain.push_str(&cause.to_string());
            source = cause.source();
        }
        tracing::error!(error = chain, "internal error");
        Self::new(Kind::Internal)
    }

    /// Says what is particular to this occurrence.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// Adds an extension member.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.extensions.insert(name.to_owned(), value.into());
        self
    }

    /// Tells the client when to try again.
    #[must_use]
    pub fn retry_after(mut self, secs: u64) -> Self {
        self.retry_after_secs = Some(secs);
        self
    }

    /// The kind.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The document.
    pub fn document(&self) -> Value {
        let mut document = self.extensions.clone();
        document.insert("type".into(), json!(format!("/problems/{}", self.kind.slug())));
        document.insert("title".into(), json!(self.kind.title()));
        document.insert("status".into(), json!(self.kind.status().as_u16()));
        if let Some(detail) = &self.detail {
            document.insert("detail".into(), json!(detail));
        }
        Value::Object(document)
    }
}

impl From<Kind> for Problem {
    fn from(kind: Kind) -> Self {
        Self::new(kind)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.document().to_string()));
        *response.status_mut() = self.kind.status();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(secs) = self.retry_after_secs {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(secs));
        }
        response
    }
}

/// What a handler answers when it refuses.
pub type Refusal<T> = Result<T, Problem>;

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_kind_is_documented_once() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/problems.md");
        let text = std::fs::read_to_string(path).unwrap();
        let mut seen = HashSet::new();
        for kind in Kind::ALL {
            assert!(seen.insert(kind.slug()), "{} stands twice", kind.slug());
            assert!(
                text.contains(&format!("`{}`", kind.slug())),
                "{} is not in docs/problems.md",
                kind.slug()
            );
            assert!(kind.status().is_client_error() || kind.status().is_server_error());
        }
    }

    /// A fault of ours cannot be provoked on purpose.
    const UNTESTED: &[Kind] = &[Kind::Internal];

    #[test]
    fn every_kind_is_met_by_some_test() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it");
        let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
        let tests: String =
            files.filter(|path| path.is_file()).map(|path| std::fs::read_to_string(path).unwrap()).collect();
        for kind in Kind::ALL.iter().filter(|kind| !UNTESTED.contains(kind)) {
            assert!(tests.contains(&format!("\"{}\"", kind.slug())), "no test meets {}", kind.slug());
        }
    }

    #[test]
    fn the_document_carries_type_title_status_and_extensions() {
        let problem =
            Problem::new(Kind::LimitExceeded).with("limit", 6).with("used", 4).detail("six at most");
        assert_eq!(
            problem.document(),
            json!({"type": "/problems/limit-exceeded", "title": "Ticket limit exceeded", "status": 422,
                   "detail": "six at most", "limit": 6, "used": 4})
        );
    }

    #[test]
    fn what_is_unavailable_says_when_to_retry() {
        let response = Problem::new(Kind::HoldsRebuilding).into_response();
        assert_eq!(response.status(), 503);
        assert_eq!(response.headers()[header::RETRY_AFTER], "1");
        assert_eq!(response.headers()[header::CONTENT_TYPE], "application/problem+json");
    }
}
