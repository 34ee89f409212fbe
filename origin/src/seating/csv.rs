//! CSV plans: `section,row,number,x,y,category,accessible,companion,restricted_view`, one seat a line.
//!
//! Order in the file is adjacency within a row. Quoting as in RFC 4180.

use std::collections::HashMap;

use super::{
    faults::{Faults, Unique},
    plan::{Category, Chart, Seat},
};
use crate::body::FieldError;

const COLUMNS: [&str; 9] =
    ["section", "row", "number", "x", "y", "category", "accessible", "companion", "restricted_view"];

/// Reads a plan; all faults at once if it has any.
pub(super) fn read(text: &str) -> Result<Chart, Vec<FieldError>> {
    let mut faults = Faults::default();
    let mut lines = records(text.trim_start_matches('\u{feff}')).into_iter();
    let header = lines.next().unwrap_or_default();
    if header.iter().map(|name| name.trim()).ne(COLUMNS) {
        faults.push("/0", format!("the first line must be {}", COLUMNS.join(",")));
        return faults.or(Chart::default());
    }
    let (mut chart, mut ids) = (Chart { name: "CSV plan".into(), ..Chart::default() }, Unique::default());
    let mut last_of_row: HashMap<(String, String), usize> = HashMap::new();
    for (n, record) in (1..).zip(lines) {
        let pointer = format!("/{n}");
        if record.len() != COLUMNS.len() {
            faults.push(&pointer, format!("{} fields where {} belong", record.len(), COLUMNS.len()));
            continue;
        }
        let seat = seat(&record, &pointer, &mut faults);
        ids.note(&seat.seat_id, &pointer, "the seat", &mut faults);
        if !chart.categories.iter().any(|category| category.id == seat.category) {
            chart.categories.push(Category { id: seat.category.clone(), name: seat.category.clone() });
        }
        let index = chart.seats.len();
        let row = (seat.section.clone(), seat.row.clone());
        if let Some(left) = last_of_row.insert(row, index).and_then(|at| chart.seats.get_mut(at)) {
            left.right = u32::try_from(index).ok();
        }
        chart.seats.push(seat);
    }
    if chart.seats.is_empty() {
        faults.push("", "the plan has no seats");
    }
    faults.or(chart)
}

fn seat(record: &[String], pointer: &str, faults: &mut Faults) -> Seat {
    let text = |at: usize| record[at].trim().to_owned();
    let mut required = |at: usize| {
        let value = record[at].trim();
        if value.is_empty() {
            faults.push(&format!("{pointer}/{}", COLUMNS[at]), format!("{} is empty", COLUMNS[at]));
        }
        value.to_owned()
    };
    let (row, number, category) = (required(1), required(2), required(5));
    let mut coordinate = |at: usize| {
        record[at].trim().parse().ok().filter(|n: &f64| n.is_finite()).unwrap_or_else(|| {
            faults.push(&format!("{pointer}/{}", COLUMNS[at]), "not a number");
            0.0
        })
    };
    let (x, y) = (coordinate(3), coordinate(4));
    let mut flag = |at: usize| match record[at].trim().to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" => true,
        "false" | "0" | "no" | "" => false,
        _ => {
            faults.push(&format!("{pointer}/{}", COLUMNS[at]), "neither true nor false");
            false
        }
    };
    let (accessible, companion, restricted_view) = (flag(6), flag(7), flag(8));
    let section = text(0);
    let parts = [section.as_str(), row.as_str(), number.as_str()];
    let seat_id = parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join("-");
    Seat {
        seat_id,
        section,
        row,
        number,
        x,
        y,
        category,
        accessible,
        companion,
        restricted_view,
        right: None,
    }
}

/// Splits into records of fields; empty lines are skipped.
fn records(text: &str) -> Vec<Vec<String>> {
    let (mut records, mut record, mut field, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => record.push(std::mem::take(&mut field)),
            '\n' if !quoted => {
                record.push(std::mem::take(&mut field).trim_end_matches('\r').to_owned());
                records.push(std::mem::take(&mut record));
            }
            c => field.push(c),
        }
    }
    if !field.is_empty() || !record.is_empty() {
        record.push(field);
        records.push(record);
    }
    records.retain(|record| record.iter().any(|field| !field.trim().is_empty()));
    records
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "section,row,number,x,y,category,accessible,companion,restricted_view\n";

    #[test]
    fn order_in_the_file_is_adjacency_within_a_row() {
        let text = format!(
            "{HEADER}\"Rang, links\",A,1,0,0,gold,,,\r\n,B,1,0,1,gold,yes,,\n\"Rang, links\",A,3,1,0,gold,,,1\n"
        );
        let chart = read(&text).unwrap();
        assert_eq!(chart.seats[0].seat_id, "Rang, links-A-1");
        assert_eq!(chart.seats.iter().map(|s| s.right).collect::<Vec<_>>(), [Some(2), None, None]);
        assert!(chart.seats[1].accessible && chart.seats[2].restricted_view);
        assert_eq!(chart.categories.len(), 1);
    }

    #[test]
    fn faults_name_line_and_column() {
        let faults = read(&format!("{HEADER}S,A,1,0,zero,gold,,,\nS,A,1,0,0,,perhaps,,\nS,A\n")).unwrap_err();
        let pointers: Vec<_> = faults.iter().map(|fault| fault.pointer.as_str()).collect();
        assert_eq!(pointers, ["/1/y", "/2/category", "/2/accessible", "/2", "/3"]);
    }
}
