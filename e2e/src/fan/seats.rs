//! Choosing seats on the map as a person does: near the front, next to each other, like everybody else.

use serde_json::Value;

use super::chance::Chance;

/// One seat of the layout, by its index.
#[derive(Debug, Clone)]
struct Seat {
    id: String,
    row: String,
    accessible: bool,
}

/// The immutable layout. One copy serves the crowd, as one browser cache entry serves a fan for ever.
#[derive(Debug)]
pub struct Layout {
    seats: Vec<Seat>,
}

/// Fans start looking this near to the front: a few hundred seats that everybody wants.
const WANTED: usize = 400;
/// Header of the packed map: `FGM1`, u64 version, u32 seats.
const HEADER: usize = 16;

impl Layout {
    /// Reads `GET …/layout`.
    #[must_use]
    pub fn parse(body: &Value) -> Option<Self> {
        let seats = body["seats"].as_array()?;
        let seat = |seat: &Value| {
            Some(Seat {
                id: seat["seat_id"].as_str()?.to_owned(),
                row: format!("{}/{}", seat["section"], seat["row"]),
                accessible: seat["accessible"].as_bool().unwrap_or(false),
            })
        };
        Some(Self { seats: seats.iter().map(seat).collect::<Option<_>>()? })
    }

    /// How many seats.
    #[must_use]
    pub fn len(&self) -> usize {
        self.seats.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.seats.is_empty()
    }

    /// Chooses up to `wanted` free neighbours; `None` when nothing is free. Errors when the map is not of this layout.
    pub fn choose(
        &self,
        map: &[u8],
        wanted: usize,
        chance: &mut Chance,
    ) -> Result<Option<Vec<String>>, MapError> {
        let free = self.free(map)?;
        if free.is_empty() {
            return Ok(None);
        }
        let start = chance.below(free.len().min(WANTED));
        let mut chosen: Vec<usize> = Vec::with_capacity(wanted);
        for &index in &free[start..] {
            if chosen
                .last()
                .is_some_and(|last| last + 1 != index || self.seats[*last].row != self.seats[index].row)
            {
                chosen.clear();
            }
            chosen.push(index);
            if chosen.len() == wanted {
                break;
            }
        }
        Ok(Some(chosen.iter().map(|index| self.seats[*index].id.clone()).collect()))
    }

    /// The free seats that are meant for everybody.
    fn free(&self, map: &[u8]) -> Result<Vec<usize>, MapError> {
        let header = map.get(..HEADER).ok_or(MapError::Short)?;
        if &header[..4] != b"FGM1" {
            return Err(MapError::Magic);
        }
        let bits = map.get(HEADER..HEADER + self.seats.len().div_ceil(8)).ok_or(MapError::Short)?;
        Ok((0..self.seats.len())
            .filter(|index| bits[index / 8] >> (index % 8) & 1 == 1 && !self.seats[*index].accessible)
            .collect())
    }
}

/// The packed map is not what the contract says.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum MapError {
    /// It does not start with `FGM1`.
    #[error("the packed seat map does not start with FGM1")]
    Magic,
    /// It has fewer bits than the layout has seats.
    #[error("the packed seat map is shorter than the layout")]
    Short,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn layout() -> Layout {
        let seat = |i: usize| json!({"seat_id": format!("A-{i}"), "section": "A", "row": (i / 8).to_string(), "accessible": i == 3});
        Layout::parse(&json!({"seats": (0..16).map(seat).collect::<Vec<_>>()})).unwrap()
    }

    fn map(bits: [u8; 2]) -> Vec<u8> {
        let mut map = b"FGM1".to_vec();
        map.extend(1u64.to_be_bytes());
        map.extend(16u32.to_be_bytes());
        map.extend(bits);
        map
    }

    #[test]
    fn only_free_neighbours_of_one_row_are_chosen_and_no_accessible_place() {
        for seed in 0..200 {
            let chosen =
                layout().choose(&map([0b1001_1111, 0b1]), 2, &mut Chance::of(seed, 0)).unwrap().unwrap();
            assert!(!chosen.contains(&"A-3".to_owned()));
            assert_ne!(chosen, ["A-7", "A-8"]);
        }
        assert_eq!(layout().choose(&map([0, 0]), 2, &mut Chance::of(0, 0)), Ok(None));
    }

    #[test]
    fn a_wrong_map_is_said() {
        assert_eq!(layout().choose(b"FGM1", 1, &mut Chance::of(0, 0)), Err(MapError::Short));
        let mut other = map([1, 1]);
        other[3] = b'2';
        assert_eq!(layout().choose(&other, 1, &mut Chance::of(0, 0)), Err(MapError::Magic));
    }
}
