//! The one place of the Worker's front that draws random bytes.

use crate::problem::{Kind, Problem};
use crate::telemetry::log;

/// 16 bytes from the platform's generator.
pub(crate) fn bytes() -> Result<[u8; 16], Problem> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| {
        log("no-randomness", &error);
        Problem::new(Kind::Internal, "The edge could not draw random bytes.")
    })?;
    Ok(bytes)
}
