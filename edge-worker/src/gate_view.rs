//! The Room's internal document, as the gate works with it.

use std::cell::OnceCell;
use std::collections::HashSet;

use edge_core::gate::RouteTable;
use edge_core::wire::GateDocument;
use wasm_bindgen::JsValue;

use crate::http::prepared::Prepared;

/// The gate's document, prepared for lookups.
#[derive(Debug)]
pub(crate) struct GateView {
    /// The document.
    pub(crate) document: GateDocument,
    /// Its routes.
    pub(crate) routes: RouteTable,
    /// Sessions that ended lately.
    ended: HashSet<Box<str>>,
    /// When it was asked for.
    asked_at_ms: u64,
    /// What is said to whoever has no session.
    refusal: OnceCell<Prepared>,
}

impl GateView {
    /// The view of a document asked for at `asked_at_ms`.
    pub(crate) fn new(document: GateDocument, asked_at_ms: u64) -> Self {
        let ended = document.ended.iter().map(|sid| sid.as_str().into()).collect();
        Self {
            routes: RouteTable::of(&document.config),
            ended,
            asked_at_ms,
            refusal: OnceCell::new(),
            document,
        }
    }

    /// Age of what it says about ended sessions.
    pub(crate) fn age_ms(&self, now_ms: u64) -> u64 {
        now_ms.saturating_sub(self.asked_at_ms)
    }

    /// The refusal of whoever has no session: the same for all, made when first needed.
    pub(crate) fn refusal(
        &self,
        make: impl FnOnce() -> Result<Prepared, JsValue>,
    ) -> Result<&Prepared, JsValue> {
        match self.refusal.get() {
            Some(refusal) => Ok(refusal),
            None => make().map(|refusal| self.refusal.get_or_init(|| refusal)),
        }
    }

    /// Whether this session ended within the last minute.
    pub(crate) fn lists(&self, sid: &str) -> bool {
        self.ended.contains(sid)
    }
}
