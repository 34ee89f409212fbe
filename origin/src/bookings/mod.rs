//! Bookings: what a buyer owns, how they read it, and how they give it back.

pub mod booking;
pub mod cancel;
pub mod cursor;
pub mod http;
pub mod store;

pub use http::router;
