//! The booking service, as a program.
fn main() {}
