//! Reading JSON from outside: every fault is named by its JSON pointer, and all of them are reported at once.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One thing wrong with a document, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// RFC 6901 pointer to the faulty member.
    pub pointer: String,
    /// What is wrong with it, for a person.
    pub detail: String,
}

/// The members of one object, taken one by one; what is left at the end is unknown and a fault.
pub(super) struct Reader<'a> {
    pointer: String,
    members: Map<String, Value>,
    faults: &'a mut Vec<Fault>,
}

impl<'a> Reader<'a> {
    /// Starts on `value`, which must be an object.
    pub(super) fn new(pointer: &str, value: Value, faults: &'a mut Vec<Fault>) -> Self {
        let members = match value {
            Value::Object(members) => members,
            _ => {
                faults.push(Fault { pointer: pointer.into(), detail: "must be an object".into() });
                Map::new()
            }
        };
        Self { pointer: pointer.into(), members, faults }
    }

    /// Takes a member; `null` counts as absent.
    pub(super) fn take(&mut self, name: &str) -> Option<Value> {
        self.members.remove(name).filter(|value| !value.is_null())
    }

    /// The pointer of a member.
    pub(super) fn at(&self, name: &str) -> String {
        format!("{}/{}", self.pointer, name.replace('~', "~0").replace('/', "~1"))
    }

    /// Records a fault of a member.
    pub(super) fn fault(&mut self, name: &str, detail: impl Into<String>) {
        let pointer = self.at(name);
        self.faults.push(Fault { pointer, detail: detail.into() });
    }

    /// Records a fault of an entry of a member that is an array.
    pub(super) fn fault_of_entry(&mut self, name: &str, index: usize, detail: impl Into<String>) {
        let pointer = format!("{}/{index}", self.at(name));
        self.faults.push(Fault { pointer, detail: detail.into() });
    }

    /// The faults, for a reader of a nested object.
    pub(super) fn faults(&mut self) -> &mut Vec<Fault> {
        self.faults
    }

    /// A text of at most `max` characters.
    pub(super) fn text(&mut self, name: &str, max: usize) -> Option<String> {
        match self.take(name)? {
            Value::String(text) if text.chars().count() <= max => Some(text),
            Value::String(_) => self.refuse(name, format!("must have at most {max} characters")),
            _ => self.refuse(name, "must be a string"),
        }
    }

    /// An integer within bounds.
    pub(super) fn integer(&mut self, name: &str, min: u64, max: u64) -> Option<u64> {
        let value = self.take(name)?;
        match value.as_u64().filter(|n| (min..=max).contains(n)) {
            Some(n) => Some(n),
            None => self.refuse(name, format!("must be an integer from {min} to {max}")),
        }
    }

    /// A boolean.
    pub(super) fn boolean(&mut self, name: &str) -> Option<bool> {
        match self.take(name)? {
            Value::Bool(value) => Some(value),
            _ => self.refuse(name, "must be true or false"),
        }
    }

    /// An array of at most `max` entries.
    pub(super) fn array(&mut self, name: &str, max: usize) -> Option<Vec<Value>> {
        match self.take(name)? {
            Value::Array(values) if values.len() <= max => Some(values),
            Value::Array(_) => self.refuse(name, format!("must have at most {max} entries")),
            _ => self.refuse(name, "must be an array"),
        }
    }

    /// A required value: absence is a fault unless reading it already was one.
    pub(super) fn required<T>(&mut self, name: &str, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.members.get(name).is_none_or(Value::is_null) {
            self.members.remove(name);
            self.fault(name, "is required");
            return None;
        }
        read(self)
    }

    /// Ends the reading: what nobody took is unknown.
    pub(super) fn finish(self) {
        for name in self.members.keys() {
            let pointer = self.at(name);
            self.faults.push(Fault { pointer, detail: "is not a member we know".into() });
        }
    }

    fn refuse<T>(&mut self, name: &str, detail: impl Into<String>) -> Option<T> {
        self.fault(name, detail);
        None
    }
}
