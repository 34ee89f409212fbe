//! Reading the packed map with the changes that led to it.

use redis::Value;

use super::{
    Engine,
    answers::{impossible, list, number, text},
};
use crate::{holds::EngineError, ids::EventId};

/// Changes fetched in one read; a reader further behind starts over from the map itself.
pub(crate) const CHANGES_AT_ONCE: usize = 4000;

/// One entry of the change log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Sequence within the generation.
    pub sequence: u64,
    /// Seats that became available.
    pub available: Vec<u32>,
    /// Seats that became held.
    pub held: Vec<u32>,
    /// Seats that became sold or blocked.
    pub sold: Vec<u32>,
    /// All fields as logged, for the ledger.
    pub fields: Vec<(String, String)>,
}

impl Change {
    /// A field of the entry.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
    }
}

/// The packed map at one moment.
#[derive(Clone, Debug)]
pub struct MapRead {
    /// Generation of everything here.
    pub generation: u64,
    /// Sequence the map stands at.
    pub sequence: u64,
    /// One bit a seat, 1 = available, least significant bit first.
    pub available: Vec<u8>,
    /// 1 = sold.
    pub sold: Vec<u8>,
    /// 1 = blocked.
    pub blocked: Vec<u8>,
    /// The changes after the sequence asked for, oldest first, at most [`CHANGES_AT_ONCE`].
    pub changes: Vec<Change>,
}

impl Engine {
    /// The packed map and the changes after `since` (a sequence of the generation that is open).
    pub async fn read_map(&self, event: &EventId, since: u64) -> Result<MapRead, EngineError> {
        let answer = self
            .run(event, &self.0.scripts.snapshot, |_, call| {
                call.arg(since).arg(CHANGES_AT_ONCE);
            })
            .await?;
        if answer.word != "map" {
            return answer.unexpected();
        }
        let Some(Value::Array(entries)) = answer.rest.get(5) else { return Err(impossible("changes")) };
        Ok(MapRead {
            generation: answer.keys.generation(),
            sequence: number(&answer.text(0)?)?,
            available: answer.bytes(2)?,
            sold: answer.bytes(3)?,
            blocked: answer.bytes(4)?,
            changes: entries.iter().map(read_change).collect::<Result<_, _>>()?,
        })
    }
}

fn read_change(entry: &Value) -> Result<Change, EngineError> {
    let Value::Array(entry) = entry else { return Err(impossible("entry")) };
    let [id, Value::Array(flat)] = entry.as_slice() else { return Err(impossible("entry")) };
    let id = text(id)?;
    let sequence = id.split_once('-').map(|(_, sequence)| sequence).ok_or_else(|| impossible("entry id"))?;
    let mut change = Change { sequence: number(sequence)?, ..Change::default() };
    for pair in flat.chunks_exact(2) {
        let (name, value) = (text(&pair[0])?, text(&pair[1])?);
        match name.as_str() {
            "a" => change.available = list(&value)?,
            "h" => change.held = list(&value)?,
            "s" => change.sold = list(&value)?,
            _ => {}
        }
        change.fields.push((name, value));
    }
    Ok(change)
}
