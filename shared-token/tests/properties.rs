//! Properties: whatever is done to a token, a proof or a challenge, it is refused, and nothing panics.
#![expect(clippy::expect_used, reason = "fixed inputs that are valid by construction")]

#[path = "mint/forge.rs"]
mod forge;
mod mint;

use forge::{forge, segment};
use mint::{NOW, event, fan, ring, ticket_claims, tokens, verdicts};
use proptest::prelude::*;
use shared_token::challenge::{self, Challenge, ChallengeError};
use shared_token::dpop::{self, HolderKey, Request};
use shared_token::ids::{EventId, Subject};
use shared_token::jwks::KeySet;
use shared_token::jws::{Expected, TokenError};
use shared_token::keys::KeyRing;
use shared_token::thumbprint::Thumbprint;
use shared_token::{pow, ticket};

const URL: &str = "https://fairgate.example/v1/events/evt_1/queue";

fn proof_by(key: &HolderKey) -> String {
    dpop::sign(key, &Request { method: "POST", url: URL, iat: NOW, jti: "p-1", access_token: Some("token") })
}

fn proof_verdict(proof: &str) -> Result<dpop::Proof, dpop::DpopError> {
    dpop::verify(
        proof,
        &dpop::Expected {
            method: "POST",
            url_candidates: &[URL],
            now: NOW,
            max_age: dpop::MAX_AGE_SECS,
            access_token: Some("token"),
            jkt: None,
        },
    )
}

/// One edit of a text: a byte replaced, inserted or removed.
fn edited(text: &str, at: usize, edit: u8, byte: u8) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let at = at % bytes.len();
    match edit % 3 {
        0 => bytes[at] = byte,
        1 => bytes.insert(at, byte),
        _ => drop(bytes.remove(at)),
    }
    String::from_utf8(bytes).expect("ASCII stays ASCII")
}

