//! Tokens, challenges and proofs that both sides of Fairgate sign or check.
