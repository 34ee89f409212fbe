//! workerd: the generated configuration and the command line.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::StackError;
use super::options::repository;
use super::state::{State, write_private};

/// The `iss` of every token; stable, so that a restart or a new build drops nobody.
pub(super) const ISSUER: &str = "https://fairgate.local";
/// Where the payment provider's webhooks enter.
pub(super) const WEBHOOK_PATH: &str = "/v1/webhooks/payments/stripe";

/// The addresses under which browsers and clients of this machine reach the edge.
pub(super) fn public_origins(state: &State) -> String {
    format!("{},http://localhost:{}", state.edge_url(), state.ports.edge)
}

/// Writes the configuration (it carries secrets, hence 0600) and returns the command that serves it.
pub(super) fn command(dir: &Path, state: &State) -> Result<Command, StackError> {
    let objects = dir.join("objects");
    fs::create_dir_all(&objects).map_err(StackError::at(&objects))?;
    let template_path = repository().join("edge-worker/workerd.capnp.template");
    let template = fs::read_to_string(&template_path).map_err(StackError::at(&template_path))?;
    let build = repository().join("edge-worker/build");
    if !build.exists() {
        return Err(StackError::Missing { what: "the built Worker", path: build });
    }
    let config = dir.join("workerd.capnp");
    write_private(&config, &fill(&template, |name| value(name, state, &build, &objects))?)?;
    let mut command = Command::new(workerd()?);
    // `-I/`: the template embeds the build by its absolute path, which Cap'n Proto looks up in the import path.
    command.current_dir(dir).arg("serve").arg("-I/").arg(&config);
    Ok(command)
}

fn value(name: &str, state: &State, build: &Path, objects: &Path) -> Option<String> {
    let secrets = &state.secrets;
    Some(match name {
        "BUILD_DIR" => build.to_string_lossy().into_owned(),
        "STORAGE_DIR" => objects.to_string_lossy().into_owned(),
        "LISTEN" => format!("127.0.0.1:{}", state.ports.edge),
        "FAIRGATE_ISSUER" => ISSUER.to_owned(),
        "FAIRGATE_PUBLIC_ORIGINS" => public_origins(state),
        "FAIRGATE_ORIGIN" => state.origin_url(),
        "FAIRGATE_LOCAL" => "true".to_owned(),
        "FAIRGATE_SIGNING_KEYS" => secrets.signing_keys.clone(),
        "FAIRGATE_CHALLENGE_KEY" => secrets.challenge_key.clone(),
        "FAIRGATE_EDGE_SECRET" => secrets.edge_secret.clone(),
        "FAIRGATE_ADMIN_TOKEN" | "FAIRGATE_ORIGIN_ADMIN_TOKEN" => secrets.admin_token.clone(),
        "FAIRGATE_WEBHOOK_PATHS" => WEBHOOK_PATH.to_owned(),
        _ => return None,
    })
}

/// Replaces every `{{NAME}}` inside a Cap'n Proto string literal by its value. Comments explain names and go.
fn fill(template: &str, value: impl Fn(&str) -> Option<String>) -> Result<String, StackError> {
    let mut filled = String::with_capacity(template.len());
    for line in template.lines().filter(|line| !line.trim_start().starts_with('#')) {
        let mut rest = line;
        while let Some((before, after)) = rest.split_once("{{") {
            let (name, behind) =
                after.split_once("}}").ok_or_else(|| StackError::Template(after.to_owned()))?;
            filled.push_str(before);
            let text = value(name.trim()).ok_or_else(|| StackError::Template(name.to_owned()))?;
            filled.push_str(&text.replace('\\', "\\\\").replace('"', "\\\""));
            rest = behind;
        }
        filled.push_str(rest);
        filled.push('\n');
    }
    Ok(filled)
}

/// The `workerd` program that npm brought for this platform.
pub fn workerd() -> Result<PathBuf, StackError> {
    let (os, arch) = match (std::env::consts::OS, std::env::consts::ARCH) {
        ("macos", "aarch64") => ("darwin", "arm64"),
        ("macos", _) => ("darwin", "64"),
        (_, "aarch64") => ("linux", "arm64"),
        _ => ("linux", "64"),
    };
    // The platform package's program itself: the wrapper in `workerd` is a Node script that would keep the pid.
    let path = repository().join(format!("node_modules/@cloudflare/workerd-{os}-{arch}/bin/workerd"));
    if path.exists() { Ok(path) } else { Err(StackError::Missing { what: "workerd", path }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_is_filled_and_quotes_are_escaped() {
        let value = |name: &str| (name == "KEYS").then(|| r#"{"kid":"a\b"}"#.to_owned());
        let filled = fill("# a {{NAME}} is replaced\ntext = \"{{KEYS}}\",\n", value).unwrap();
        assert_eq!(filled, "text = \"{\\\"kid\\\":\\\"a\\\\b\\\"}\",\n");
        assert!(matches!(fill("{{NOPE}}", value), Err(StackError::Template(name)) if name == "NOPE"));
        assert!(matches!(fill("{{KEYS", value), Err(StackError::Template(_))));
    }
}
