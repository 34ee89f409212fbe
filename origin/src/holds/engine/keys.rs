//! Names of an event's keys in Redis. All share the hash tag `{ev:<id>}`, so they live in one slot of a cluster.
//!
//! Everything but `meta` carries the generation in its name: what an earlier generation left behind can be neither
//! read nor overwritten by mistake.

use sha2::{Digest, Sha256};

use crate::ids::{EventId, HoldId};

/// The keys of one event in one generation.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    tag: String,
    prefix: String,
    generation: u64,
}

impl Keys {
    pub(crate) fn new(event: &EventId, generation: u64) -> Self {
        let tag = format!("{{ev:{event}}}");
        Self { prefix: format!("{tag}:{generation}:"), tag, generation }
    }

    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    pub(crate) fn meta(&self) -> String {
        format!("{}:meta", self.tag)
    }

    fn named(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    pub(crate) fn available(&self) -> String {
        self.named("available")
    }

    pub(crate) fn sold(&self) -> String {
        self.named("sold")
    }

    pub(crate) fn blocked(&self) -> String {
        self.named("blocked")
    }

    pub(crate) fn log(&self) -> String {
        self.named("log")
    }

    pub(crate) fn expiries(&self) -> String {
        self.named("expiries")
    }

    pub(crate) fn claims(&self) -> String {
        self.named("claims")
    }

    pub(crate) fn versions(&self) -> String {
        self.named("versions")
    }

    /// KEYS 1..8 of every script.
    pub(crate) fn shared(&self) -> [String; 8] {
        [
            self.meta(),
            self.available(),
            self.sold(),
            self.blocked(),
            self.log(),
            self.expiries(),
            self.claims(),
            self.versions(),
        ]
    }

    pub(crate) fn hold(&self, hold: &HoldId) -> String {
        format!("{}h:{hold}", self.prefix)
    }

    pub(crate) fn identity(&self, identity: &str) -> String {
        format!("{}u:{identity}", self.prefix)
    }

    pub(crate) fn seat(&self, index: u32) -> String {
        format!("{}s:{index}", self.prefix)
    }

    /// The client's key is hashed: it may be long and of any characters.
    pub(crate) fn idempotency(&self, identity: &str, key: &str) -> String {
        format!("{}i:{}", self.prefix, hex::encode(Sha256::digest(format!("{identity} {key}"))))
    }

    /// Everything an earlier generation may have left.
    pub(crate) fn pattern_of(event: &EventId, generation: u64) -> String {
        format!("{{ev:{event}}}:{generation}:*")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_the_tag_and_all_but_meta_the_generation() {
        let keys = Keys::new(&"evt_1".parse().unwrap(), 7);
        let hold = "hold_x".parse().unwrap();
        let mut all: Vec<String> = keys.shared().into();
        all.extend([keys.hold(&hold), keys.identity("key:a"), keys.seat(3), keys.idempotency("key:a", "k")]);
        for key in &all {
            assert!(key.starts_with("{ev:evt_1}:"), "{key}");
        }
        assert!(all[1..].iter().all(|key| key.starts_with("{ev:evt_1}:7:")));
        assert_eq!(all[0], "{ev:evt_1}:meta");
        assert_eq!(keys.seat(3), "{ev:evt_1}:7:s:3");
    }
}
