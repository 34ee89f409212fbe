//! The edge Worker.
