//! Sending a fan back to where they came from, and nowhere else.

/// The part of `target` that may be followed on our own origin: a path with its query and fragment, byte for byte.
///
/// Accepted are absolute paths and full URLs of one of `origins`. Everything a browser could read as another host is
/// refused: `//host`, `/\host`, other schemes, user info, and control characters or blanks, which browsers strip
/// before they parse.
pub fn own_target<'a>(target: &'a str, origins: &[String]) -> Option<&'a str> {
    if target.bytes().any(|byte| byte <= b' ' || byte == 0x7f || byte == b'\\') {
        return None;
    }
    let path = if target.starts_with('/') {
        target
    } else {
        let rest = origins.iter().find_map(|origin| target.strip_prefix(origin.as_str()))?;
        match rest.as_bytes().first() {
            None => "/",
            Some(b'/') => rest,
            // `https://tickets.example.evil.org`, `https://tickets.example@evil.org`, `…:444`
            Some(_) => return None,
        }
    };
    (!path.starts_with("//")).then_some(path)
}

/// `text` as the value of a query parameter: only RFC 3986 unreserved characters stand for themselves, so that
/// duplicate keys, `+`, `%2B` and a fragment inside it survive one round of decoding unchanged.
pub fn percent_encode(text: &str) -> String {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let mut encoded = String::with_capacity(text.len() + text.len() / 2);
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            encoded.push(char::from(byte));
        } else {
            encoded.push('%');
            for nibble in [byte >> 4, byte & 15] {
                encoded.push(char::from(HEX.get(usize::from(nibble)).copied().unwrap_or(b'0')));
            }
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn origins() -> Vec<String> {
        vec!["https://tickets.example".into(), "http://localhost:8787".into()]
    }

    #[test]
    fn own_paths_return_intact() {
        for target in [
            "/",
            "/seats?event=evt_1",
            "/a?x=1&x=2&y=a+b&z=%2B#row-3",
            "/a//b?u=https://evil.example/",
            "/%2F%2Fevil",
        ] {
            assert_eq!(own_target(target, &origins()), Some(target));
        }
        assert_eq!(own_target("https://tickets.example/a?b#c", &origins()), Some("/a?b#c"));
        assert_eq!(own_target("https://tickets.example", &origins()), Some("/"));
    }

    #[test]
    fn no_open_redirect() {
        for target in [
            "",
            "evil.example",
            "//evil.example",
            "///evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "/\t/evil.example",
            "\t//evil.example",
            " //evil.example",
            "/\n/evil.example",
            "https://evil.example/",
            "https:evil.example",
            "https://tickets.example.evil.org/",
            "https://tickets.example@evil.org/",
            "https://tickets.example:444/",
            "https://tickets.example//evil.org",
            "javascript:alert(1)",
            "data:text/html,x",
        ] {
            assert_eq!(own_target(target, &origins()), None, "{target:?}");
        }
    }

    fn decode(text: &str) -> Vec<u8> {
        let mut bytes = text.bytes();
        let mut decoded = Vec::new();
        while let Some(byte) = bytes.next() {
            if byte == b'%' {
                let pair = [bytes.next().unwrap(), bytes.next().unwrap()];
                decoded.push(u8::from_str_radix(std::str::from_utf8(&pair).unwrap(), 16).unwrap());
            } else {
                decoded.push(byte);
            }
        }
        decoded
    }

    proptest! {
        #[test]
        fn encoding_round_trips(text in ".{0,100}") {
            let encoded = percent_encode(&text);
            prop_assert!(encoded.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._~%".contains(&b)));
            prop_assert_eq!(decode(&encoded), text.as_bytes());
        }

        #[test]
        fn what_is_accepted_is_a_plain_path(target in "[/\\\\a-z.:@?#\\t ]{0,30}") {
            if let Some(path) = own_target(&target, &origins()) {
                prop_assert!(path.starts_with('/') && !path.starts_with("//"));
                prop_assert!(!path.contains(['\\', '\t', ' ']));
            }
        }
    }
}
