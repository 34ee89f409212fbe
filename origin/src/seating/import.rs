//! Importing a plan: read, refuse or store whole.

use std::str::FromStr;

use serde::Serialize;
use sqlx::PgPool;
use unicode_normalization::UnicodeNormalization;
use utoipa::ToSchema;

use super::{
    csv,
    plan::{Category, Chart},
    seatsio, store,
};
use crate::{
    body::FieldError,
    db,
    ids::VenueId,
    problem::{Kind, Problem},
};

/// Formats plans come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// seats.io chart JSON.
    Seatsio,
    /// One seat a line.
    Csv,
}

impl Format {
    /// The word in the query.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Seatsio => "seatsio",
            Self::Csv => "csv",
        }
    }
}

/// Why a plan was not imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// No such format.
    #[error("the format {0:?} is unknown")]
    UnknownFormat(String),
    /// A format of the contract that this release does not read.
    #[error("the format {0:?} is not supported yet")]
    NotSupported(String),
    /// Not JSON, not UTF-8.
    #[error("the plan cannot be read: {0}")]
    Malformed(String),
    /// It breaks rules; every fault is named.
    #[error("the plan is invalid: {0:?}")]
    Invalid(Vec<FieldError>),
    /// Postgres.
    #[error(transparent)]
    Store(#[from] sqlx::Error),
    /// No randomness for an id.
    #[error(transparent)]
    Random(#[from] getrandom::Error),
}

impl FromStr for Format {
    type Err = ImportError;

    fn from_str(text: &str) -> Result<Self, ImportError> {
        match text {
            "seatsio" => Ok(Self::Seatsio),
            "csv" => Ok(Self::Csv),
            "pretix" | "fairgate" => Err(ImportError::NotSupported(text.to_owned())),
            _ => Err(ImportError::UnknownFormat(text.to_owned())),
        }
    }
}

impl From<ImportError> for Problem {
    fn from(error: ImportError) -> Self {
        match error {
            ImportError::UnknownFormat(_) => Problem::new(Kind::Malformed).detail(error.to_string()),
            ImportError::NotSupported(_) => Problem::new(Kind::NotSupported).detail(error.to_string()),
            ImportError::Malformed(detail) => Problem::new(Kind::Malformed).detail(detail),
            ImportError::Invalid(faults) => {
                Problem::new(Kind::PlanInvalid).with("errors", serde_json::json!(faults))
            }
            ImportError::Store(error) => error.into(),
            ImportError::Random(error) => Problem::internal(&error),
        }
    }
}

/// A venue that was imported.
#[derive(Debug, Serialize, ToSchema)]
pub struct Imported {
    /// The venue.
    #[schema(value_type = String)]
    pub venue_id: VenueId,
    /// How many seats it has.
    pub seats: usize,
    /// How many general admission areas.
    pub areas: usize,
    /// Its categories.
    pub categories: Vec<Category>,
    /// What was left out or looks odd.
    pub warnings: Vec<String>,
}

/// Reads a plan of a format; all its texts in NFC.
pub fn read(format: Format, body: &[u8]) -> Result<Chart, ImportError> {
    let text = std::str::from_utf8(body).map_err(|_| ImportError::Malformed("not UTF-8".into()))?;
    let text: String = text.nfc().collect();
    let chart = match format {
        Format::Seatsio => {
            let value = serde_json::from_str(&text).map_err(|e| ImportError::Malformed(e.to_string()))?;
            seatsio::read(&value)
        }
        Format::Csv => csv::read(&text),
    };
    let chart = chart.map_err(ImportError::Invalid)?;
    // JSON may spell it as an escape, so the texts are looked at and not the bytes; Postgres stores none.
    if texts(&chart).any(|text| text.contains('\0')) {
        return Err(ImportError::Malformed("a text has a NUL character".into()));
    }
    Ok(chart)
}

/// Every text of a chart that is stored.
fn texts(chart: &Chart) -> impl Iterator<Item = &str> {
    let seats = chart.seats.iter().flat_map(|seat| {
        [&seat.seat_id, &seat.section, &seat.row, &seat.number, &seat.category].map(String::as_str)
    });
    let areas = chart.areas.iter().flat_map(|area| [area.area.as_str(), area.category.as_str()]);
    let categories =
        chart.categories.iter().flat_map(|category| [category.id.as_str(), category.name.as_str()]);
    std::iter::once(chart.name.as_str()).chain(categories).chain(seats).chain(areas)
}

/// Imports a plan as a new venue, or stores nothing.
pub async fn import(pool: &PgPool, format: Format, body: &[u8]) -> Result<Imported, ImportError> {
    let chart = std::sync::Arc::new(read(format, body)?);
    let venue = VenueId::fresh()?;
    let (stored, venue_id) = (chart.clone(), venue.clone());
    db::transact("import_venue", pool, move |tx| {
        let (chart, venue) = (stored.clone(), venue_id.clone());
        Box::pin(async move { store::insert_venue(tx, &venue, format.as_str(), &chart).await })
    })
    .await?;
    Ok(Imported {
        venue_id: venue,
        seats: chart.seats.len(),
        areas: chart.areas.len(),
        categories: chart.categories.clone(),
        warnings: chart.warnings.clone(),
    })
}
