//! The booking service.
