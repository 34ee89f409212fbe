//! The catalogue: events, their sale's status, and what operators do to them.

mod event;
pub mod http;
mod shelf;
pub mod store;

pub use event::{Event, EventStatus, OrphanRule};
pub use http::{admin_router, router};
pub use shelf::{OnShelf, Shelf};

#[cfg(test)]
pub(crate) use event::tests::event as sample_event;
