//! seats.io chart JSON: `subChart{rows,tables,generalAdmissionAreas,sections[].subChart}`, or one such per floor.
//!
//! A seat's category is its own, or its row's, or its section's. Adjacency is the order of the seats within a row;
//! two tables or two rows never touch. What cannot be sold here (booths) is left out with a warning; what is wrong is a
//! fault, and a plan with faults is refused whole.

use serde_json::Value;

use super::{
    faults::{Faults, Unique},
    plan::{Area, Category, Chart, Seat},
};
use crate::body::FieldError;

/// seats.io shows this where a label is missing.
const UNLABELED: &str = "?";

/// Reads a chart; all faults at once if it has any.
pub(super) fn read(chart: &Value) -> Result<Chart, Vec<FieldError>> {
    let mut reader = Reader::default();
    reader.categories(&chart["categories"]["list"]);
    let name = chart["name"].as_str().unwrap_or("Unnamed chart").to_owned();
    match (chart.get("subChart"), chart.get("subChartFloors").and_then(Value::as_array)) {
        (Some(sub), _) if sub.is_object() => reader.sub_chart(sub, "/subChart", &Place::default()),
        (_, Some(floors)) => {
            for (n, floor) in floors.iter().enumerate() {
                reader.sub_chart(floor, &format!("/subChartFloors/{n}"), &Place::default());
            }
        }
        _ => reader.faults.push("/subChart", "the chart has neither subChart nor subChartFloors"),
    }
    if reader.chart.seats.is_empty() && reader.chart.areas.is_empty() {
        reader.faults.push("", "the chart has nothing to sell");
    }
    let Reader { mut chart, faults, booths, .. } = reader;
    if booths > 0 {
        chart.warnings.push(format!("{booths} booths were left out: they cannot be sold"));
    }
    chart.name = name;
    faults.or(chart)
}

/// Where a part of the chart stands, and what it inherits.
#[derive(Clone, Default)]
struct Place {
    section: String,
    category: Option<String>,
    x: f64,
    y: f64,
}

#[derive(Default)]
struct Reader {
    chart: Chart,
    faults: Faults,
    seat_ids: Unique,
    areas: Unique,
    booths: usize,
}

