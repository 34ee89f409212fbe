//! Seating plans: imported once per venue, immutable afterwards.

mod csv;
mod faults;
pub mod http;
mod import;
mod layout;
mod plan;
mod seatsio;
pub mod store;

pub use http::{admin_router, router};
pub use import::{Format, ImportError, Imported, import, read};
pub use layout::Layout;
pub(crate) use layout::document;
pub use plan::{Area, Category, Chart, Plan, Seat};
