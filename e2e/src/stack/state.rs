//! What a stack remembers between commands: ports, secrets, and which processes are its own.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use super::{StackError, ports};

/// The state file; its presence marks a directory as ours.
const STATE_FILE: &str = "stack.json";

/// Ports, secrets and paths of one stack. Written once at `up`, mode 0600.
#[derive(Serialize, Deserialize)]
pub(super) struct State {
    pub(super) ports: Ports,
    pub(super) secrets: Secrets,
    /// The `redis-server` binary, when this stack has Redis.
    pub(super) redis: Option<PathBuf>,
    /// The demo event, once it was created.
    pub(super) event: Option<String>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Ports {
    pub(super) postgres: u16,
    pub(super) redis: u16,
    pub(super) psp: u16,
    pub(super) origin: u16,
    pub(super) edge: u16,
}

/// Fresh for every stack; nothing here is ever printed except the two the contract prints.
#[derive(Serialize, Deserialize)]
pub(super) struct Secrets {
    pub(super) admin_token: String,
    pub(super) edge_secret: String,
    pub(super) signing_keys: String,
    pub(super) challenge_key: String,
    pub(super) database_password: String,
    pub(super) psp_key: String,
    pub(super) psp_webhook: String,
}

impl State {
    /// Fresh ports and secrets.
    pub(super) fn generate(redis: Option<PathBuf>) -> Result<Self, StackError> {
        let [postgres, redis_port, psp, origin, edge] = ports::pick()?;
        Ok(Self {
            ports: Ports { postgres, redis: redis_port, psp, origin, edge },
            secrets: Secrets::generate()?,
            redis,
            event: None,
        })
    }

    /// Reads the state of the stack in `dir`.
    pub(super) fn load(dir: &Path) -> Result<Self, StackError> {
        let path = dir.join(STATE_FILE);
        if !path.exists() {
            return Err(StackError::NoStack(dir.to_owned()));
        }
        let text = fs::read_to_string(&path).map_err(StackError::at(&path))?;
        serde_json::from_str(&text).map_err(|source| StackError::State { path, source })
    }

    /// Writes the state.
    pub(super) fn save(&self, dir: &Path) -> Result<(), StackError> {
        let path = dir.join(STATE_FILE);
        let text = serde_json::to_string_pretty(self)
            .map_err(|source| StackError::State { path: path.clone(), source })?;
        write_private(&path, &text)
    }

    /// Whether `dir` was made by a stack.
    pub(super) fn exists(dir: &Path) -> bool {
        dir.join(STATE_FILE).exists()
    }

    pub(super) fn database_url(&self) -> String {
        let password = &self.secrets.database_password;
        format!("postgres://fairgate:{password}@127.0.0.1:{}/fairgate", self.ports.postgres)
    }

    pub(super) fn redis_url(&self) -> Option<String> {
        self.redis.as_ref().map(|_| format!("redis://127.0.0.1:{}", self.ports.redis))
    }

    pub(super) fn edge_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports.edge)
    }

    pub(super) fn origin_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports.origin)
    }

    pub(super) fn psp_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports.psp)
    }
}

impl Secrets {
    fn generate() -> Result<Self, StackError> {
        let kid = token("", 6)?;
        Ok(Self {
            admin_token: token("adm_", 24)?,
            edge_secret: token("edge_", 24)?,
            signing_keys: format!(r#"{{"keys":[{{"kid":"{kid}","seed":"{}"}}]}}"#, token("", 32)?),
            challenge_key: token("", 32)?,
            database_password: hex_token(16)?,
            psp_key: token("sk_test_", 24)?,
            psp_webhook: token("whsec_", 24)?,
        })
    }
}

fn token(prefix: &str, bytes: usize) -> Result<String, StackError> {
    let mut random = vec![0u8; bytes];
    getrandom::fill(&mut random)?;
    Ok(format!("{prefix}{}", URL_SAFE_NO_PAD.encode(random)))
}

/// Hex where the secret travels inside a URL.
fn hex_token(bytes: usize) -> Result<String, StackError> {
    let mut random = vec![0u8; bytes];
    getrandom::fill(&mut random)?;
    Ok(hex::encode(random))
}

/// Writes a file that only its owner may read.
pub(super) fn write_private(path: &Path, text: &str) -> Result<(), StackError> {
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
        .map_err(StackError::at(path))?;
    file.write_all(text.as_bytes()).map_err(StackError::at(path))
}

/// Makes an empty directory for a new stack; what an earlier stack left there goes, anything else is refused.
pub(super) fn prepare_dir(dir: &Path) -> Result<(), StackError> {
    if dir.exists() {
        let mut entries = fs::read_dir(dir).map_err(StackError::at(dir))?;
        if entries.next().is_some() {
            if !State::exists(dir) {
                return Err(StackError::ForeignDirectory(dir.to_owned()));
            }
            fs::remove_dir_all(dir).map_err(StackError::at(dir))?;
        }
    }
    // Others may pass through (the database runs as another user when we are root) but not look around.
    fs::DirBuilder::new().recursive(true).mode(0o711).create(dir).map_err(StackError::at(dir))?;
    for part in ["pids", "logs"] {
        let path = dir.join(part);
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&path).map_err(StackError::at(&path))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn secrets_differ_and_their_file_is_private() {
        let dir = std::env::temp_dir().join(format!("fairgate-state-{}", std::process::id()));
        prepare_dir(&dir).unwrap();
        let state = State::generate(None).unwrap();
        let other = State::generate(None).unwrap();
        assert_ne!(state.secrets.admin_token, other.secrets.admin_token);
        assert_ne!(state.secrets.signing_keys, other.secrets.signing_keys);
        state.save(&dir).unwrap();
        let mode = fs::metadata(dir.join(STATE_FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(State::load(&dir).unwrap().ports.edge, state.ports.edge);
        fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn a_foreign_directory_is_refused() {
        let dir = std::env::temp_dir().join(format!("fairgate-foreign-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("thesis.txt"), "mine").unwrap();
        assert!(matches!(prepare_dir(&dir), Err(StackError::ForeignDirectory(_))));
        assert!(dir.join("thesis.txt").exists());
        fs::remove_dir_all(&dir).unwrap();
    }
}
