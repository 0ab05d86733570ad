//! Reading a journal, line by line.

use std::io::{self, BufRead};

use serde::Deserialize;

use super::line;
use crate::record::Entry;

/// The entries of a journal, one after the other: no more than one line is held.
#[derive(Debug)]
pub(super) struct Entries<R> {
    journal: R,
    line: Vec<u8>,
    read: usize,
    /// Whether each line has a number and a checksum.
    is_numbered: bool,
    /// Bytes of a last line that was cut off.
    pub(super) cut_off: usize,
    /// The first whole line that is not as it was written, counted from 1, and why.
    pub(super) damaged: Option<(usize, String)>,
    /// Why the file could not be read to its end.
    pub(super) failure: Option<io::Error>,
}

impl<R: BufRead> Entries<R> {
    pub(super) fn new(journal: R) -> Entries<R> {
        Entries { journal, line: Vec::new(), read: 0, is_numbered: false, cut_off: 0, damaged: None, failure: None }
    }

    /// Whether the line just read is what was written. Version 1 of the format had no numbers.
    fn check(&mut self) -> Result<(), String> {
        if self.read == 1 {
            self.is_numbered = line::is_numbered(&self.line) || !is_of_version_1(&self.line);
        }
        if self.is_numbered { line::check(&self.line, self.read as u64) } else { Ok(()) }
    }
}

impl<R: BufRead> Iterator for Entries<R> {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        if self.damaged.is_some() || self.failure.is_some() {
            return None;
        }
        self.line.clear();
        if let Err(error) = self.journal.read_until(b'\n', &mut self.line) {
            self.failure = Some(error);
            return None;
        }
        if self.line.last() != Some(&b'\n') {
            self.cut_off = self.line.len();
            return None;
        }
        self.read += 1;
        let checked = self.check();
        let read = checked.and_then(|()| serde_json::from_slice(&self.line).map_err(|error| error.to_string()));
        read.map_err(|why| self.damaged = Some((self.read, why))).ok()
    }
}

fn is_of_version_1(line: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct First {
        version: u32,
    }
    serde_json::from_slice(line).is_ok_and(|first: First| first.version == 1)
}

/// What a journal holds.
#[derive(Debug, Clone, PartialEq)]
pub struct JournalText {
    /// The entries, up to the first line that is not as it was written.
    pub entries: Vec<Entry>,
    /// Bytes of a last line that was cut off by a kill: recognised and left out.
    pub cut_off: usize,
    /// The first whole line that is not as it was written, counted from 1, and why.
    pub damaged: Option<(usize, String)>,
}

/// Reads a journal's bytes. A last line without its newline was cut off and is left out; a whole line that is
/// not as it was written is damage, and whatever follows it is left out too.
pub fn read_journal(bytes: &[u8]) -> JournalText {
    let mut entries = Entries::new(bytes);
    let read = entries.by_ref().collect();
    JournalText { entries: read, cut_off: entries.cut_off, damaged: entries.damaged }
}
