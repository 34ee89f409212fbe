//! Reading one cookie out of whatever a client sends.

/// The value of the first non-empty cookie called `name`.
///
/// Tolerant on purpose: other cookies may come first, be malformed, empty or not ours, and none of that is an error.
/// Quotes around the value are dropped (RFC 6265 lets a server send them).
pub fn cookie<'a>(header: &'a str, name: &str) -> Option<&'a str> {
    header.split(';').find_map(|pair| {
        let (key, value) = pair.split_once('=')?;
        if key.trim() != name {
            return None;
        }
        let value = value.trim();
        let value = value.strip_prefix('"').and_then(|v| v.strip_suffix('"')).unwrap_or(value);
        (!value.is_empty()).then_some(value)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn other_cookies_first_none_or_malformed_are_no_exception() {
        for (header, expected) in [
            ("", None),
            (";;; ;", None),
            ("=", None),
            ("a", None),
            ("fairgate-evt", None),
            ("fairgate-evt=", None),
            ("fairgate-evt=abc", Some("abc")),
            ("a=1; b; =x; fairgate-evt=abc", Some("abc")),
            ("a=1;fairgate-evt = abc ;c=2", Some("abc")),
            ("fairgate-evt=; fairgate-evt=abc", Some("abc")),
            ("fairgate-evt=\"abc\"", Some("abc")),
            ("fairgate-evt=a=b", Some("a=b")),
            ("xfairgate-evt=abc", None),
            ("fairgate-evt2=abc; FAIRGATE-EVT=abc", None),
            ("fairgate-evt=\"", Some("\"")),
            ("ключ=значение; fairgate-evt=ok", Some("ok")),
        ] {
            assert_eq!(cookie(header, "fairgate-evt"), expected, "{header}");
        }
    }

    proptest! {
        #[test]
        fn never_panics_and_finds_what_was_put_in(before in "[^;]{0,40}", value in "[A-Za-z0-9._-]{1,60}") {
            prop_assume!(before.split('=').next().is_none_or(|name| name.trim() != "n"));
            let header = format!("{before}; n={value}");
            prop_assert_eq!(cookie(&header, "n"), Some(&*value));
        }

        #[test]
        fn anything_at_all_is_read(header in ".{0,200}") {
            let _ = cookie(&header, "n");
        }
    }
}
