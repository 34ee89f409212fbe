//! Tokens, challenges and proofs that both sides of Fairgate sign or check.
//!
//! **Scope.** The three tokens of a fan's way through the room ([`ticket`], [`admission`], [`session`]), the
//! proof that the bearer holds the key a token names ([`dpop`]), the stateless proof-of-work [`challenge`] and
//! its arithmetic ([`pow`]), and the keys behind them ([`keys`], [`jwks`], [`thumbprint`]).
//!
//! **Not here.** I/O, clocks and randomness: `now` is always an argument in Unix seconds and random bytes are
//! handed in. Revocation, single use and rotation schedules need a store and belong to the hosts.
//!
//! **Invariants.** Only verification makes a [`jws::Verified`] value. The token's kind is chosen by the module
//! called, never by the token: there is no "any algorithm" or "any type" path. `exp` has no leeway; `iat` and
//! `nbf` have [`jws::SKEW_SECS`]. Base64url is canonical, so one token has exactly one spelling.

pub mod admission;
mod base64url;
pub mod challenge;
pub mod dpop;
pub mod ids;
pub mod jwks;
pub mod jws;
pub mod keys;
pub mod pow;
pub mod session;
mod text;
pub mod thumbprint;
pub mod ticket;
