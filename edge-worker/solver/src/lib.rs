//! The proof-of-work search loop for browsers.
