//! What the Room says, written out once for everybody who asks.

use edge_core::room as rules;
use edge_core::wire::RoomReply;

use super::document_of;
use super::room::{Failure, Shell};
use super::storage::StorageError;
use crate::clock::now;

impl Shell {
    /// The document every fan polls, written out at most once a second.
    pub(super) fn document(&self) -> Result<RoomReply, Failure> {
        let fresh = self
            .published
            .borrow()
            .as_ref()
            .filter(|document| now().since(document.generated_at) < rules::TICK_MS)
            .cloned();
        if let Some(document) = fresh {
            return Ok(RoomReply::Document(document));
        }
        let text = self.live.borrow().as_ref().map(|room| serde_json::to_string(&room.document(now())));
        let Some(text) = text.transpose().map_err(|error| StorageError::row("room", &error))? else {
            return Ok(RoomReply::Absent);
        };
        let document = document_of(text, now());
        *self.published.borrow_mut() = Some(document.clone());
        Ok(RoomReply::Document(document))
    }

    /// The answer with the document the gate works by. Hundreds of isolates ask for it each second, and it names every
    /// session that ended lately: it is written out when something changed, or when the clock may have changed its phase.
    pub(super) fn gate(&self) -> Result<String, Failure> {
        let at = now();
        let fresh = self.gate.borrow().as_ref().filter(|(made, _)| at.since(*made) < rules::TICK_MS).cloned();
        if let Some((_, text)) = fresh {
            return Ok(text);
        }
        let text = written(&self.read(|room| RoomReply::Gate(Box::new(room.gate_document(at)))))?;
        *self.gate.borrow_mut() = Some((at, text.clone()));
        Ok(text)
    }
}

/// An answer as it travels.
pub(super) fn written(answer: &RoomReply) -> Result<String, Failure> {
    Ok(serde_json::to_string(answer).map_err(|error| StorageError::row("room", &error))?)
}

/// A stored document, if there is one.
pub(super) fn found(text: Option<String>) -> RoomReply {
    text.map_or(RoomReply::Absent, |text| RoomReply::Document(document_of(text, now())))
}