fn any_challenge() -> impl Strategy<Value = Challenge> {
    ("[A-Za-z0-9_-]{1,64}", any::<([u8; 32], u32, u8, u64)>(), any::<[u8; 16]>(), NOW + 1..u64::MAX).prop_map(
        |(event, (jkt, policy_version, puzzles, difficulty), salt, expires_at)| Challenge {
            event: event.parse().expect("an event id"),
            jkt: Thumbprint::from(jkt),
            policy_version,
            puzzles,
            difficulty,
            salt,
            expires_at,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_edited_token_is_refused(kind in 0..3_usize, at: usize, edit: u8, byte in 0x20..0x7f_u8) {
        let ring = ring();
        let token = &tokens(&ring)[kind];
        let edited = edited(token, at, edit, byte);
        prop_assume!(edited != *token);
        prop_assert!(verdicts(&edited, &ring, NOW).iter().all(Result::is_err), "{edited}");
    }

    #[test]
    fn an_edited_proof_is_refused(p256: bool, at: usize, edit: u8, byte in 0x20..0x7f_u8) {
        let key = if p256 { HolderKey::p256(&[7; 32]).expect("a scalar") } else { fan() };
        let proof = proof_by(&key);
        let edited = edited(&proof, at, edit, byte);
        prop_assume!(edited != proof);
        prop_assert!(proof_verdict(&edited).is_err(), "{edited}");
    }

    #[test]
    fn a_damaged_claim_is_still_our_signature_but_never_a_panic(at: usize, edit: u8, byte in 0x20..0x7f_u8) {
        let ring = ring();
        let [token, ..] = tokens(&ring);
        let payload = edited(&segment(&token, 1), at, edit, byte);
        let forged = forge(&segment(&token, 0), &payload, &mint::SEED);
        let aud = event();
        let expected = Expected { iss: mint::ISS, aud: &aud, now: NOW };
        if let Ok(verified) = ticket::verify(&forged, ring.key_set(), &expected) {
            prop_assert_eq!((verified.iss.as_str(), &verified.aud), (mint::ISS, &aud));
            prop_assert!(verified.exp > NOW && verified.iat <= NOW + 30);
        }
    }

    #[test]
    fn arbitrary_text_is_refused(text in ".{0,300}", three in "[A-Za-z0-9_-]{0,90}\\.[A-Za-z0-9_-]{0,90}\\.[A-Za-z0-9_-]{86}") {
        let ring = ring();
        for text in [&text, &three] {
            prop_assert!(verdicts(text, &ring, NOW).iter().all(Result::is_err));
            prop_assert!(proof_verdict(text).is_err());
            prop_assert!(challenge::open(text, &[0; 32], &event(), &fan().thumbprint(), NOW).is_err());
            prop_assert!(KeySet::from_json(text).is_err());
            prop_assert!(KeyRing::from_json(text).is_err());
        }
    }

    #[test]
    fn tickets_say_what_was_signed(account in "[!-~]{1,255}", lane: u16, batch: u32, slot: u32, life in 1..u32::MAX) {
        let ring = ring();
        let claims = ticket::Claims {
            sub: Subject::Account(account),
            place: ticket::Place { lane, batch, slot },
            exp: NOW + u64::from(life),
            ..ticket_claims()
        };
        let token = ticket::sign(&claims, &ring);
        let aud = event();
        let expected = Expected { iss: mint::ISS, aud: &aud, now: NOW };
        let verified = ticket::verify(&token, ring.key_set(), &expected).expect("our own ticket");
        prop_assert_eq!(verified.into_claims(), claims);
        let at_the_end = Expected { now: NOW + u64::from(life), ..expected };
        prop_assert_eq!(ticket::verify(&token, ring.key_set(), &at_the_end).map(drop), Err(TokenError::Expired));
    }

    #[test]
    fn challenges_open_for_the_one_they_were_sealed_for(challenge in any_challenge(), key: [u8; 32]) {
        let sealed = challenge::seal(&challenge, &key);
        let open = |event: &EventId, jkt: &Thumbprint, now| challenge::open(&sealed, &key, event, jkt, now);
        prop_assert_eq!(open(&challenge.event, &challenge.jkt, NOW), Ok(challenge.clone()));
        prop_assert_eq!(open(&challenge.event, &challenge.jkt, challenge.expires_at), Err(ChallengeError::Expired));
        prop_assert_eq!(open(&challenge.event, &fan().thumbprint(), NOW), Err(ChallengeError::Forged));
        let longer: EventId = format!("{}x", &challenge.event.as_str()[1..]).parse().expect("an event id");
        prop_assume!(longer != challenge.event);
        prop_assert_eq!(open(&longer, &challenge.jkt, NOW), Err(ChallengeError::Forged));
    }

    #[test]
    fn an_edited_challenge_is_refused(challenge in any_challenge(), at: usize, edit: u8, byte in 0x20..0x7f_u8) {
        let sealed = challenge::seal(&challenge, &[3; 32]);
        let edited = edited(&sealed, at, edit, byte);
        prop_assume!(edited != sealed);
        prop_assert!(challenge::open(&edited, &[3; 32], &challenge.event, &challenge.jkt, NOW).is_err());
    }

    #[test]
    fn the_threshold_is_the_quotient(difficulty in 2..u64::MAX) {
        prop_assert_eq!(u128::from(pow::threshold(difficulty)), (1_u128 << 64) / u128::from(difficulty));
    }

    #[test]
    fn solutions_hold_until_one_nonce_is_wrong(salt: [u8; 16], puzzles in 1..24_u8, wrong in 0..24_u8, off in 1..1000_u64) {
        const DIFFICULTY: u64 = 40;
        let solve = |puzzle| pow::search(&salt, puzzle, pow::threshold(DIFFICULTY), 0, u32::MAX);
        let mut nonces: Vec<u64> = (0..puzzles).map(|puzzle| solve(puzzle).expect("a nonce")).collect();
        prop_assert_eq!(pow::verify(&salt, DIFFICULTY, puzzles, &nonces), Ok(()));
        prop_assert_eq!(pow::verify(&salt, DIFFICULTY, puzzles + 1, &nonces), Err(pow::PowError::WrongCount));
        let wrong = wrong % puzzles;
        let nonce = &mut nonces[usize::from(wrong)];
        *nonce += off;
        prop_assume!(pow::search(&salt, wrong, pow::threshold(DIFFICULTY), *nonce, 1).is_none());
        prop_assert_eq!(
            pow::verify(&salt, DIFFICULTY, puzzles, &nonces),
            Err(pow::PowError::Unsolved { puzzle: wrong })
        );
    }

    #[test]
    fn names_read_back_as_written(text in "(acct|key|form|evt):[ -~]{0,70}", digest: [u8; 32]) {
        if let Ok(subject) = text.parse::<Subject>() {
            prop_assert_eq!(subject.to_string(), text);
        }
        let jkt = Thumbprint::from(digest);
        prop_assert_eq!(jkt.to_string().parse(), Ok(jkt));
        prop_assert_eq!(format!("key:{jkt}").parse(), Ok(Subject::Key(jkt)));
    }
}
