//! An append-only file of JSON lines, so that a killed simulator remembers what it did.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

use super::exchange::Record;
use super::provider::Provider;

/// The journal, or nothing where no path is configured.
#[derive(Debug, Default)]
pub struct Journal {
    file: Option<File>,
    found: u64,
}

impl Journal {
    /// Opens the file and replays it into the provider. A torn last line is a request that was never answered.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn open(path: Option<&Path>, provider: &mut Provider) -> io::Result<Self> {
        let Some(path) = path else { return Ok(Self::default()) };
        let mut file = OpenOptions::new().create(true).append(true).read(true).open(path)?;
        let (mut whole, mut found) = (true, 0);
        for line in BufReader::new(&file).split(b'\n') {
            let line = line?;
            found += 1;
            match serde_json::from_slice::<Record>(&line) {
                Ok(record) => provider.restore(record),
                Err(_) => whole = line.is_empty(),
            }
        }
        if !whole {
            file.write_all(b"\n")?;
        }
        Ok(Self { file: Some(file), found })
    }

    /// Lines that were there when it was opened. Whatever handed out an identifier wrote one, so that the next process
    /// finds more.
    #[must_use]
    pub fn found(&self) -> u64 {
        self.found
    }

    /// Appends records. Written to the kernel, not flushed to disk: it survives the process, not the machine.
    ///
    /// # Errors
    /// The write failed.
    pub fn append(&mut self, records: &[Record]) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let mut lines = Vec::new();
        for record in records {
            serde_json::to_writer(&mut lines, record)?;
            lines.push(b'\n');
        }
        file.write_all(&lines)
    }
}

#[cfg(test)]
mod tests {
    use super::super::exchange::Moment;
    use super::*;

    #[test]
    fn the_next_process_finds_more_though_no_intent_was_added() {
        let path = std::env::temp_dir().join(format!("fairgate-journal-{}", std::process::id()));
        let mut before = None;
        for (n, path_and_body) in [
            ("/v1/payment_intents", "amount=9000&currency=eur&capture_method=manual"),
            ("/v1/payment_intents/{id}/confirm", "payment_method=pm_card_visa"),
            ("/v1/payment_intents/{id}/cancel", ""),
        ]
        .into_iter()
        .enumerate()
        {
            let mut provider = Provider::default();
            let mut journal = Journal::open(Some(&path), &mut provider).unwrap();
            assert!(before < Some(journal.found()), "{before:?} {}", journal.found());
            before = Some(journal.found());
            let ledger = provider.book.ledger();
            let id = ledger["intents"][0]["id"].as_str().unwrap_or_default();
            let moment = Moment { now: 1_800_000_000, nonce: format!("{n:08x}") };
            let (target, body) = path_and_body;
            provider.post(None, &target.replace("{id}", id), body.as_bytes(), &moment);
            let (events, records) = provider.drain();
            assert!(events.is_empty() || !records.is_empty());
            journal.append(&records).unwrap();
        }
        std::fs::remove_file(path).unwrap();
    }
}
