//! Proof of possession of a fan's key at this request.

use std::cell::RefCell;

use edge_core::gate::Recent;
use shared_token::dpop::{self, DpopError, Expected, Proof};
use shared_token::thumbprint::Thumbprint;

use super::Call;
use crate::problem::{Kind, Problem};

/// Proofs remembered against replay: at 500 protected writes a second an isolate remembers the last 40 s and more of
/// the 60 s a proof lives.
const PROOFS: usize = 20_000;

thread_local! {
    static SEEN: RefCell<Recent<(Thumbprint, Box<str>), u64>> = RefCell::new(Recent::new(PROOFS));
}

fn failed(why: impl std::fmt::Display) -> Problem {
    Problem::new(Kind::ProofFailed, format!("No valid DPoP proof: {why}."))
}

impl Call<'_> {
    /// Verifies the `DPoP` header against this request. `token`: what its `ath` must hash; `jkt`: whose key it is.
    pub(crate) fn proof(&self, token: Option<&str>, jkt: Option<&Thumbprint>) -> Result<Proof, Problem> {
        let proof = self.proof_header()?;
        self.verify_proof(&proof, token, jkt)
    }

    /// The header, without a look inside.
    pub(crate) fn proof_header(&self) -> Result<String, Problem> {
        self.request.header("DPoP").ok_or_else(|| failed("the header is missing"))
    }

    /// Verifies a proof already at hand.
    pub(crate) fn verify_proof(
        &self,
        proof: &str,
        token: Option<&str>,
        jkt: Option<&Thumbprint>,
    ) -> Result<Proof, Problem> {
        let path = self.request.path();
        let urls: Vec<String> =
            self.config.public_origins.iter().map(|origin| format!("{origin}{path}")).collect();
        let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
        let expected = Expected {
            method: self.request.method(),
            url_candidates: &urls,
            now: self.now.seconds(),
            max_age: dpop::MAX_AGE_SECS,
            access_token: token,
            jkt,
        };
        dpop::verify(proof, &expected).map_err(|error: DpopError| failed(error))
    }

    /// As [`Call::proof`], and not seen before by this isolate: for writes that are not idempotent here.
    pub(crate) fn fresh_proof(&self, token: &str, jkt: &Thumbprint) -> Result<(), Problem> {
        let proof = self.proof(Some(token), Some(jkt))?;
        let lives_until = proof.iat.saturating_add(dpop::MAX_AGE_SECS);
        let key = (proof.jkt, proof.jti.into_boxed_str());
        SEEN.with_borrow_mut(|seen| match seen.get(&key) {
            Some(until) if *until >= self.now.seconds() => Err(failed("it was used before")),
            _ => {
                seen.insert(key, lives_until);
                Ok(())
            }
        })
    }
}
