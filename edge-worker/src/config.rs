//! The deployment's variables and secrets, read once an isolate.

use std::cell::OnceCell;
use std::rc::Rc;

use shared_token::ids::EventId;
use shared_token::keys::{KeyRing, Secret};
use worker::Env;

/// Distinct labels give keys that know nothing of each other; see `Secret::derive`.
const CHALLENGE_LABEL: &str = "fairgate-challenge-mac-v1";
const LANE_LABEL: &str = "fairgate-lane-v1";

/// What the deployment says.
#[derive(Debug)]
pub(crate) struct Config {
    /// `iss` of every token.
    pub(crate) issuer: String,
    /// Origins under which clients reach us, without a slash at the end.
    pub(crate) public_origins: Vec<String>,
    /// Base address of the booking service, without a slash at the end.
    pub(crate) origin: String,
    /// Whether this is a stack on loopback.
    pub(crate) local: bool,
    /// Paths on which payment callbacks reach the origin.
    pub(crate) webhook_paths: Vec<String>,
    /// Signs and verifies tokens.
    pub(crate) keys: KeyRing,
    /// Seals challenges.
    pub(crate) challenge_key: Secret,
    /// Assigns identities to lanes.
    pub(crate) lane_key: Secret,
    /// Tells the origin that a call came through us.
    pub(crate) edge_secret: String,
    /// What operators present.
    pub(crate) admin_token: String,
}

impl Config {
    /// Name of the cookie that carries an event's session.
    pub(crate) fn session_cookie(&self, event: &str) -> String {
        format!("{}{event}", self.session_cookie_prefix())
    }

    /// What the names of session cookies begin with. `__Host-` binds a cookie to this host and to https, which a
    /// stack on loopback does not have.
    pub(crate) fn session_cookie_prefix(&self) -> &'static str {
        if self.local { "fairgate-" } else { "__Host-fairgate-" }
    }

    /// Name of the cookie that carries an event's ticket. Event ids may contain dashes, so it must not begin like a
    /// session's.
    pub(crate) fn place_cookie(&self, event: &EventId) -> String {
        format!("{}fairplace-{event}", if self.local { "" } else { "__Host-" })
    }
}

/// A variable that is missing or makes no sense. Names it; never its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConfigError {
    variable: &'static str,
    fault: &'static str,
}

impl std::fmt::Display for ConfigError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.variable, self.fault)
    }
}

thread_local! {
    static CONFIG: OnceCell<Result<Rc<Config>, ConfigError>> = const { OnceCell::new() };
}

/// The configuration of this isolate.
pub(crate) fn config(env: &Env) -> Result<Rc<Config>, ConfigError> {
    CONFIG.with(|cell| cell.get_or_init(|| read(|name| text(env, name)).map(Rc::new)).clone())
}

/// A secret and a variable are the same to a Worker: a text.
fn text(env: &Env, name: &str) -> Option<String> {
    env.var(name).ok().map(|value| value.to_string()).filter(|value| !value.is_empty())
}

