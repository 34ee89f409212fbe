//! The rules of the edge, without I/O.
