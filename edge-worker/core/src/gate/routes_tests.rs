use proptest::prelude::*;

use super::*;

fn table(protect: &[(&str, &[&str], Proof)], bypass: &[&str]) -> RouteTable {
    let pattern = |path: &str, methods: &[&str]| {
        Pattern::new(path, &methods.iter().map(|method| (*method).to_owned()).collect::<Vec<_>>())
    };
    RouteTable {
        bypass: bypass.iter().map(|path| pattern(path, &[])).collect(),
        protect: protect.iter().map(|(path, methods, proof)| (pattern(path, methods), *proof)).collect(),
    }
}

const DPOP: Rule = Rule::Session { proof: Proof::Dpop };

#[test]
fn a_star_matches_slashes_too() {
    for (pattern, text, matches) in [
        ("/holds*", "/holds", true),
        ("/holds*", "/holds/h1/purchase", true),
        ("/holds*", "/hold", false),
        ("*", "", true),
        ("/a*c", "/abc", true),
        ("/a*c", "/abcd", false),
        ("/a*b*c", "/a/x/b/y/c", true),
        ("/a*b*b", "/ab", false),
        ("/a**b", "/ab", true),
        ("/exact", "/exact", true),
        ("/exact", "/exact/", false),
        ("/aa*aa", "/aaa", false),
    ] {
        assert_eq!(glob(pattern, text), matches, "{pattern} {text}");
    }
}

#[test]
fn methods_limit_a_rule_and_none_means_all() {
    let table = table(&[("/e/holds*", &["POST", "DELETE"], Proof::Dpop), ("/e/all", &[], Proof::None)], &[]);
    assert_eq!(table.rule("POST", "/e/holds"), DPOP);
    assert_eq!(table.rule("GET", "/e/holds"), Rule::Open);
    assert_eq!(table.rule("BREW", "/e/all"), Rule::Session { proof: Proof::None });
}

#[test]
fn head_is_judged_as_get() {
    let table = table(&[("/e/x", &["GET"], Proof::Dpop)], &[]);
    assert_eq!(table.rule("HEAD", "/e/x"), DPOP);
}

#[test]
fn another_spelling_is_no_way_around() {
    let table = table(&[("/e/holds*", &[], Proof::Dpop)], &["/e/assets/*"]);
    for path in [
        "/e/%68olds",
        "/e/%68%6F%6c%64s/h1",
        "//e/holds",
        "/e//holds",
        "/e/./holds",
        "/e/x/../holds",
        "/e/x/%2e%2e/holds",
        "/e/holds;a=b",
        "/e%2Fholds",
        "/e\\holds",
        "/e/%2568olds",
        "/e/%252568olds",
        "/e/HOLDS",
        "/E/Holds/H1",
    ] {
        assert_eq!(table.rule("POST", path), DPOP, "{path}");
    }
}

#[test]
fn a_lenient_origin_is_assumed_for_protection_and_never_for_bypass() {
    let table = table(&[("/Evt/all", &[], Proof::Dpop), ("/Evt/dir/", &[], Proof::Dpop)], &["/Evt/all/"]);
    for path in ["/Evt/all", "/evt/ALL", "/Evt/%41ll/", "/Evt/all//", "/Evt/dir", "/Evt/dir/"] {
        assert_eq!(table.rule("GET", path), DPOP, "{path}");
    }
    assert_eq!(table.rule("GET", "/Evt/all/"), Rule::Open, "bypassed as it stands");
    assert_eq!(table.rule("GET", "/evt/all/"), DPOP);
    assert_eq!(table.rule("GET", "/Evt/allx"), Rule::Open);
}

#[test]
fn decoding_twice_opens_no_bypass() {
    let table = table(&[("/e/*", &[], Proof::Dpop)], &["/e/assets/*"]);
    assert_eq!(table.rule("GET", "/e/assets/%252e%252e/checkout"), DPOP);
    assert_eq!(table.rule("GET", "/e/assets/a%20b.css"), Rule::Open);
}

#[test]
fn bypass_for_assets_does_not_open_checkout() {
    let table = table(&[("/e/*", &[], Proof::Dpop)], &["/e/assets/*"]);
    assert_eq!(table.rule("GET", "/e/assets/a.css"), Rule::Open);
    for path in
        ["/e/assets/../checkout", "/e/assets/%2e%2e/checkout", "/e/checkout", "/e/checkout?/e/assets/"]
    {
        assert_eq!(table.rule("GET", path), DPOP, "{path}");
    }
}

#[test]
fn the_stricter_of_two_rules_wins() {
    let table =
        table(&[("/e/*", &[], Proof::None), ("/e/pay", &[], Proof::Dpop), ("/e/p*", &[], Proof::None)], &[]);
    assert_eq!(table.rule("POST", "/e/pay"), DPOP);
    assert_eq!(table.rule("POST", "/e/pot"), Rule::Session { proof: Proof::None });
}

/// What `glob` means, without its speed.
fn reference(pattern: &[u8], text: &[u8]) -> bool {
    match pattern.split_first() {
        None => text.is_empty(),
        Some((b'*', rest)) => (0..=text.len()).any(|skip| reference(rest, &text[skip..])),
        Some((byte, rest)) => text.first() == Some(byte) && reference(rest, &text[1..]),
    }
}

proptest! {
    #[test]
    fn glob_agrees_with_its_meaning(pattern in "[ab/*]{0,8}", text in "[ab/]{0,12}") {
        prop_assert_eq!(glob(&pattern, &text), reference(pattern.as_bytes(), text.as_bytes()));
    }

    #[test]
    fn no_path_panics(path in ".{0,60}", odd in "/[%a-f0-9;./\\\\]{0,40}") {
        let table = table(&[("/*", &[], Proof::Dpop)], &["/a*"]);
        let _ = table.rule("GET", &path);
        let _ = table.rule("GET", &odd);
    }

    #[test]
    fn one_encoded_character_changes_nothing(at in 1_usize..7) {
        let table = table(&[("/holds", &[], Proof::Dpop)], &[]);
        let path = "/holds";
        if let Some(byte) = path.as_bytes().get(at) {
            let spelled = format!("{}%{:02x}{}", &path[..at], byte, &path[at + 1..]);
            prop_assert_eq!(table.rule("POST", &spelled), DPOP);
        }
    }
}
