//! Small plans and events.

use origin::ids::random_text;
use serde_json::{Value, json};

/// A chart of rows A, B, … with seats 1, 3, 5, … of one category.
pub(crate) fn hall(rows: usize, seats: usize) -> Value {
    let row = |r: usize| {
        let seat = |n: usize| json!({"label": (2 * n + 1).to_string(), "x": n * 10, "y": r * 12});
        let label = char::from(b'A' + u8::try_from(r).unwrap()).to_string();
        json!({"label": label, "categoryKey": 1, "seats": (0..seats).map(seat).collect::<Vec<_>>()})
    };
    json!({"name": "Saal", "categories": {"list": [{"key": 1, "label": "Parkett"}]},
           "subChart": {"rows": (0..rows).map(row).collect::<Vec<_>>()}})
}

pub(crate) fn event_body(venue: &str) -> Value {
    json!({"event_id": format!("evt_{}", random_text().unwrap()), "title": "Příliš žluťoučký 🎭", "venue_id": venue,
           "starts_at": "2027-06-05T19:30:00", "timezone": "Europe/Madrid", "onsale_at": "2024-01-01T10:00:00Z",
           "currency": "EUR", "prices": {"Parkett": 4500}})
}
