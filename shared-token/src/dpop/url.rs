//! Comparison of `htu` with a request's URL (RFC 9449 §4.3, RFC 3986 §6.2).

/// Whether both name the same target, query and fragment aside. Scheme and host ignore case, a default port
/// may be written or not, an empty path is `/`. Nothing is allocated, and nothing else is normalised.
pub(super) fn same_target(claimed: &str, actual: &str) -> bool {
    match (Target::parse(claimed), Target::parse(actual)) {
        (Some(claimed), Some(actual)) => claimed.matches(&actual),
        _ => false,
    }
}

struct Target<'a> {
    scheme: &'a str,
    authority: &'a str,
    path: &'a str,
}

impl<'a> Target<'a> {
    fn parse(url: &'a str) -> Option<Self> {
        let end = url.find(['?', '#']).unwrap_or(url.len());
        let (scheme, rest) = url.get(..end)?.split_once("://")?;
        let path = rest.find('/').unwrap_or(rest.len());
        let (authority, path) = rest.split_at_checked(path)?;
        let default_port = match scheme {
            _ if scheme.eq_ignore_ascii_case("https") => ":443",
            _ if scheme.eq_ignore_ascii_case("http") => ":80",
            _ => return None,
        };
        let authority = authority.strip_suffix(default_port).unwrap_or(authority);
        Some(Self { scheme, authority, path: if path.is_empty() { "/" } else { path } })
    }

    fn matches(&self, other: &Self) -> bool {
        self.scheme.eq_ignore_ascii_case(other.scheme)
            && self.authority.eq_ignore_ascii_case(other.authority)
            && self.path == other.path
    }
}
