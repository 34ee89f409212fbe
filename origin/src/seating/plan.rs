//! A venue's seats with their explicit adjacency, and an event's prices for them.

use std::collections::HashMap;

/// One seat of a plan. Its index is its position in the plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Seat {
    /// Public id: the labels of section, row and seat.
    pub seat_id: String,
    /// Section, empty if the plan has none.
    pub section: String,
    /// Row (or table).
    pub row: String,
    /// Number within the row.
    pub number: String,
    /// Position in the plan's own coordinates.
    pub x: f64,
    /// Position in the plan's own coordinates.
    pub y: f64,
    /// Category id.
    pub category: String,
    /// A wheelchair place.
    pub accessible: bool,
    /// For the companion of somebody in a wheelchair place.
    pub companion: bool,
    /// Sold with a restricted view.
    pub restricted_view: bool,
    /// The neighbour to the right, as the plan says, never computed from numbers.
    pub right: Option<u32>,
}

/// A general admission area.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Area {
    /// Its label.
    pub area: String,
    /// People it takes.
    pub capacity: u32,
    /// Category id.
    pub category: String,
}

/// A price category.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
pub struct Category {
    /// The plan's key.
    pub id: String,
    /// The plan's label.
    pub name: String,
}

/// A seating plan as imported.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// The plan's name.
    pub name: String,
    /// Categories in the plan's order.
    pub categories: Vec<Category>,
    /// Seats; the order is the seat index.
    pub seats: Vec<Seat>,
    /// General admission areas.
    pub areas: Vec<Area>,
    /// What was left out or looks odd, without being wrong.
    pub warnings: Vec<String>,
}

/// An event's seats with prices, ready for questions.
#[derive(Debug)]
pub struct Plan {
    seats: Vec<Seat>,
    areas: Vec<Area>,
    prices: Vec<i64>,
    left: Vec<Option<u32>>,
    by_id: HashMap<String, u32>,
}

impl Plan {
    /// A plan over `seats` with prices by category id. None if a category has no price or adjacency points outside.
    pub fn new(seats: Vec<Seat>, areas: Vec<Area>, prices: &HashMap<String, i64>) -> Option<Self> {
        let per_seat =
            seats.iter().map(|seat| prices.get(&seat.category).copied()).collect::<Option<Vec<_>>>()?;
        let mut left = vec![None; seats.len()];
        let mut by_id = HashMap::with_capacity(seats.len());
        for (index, seat) in (0u32..).zip(&seats) {
            if let Some(right) = seat.right {
                *left.get_mut(right as usize)? = Some(index);
            }
            by_id.insert(seat.seat_id.clone(), index);
        }
        (by_id.len() == seats.len()).then_some(Self { seats, areas, prices: per_seat, left, by_id })
    }

    /// Number of seats.
    pub fn len(&self) -> u32 {
        u32::try_from(self.seats.len()).unwrap_or(u32::MAX)
    }

    /// Has it no seats?
    pub fn is_empty(&self) -> bool {
        self.seats.is_empty()
    }

    /// All seats in index order.
    pub fn seats(&self) -> &[Seat] {
        &self.seats
    }

    /// General admission areas.
    pub fn areas(&self) -> &[Area] {
        &self.areas
    }

    /// The seat at an index.
    pub fn seat(&self, index: u32) -> Option<&Seat> {
        self.seats.get(index as usize)
    }

    /// The seat's id; a made-up one for an index outside, which only a damaged store could name.
    pub fn seat_id(&self, index: u32) -> String {
        self.seat(index).map_or_else(|| format!("#{index}"), |seat| seat.seat_id.clone())
    }

    /// The index of a seat id.
    pub fn index_of(&self, seat_id: &str) -> Option<u32> {
        self.by_id.get(seat_id).copied()
    }

    /// The price of a seat in minor units.
    pub fn price(&self, index: u32) -> Option<i64> {
        self.prices.get(index as usize).copied()
    }

    /// The neighbour to the right.
    pub fn right_of(&self, index: u32) -> Option<u32> {
        self.seat(index)?.right
    }

    /// The neighbour to the left.
    pub fn left_of(&self, index: u32) -> Option<u32> {
        self.left.get(index as usize).copied().flatten()
    }
}
