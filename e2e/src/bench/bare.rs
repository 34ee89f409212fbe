//! The denominators in workerd: a pass-through worker, a ready answer, and an echoing Durable Object.

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::{Instant, sleep};

use super::BenchError;
use crate::stack::workerd;

const FILES: [(&str, &str); 3] = [
    ("passthrough.js", include_str!("../../bench/passthrough.js")),
    ("static.js", include_str!("../../bench/static.js")),
    ("echo.js", include_str!("../../bench/echo.js")),
];
const CONFIG: &str = include_str!("../../bench/bare.capnp.template");
/// Starting workerd takes a fraction of a second; this is for a machine that is busy with something else.
const START_PATIENCE: Duration = Duration::from_secs(20);

/// A running workerd with the denominators; killed when dropped.
pub(super) struct Bare {
    pub(super) passthrough: SocketAddr,
    pub(super) ready: SocketAddr,
    pub(super) echo: SocketAddr,
    process: Child,
}

impl Bare {
    /// Writes the workers into `dir` and serves them.
    pub(super) async fn start(
        dir: &Path,
        upstream: SocketAddr,
        body_bytes: usize,
        lanes: u16,
    ) -> Result<Self, BenchError> {
        fs::create_dir_all(dir).map_err(BenchError::at(dir))?;
        for (name, text) in FILES {
            fs::write(dir.join(name), text).map_err(BenchError::at(dir.join(name)))?;
        }
        let [passthrough, ready, echo] = free_addresses()?;
        let config = CONFIG
            .replace("@PASSTHROUGH_PORT@", &passthrough.port().to_string())
            .replace("@STATIC_PORT@", &ready.port().to_string())
            .replace("@ECHO_PORT@", &echo.port().to_string())
            .replace("@UPSTREAM@", &format!("http://{upstream}"))
            .replace("@BODY_BYTES@", &body_bytes.to_string())
            .replace("@LANES@", &lanes.to_string());
        let file = dir.join("bare.capnp");
        fs::write(&file, config).map_err(BenchError::at(&file))?;
        let program = workerd()?;
        let process = Command::new(&program)
            .args(["serve", "bare.capnp"])
            .current_dir(dir)
            .stdout(Stdio::null())
            .spawn()
            .map_err(BenchError::at(program))?;
        let bare = Self { passthrough, ready, echo, process };
        for address in [passthrough, ready, echo] {
            reachable(address).await?;
        }
        Ok(bare)
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        // Already gone is as good.
        let _gone = self.process.kill();
        let _status = self.process.wait();
    }
}

fn free_addresses() -> Result<[SocketAddr; 3], BenchError> {
    let bind = || TcpListener::bind(("127.0.0.1", 0)).map_err(BenchError::Connect);
    // All are open at once, so the ports differ.
    let listeners = [bind()?, bind()?, bind()?];
    let [a, b, c] = listeners.each_ref().map(TcpListener::local_addr);
    Ok([a.map_err(BenchError::Connect)?, b.map_err(BenchError::Connect)?, c.map_err(BenchError::Connect)?])
}

async fn reachable(address: SocketAddr) -> Result<(), BenchError> {
    let deadline = Instant::now() + START_PATIENCE;
    loop {
        match TcpStream::connect(address).await {
            Ok(_) => return Ok(()),
            Err(error) if Instant::now() > deadline => return Err(BenchError::Connect(error)),
            Err(_) => sleep(Duration::from_millis(50)).await,
        }
    }
}
