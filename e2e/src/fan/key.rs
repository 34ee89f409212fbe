//! A fan's key and its proofs of possession (RFC 9449), written from the RFCs and not from our own code.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::{Signer, SigningKey};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// An Ed25519 key, as a browser would generate it for one event.
pub struct Key {
    signing: SigningKey,
    x: String,
}

impl Key {
    /// A fresh key.
    pub fn generate() -> Result<Self, getrandom::Error> {
        let mut seed = [0u8; 32];
        getrandom::fill(&mut seed)?;
        Ok(Self::from_seed(&seed))
    }

    fn from_seed(seed: &[u8; 32]) -> Self {
        let signing = SigningKey::from_bytes(seed);
        let x = URL_SAFE_NO_PAD.encode(signing.verifying_key().as_bytes());
        Self { signing, x }
    }

    /// The public key as a JWK.
    #[must_use]
    pub fn jwk(&self) -> Value {
        json!({"kty": "OKP", "crv": "Ed25519", "x": self.x})
    }

    /// The RFC 7638 thumbprint: members in alphabetical order, no spaces.
    #[must_use]
    pub fn thumbprint(&self) -> String {
        let canonical = format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{}"}}"#, self.x);
        URL_SAFE_NO_PAD.encode(Sha256::digest(canonical.as_bytes()))
    }

    /// A proof for one request; `token` is the token presented with it.
    pub fn proof(
        &self,
        method: &str,
        url: &str,
        token: Option<&str>,
        iat: i64,
    ) -> Result<String, getrandom::Error> {
        let mut jti = [0u8; 16];
        getrandom::fill(&mut jti)?;
        let header = json!({"typ": "dpop+jwt", "alg": "EdDSA", "jwk": self.jwk()});
        // RFC 9449 §4.2: the target without query and fragment.
        let target = url.split(['?', '#']).next().unwrap_or(url);
        let mut claims =
            json!({"htm": method, "htu": target, "iat": iat, "jti": URL_SAFE_NO_PAD.encode(jti)});
        if let Some(token) = token {
            claims["ath"] = json!(URL_SAFE_NO_PAD.encode(Sha256::digest(token.as_bytes())));
        }
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let input = format!("{}.{}", part(&header), part(&claims));
        let signature = self.signing.sign(input.as_bytes());
        Ok(format!("{input}.{}", URL_SAFE_NO_PAD.encode(signature.to_bytes())))
    }
}

#[cfg(test)]
mod tests {
    use ed25519_dalek::{Signature, Verifier};

    use super::*;

    /// RFC 8037, appendix A.3.
    #[test]
    fn the_thumbprint_is_the_rfcs() {
        let seed: [u8; 32] = URL_SAFE_NO_PAD
            .decode("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A")
            .unwrap()
            .try_into()
            .unwrap();
        assert_eq!(Key::from_seed(&seed).thumbprint(), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
    }

    #[test]
    fn a_proof_verifies_and_names_target_and_token() {
        let key = Key::generate().unwrap();
        let proof = key.proof("POST", "http://h/v1/x?a=b#c", Some("token"), 1_700_000_000).unwrap();
        let (input, signature) = proof.rsplit_once('.').unwrap();
        let signature = Signature::from_slice(&URL_SAFE_NO_PAD.decode(signature).unwrap()).unwrap();
        key.signing.verifying_key().verify(input.as_bytes(), &signature).unwrap();
        let claims = URL_SAFE_NO_PAD.decode(input.split('.').nth(1).unwrap()).unwrap();
        let claims: Value = serde_json::from_slice(&claims).unwrap();
        assert_eq!(claims["htu"], "http://h/v1/x");
        assert_eq!(claims["htm"], "POST");
        assert_eq!(claims["ath"], "PEaenWxYddN6Q_NT1PiOYfz4EsZu7jRXRlpAsNpBU-A");
    }
}
