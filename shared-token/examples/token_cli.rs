//! The crate over stdin and stdout, one JSON command a line, for tests against other implementations.
//!
//! `{"do":"sign","kind":"ticket","signing_keys":{…},"claims":{…}}` → `{"token":"…"}`, and so on; what is refused
//! answers `{"refused":"…"}`, and a command that is none ends the process with an error.

use serde::Deserialize;
use serde_json::{Value, json};
use shared_token::dpop::{self, HolderKey, MAX_AGE_SECS};
use shared_token::ids::EventId;
use shared_token::jwks::{Jwk, KeySet};
use shared_token::jws::{Expected, TokenError};
use shared_token::keys::{KeyRing, Secret};
use shared_token::thumbprint::Thumbprint;
use shared_token::{admission, session, ticket};
use std::error::Error;
use std::io::{BufRead, Write};

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Ticket,
    Admission,
    Session,
}

#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
enum Command {
    Jwks {
        signing_keys: Value,
    },
    Thumbprint {
        jwk: Value,
    },
    Sign {
        kind: Kind,
        signing_keys: Value,
        claims: Value,
    },
    Verify {
        kind: Kind,
        jwks: Value,
        token: String,
        iss: String,
        aud: EventId,
        now: u64,
    },
    Prove {
        curve: String,
        secret: String,
        method: String,
        url: String,
        iat: u64,
        jti: String,
        access_token: Option<String>,
    },
    CheckProof {
        proof: String,
        method: String,
        url: String,
        now: u64,
        access_token: Option<String>,
        jkt: Option<Thumbprint>,
    },
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut answers = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let answer = answer(serde_json::from_str(&line?)?)?;
        writeln!(answers, "{answer}")?;
        answers.flush()?;
    }
    Ok(())
}

fn answer(command: Command) -> Result<Value, Box<dyn Error>> {
    Ok(match command {
        Command::Jwks { signing_keys } => {
            serde_json::from_str(&KeyRing::from_json(&signing_keys.to_string())?.jwks_json())?
        }
        Command::Thumbprint { jwk } => match serde_json::from_value::<Jwk>(jwk) {
            Ok(jwk) => json!({"thumbprint": jwk.thumbprint()}),
            Err(error) => refused(&error),
        },
        Command::Sign { kind, signing_keys, claims } => {
            let ring = KeyRing::from_json(&signing_keys.to_string())?;
            let token = match kind {
                Kind::Ticket => ticket::sign(&serde_json::from_value(claims)?, &ring),
                Kind::Admission => admission::sign(&serde_json::from_value(claims)?, &ring),
                Kind::Session => session::sign(&serde_json::from_value(claims)?, &ring),
            };
            json!({"token": token})
        }
        Command::Verify { kind, jwks, token, iss, aud, now } => {
            let keys = KeySet::from_json(&jwks.to_string())?;
            match verified(&kind, &token, &keys, &Expected { iss: &iss, aud: &aud, now }) {
                Ok(claims) => json!({"claims": claims?}),
                Err(error) => refused(&error),
            }
        }
        Command::Prove { curve, secret, method, url, iat, jti, access_token } => {
            let secret = Secret::from_base64url(&secret).ok_or("a secret has 32 bytes")?;
            let key = match &*curve {
                "Ed25519" => HolderKey::ed25519(secret.as_bytes()),
                "P-256" => HolderKey::p256(secret.as_bytes()).ok_or("the scalar is out of range")?,
                _ => return Err("unknown curve".into()),
            };
            let request = dpop::Request {
                method: &method,
                url: &url,
                iat,
                jti: &jti,
                access_token: access_token.as_deref(),
            };
            json!({"proof": dpop::sign(&key, &request), "jwk": key.jwk(), "jkt": key.thumbprint()})
        }
        Command::CheckProof { proof, method, url, now, access_token, jkt } => {
            let expected = dpop::Expected {
                method: &method,
                url_candidates: &[&url],
                now,
                max_age: MAX_AGE_SECS,
                access_token: access_token.as_deref(),
                jkt: jkt.as_ref(),
            };
            match dpop::verify(&proof, &expected) {
                Ok(proof) => json!({"jkt": proof.jkt, "jti": proof.jti, "iat": proof.iat, "jwk": proof.jwk}),
                Err(error) => refused(&error),
            }
        }
    })
}

fn verified(
    kind: &Kind,
    token: &str,
    keys: &KeySet,
    expected: &Expected<'_>,
) -> Result<serde_json::Result<Value>, TokenError> {
    Ok(match kind {
        Kind::Ticket => serde_json::to_value(ticket::verify(token, keys, expected)?.into_claims()),
        Kind::Admission => serde_json::to_value(admission::verify(token, keys, expected)?.into_claims()),
        Kind::Session => serde_json::to_value(session::verify(token, keys, expected)?.into_claims()),
    })
}

fn refused(error: &dyn Error) -> Value {
    json!({"refused": error.to_string()})
}
