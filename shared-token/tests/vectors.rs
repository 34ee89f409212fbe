//! Known answers: those of the RFCs, and our own, committed in `vectors/` so that every byte we send is pinned.
//!
//! Our own files are generated from the code by `FAIRGATE_BLESS=1 cargo test -p shared-token --test vectors` and
//! compared with it ever after: a change there is a change of the wire format.
#![expect(clippy::expect_used, reason = "fixed inputs that are valid by construction")]

mod mint;

use mint::{NOW, event, fan, ring, tokens};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use shared_token::challenge::{self, Challenge};
use shared_token::dpop::{self, DpopError, Expected, HolderKey, Request};
use shared_token::jwks::Jwk;
use shared_token::jws::TokenError;
use shared_token::keys::Secret;
use shared_token::{admission, pow, session, ticket};
use std::path::Path;

fn pinned(file: &str, current: &Value) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors").join(file);
    if std::env::var_os("FAIRGATE_BLESS").is_some() {
        let text = serde_json::to_string_pretty(current).expect("JSON") + "\n";
        std::fs::write(&path, text).expect("vectors can be written");
    }
    let committed = std::fs::read_to_string(&path).expect("vectors are committed");
    let committed: Value = serde_json::from_str(&committed).expect("JSON");
    assert_eq!(committed, *current, "{file} no longer describes the code");
}

#[test]
fn our_tokens() {
    let ring = ring();
    let [ticket, admission, session] = tokens(&ring);
    pinned(
        "tokens.json",
        &json!({
            "signing_keys": {"keys": [
                {"kid": "k1", "seed": "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE"},
                {"kid": "k0", "seed": "AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI"},
            ]},
            "jwks": serde_json::from_str::<Value>(&ring.jwks_json()).expect("JSON"),
            "now": NOW,
            "tokens": [
                {"kind": "ticket", "claims": mint::ticket_claims(), "token": ticket},
                {"kind": "admission", "claims": mint::admission_claims(), "token": admission},
                {"kind": "session", "claims": mint::session_claims(), "token": session},
            ],
        }),
    );
    // The committed keys are those of the ring that signed.
    let committed =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/tokens.json"));
    let committed: Value = serde_json::from_str(&committed.expect("vectors")).expect("JSON");
    let read =
        shared_token::keys::KeyRing::from_json(&committed["signing_keys"].to_string()).expect("a ring");
    assert_eq!(read.key_set(), ring.key_set());
    let aud = event();
    let expected = shared_token::jws::Expected { iss: mint::ISS, aud: &aud, now: NOW };
    let token = |index: usize| committed["tokens"][index]["token"].as_str().expect("a token");
    let keys = ring.key_set();
    assert_eq!(
        ticket::verify(token(0), keys, &expected).map(|claims| claims.into_claims()),
        Ok(mint::ticket_claims())
    );
    assert_eq!(
        admission::verify(token(1), keys, &expected).map(|claims| claims.into_claims()),
        Ok(mint::admission_claims())
    );
    assert_eq!(
        session::verify(token(2), keys, &expected).map(|claims| claims.into_claims()),
        Ok(mint::session_claims())
    );
}

#[test]
fn our_proofs() {
    let key = |name: &str, secret: &str, key: &HolderKey| {
        let request = Request {
            method: "POST",
            url: "https://fairgate.example/v1/events/evt_1/session",
            iat: NOW,
            jti: "IiMkJSYnKCkqKywtLi8wMQ",
            access_token: Some("header.payload.signature"),
        };
        json!({
            "key": name, "secret": secret, "jwk": key.jwk(), "jkt": key.thumbprint(),
            "method": request.method, "url": request.url, "iat": request.iat, "jti": request.jti,
            "access_token": request.access_token, "proof": dpop::sign(key, &request),
        })
    };
    let secret = "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc";
    pinned(
        "proofs.json",
        &json!({"proofs": [
            key("Ed25519", secret, &fan()),
            key("P-256", secret, &HolderKey::p256(&[7; 32]).expect("a scalar")),
        ]}),
    );
}

#[test]
fn our_challenges() {
    let secret = Secret::new([5; 32]);
    let challenge = Challenge {
        event: event(),
        jkt: fan().thumbprint(),
        policy_version: 3,
        puzzles: 32,
        difficulty: 8192,
        salt: std::array::from_fn(|index| index as u8),
        expires_at: NOW + 300,
    };
    pinned(
        "challenges.json",
        &json!({
            "key": "BQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQU", "event": challenge.event, "jkt": challenge.jkt,
            "policy_version": challenge.policy_version, "puzzles": challenge.puzzles,
            "difficulty": challenge.difficulty, "salt": "AAECAwQFBgcICQoLDA0ODw",
            "expires_at": challenge.expires_at, "sealed": challenge::seal(&challenge, secret.as_bytes()),
            "derived_for_lane": hex(secret.derive("lane").as_bytes()),
        }),
    );
}

