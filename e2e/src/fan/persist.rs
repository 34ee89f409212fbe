//! Trying again as a page does: on lost connections and passing refusals, with growing pauses, until patience ends.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::chance::Chance;
use super::client::{Answer, CallError};
use super::crowd::Crowd;

/// A killed edge is back within seconds; a minute tells trouble from a hiccup.
const PATIENCE: Duration = Duration::from_secs(60);
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(4);

/// Why a fan's journey ended early.
#[derive(Debug, thiserror::Error)]
pub enum Gone {
    /// Everything is sold, or the room closed: told clearly, nothing wrong.
    #[error("the sale is over ({0})")]
    SaleOver(String),
    /// The session ended while shopping; the fan would have to queue again.
    #[error("the session ended")]
    SessionEnded,
    /// No lasting answer within the fan's patience.
    #[error("{call}: no lasting answer within {} s, last: {last}", PATIENCE.as_secs())]
    NoAnswer {
        /// The call.
        call: &'static str,
        /// The last failure.
        last: String,
    },
    /// An answer that the contract does not allow here.
    #[error("{call} answered {status} {body}")]
    Unexpected {
        /// The call.
        call: &'static str,
        /// The status.
        status: u16,
        /// The body.
        body: String,
    },
}

impl Gone {
    /// An answer that has no place in the contract.
    pub(super) fn unexpected(call: &'static str, answer: &Answer) -> Self {
        let mut body = answer.body.to_string();
        body.truncate(body.char_indices().nth(300).map_or(body.len(), |(at, _)| at));
        Self::Unexpected { call, status: answer.status, body }
    }
}

/// Repeats `call` until its answer lasts. Every repeated call of a fan is one that the contract makes repeatable.
pub(super) async fn persist<F, C>(
    crowd: &Crowd,
    chance: &mut Chance,
    call: &'static str,
    attempt: F,
) -> Result<Answer, Gone>
where
    F: Fn() -> C,
    C: Future<Output = Result<Answer, CallError>>,
{
    let end = Instant::now() + PATIENCE;
    let mut pause = FIRST_PAUSE;
    loop {
        let (last, asked) = match attempt().await {
            Ok(answer) if answer.is_passing() => {
                (format!("{} {}", answer.status, answer.body), answer.retry_after)
            }
            Ok(answer) => return Ok(answer),
            Err(error) => (describe(&error), None),
        };
        crowd.counts.repeated.one();
        if Instant::now() >= end {
            return Err(Gone::NoAnswer { call, last });
        }
        sleep(chance.jittered(asked.unwrap_or(pause), 0.3)).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// An error with its causes: the outermost alone says only "error sending request".
fn describe(error: &CallError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}
