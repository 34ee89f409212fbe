//! Starting, recognising and ending operating-system processes.
//!
//! Invariant: a signal is sent only to a process whose id *and* start time are those we wrote down when we started it; a
//! recycled id belongs to somebody else and is left alone.

use std::fs;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use tokio::time::{Instant, sleep};

use super::{Part, StackError, state::write_private};

/// How often a dying process is looked at.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// After SIGKILL only the kernel stands between a process and its end.
const KILL_DEADLINE: Duration = Duration::from_secs(10);
/// How much of a log an error shows.
const TAIL_LINES: usize = 25;

/// A process of ours, as written in its pid file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Recorded {
    pub(super) pid: i32,
    started: String,
}

impl Recorded {
    /// Reads the pid file of `part`, if there is one.
    pub(super) fn load(dir: &Path, part: Part) -> Option<Self> {
        let text = fs::read_to_string(pid_file(dir, part)).ok()?;
        let (pid, started) = text.trim().split_once(' ')?;
        Some(Self { pid: pid.parse().ok()?, started: started.to_owned() })
    }

    /// Whether that very process still runs.
    pub(super) fn is_alive(&self) -> bool {
        match seen(self.pid) {
            Some(seen) if seen.started == self.started && seen.zombie => {
                reap(self.pid);
                false
            }
            seen => seen.is_some_and(|seen| seen.started == self.started),
        }
    }

    /// Sends `signal` if that very process still runs.
    pub(super) fn signal(&self, signal: Signal) {
        if self.is_alive()
            && let Some(pid) = Pid::from_raw(self.pid)
        {
            // It may end between the check and the signal; then there is nothing left to do.
            let _gone = kill_process(pid, signal);
        }
    }

    /// Its children, which outlive a killed Postgres for a moment and hold its shared memory.
    pub(super) fn children(&self) -> Vec<Self> {
        let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
        entries
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok())
            .filter(|pid| parent_of(*pid) == Some(self.pid))
            .filter_map(|pid| Some(Self { pid, started: seen(pid)?.started }))
            .collect()
    }

    /// Waits until it is gone.
    pub(super) async fn wait_gone(&self, deadline: Duration) -> bool {
        let end = Instant::now() + deadline;
        while self.is_alive() {
            if Instant::now() >= end {
                return false;
            }
            sleep(LOOK_AGAIN).await;
        }
        true
    }
}

/// Where the pid file of `part` is.
pub(super) fn pid_file(dir: &Path, part: Part) -> PathBuf {
    dir.join("pids").join(part.name())
}

/// Where the log of `part` is.
pub(super) fn log_file(dir: &Path, part: Part) -> PathBuf {
    dir.join("logs").join(format!("{part}.log"))
}

/// Starts `command` detached from this terminal, its output appended to its log, and writes its pid file.
pub(super) fn spawn(dir: &Path, part: Part, command: &mut Command) -> Result<Recorded, StackError> {
    let log = log_file(dir, part);
    let open = || {
        fs::OpenOptions::new().append(true).create(true).mode(0o600).open(&log).map_err(StackError::at(&log))
    };
    let program = PathBuf::from(command.get_program());
    let child = command
        .stdin(Stdio::null())
        .stdout(open()?)
        .stderr(open()?)
        // Its own group: Ctrl-C in the terminal of a demo reaches the demo, which then stops the stack in order.
        .process_group(0)
        .spawn()
        .map_err(StackError::at(program))?;
    let pid = i32::try_from(child.id()).unwrap_or(i32::MAX);
    let recorded = Recorded { pid, started: seen(pid).map(|seen| seen.started).unwrap_or_default() };
    write_private(&pid_file(dir, part), &format!("{pid} {}\n", recorded.started))?;
    Ok(recorded)
}

/// Ends `part` with `signal`, then with SIGKILL if it has not gone after `patience`.
pub(super) async fn stop(
    dir: &Path,
    part: Part,
    signal: Signal,
    patience: Duration,
) -> Result<(), StackError> {
    let Some(recorded) = Recorded::load(dir, part) else { return Ok(()) };
    let children = recorded.children();
    recorded.signal(signal);
    if signal == Signal::KILL || !recorded.wait_gone(patience).await {
        recorded.signal(Signal::KILL);
    }
    if !recorded.wait_gone(KILL_DEADLINE).await {
        return Err(StackError::Unstoppable { part, pid: recorded.pid });
    }
    for child in children {
        child.signal(Signal::KILL);
        child.wait_gone(KILL_DEADLINE).await;
    }
    let path = pid_file(dir, part);
    fs::remove_file(&path).map_err(StackError::at(&path))
}

/// The last lines of a log, for error messages.
pub(super) fn tail(log: &Path) -> String {
    let bytes = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")
}

/// A process as the system shows it.
struct Seen {
    /// In whatever unit the system counts; together with the id it names one process.
    started: String,
    /// Dead, but its parent has not asked how it ended.
    zombie: bool,
}

fn seen(pid: i32) -> Option<Seen> {
    if Path::new("/proc/self/stat").exists() {
        let fields = stat_fields(pid)?;
        // proc(5): after the name come state (3rd field), parent (4th) … and the start time (22nd).
        Some(Seen { started: fields.get(19)?.clone(), zombie: fields.first()? == "Z" })
    } else {
        let output =
            Command::new("ps").args(["-o", "stat=,lstart=", "-p", &pid.to_string()]).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        let mut words = text.split_whitespace();
        let zombie = words.next()?.starts_with('Z');
        Some(Seen { started: words.collect::<Vec<_>>().join("-"), zombie })
    }
}

/// Asks how a child ended. Until then the kernel keeps its id, and a new Postgres would take the dead one for alive.
fn reap(pid: i32) {
    // A stack started by an earlier command is nobody's child here; the system's first process has asked already.
    let _not_ours = Pid::from_raw(pid).map(|pid| waitpid(Some(pid), WaitOptions::NOHANG));
}

fn parent_of(pid: i32) -> Option<i32> {
    stat_fields(pid)?.get(1)?.parse().ok()
}

/// The fields of `/proc/<pid>/stat` after the process name, which may itself contain spaces and parentheses.
fn stat_fields(pid: i32) -> Option<Vec<String>> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    Some(rest.split_whitespace().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_process_is_recognised_by_its_start_time_and_ended_once() {
        let dir = std::env::temp_dir().join(format!("fairgate-process-{}", std::process::id()));
        fs::create_dir_all(dir.join("pids")).unwrap();
        fs::create_dir_all(dir.join("logs")).unwrap();
        let recorded = spawn(&dir, Part::Psp, Command::new("sleep").arg("60")).unwrap();
        assert_eq!(Recorded::load(&dir, Part::Psp), Some(recorded.clone()));
        assert!(recorded.is_alive());

        let impostor = Recorded { started: "1".into(), ..recorded.clone() };
        assert!(!impostor.is_alive());
        impostor.signal(Signal::KILL);
        assert!(recorded.is_alive());

        stop(&dir, Part::Psp, Signal::TERM, Duration::from_secs(5)).await.unwrap();
        assert!(!recorded.is_alive());
        assert_eq!(Recorded::load(&dir, Part::Psp), None);
        stop(&dir, Part::Psp, Signal::TERM, Duration::from_secs(5)).await.unwrap();
        fs::remove_dir_all(&dir).unwrap();
    }
}
