//! Tickets, admission tokens and sessions.

use crate::forge::{forge, segment};
use crate::mint::{self, ISS, NOW, OLD_SEED, SEED, event, ring, tokens, verdicts};
use shared_token::jws::{Expected, Expiry, MAX_TOKEN_BYTES, TokenError};
use shared_token::{admission, session, ticket};

const TYPES: [&str; 3] = ["ticket+jwt", "admission+jwt", "session+jwt"];

fn header(kind: usize) -> String {
    format!(r#"{{"alg":"EdDSA","typ":"{}","kid":"k1"}}"#, TYPES[kind])
}

/// Every kind with its header replaced by what `header` makes of its type, signed again.
fn refused_with(header: impl Fn(&str) -> String, error: TokenError) {
    let ring = ring();
    for (kind, token) in tokens(&ring).iter().enumerate() {
        let header = header(TYPES[kind]);
        let forged = forge(&header, &segment(token, 1), &SEED);
        assert_eq!(verdicts(&forged, &ring, NOW)[kind], Err(error), "{header}");
    }
}

#[test]
fn each_verifier_takes_its_own_kind_only() {
    let ring = ring();
    for (kind, token) in tokens(&ring).iter().enumerate() {
        for (verifier, verdict) in verdicts(token, &ring, NOW).into_iter().enumerate() {
            let expected = if verifier == kind { Ok(()) } else { Err(TokenError::WrongType) };
            assert_eq!(verdict, expected, "{} at the verifier of {}", TYPES[kind], TYPES[verifier]);
        }
    }
}

#[test]
fn any_other_algorithm() {
    for alg in ["none", "None", "HS256", "ES256", "RS256", "Ed25519", "eddsa", ""] {
        refused_with(
            |typ| format!(r#"{{"alg":"{alg}","typ":"{typ}","kid":"k1"}}"#),
            TokenError::WrongAlgorithm,
        );
    }
}

#[test]
fn no_signature_at_all() {
    let ring = ring();
    for (kind, token) in tokens(&ring).iter().enumerate() {
        let (signed, _) = token.rsplit_once('.').expect("a signature");
        assert_eq!(verdicts(&format!("{signed}."), &ring, NOW)[kind], Err(TokenError::Malformed));
        assert_eq!(verdicts(signed, &ring, NOW)[kind], Err(TokenError::Malformed));
    }
}

#[test]
fn unknown_duplicate_and_missing_header_members() {
    for extra in
        [r#","crit":["exp"]"#, r#","b64":false"#, r#","jwk":{}"#, r#","kid":"k1""#, r#","alg":"EdDSA""#]
    {
        refused_with(
            |typ| format!(r#"{{"alg":"EdDSA","typ":"{typ}","kid":"k1"{extra}}}"#),
            TokenError::Malformed,
        );
    }
    refused_with(|typ| format!(r#"{{"alg":"EdDSA","typ":"{typ}"}}"#), TokenError::Malformed);
    refused_with(|_| r#"{"alg":"EdDSA","kid":"k1"}"#.to_owned(), TokenError::Malformed);
    refused_with(|typ| format!(r#"{{"typ":"{typ}","kid":"k1"}}"#), TokenError::Malformed);
    refused_with(|typ| format!(r#"{{"alg":"EdDSA","typ":"{typ}","kid":"k1"}} {{}}"#), TokenError::Malformed);
    refused_with(|_| r#"{"alg":"EdDSA","typ":"JWT","kid":"k1"}"#.to_owned(), TokenError::WrongType);
}

#[test]
fn a_header_that_is_a_list() {
    refused_with(|typ| format!(r#"["EdDSA","{typ}","k1"]"#), TokenError::Malformed);
}

#[test]
fn keys_that_are_unknown_or_others() {
    refused_with(|typ| format!(r#"{{"alg":"EdDSA","typ":"{typ}","kid":"k9"}}"#), TokenError::UnknownKey);
    // Known, but not the one that signed.
    refused_with(|typ| format!(r#"{{"alg":"EdDSA","typ":"{typ}","kid":"k0"}}"#), TokenError::BadSignature);
}

#[test]
fn a_key_on_its_way_out_still_verifies() {
    let ring = ring();
    let token =
        forge(r#"{"alg":"EdDSA","typ":"ticket+jwt","kid":"k0"}"#, &segment(&tokens(&ring)[0], 1), &OLD_SEED);
    assert_eq!(verdicts(&token, &ring, NOW)[0], Ok(()));
}

#[test]
fn another_issuer_or_event() {
    let ring = ring();
    let (aud, other) = (event(), "evt_2".parse().expect("an event id"));
    let [ticket, admission, session] = tokens(&ring);
    for (iss, aud, error) in [
        ("https://fairgate.example.org", &aud, TokenError::WrongIssuer),
        ("https://fairgate.example/", &aud, TokenError::WrongIssuer),
        ("", &aud, TokenError::WrongIssuer),
        (ISS, &other, TokenError::WrongAudience),
    ] {
        let expected = Expected { iss, aud, now: NOW };
        assert_eq!(ticket::verify(&ticket, ring.key_set(), &expected).map(drop), Err(error));
        assert_eq!(admission::verify(&admission, ring.key_set(), &expected).map(drop), Err(error));
        assert_eq!(session::verify(&session, ring.key_set(), &expected).map(drop), Err(error));
        assert_eq!(session::verify_even_expired(&session, ring.key_set(), &expected).map(drop), Err(error));
    }
}

#[test]
fn expiry_has_no_leeway_and_the_start_has_thirty_seconds() {
    let ring = ring();
    for ((kind, token), life) in tokens(&ring).iter().enumerate().zip([86_400, 120, 900]) {
        let at = |now| verdicts(token, &ring, now)[kind];
        assert_eq!(at(NOW + life - 1), Ok(()));
        assert_eq!(at(NOW + life), Err(TokenError::Expired));
        assert_eq!(at(NOW - 30), Ok(()));
        assert_eq!(at(NOW - 31), Err(TokenError::NotYetValid));
        assert_eq!(at(0), Err(TokenError::NotYetValid));
        assert_eq!(at(u64::MAX), Err(TokenError::Expired));
    }
    let late = admission::Claims { nbf: NOW + 60, ..mint::admission_claims() };
    let token = admission::sign(&late, &ring);
    assert_eq!(verdicts(&token, &ring, NOW + 29)[1], Err(TokenError::NotYetValid));
    assert_eq!(verdicts(&token, &ring, NOW + 30)[1], Ok(()));
}

#[test]
fn an_ended_session_reads_but_only_where_asked() {
    let ring = ring();
    let [.., token] = tokens(&ring);
    let (aud, now) = (event(), NOW + 900);
    let expected = Expected { iss: ISS, aud: &aud, now };
    assert_eq!(session::verify(&token, ring.key_set(), &expected).map(drop), Err(TokenError::Expired));
    let ended =
        session::verify_even_expired(&token, ring.key_set(), &expected).expect("signature and event hold");
    assert_eq!(ended.into_claims(), mint::session_claims());
    let any = |expiry| session::verify_any_audience(&token, ring.key_set(), ISS, now, expiry).map(drop);
    assert_eq!(any(Expiry::Enforced), Err(TokenError::Expired));
    assert_eq!(any(Expiry::Ignored), Ok(()));
    let [ticket, ..] = tokens(&ring);
    assert_eq!(
        session::verify_any_audience(&ticket, ring.key_set(), ISS, NOW, Expiry::Ignored).map(drop),
        Err(TokenError::WrongType)
    );
}

#[test]
fn claims_that_are_missing_double_or_of_another_shape() {
    let ring = ring();
    for (kind, token) in tokens(&ring).iter().enumerate() {
        let payload = segment(token, 1);
        let verdict = |payload: &str| verdicts(&forge(&header(kind), payload, &SEED), &ring, NOW)[kind];
        assert_eq!(verdict(&payload), Ok(()));
        for (name, value) in serde_json::from_str::<serde_json::Map<_, _>>(&payload).expect("claims") {
            let mut claims: serde_json::Map<_, _> = serde_json::from_str(&payload).expect("claims");
            claims.remove(&name);
            let without = serde_json::to_string(&claims).expect("JSON");
            // A fan without JavaScript has no key; everything else is required.
            let expected = if name == "cnf" { Ok(()) } else { Err(TokenError::BadClaims) };
            assert_eq!(verdict(&without), expected, "without {name}");
            let twice = payload.replacen('{', &format!(r#"{{"{name}":{value},"#), 1);
            assert_eq!(verdict(&twice), Err(TokenError::BadClaims), "{name} twice");
        }
        for (from, to) in
            [("\"exp\":", "\"exp\":-"), ("\"iat\":", "\"iat\":0.5e0"), ("\"evt_1\"", "[\"evt_1\"]")]
        {
            assert_eq!(verdict(&payload.replace(from, to)), Err(TokenError::BadClaims), "{to}");
        }
        let list = format!("[{payload}]");
        assert_eq!(verdict(&list), Err(TokenError::BadClaims), "a list");
        let newer = payload.replacen('{', r#"{"added_by_a_later_version":{"any":[1]},"#, 1);
        assert_eq!(verdict(&newer), Ok(()), "unknown claims are ignored");
    }
}

#[test]
fn truncated_padded_and_huge() {
    let ring = ring();
    for (kind, token) in tokens(&ring).iter().enumerate() {
        for length in 0..token.len() {
            assert!(verdicts(&token[..length], &ring, NOW)[kind].is_err(), "{length} bytes");
        }
        for damaged in [format!("{token}="), format!("{token}=="), format!(" {token}"), format!("{token}\n")]
        {
            assert!(verdicts(&damaged, &ring, NOW)[kind].is_err(), "{damaged:?}");
        }
        let huge = "A".repeat(MAX_TOKEN_BYTES + 1);
        for huge in [huge.clone(), format!("{token}.{huge}"), ".".repeat(1 << 20)] {
            assert_eq!(verdicts(&huge, &ring, NOW)[kind], Err(TokenError::TooLong));
        }
        let wide = format!("{} ", " ".repeat(400)) + &header(kind);
        let forged = forge(&wide, &segment(token, 1), &SEED);
        assert_eq!(
            verdicts(&forged, &ring, NOW)[kind],
            Err(TokenError::Malformed),
            "a header beyond its buffer"
        );
    }
}

/// The last character of 64 bytes in base64url carries four unused bits: sixteen spellings, one canonical.
#[test]
fn another_spelling_of_the_same_signature() {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let ring = ring();
    for (kind, token) in tokens(&ring).iter().enumerate() {
        let (rest, last) = token.split_at(token.len() - 1);
        let value = ALPHABET.iter().position(|letter| last.as_bytes() == [*letter]).expect("base64url");
        for unused in 1..16 {
            let spelled = format!("{rest}{}", char::from(ALPHABET[value | unused]));
            assert_eq!(verdicts(&spelled, &ring, NOW)[kind], Err(TokenError::Malformed));
        }
    }
}

#[test]
fn the_largest_token_we_sign_still_verifies() {
    use shared_token::ids::{EventId, Subject};
    let ring = ring();
    let aud: EventId = "e".repeat(64).parse().expect("an event id");
    let iss = format!("https://{}", "i".repeat(248));
    let claims = ticket::Claims {
        iss: iss.clone(),
        aud: aud.clone(),
        sub: Subject::Account("\"".repeat(255)),
        exp: u64::MAX,
        place: ticket::Place { lane: u16::MAX, batch: u32::MAX, slot: u32::MAX },
        ..mint::ticket_claims()
    };
    let token = ticket::sign(&claims, &ring);
    assert!(token.len() <= MAX_TOKEN_BYTES, "{} bytes", token.len());
    assert!(ticket::verify(&token, ring.key_set(), &Expected { iss: &iss, aud: &aud, now: NOW }).is_ok());
}
