//! Reading a journal, line by line.

use std::fs::File;
use std::io::{self, BufRead, Read, Seek, SeekFrom};

use serde::Deserialize;

use super::line;
use crate::record::Entry;
use crate::secret::Redactor;

/// The entries of a journal, one after the other: no more than one line is held.
#[derive(Debug)]
pub(super) struct Entries<R> {
    journal: R,
    line: Vec<u8>,
    /// How many lines were read, the last one included.
    pub(super) read: usize,
    /// Where the last line stands.
    pub(super) span: Span,
    /// Whether each line has a number and a checksum.
    is_numbered: bool,
    /// What it knows is cleared from every entry.
    pub(super) redactor: Option<Redactor>,
    /// Bytes of a last line that was cut off.
    pub(super) cut_off: usize,
    /// The first whole line that is not as it was written, counted from 1, and why.
    pub(super) damaged: Option<(usize, String)>,
    /// Why the file could not be read to its end.
    pub(super) failure: Option<io::Error>,
}

impl<R: BufRead> Entries<R> {
    pub(super) fn new(journal: R) -> Entries<R> {
        let span = Span { start: 0, length: 0 };
        let (line, is_numbered, redactor) = (Vec::new(), false, None);
        Entries { journal, line, read: 0, span, is_numbered, redactor, cut_off: 0, damaged: None, failure: None }
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
        self.span = Span { start: self.span.start + u64::from(self.span.length), length: self.line.len() as u32 };
        let checked = self.check();
        let read = checked.and_then(|()| entry(&self.line, self.redactor.as_ref()).map_err(|error| error.to_string()));
        read.map_err(|why| self.damaged = Some((self.read, why))).ok()
    }
}

/// Where a line stands in a journal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) start: u64,
    pub(super) length: u32,
}

/// The entry of a line, without what the redactor knows.
pub(super) fn entry(line: &[u8], redactor: Option<&Redactor>) -> serde_json::Result<Entry> {
    let entry: Entry = serde_json::from_slice(line)?;
    let cleared = redactor.map(|redactor| redactor.cleared(&entry, line)).transpose()?.flatten();
    Ok(cleared.unwrap_or(entry))
}

/// The entry that stands there.
pub(super) fn entry_at(mut file: &File, span: Span, redactor: Option<&Redactor>) -> io::Result<Entry> {
    let mut line = vec![0; span.length as usize];
    file.seek(SeekFrom::Start(span.start))?;
    file.read_exact(&mut line)?;
    Ok(entry(&line, redactor)?)
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
