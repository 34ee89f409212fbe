//! Challenges and solutions (field faults: spliced fields, replays for another key, zero-work solutions).

use crate::mint::{NOW, event, fan};
use shared_token::challenge::{self, Challenge, ChallengeError};
use shared_token::dpop::HolderKey;
use shared_token::pow::{self, PowError};

const KEY: [u8; 32] = [5; 32];
const BODY_CHARS: usize = 50;

fn hard() -> Challenge {
    Challenge {
        event: event(),
        jkt: fan().thumbprint(),
        policy_version: 3,
        puzzles: 32,
        difficulty: 8192,
        salt: [6; 16],
        expires_at: NOW + 300,
    }
}

fn opened(sealed: &str) -> Result<Challenge, ChallengeError> {
    challenge::open(sealed, &KEY, &event(), &fan().thumbprint(), NOW)
}

#[test]
fn splices_of_two_valid_challenges() {
    let easy = Challenge { puzzles: 1, difficulty: 1, ..hard() };
    let later = Challenge { expires_at: NOW + 86_400, ..hard() };
    let sealed = challenge::seal(&hard(), &KEY);
    assert_eq!(opened(&sealed), Ok(hard()));
    for other in [easy, later] {
        let other = challenge::seal(&other, &KEY);
        for cut in 1..sealed.len() {
            let spliced = format!("{}{}", &other[..cut], &sealed[cut..]);
            if spliced != sealed && spliced != other {
                assert_eq!(opened(&spliced), Err(ChallengeError::Forged), "cut at {cut}");
            }
        }
    }
}

/// Bytes moved over the border between event and key must not give the same MAC.
#[test]
fn fields_do_not_run_into_each_other() {
    let sealed = challenge::seal(&Challenge { event: "evt_12".parse().expect("an id"), ..hard() }, &KEY);
    for event in ["evt_1", "evt_123", "vt_12"] {
        let event = event.parse().expect("an id");
        let opened = challenge::open(&sealed, &KEY, &event, &fan().thumbprint(), NOW);
        assert_eq!(opened, Err(ChallengeError::Forged));
    }
}

#[test]
fn another_fan_event_or_deployment() {
    let sealed = challenge::seal(&hard(), &KEY);
    let (me, other) = (fan().thumbprint(), HolderKey::ed25519(&[8; 32]).thumbprint());
    let elsewhere = "evt_2".parse().expect("an id");
    for (key, event, jkt) in [([4; 32], &event(), &me), (KEY, &elsewhere, &me), (KEY, &event(), &other)] {
        assert_eq!(challenge::open(&sealed, &key, event, jkt, NOW), Err(ChallengeError::Forged));
    }
}

#[test]
fn late_damaged_or_made_up() {
    let sealed = challenge::seal(&hard(), &KEY);
    let at = |now| challenge::open(&sealed, &KEY, &event(), &fan().thumbprint(), now).map(drop);
    assert_eq!(at(NOW + 299), Ok(()));
    assert_eq!(at(NOW + 300), Err(ChallengeError::Expired));
    for length in 0..sealed.len() {
        assert_eq!(opened(&sealed[..length]), Err(ChallengeError::Malformed), "{length} characters");
    }
    for made_up in [format!("{sealed}A"), format!("{sealed}=="), "A".repeat(1 << 20), String::new()] {
        assert_eq!(opened(&made_up), Err(ChallengeError::Malformed));
    }
    assert_eq!(opened(&"A".repeat(sealed.len() - 1)), Err(ChallengeError::Malformed));
    assert_eq!(
        opened(&format!("{}{}", &sealed[..BODY_CHARS], "A".repeat(sealed.len() - BODY_CHARS))),
        Err(ChallengeError::Forged)
    );
}

#[test]
fn solutions_without_work() {
    let challenge = hard();
    let verify =
        |nonces: &[u64]| pow::verify(&challenge.salt, challenge.difficulty, challenge.puzzles, nonces);
    assert_eq!(verify(&[]), Err(PowError::WrongCount));
    assert_eq!(verify(&[0; 31]), Err(PowError::WrongCount));
    assert_eq!(verify(&[0; 33]), Err(PowError::WrongCount));
    assert_eq!(verify(&[0; 32]), Err(PowError::Unsolved { puzzle: 0 }));
    assert_eq!(pow::verify(&challenge.salt, 1, 0, &[]), Err(PowError::WrongCount), "no puzzles, no entry");
    assert_eq!(
        pow::verify(&challenge.salt, 0, 1, &[0]),
        Err(PowError::Unsolved { puzzle: 0 }),
        "no price, no entry"
    );
    assert_eq!(pow::verify(&challenge.salt, u64::MAX, 1, &[0]), Err(PowError::Unsolved { puzzle: 0 }));
}

/// One lucky nonce repeated does not pay for the other puzzles: every puzzle hashes its own index.
#[test]
fn one_solution_for_all_puzzles() {
    let challenge = hard();
    let nonce = pow::search(&challenge.salt, 0, pow::threshold(64), 0, u32::MAX).expect("a nonce");
    assert_eq!(pow::verify(&challenge.salt, 64, 1, &[nonce]), Ok(()));
    assert!(matches!(pow::verify(&challenge.salt, 64, 32, &[nonce; 32]), Err(PowError::Unsolved { .. })));
}

#[test]
fn difficulty_grows_in_steps_of_one() {
    assert_eq!(pow::threshold(2), 1 << 63);
    assert_eq!(pow::threshold(3), 6_148_914_691_236_517_205);
    assert_eq!(pow::threshold(8192), 1 << 51);
    assert!(pow::threshold(8193) < pow::threshold(8192));
    assert_eq!([pow::threshold(0), pow::threshold(1), pow::threshold(u64::MAX)], [0, u64::MAX, 1]);
}
