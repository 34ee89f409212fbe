//! The layout fans download once: immutable, addressed by the hash of its content.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::plan::Chart;
use crate::seat_map::Body;

/// A layout as served.
#[derive(Debug)]
pub struct Layout {
    /// Hash of the content.
    pub layout_id: String,
    /// The JSON document, plain and compressed.
    pub body: Body,
}

/// The document of a chart with an event's prices, and its id.
pub(crate) fn document(chart: &Chart, prices: &[(String, i64)], currency: &str) -> (String, Vec<u8>) {
    let seats: Vec<Value> = chart
        .seats
        .iter()
        .map(|seat| {
            json!({"seat_id": seat.seat_id, "section": seat.section, "row": seat.row, "number": seat.number,
                   "x": rounded(seat.x), "y": rounded(seat.y), "category": seat.category,
                   "accessible": seat.accessible, "companion": seat.companion,
                   "restricted_view": seat.restricted_view})
        })
        .collect();
    let areas: Vec<Value> = chart
        .areas
        .iter()
        .map(|area| json!({"area": area.area, "capacity": area.capacity, "category": area.category}))
        .collect();
    let categories: Vec<Value> = chart
        .categories
        .iter()
        .map(|category| {
            let price = prices.iter().find(|(id, _)| *id == category.id).map(|(_, price)| *price);
            json!({"id": category.id, "name": category.name, "price": price, "currency": currency})
        })
        .collect();
    let mut layout = json!({"seats": seats, "areas": areas, "categories": categories});
    // Half of SHA-256 names a layout: 128 bits, and shorter URLs.
    let layout_id = hex::encode(&Sha256::digest(layout.to_string())[..16]);
    layout["layout_url"] = json!(format!("/v1/layouts/{layout_id}"));
    layout["layout_id"] = json!(layout_id);
    (layout_id, layout.to_string().into_bytes())
}

/// Two decimals are a hundredth of a plan's unit, far below a pixel.
fn rounded(coordinate: f64) -> f64 {
    (coordinate * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seating::{Format, read};

    #[test]
    fn the_id_depends_on_content_and_prices_only() {
        let csv =
            "section,row,number,x,y,category,accessible,companion,restricted_view\n,A,1,0.123456,2,gold,,,\n";
        let chart = read(Format::Csv, csv.as_bytes()).unwrap();
        let prices = |amount| vec![("gold".to_owned(), amount)];
        let (id, body) = document(&chart, &prices(4500), "EUR");
        assert_eq!(document(&chart, &prices(4500), "EUR"), (id.clone(), body.clone()));
        assert_ne!(document(&chart, &prices(4600), "EUR").0, id);
        let value: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(value["layout_url"], format!("/v1/layouts/{id}"));
        assert_eq!(value["seats"][0]["x"], 0.12);
        assert_eq!(
            value["categories"][0],
            json!({"id": "gold", "name": "gold", "price": 4500, "currency": "EUR"})
        );
    }
}
