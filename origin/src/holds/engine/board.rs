//! A board on which processes leave short notes for each other.

use super::Engine;
use crate::holds::EngineError;

impl Engine {
    /// Leaves this process' note.
    pub async fn post(&self, board: &str, process: &str, note: &str) -> Result<(), EngineError> {
        let mut command = redis::cmd("HSET");
        command.arg(format!("fairgate:{board}")).arg(process).arg(note);
        self.link()?.call(|mut c| async move { command.query_async::<()>(&mut c).await }).await
    }

    /// All notes by process.
    pub async fn notes(&self, board: &str) -> Result<Vec<(String, String)>, EngineError> {
        let mut command = redis::cmd("HGETALL");
        command.arg(format!("fairgate:{board}"));
        self.link()?.call(|mut c| async move { command.query_async(&mut c).await }).await
    }

    /// Takes a note down.
    pub async fn take_down(&self, board: &str, process: &str) -> Result<(), EngineError> {
        let mut command = redis::cmd("HDEL");
        command.arg(format!("fairgate:{board}")).arg(process);
        self.link()?.call(|mut c| async move { command.query_async::<()>(&mut c).await }).await
    }
}
