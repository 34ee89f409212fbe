//! An append-only file of JSON lines, so that a killed simulator remembers what it did.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

use super::exchange::Record;
use super::provider::Provider;

/// The journal, or nothing where no path is configured.
#[derive(Debug, Default)]
pub struct Journal(Option<File>);

impl Journal {
    /// Opens the file and replays it into the provider. A torn last line is a request that was never answered.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn open(path: Option<&Path>, provider: &mut Provider) -> io::Result<Self> {
        let Some(path) = path else { return Ok(Self(None)) };
        let mut file = OpenOptions::new().create(true).append(true).read(true).open(path)?;
        let mut whole = true;
        for line in BufReader::new(&file).split(b'\n') {
            let line = line?;
            match serde_json::from_slice::<Record>(&line) {
                Ok(record) => provider.restore(record),
                Err(_) => whole = line.is_empty(),
            }
        }
        if !whole {
            file.write_all(b"\n")?;
        }
        Ok(Self(Some(file)))
    }

    /// Appends records. Written to the kernel, not flushed to disk: it survives the process, not the machine.
    ///
    /// # Errors
    /// The write failed.
    pub fn append(&mut self, records: &[Record]) -> io::Result<()> {
        let Some(file) = &mut self.0 else { return Ok(()) };
        let mut lines = Vec::new();
        for record in records {
            serde_json::to_writer(&mut lines, record)?;
            lines.push(b'\n');
        }
        file.write_all(&lines)
    }
}
