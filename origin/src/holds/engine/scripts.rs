//! The scripts, one per transition, compiled in from the `.lua` files beside this one.

use redis::Script;

macro_rules! with_prelude {
    ($file:literal) => {
        Script::new(concat!(include_str!("prelude.lua"), include_str!($file)))
    };
}

/// Every script, hashed once.
pub(crate) struct Scripts {
    pub(crate) hold: Script,
    pub(crate) release: Script,
    pub(crate) extend: Script,
    pub(crate) claim: Script,
    pub(crate) unclaim: Script,
    pub(crate) settle: Script,
    pub(crate) free: Script,
    pub(crate) due: Script,
    pub(crate) expire: Script,
    pub(crate) load: Script,
    pub(crate) owned: Script,
    pub(crate) snapshot: Script,
    pub(crate) begin: Script,
    pub(crate) finish: Script,
}

impl Scripts {
    pub(crate) fn new() -> Self {
        Self {
            hold: with_prelude!("hold.lua"),
            release: with_prelude!("release.lua"),
            extend: with_prelude!("extend.lua"),
            claim: with_prelude!("claim.lua"),
            unclaim: with_prelude!("unclaim.lua"),
            settle: with_prelude!("settle.lua"),
            free: with_prelude!("free.lua"),
            due: with_prelude!("due.lua"),
            expire: with_prelude!("expire.lua"),
            load: with_prelude!("load.lua"),
            owned: with_prelude!("owned.lua"),
            snapshot: with_prelude!("snapshot.lua"),
            begin: Script::new(include_str!("begin.lua")),
            finish: Script::new(include_str!("finish.lua")),
        }
    }
}
