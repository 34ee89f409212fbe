//! Which of an origin's documents an isolate keeps copies of, and under which names.

/// What the origin serves to everyone alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copy {
    /// `…/layout` and what it refers to.
    Layout,
    /// `…/seatmap`.
    Map,
    /// `…/seatmap/changes`.
    Changes,
}

/// Whether the origin reads this value.
type Allows = fn(&str) -> bool;

impl Copy {
    /// The query as part of a copy's name: only what the origin reads, with its only spellings, in one order. Every
    /// name is a copy in an isolate's memory, so a stranger must not be able to make them up. Parameters the origin
    /// does not read are dropped; `None`: one that it reads has a value that it would refuse.
    pub fn query(self, query: &str) -> Option<String> {
        let read: &[(&str, Allows)] = match self {
            Self::Layout => &[],
            Self::Map => &[
                ("format", |value| matches!(value, "bin" | "json")),
                ("planes", |value| matches!(value, "1" | "2")),
            ],
            Self::Changes => &[("since", is_number)],
        };
        let mut canonical = String::new();
        for (name, allows) in read {
            let mut values =
                query.split('&').filter_map(|pair| pair.split_once('=')).filter(|(key, _)| key == name);
            let Some((_, value)) = values.next() else { continue };
            if !allows(value) || values.next().is_some() {
                return None;
            }
            canonical.push(if canonical.is_empty() { '?' } else { '&' });
            canonical.push_str(name);
            canonical.push('=');
            canonical.push_str(value);
        }
        Some(canonical)
    }
}

/// A number of 64 bits in the one way it is written.
fn is_number(text: &str) -> bool {
    text.parse::<u64>().is_ok_and(|number| number.to_string() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_named_by_what_the_origin_reads() {
        for (copy, query, name) in [
            (Copy::Map, "", Some("")),
            (Copy::Map, "planes=2&cb=123&format=bin", Some("?format=bin&planes=2")),
            (Copy::Map, "since=5", Some("")),
            (Copy::Map, "format=xml", None),
            (Copy::Map, "format=bin&planes=02", None),
            (Copy::Map, "format=bin&format=json", None),
            (Copy::Layout, "format=bin&x", Some("")),
            (Copy::Changes, "since=18446744073709551615&planes=9", Some("?since=18446744073709551615")),
            (Copy::Changes, "since=05", None),
            (Copy::Changes, "since=+5", None),
            (Copy::Changes, "since=", None),
            (Copy::Changes, "since=18446744073709551616", None),
        ] {
            assert_eq!(copy.query(query).as_deref(), name, "{copy:?} {query}");
        }
    }
}