#[test]
fn our_solutions() {
    let solved = |salt: [u8; 16], salt_text: &str, difficulty: u64, puzzles: u8| {
        let threshold = pow::threshold(difficulty);
        let nonces: Vec<u64> = (0..puzzles)
            .map(|puzzle| pow::search(&salt, puzzle, threshold, 0, u32::MAX).expect("a nonce"))
            .collect();
        assert_eq!(pow::verify(&salt, difficulty, puzzles, &nonces), Ok(()));
        json!({
            "salt": salt_text, "difficulty": difficulty, "threshold": threshold.to_string(),
            "nonces": nonces.iter().map(u64::to_string).collect::<Vec<_>>(),
        })
    };
    pinned(
        "pow.json",
        &json!({"solutions": [
            solved(std::array::from_fn(|index| index as u8), "AAECAwQFBgcICQoLDA0ODw", 8192, 32),
            solved([0xff; 16], "_____________________w", 1000, 8),
            solved([0; 16], "AAAAAAAAAAAAAAAAAAAAAA", 3, 255),
        ]}),
    );
}

/// Two answers worked out by another SHA-256 (CPython's), from the contract's words alone.
#[test]
fn the_definition_of_a_puzzle() {
    let salt: [u8; 16] = std::array::from_fn(|index| index as u8);
    for (puzzle, nonce, head) in
        [(0, 0, 0x8f0f_69dc_2278_be81), (31, 0x0001_0203_0405_0607, 0x25af_4de7_4017_c818)]
    {
        let at = |threshold| pow::search(&salt, puzzle, threshold, nonce, 1);
        assert_eq!(at(head + 1), Some(nonce));
        assert_eq!(at(head), None, "the hash must be below the threshold, not equal to it");
    }
}
/// FIPS 180-2 appendix B.1 and B.2.
#[test]
fn sha_256() {
    assert_eq!(
        hex(&Sha256::digest("abc")),
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    );
    assert_eq!(
        hex(&Sha256::digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    );
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// RFC 8037 A.1 to A.3: the key of its private half, and its thumbprint by RFC 7638.
#[test]
fn rfc_8037_key_and_thumbprint() {
    let seed = Secret::from_base64url("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A").expect("32 bytes");
    let jwk: Jwk = serde_json::from_str(
        r#"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#,
    )
    .expect("a key");
    assert_eq!(HolderKey::ed25519(seed.as_bytes()).jwk(), jwk);
    assert_eq!(jwk.thumbprint().to_string(), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
}

/// RFC 8037 A.4's token is signed well, but it is no token of ours: its header has neither type nor key id.
#[test]
fn rfc_8037_token_is_refused() {
    let token = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6d\
                 WbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";
    assert_eq!(mint::verdicts(token, &ring(), NOW), [Err(TokenError::Malformed); 3]);
}

const RFC_9449_TOKEN: &str = "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU";
const RFC_9449_HEADER: &str = "eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMz\
                               R0VjNoUklDUkRZOXpDa0RscEJoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG\
                               10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2In19";

/// RFC 9449 §4.1 (token request) and §7.1 (with `ath`), both by the P-256 key whose thumbprint §6.1 states.
#[test]
fn rfc_9449_proofs() {
    let plain = format!(
        "{RFC_9449_HEADER}.eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY\
         29tL3Rva2VuIiwiaWF0IjoxNTYyMjYyNjE2fQ.2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4PtFLbdLXiOSsX0x7NVY-FNyJK70\
         nfbV37xRZT3Lg"
    );
    let jkt = "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I".parse().expect("a thumbprint");
    let expected = Expected {
        method: "POST",
        url_candidates: &["https://server.example.com/token"],
        now: 1_562_262_616,
        max_age: 60,
        access_token: None,
        jkt: Some(&jkt),
    };
    let proof = dpop::verify(&plain, &expected).expect("the RFC's own proof");
    assert_eq!((proof.jkt, proof.jti.as_str(), proof.iat), (jkt, "-BwC3ESc6acc2lTc", 1_562_262_616));

    let bound = format!(
        "{RFC_9449_HEADER}.eyJqdGkiOiJlMWozVl9iS2ljOC1MQUVCIiwiaHRtIjoiR0VUIiwiaHR1IjoiaHR0cHM6Ly9yZXNvdXJjZS5leGFtcGxl\
         Lm9yZy9wcm90ZWN0ZWRyZXNvdXJjZSIsImlhdCI6MTU2MjI2MjYxOCwiYXRoIjoiZlVIeU8ycjJaM0RaNTNFc05yV0JiMHhXWG9hTnk1OUlpS0NBcWt\
         zbVFFbyJ9.2oW9RP35yRqzhrtNP86L-Ey71EOptxRimPPToA1plemAgR6pxHF8y6-yqyVnmcw6Fy1dqd-jfxSYoMxhAJpLjA"
    );
    let expected = Expected {
        method: "GET",
        url_candidates: &["https://resource.example.org/protectedresource"],
        access_token: Some(RFC_9449_TOKEN),
        ..expected
    };
    assert_eq!(dpop::verify(&bound, &expected).map(|proof| proof.jkt), Ok(jkt));
    let other_token = Expected { access_token: Some("Kz~8mXK1EalYznwH"), ..expected };
    assert_eq!(dpop::verify(&bound, &other_token).map(drop), Err(DpopError::WrongToken));
    assert_eq!(
        dpop::verify(&plain, &Expected { method: "POST", ..expected }).map(drop),
        Err(DpopError::WrongUrl)
    );
}