/// Category keys are numbers in older charts and text in newer ones.
fn key(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn items<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value[name].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn coordinate(value: &Value) -> f64 {
    value.as_f64().filter(|n| n.is_finite()).unwrap_or(0.0)
}

fn flag(value: &Value, name: &str) -> bool {
    value[name].as_bool().unwrap_or(false)
}

impl Reader {
    fn categories(&mut self, list: &Value) {
        let mut keys = Unique::default();
        for (n, category) in list.as_array().map(Vec::as_slice).unwrap_or_default().iter().enumerate() {
            let pointer = format!("/categories/list/{n}");
            let Some(id) = key(&category["key"]) else {
                self.faults.push(&format!("{pointer}/key"), "the category has no key");
                continue;
            };
            keys.note(&id, &format!("{pointer}/key"), "the category key", &mut self.faults);
            let name = category["label"].as_str().unwrap_or(&id).to_owned();
            self.chart.categories.push(Category { id, name });
        }
        if self.chart.categories.is_empty() {
            self.faults.push("/categories/list", "the chart has no categories");
        }
    }

    fn sub_chart(&mut self, sub: &Value, pointer: &str, place: &Place) {
        for (n, row) in items(sub, "rows").iter().enumerate() {
            self.row(row, &format!("{pointer}/rows/{n}"), "row", place);
        }
        for (n, table) in items(sub, "tables").iter().enumerate() {
            self.row(table, &format!("{pointer}/tables/{n}"), "table", place);
        }
        for (n, area) in items(sub, "generalAdmissionAreas").iter().enumerate() {
            self.area(area, &format!("{pointer}/generalAdmissionAreas/{n}"), place);
        }
        self.booths += items(sub, "booths").len();
        for (n, section) in items(sub, "sections").iter().enumerate() {
            self.section(section, &format!("{pointer}/sections/{n}"), place);
        }
    }

    fn section(&mut self, section: &Value, pointer: &str, place: &Place) {
        let label = self.label(section, pointer, "section");
        let inner = Place {
            section: label,
            category: self.category(section, pointer).or_else(|| place.category.clone()),
            x: place.x + coordinate(&section["topLeft"]["x"]),
            y: place.y + coordinate(&section["topLeft"]["y"]),
        };
        self.sub_chart(&section["subChart"], &format!("{pointer}/subChart"), &inner);
    }

    fn row(&mut self, row: &Value, pointer: &str, what: &str, place: &Place) {
        let label = self.label(row, pointer, what);
        let inherited = self.category(row, pointer).or_else(|| place.category.clone());
        let mut previous: Option<usize> = None;
        for (n, seat) in items(row, "seats").iter().enumerate() {
            let pointer = format!("{pointer}/seats/{n}");
            let number = self.label(seat, &pointer, "seat");
            let category = self.category(seat, &pointer).or_else(|| inherited.clone());
            if category.is_none() && self.is_silent_about_category(seat) {
                self.faults.push(
                    &format!("{pointer}/categoryKey"),
                    "neither the seat nor its row or section has a category",
                );
            }
            let parts = [place.section.as_str(), label.as_str(), number.as_str()];
            let seat_id = parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join("-");
            if !number.is_empty() {
                self.seat_ids.note(&seat_id, &pointer, "the seat", &mut self.faults);
            }
            let index = self.chart.seats.len();
            if let Some(left) = previous.and_then(|at| self.chart.seats.get_mut(at)) {
                left.right = u32::try_from(index).ok();
            }
            previous = Some(index);
            self.chart.seats.push(Seat {
                seat_id,
                section: place.section.clone(),
                row: label.clone(),
                number,
                x: place.x + coordinate(&seat["x"]),
                y: place.y + coordinate(&seat["y"]),
                category: category.unwrap_or_default(),
                accessible: flag(seat, "accessible"),
                companion: flag(seat, "companionSeat"),
                restricted_view: flag(seat, "restrictedView"),
                right: None,
            });
        }
    }

    fn area(&mut self, area: &Value, pointer: &str, place: &Place) {
        let label = self.label(area, pointer, "area");
        if !label.is_empty() {
            self.areas.note(&label, pointer, "the area", &mut self.faults);
        }
        let category = self.category(area, pointer).or_else(|| place.category.clone());
        if category.is_none() && self.is_silent_about_category(area) {
            self.faults.push(&format!("{pointer}/categoryKey"), "the area has no category");
        }
        let capacity = area["capacity"].as_u64().and_then(|n| i32::try_from(n).ok()).map(i32::unsigned_abs);
        let Some(capacity) = capacity else {
            self.faults.push(&format!("{pointer}/capacity"), "the capacity is not a whole number");
            return;
        };
        self.chart.areas.push(Area { area: label, capacity, category: category.unwrap_or_default() });
    }

    /// A label in NFC-safe, trimmed form; a fault if it is missing.
    fn label(&mut self, value: &Value, pointer: &str, what: &str) -> String {
        match value["label"].as_str().map(str::trim) {
            Some(label) if !label.is_empty() && label != UNLABELED => label.to_owned(),
            _ => {
                self.faults.push(&format!("{pointer}/label"), format!("the {what} has no label"));
                String::new()
            }
        }
    }

    /// The own category; a fault if it names one the chart does not have.
    fn category(&mut self, value: &Value, pointer: &str) -> Option<String> {
        let id = key(&value["categoryKey"])?;
        if self.chart.categories.iter().any(|category| category.id == id) {
            return Some(id);
        }
        self.faults.push(&format!("{pointer}/categoryKey"), format!("the chart has no category {id}"));
        None
    }

    /// True unless the part names a category, known or (reported already) unknown.
    fn is_silent_about_category(&self, value: &Value) -> bool {
        key(&value["categoryKey"]).is_none()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn chart(rows: Value) -> Value {
        json!({"name": "Hall", "categories": {"list": [{"key": 1, "label": "A"}, {"key": "vip", "label": "B"}]},
               "subChart": {"rows": rows}})
    }

    #[test]
    fn category_comes_from_seat_then_row_then_section() {
        let mut value = chart(json!([]));
        value["subChart"]["sections"] = json!([{"label": "S", "categoryKey": 1, "topLeft": {"x": 100, "y": 50},
            "subChart": {"rows": [
                {"label": "R", "seats": [{"label": "1", "x": 1, "y": 2}, {"label": "2", "categoryKey": "vip"}]},
                {"label": "Q", "categoryKey": "vip", "seats": [{"label": "1"}]}]}}]);
        let seats = read(&value).unwrap().seats;
        let categories: Vec<_> = seats.iter().map(|seat| seat.category.as_str()).collect();
        assert_eq!(categories, ["1", "vip", "vip"]);
        assert_eq!((seats[0].seat_id.as_str(), seats[0].x, seats[0].y), ("S-R-1", 101.0, 52.0));
    }

    #[test]
    fn adjacency_is_order_in_the_row_not_arithmetic() {
        let rows = json!([{"label": "A", "categoryKey": 1, "seats": [{"label": "1"}, {"label": "3"}, {"label": "5"}]},
                          {"label": "B", "categoryKey": 1, "seats": [{"label": "6"}]}]);
        let right: Vec<_> = read(&chart(rows)).unwrap().seats.iter().map(|seat| seat.right).collect();
        assert_eq!(right, [Some(1), Some(2), None, None]);
    }

    #[test]
    fn every_fault_is_named() {
        let rows = json!([{"label": "A", "categoryKey": 1,
                           "seats": [{"label": "1"}, {"label": "1"}, {"label": "?"}, {"label": "4", "categoryKey": 7}]},
                          {"label": "B", "seats": [{"label": "1"}]}]);
        let faults = read(&chart(rows)).unwrap_err();
        let pointers: Vec<_> = faults.iter().map(|fault| fault.pointer.as_str()).collect();
        assert_eq!(
            pointers,
            [
                "/subChart/rows/0/seats/1",
                "/subChart/rows/0/seats/2/label",
                "/subChart/rows/0/seats/3/categoryKey",
                "/subChart/rows/1/seats/0/categoryKey"
            ]
        );
        assert!(faults[0].detail.contains("A-1") && faults[0].detail.contains("/subChart/rows/0/seats/0"));
    }

    #[test]
    fn hostile_shapes_are_faults_not_panics() {
        for value in [
            json!(null),
            json!([1]),
            json!({"subChart": 3}),
            json!({"subChart": {"rows": [3, null]}}),
            json!({"categories": {"list": [null]}, "subChart": {"rows": [{"seats": [[]]}]}}),
        ] {
            assert!(read(&value).is_err());
        }
    }
}
