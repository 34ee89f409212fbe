//! Key rings, key sets, secrets and the names in tokens.

use crate::mint::{fan, ring};
use shared_token::dpop::HolderKey;
use shared_token::ids::{EventId, Subject};
use shared_token::jwks::{Jwk, JwkError, KeySet};
use shared_token::keys::{KeyRing, Secret, SigningKey, same_secret};
use shared_token::thumbprint::Thumbprint;

const SEED: &str = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE";

#[test]
fn a_ring_publishes_what_its_verifiers_read() {
    let ring = KeyRing::from_json(&format!(
        r#"{{"keys":[{{"kid":"k1","seed":"{SEED}"}},{{"kid":"k0","seed":"{}"}}]}}"#,
        SEED.replace("AQEB", "AgIC")
    ))
    .expect("a ring");
    assert_eq!(ring.signer().kid(), "k1");
    let set = KeySet::from_json(&ring.jwks_json()).expect("a set");
    assert_eq!(&set, ring.key_set());
    assert_eq!(set.kids().collect::<Vec<_>>(), ["k1", "k0"]);
    assert!(!ring.jwks_json().contains(SEED));
}

#[test]
fn rings_that_could_not_sign_or_be_told_apart() {
    for (json, error) in [
        ("", JwkError::Malformed),
        ("[]", JwkError::Malformed),
        (r#"{"keys":[],"more":1}"#, JwkError::Malformed),
        (r#"{"keys":[]}"#, JwkError::BadCount),
        (r#"{"keys":[{"kid":"k1","seed":"AQEB"}]}"#, JwkError::BadCoordinate),
        (r#"{"keys":[{"kid":"k1","seed":"SEED="}]}"#, JwkError::BadCoordinate),
        (r#"{"keys":[{"kid":"","seed":"SEED"}]}"#, JwkError::BadKid),
        (r#"{"keys":[{"kid":"a\"b","seed":"SEED"}]}"#, JwkError::BadKid),
        (r#"{"keys":[{"kid":"k1","seed":"SEED"},{"kid":"k1","seed":"SEED"}]}"#, JwkError::BadKid),
    ] {
        assert_eq!(KeyRing::from_json(&json.replace("SEED", SEED)).map(drop), Err(error), "{json}");
    }
    let many: Vec<SigningKey> = (0..16).map(|n| SigningKey::from_seed(&format!("x{n}"), &[n; 32])).collect();
    assert_eq!(KeyRing::new(SigningKey::from_seed("k1", &[9; 32]), &many).map(drop), Err(JwkError::BadCount));
}

#[test]
fn sets_that_are_private_weak_or_empty() {
    let good = ring().jwks_json();
    let reads = |from: &str, to: &str| KeySet::from_json(&good.replacen(from, to, 1)).map(drop);
    assert_eq!(reads("", ""), Ok(()));
    assert_eq!(reads(r#""kty":"#, r#""d":"AA","kty":"#), Err(JwkError::PrivateKey));
    assert_eq!(reads(r#""kid":"k1""#, r#""kid":"k0""#), Err(JwkError::BadKid));
    assert_eq!(reads(r#""kid":"k1","#, ""), Err(JwkError::BadKid));
    assert_eq!(reads(r#""x":""#, r#""x":"A"#), Err(JwkError::BadCoordinate));
    // Keys of other kinds are skipped, as RFC 7517 §5 asks.
    assert_eq!(reads(r#"{"kty":"#, r#"{"kty":"RSA","n":"AQAB","e":"AQAB"},{"kty":"#), Ok(()));
    let weak = r#"{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"w","x":"AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}]}"#;
    assert_eq!(KeySet::from_json(weak), Err(JwkError::WeakKey));
    assert_eq!(
        KeySet::from_json(r#"{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"}]}"#),
        Err(JwkError::BadCount)
    );
}

#[test]
fn secrets_do_not_print() {
    let secret = Secret::from_base64url(SEED).expect("32 bytes");
    let shown = format!(
        "{secret:?} {:?} {:?} {:?} {:?}",
        secret.derive("challenge"),
        ring(),
        SigningKey::from_seed("k", secret.as_bytes()),
        HolderKey::ed25519(&[1; 32])
    );
    assert!(!shown.contains(SEED) && !shown.contains("1, 1, 1") && !shown.contains("0101"), "{shown}");
}

#[test]
fn derived_keys_differ_by_label_and_by_secret() {
    let [a, b] = [[1; 32], [2; 32]].map(Secret::new);
    let keys = [a.derive("challenge"), a.derive("lane"), b.derive("challenge"), a];
    for (index, key) in keys.iter().enumerate() {
        assert!(keys.iter().take(index).all(|other| other.as_bytes() != key.as_bytes()));
    }
    assert!(Secret::from_base64url(&SEED[1..]).is_none());
}

#[test]
fn shared_secrets_compare_whole() {
    assert!(same_secret("s3cret", "s3cret"));
    for wrong in ["", "s3cre", "s3cret ", "S3cret"] {
        assert!(!same_secret(wrong, "s3cret"), "{wrong:?}");
    }
}

#[test]
fn a_key_reads_back_and_never_with_its_private_part() {
    for key in [fan(), HolderKey::p256(&[7; 32]).expect("a scalar")] {
        let json = key.jwk().canonical_json();
        assert_eq!(serde_json::from_str::<Jwk>(&json).expect("a key"), key.jwk());
        assert_eq!(serde_json::to_string(&key.jwk()).expect("JSON"), json);
        assert!(serde_json::from_str::<Jwk>(&json.replacen('{', r#"{"d":"AA","#, 1)).is_err());
    }
    assert!(HolderKey::p256(&[0; 32]).is_none() && HolderKey::p256(&[0xff; 32]).is_none());
}

#[test]
fn names_outside_their_alphabet() {
    for text in ["", "a b", "ä", "a/b", "a.b", "a\0", &"e".repeat(65)] {
        assert!(text.parse::<EventId>().is_err(), "{text:?}");
    }
    let (long, jkt) = ("a".repeat(256), fan().thumbprint().to_string());
    for text in ["", "acct", "acct:", "acct:a b", "acct:ä", "Acct:a", "key:", "form:", "form:a b", "user:a"]
    {
        assert!(text.parse::<Subject>().is_err(), "{text:?}");
    }
    for text in [
        format!("acct:{long}"),
        format!("key:{jkt}="),
        format!("key:{}", &jkt[1..]),
        format!("form:{}", &long[..65]),
    ] {
        assert!(text.parse::<Subject>().is_err(), "{text:?}");
    }
    assert!(jkt.parse::<Thumbprint>().is_ok());
}
