//! Valid tokens to damage.
#![expect(clippy::expect_used, reason = "fixed inputs that are valid by construction")]

use shared_token::dpop::HolderKey;
use shared_token::ids::{EventId, Subject};
use shared_token::jws::{Confirmation, Expected, TokenError};
use shared_token::keys::{KeyRing, SigningKey};
use shared_token::{admission, session, ticket};

pub(crate) const ISS: &str = "https://fairgate.example";
pub(crate) const NOW: u64 = 1_800_000_000;
pub(crate) const SEED: [u8; 32] = [1; 32];
pub(crate) const OLD_SEED: [u8; 32] = [2; 32];

pub(crate) fn event() -> EventId {
    "evt_1".parse().expect("an event id")
}

/// `k1` signs, `k0` is on its way out.
pub(crate) fn ring() -> KeyRing {
    KeyRing::new(SigningKey::from_seed("k1", &SEED), &[SigningKey::from_seed("k0", &OLD_SEED)])
        .expect("a ring")
}

pub(crate) fn fan() -> HolderKey {
    HolderKey::ed25519(&[7; 32])
}

pub(crate) fn ticket_claims() -> ticket::Claims {
    let jkt = fan().thumbprint();
    ticket::Claims {
        iss: ISS.to_owned(),
        aud: event(),
        inc: "AAECAwQFBgcICQoLDA0ODw".to_owned(),
        sub: Subject::Key(jkt),
        jti: "EBESExQVFhcYGRobHB0eHw".to_owned(),
        iat: NOW,
        exp: NOW + 86_400,
        cnf: Some(Confirmation { jkt }),
        place: ticket::Place { lane: 3, batch: 0, slot: 4711 },
    }
}

pub(crate) fn admission_claims() -> admission::Claims {
    let ticket::Claims { iss, aud, inc, sub, jti, cnf, .. } = ticket_claims();
    admission::Claims { iss, aud, inc, sub, jti, iat: NOW, nbf: NOW, exp: NOW + 120, cnf }
}

pub(crate) fn session_claims() -> session::Claims {
    let ticket::Claims { iss, aud, inc, sub, jti: sid, cnf, .. } = ticket_claims();
    session::Claims { iss, aud, inc, sub, sid, batch: 2, iat: NOW, exp: NOW + 900, cnf }
}

/// One valid token of each kind, in the order of [`verdicts`].
pub(crate) fn tokens(ring: &KeyRing) -> [String; 3] {
    [
        ticket::sign(&ticket_claims(), ring),
        admission::sign(&admission_claims(), ring),
        session::sign(&session_claims(), ring),
    ]
}

/// What the three verifiers say of `token` at `now`: ticket, admission, session.
pub(crate) fn verdicts(token: &str, ring: &KeyRing, now: u64) -> [Result<(), TokenError>; 3] {
    let aud = event();
    let expected = Expected { iss: ISS, aud: &aud, now };
    let keys = ring.key_set();
    [
        ticket::verify(token, keys, &expected).map(drop),
        admission::verify(token, keys, &expected).map(drop),
        session::verify(token, keys, &expected).map(drop),
    ]
}
