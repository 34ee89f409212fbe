//! Free loopback ports that are still free after a part was killed and before it is back.

use std::net::{Ipv4Addr, TcpListener};

use super::StackError;

/// Below the kernel's ephemeral range (32768 and up on Linux, 49152 on macOS): no outgoing connection may take the port
/// of a part that is being restarted.
const LOWEST: u16 = 20_000;
const HIGHEST: u16 = 32_000;
/// Picks before giving up; 12,000 candidates make ten failures in a row unlikely on any sane machine.
const TRIES: usize = 200;

/// Picks `N` distinct ports nobody listens on. Listeners are kept until all are chosen, so none is chosen twice.
pub(super) fn pick<const N: usize>() -> Result<[u16; N], StackError> {
    let mut chosen = [0u16; N];
    let mut held = Vec::with_capacity(N);
    for slot in &mut chosen {
        let listener = pick_one()?;
        *slot = listener.local_addr().map_err(StackError::at("127.0.0.1"))?.port();
        held.push(listener);
    }
    Ok(chosen)
}

fn pick_one() -> Result<TcpListener, StackError> {
    for _ in 0..TRIES {
        let mut bytes = [0u8; 2];
        getrandom::fill(&mut bytes)?;
        let port = LOWEST + u16::from_be_bytes(bytes) % (HIGHEST - LOWEST);
        if let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
            return Ok(listener);
        }
    }
    Err(StackError::NoPort(LOWEST, HIGHEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_distinct_and_below_the_ephemeral_range() {
        let ports = pick::<5>().unwrap();
        for (i, port) in ports.iter().enumerate() {
            assert!((LOWEST..HIGHEST).contains(port));
            assert!(!ports[..i].contains(port));
        }
    }
}
