//! DPoP proofs.

use crate::forge::{forge, segment};
use crate::mint::{NOW, fan};
use shared_token::dpop::{self, DpopError, Expected, HolderKey, MAX_AGE_SECS, MAX_PROOF_BYTES, Request};

const URL: &str = "https://fairgate.example/v1/events/evt_1/session";
const CANDIDATES: &[&str] = &["https://tickets.example/v1/events/evt_1/session", URL];
const TOKEN: &str = "a.b.c";
const REQUEST: Request<'_> =
    Request { method: "POST", url: URL, iat: NOW, jti: "jti-1", access_token: Some(TOKEN) };
const EXPECTED: Expected<'_> = Expected {
    method: "POST",
    url_candidates: CANDIDATES,
    now: NOW,
    max_age: MAX_AGE_SECS,
    access_token: Some(TOKEN),
    jkt: None,
};

fn p256() -> HolderKey {
    HolderKey::p256(&[9; 32]).expect("a scalar")
}

fn verdict(request: &Request<'_>, expected: &Expected<'_>) -> Result<(), DpopError> {
    let [a, b] = [fan(), p256()].map(|key| dpop::verify(&dpop::sign(&key, request), expected).map(drop));
    assert_eq!(a, b, "both kinds of key are judged alike");
    a
}

#[test]
fn both_kinds_of_key_prove_themselves() {
    for key in [fan(), p256()] {
        let jkt = key.thumbprint();
        let proof = dpop::sign(&key, &REQUEST);
        let proved = dpop::verify(&proof, &Expected { jkt: Some(&jkt), ..EXPECTED }).expect("a proof");
        assert_eq!(proved, dpop::Proof { jkt, jti: "jti-1".to_owned(), iat: NOW, jwk: key.jwk() });
    }
}

#[test]
fn another_method_url_token_or_key() {
    assert_eq!(verdict(&Request { method: "DELETE", ..REQUEST }, &EXPECTED), Err(DpopError::WrongMethod));
    assert_eq!(verdict(&Request { method: "post", ..REQUEST }, &EXPECTED), Err(DpopError::WrongMethod));
    for url in [
        "https://fairgate.example/v1/events/evt_2/session",
        "https://fairgate.example/v1/events/evt_1/session/",
        "https://fairgate.example.evil/v1/events/evt_1/session",
        "https://fairgate.example:8443/v1/events/evt_1/session",
        "http://fairgate.example/v1/events/evt_1/session",
        "//fairgate.example/v1/events/evt_1/session",
        "ftp://fairgate.example/v1/events/evt_1/session",
        "",
    ] {
        assert_eq!(verdict(&Request { url, ..REQUEST }, &EXPECTED), Err(DpopError::WrongUrl), "{url}");
    }
    assert_eq!(verdict(&REQUEST, &Expected { url_candidates: &[], ..EXPECTED }), Err(DpopError::WrongUrl));
    for access_token in [None, Some("a.b.d"), Some("")] {
        assert_eq!(verdict(&Request { access_token, ..REQUEST }, &EXPECTED), Err(DpopError::WrongToken));
    }
    let jkt = HolderKey::ed25519(&[8; 32]).thumbprint();
    assert_eq!(verdict(&REQUEST, &Expected { jkt: Some(&jkt), ..EXPECTED }), Err(DpopError::WrongKey));
}

#[test]
fn the_same_url_written_differently_is_accepted() {
    for url in [
        "HTTPS://FairGate.Example/v1/events/evt_1/session",
        "https://fairgate.example:443/v1/events/evt_1/session",
        "https://fairgate.example/v1/events/evt_1/session?q=1#top",
        "https://tickets.example/v1/events/evt_1/session",
    ] {
        assert_eq!(verdict(&Request { url, ..REQUEST }, &EXPECTED), Ok(()), "{url}");
    }
    let root = Expected { url_candidates: &["http://[::1]:80/?a=b"], ..EXPECTED };
    assert_eq!(verdict(&Request { url: "http://[::1]", ..REQUEST }, &root), Ok(()));
}

/// A client may leave the query in `htu`; our own signer does not, so this one is forged by hand.
#[test]
fn a_query_inside_the_proof_is_ignored() {
    let proof = dpop::sign(&fan(), &REQUEST);
    let payload = segment(&proof, 1).replace("/session", "/session?seat=1#row");
    let forged = forge(&segment(&proof, 0), &payload, &[7; 32]);
    assert_eq!(dpop::verify(&forged, &EXPECTED).map(drop), Ok(()));
}