fn read(text: impl Fn(&'static str) -> Option<String>) -> Result<Config, ConfigError> {
    let required = |variable| text(variable).ok_or(ConfigError { variable, fault: "is not set" });
    let list = |variable| -> Vec<String> {
        let value = text(variable).unwrap_or_default();
        value.split(',').map(str::trim).filter(|entry| !entry.is_empty()).map(str::to_owned).collect()
    };
    let key_name = "FAIRGATE_CHALLENGE_KEY";
    let master = Secret::from_base64url(&required(key_name)?)
        .ok_or(ConfigError { variable: key_name, fault: "is not 32 bytes of base64url" })?;
    let ring_name = "FAIRGATE_SIGNING_KEYS";
    let keys = KeyRing::from_json(&required(ring_name)?)
        .map_err(|_| ConfigError { variable: ring_name, fault: "is not a ring of signing keys" })?;
    let origins_name = "FAIRGATE_PUBLIC_ORIGINS";
    let public_origins = list(origins_name).into_iter().map(|origin| base(&origin, origins_name));
    let public_origins = public_origins.collect::<Result<Vec<_>, _>>()?;
    if public_origins.is_empty() {
        return Err(ConfigError { variable: origins_name, fault: "names no origin" });
    }
    Ok(Config {
        issuer: required("FAIRGATE_ISSUER")?,
        public_origins,
        origin: base(&required("FAIRGATE_ORIGIN")?, "FAIRGATE_ORIGIN")?,
        local: text("FAIRGATE_LOCAL").as_deref() == Some("true"),
        webhook_paths: list("FAIRGATE_WEBHOOK_PATHS"),
        keys,
        challenge_key: master.derive(CHALLENGE_LABEL),
        lane_key: master.derive(LANE_LABEL),
        edge_secret: required("FAIRGATE_EDGE_SECRET")?,
        admin_token: required("FAIRGATE_ADMIN_TOKEN")?,
    })
}

/// Scheme and host without a path, so that joining a path to it cannot change the host.
fn base(address: &str, variable: &'static str) -> Result<String, ConfigError> {
    let address = address.trim_end_matches('/');
    let host = address.strip_prefix("https://").or_else(|| address.strip_prefix("http://"));
    match host {
        Some(host) if !host.is_empty() && !host.contains(['/', '?', '#', '@', ' ', '\\']) => {
            Ok(address.to_owned())
        }
        _ => Err(ConfigError { variable, fault: "must be http:// or https:// and a host, without a path" }),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn sound() -> BTreeMap<&'static str, String> {
        let key = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
        BTreeMap::from([
            ("FAIRGATE_ISSUER", "https://tickets.example".to_owned()),
            ("FAIRGATE_PUBLIC_ORIGINS", "https://tickets.example/, http://localhost:8787".to_owned()),
            ("FAIRGATE_ORIGIN", "http://127.0.0.1:9000".to_owned()),
            ("FAIRGATE_WEBHOOK_PATHS", "/v1/webhooks/payments/stripe,".to_owned()),
            ("FAIRGATE_SIGNING_KEYS", format!(r#"{{"keys":[{{"kid":"a","seed":"{key}"}}]}}"#)),
            ("FAIRGATE_CHALLENGE_KEY", key.to_owned()),
            ("FAIRGATE_EDGE_SECRET", "s".to_owned()),
            ("FAIRGATE_ADMIN_TOKEN", "t".to_owned()),
        ])
    }

    fn read_from(values: &BTreeMap<&'static str, String>) -> Result<Config, ConfigError> {
        read(|name| values.get(name).cloned())
    }

    #[test]
    fn a_sound_set_is_read() {
        let config = read_from(&sound()).unwrap();
        assert_eq!(config.public_origins, ["https://tickets.example", "http://localhost:8787"]);
        assert_eq!(config.webhook_paths, ["/v1/webhooks/payments/stripe"]);
        assert!(!config.local);
        assert_ne!(config.challenge_key.as_bytes(), config.lane_key.as_bytes());
    }

    #[test]
    fn every_fault_names_its_variable_and_no_value() {
        for (variable, value) in [
            ("FAIRGATE_ISSUER", None),
            ("FAIRGATE_PUBLIC_ORIGINS", Some(" , ")),
            ("FAIRGATE_PUBLIC_ORIGINS", Some("tickets.example")),
            ("FAIRGATE_ORIGIN", Some("http://host/path")),
            ("FAIRGATE_SIGNING_KEYS", Some("hush")),
            ("FAIRGATE_CHALLENGE_KEY", Some("hush")),
            ("FAIRGATE_EDGE_SECRET", None),
            ("FAIRGATE_ADMIN_TOKEN", None),
        ] {
            let mut values = sound();
            match value {
                Some(value) => values.insert(variable, value.to_owned()),
                None => values.remove(variable),
            };
            let message = read_from(&values).unwrap_err().to_string();
            assert!(message.starts_with(variable) && !message.contains("hush"), "{message}");
        }
    }
}
