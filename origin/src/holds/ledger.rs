//! The ledger of holds, written behind.