#[test]
fn a_minute_either_way_and_no_more() {
    let at = |iat| verdict(&Request { iat, ..REQUEST }, &EXPECTED);
    assert_eq!([at(NOW - 60), at(NOW + 60)], [Ok(()); 2]);
    assert_eq!([at(NOW - 61), at(0)], [Err(DpopError::TooOld); 2]);
    assert_eq!([at(NOW + 61), at(u64::MAX)], [Err(DpopError::FromTheFuture); 2]);
}

#[test]
fn ids_that_are_empty_or_endless() {
    let long = "j".repeat(dpop::MAX_JTI_BYTES + 1);
    assert_eq!(verdict(&Request { jti: "", ..REQUEST }, &EXPECTED), Err(DpopError::Malformed));
    assert_eq!(verdict(&Request { jti: &long, ..REQUEST }, &EXPECTED), Err(DpopError::Malformed));
    assert_eq!(verdict(&Request { jti: &long[1..], ..REQUEST }, &EXPECTED), Ok(()));
}

#[test]
fn headers_that_are_not_a_public_proof() {
    let proof = dpop::sign(&fan(), &REQUEST);
    let (header, payload) = (segment(&proof, 0), segment(&proof, 1));
    let verdict = |from: &str, to: &str| {
        let damaged = header.replace(from, to);
        assert_ne!(damaged, header, "{from} is in the header");
        dpop::verify(&forge(&damaged, &payload, &[7; 32]), &EXPECTED).map(drop)
    };
    assert_eq!(verdict("dpop+jwt", "JWT"), Err(DpopError::WrongType));
    assert_eq!(verdict("dpop+jwt", "session+jwt"), Err(DpopError::WrongType));
    for alg in ["none", "HS256", "ES256", "RS256", "ES384"] {
        assert_eq!(verdict("EdDSA", alg), Err(DpopError::WrongAlgorithm), "{alg}");
    }
    assert_eq!(verdict(r#""alg":"EdDSA""#, r#""alg":"Ed25519""#), Ok(()), "RFC 9864's name");
    for private in [r#""d":"BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc","kty":"#, r#""d":null,"kty":"#] {
        assert_eq!(verdict(r#""kty":"#, private), Err(DpopError::Malformed), "{private}");
    }
    assert_eq!(
        verdict(r#""kty":"#, r#""ext":true,"key_ops":["verify"],"kty":"#),
        Ok(()),
        "what WebCrypto adds"
    );
    assert_eq!(verdict("OKP", "oct"), Err(DpopError::Malformed));
    assert_eq!(verdict("OKP", "EC"), Err(DpopError::Malformed));
    assert_eq!(verdict("Ed25519", "X25519"), Err(DpopError::Malformed));
    assert_eq!(verdict(r#""x":""#, r#""x":"A"#), Err(DpopError::Malformed));
    assert_eq!(verdict(r#"{"typ":"#, r#"{"crit":["jwk"],"typ":"#), Err(DpopError::Malformed));
    assert_eq!(verdict(r#"{"typ":"#, r#"{"typ":"dpop+jwt","typ":"#), Err(DpopError::Malformed));
    assert_eq!(verdict(r#","jwk":"#, r#","jwk":{},"jwk":"#), Err(DpopError::Malformed));
}

#[test]
fn points_that_prove_nothing() {
    let proof = dpop::sign(&fan(), &REQUEST);
    // The identity of Ed25519 (order 1): under lenient rules it "signs" everything.
    let weak = segment(&proof, 0).replace(&x_of(&fan()), "AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
    let forged = forge(&weak, &segment(&proof, 1), &[7; 32]);
    assert_eq!(dpop::verify(&forged, &EXPECTED).map(drop), Err(DpopError::BadSignature));
    let proof = dpop::sign(&p256(), &REQUEST);
    let off_curve = segment(&proof, 0).replace(&x_of(&p256()), "AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
    let forged = forge(&off_curve, &segment(&proof, 1), &[7; 32]);
    assert_eq!(dpop::verify(&forged, &EXPECTED).map(drop), Err(DpopError::BadSignature));
}

fn x_of(key: &HolderKey) -> String {
    let jwk: serde_json::Value = serde_json::from_str(&key.jwk().canonical_json()).expect("JSON");
    jwk["x"].as_str().expect("a coordinate").to_owned()
}

#[test]
fn truncated_and_huge() {
    let proof = dpop::sign(&p256(), &REQUEST);
    for length in 0..proof.len() {
        assert!(dpop::verify(&proof[..length], &EXPECTED).is_err(), "{length} bytes");
    }
    assert_eq!(dpop::verify(&"A".repeat(MAX_PROOF_BYTES + 1), &EXPECTED).map(drop), Err(DpopError::TooLong));
    assert_eq!(dpop::verify(&".".repeat(MAX_PROOF_BYTES), &EXPECTED).map(drop), Err(DpopError::Malformed));
}
