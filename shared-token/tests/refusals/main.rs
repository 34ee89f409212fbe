//! Everything a verifier must refuse, minted validly and then damaged in one way.
#![expect(clippy::expect_used, reason = "fixed inputs that are valid by construction")]

#[path = "../mint/forge.rs"]
mod forge;
#[path = "../mint/mod.rs"]
mod mint;

mod challenges;
mod keys;
mod proofs;
mod tokens;
