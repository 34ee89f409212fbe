//! Faults of a plan, each with a pointer into it.

use std::collections::HashMap;

use crate::body::FieldError;

/// A plan with more faults than this is hopeless; the rest is counted, not listed.
const FAULTS_MAX: usize = 500;

/// Collects faults so that all of them are named at once.
#[derive(Debug, Default)]
pub(super) struct Faults {
    faults: Vec<FieldError>,
    unlisted: usize,
}

impl Faults {
    pub(super) fn push(&mut self, pointer: &str, detail: impl Into<String>) {
        if self.faults.len() < FAULTS_MAX {
            self.faults.push(FieldError::new(pointer, detail));
        } else {
            self.unlisted += 1;
        }
    }

    /// The faults, or `value` if there are none.
    pub(super) fn or<T>(mut self, value: T) -> Result<T, Vec<FieldError>> {
        if self.faults.is_empty() {
            return Ok(value);
        }
        if self.unlisted > 0 {
            self.faults.push(FieldError::new("", format!("{} more faults are not listed", self.unlisted)));
        }
        Err(self.faults)
    }
}

/// Labels that must be unique, with where each was first met.
#[derive(Debug, Default)]
pub(super) struct Unique(HashMap<String, String>);

impl Unique {
    /// Notes a label; a fault if it was met before.
    pub(super) fn note(&mut self, label: &str, pointer: &str, what: &str, faults: &mut Faults) {
        if let Some(first) = self.0.get(label) {
            faults.push(pointer, format!("{what} \"{label}\" is also at {first}"));
        } else {
            self.0.insert(label.to_owned(), pointer.to_owned());
        }
    }
}
