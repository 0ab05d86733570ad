//! The journal: a line of JSON an entry.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::private;
use crate::record::Entry;
use crate::secret::Redactor;

/// A journal that is being written. Several threads may append at once: each serialises its own entry, and only the write
/// itself waits for the others'.
#[derive(Debug)]
pub struct Journal {
    file: File,
    /// Held while a line is written, so that no line is ever inside another. The first failure stays: nothing is written
    /// after it, since a line may have been cut off.
    failed: Mutex<bool>,
    redactor: Redactor,
}

impl Journal {
    /// Starts a journal in a file that must not exist.
    ///
    /// # Errors
    /// Whatever the file system says.
    pub fn create(path: &Path) -> io::Result<Journal> {
        let file = private::options().read(true).append(true).create_new(true).open(path)?;
        Ok(Journal { file, failed: Mutex::new(false), redactor: Redactor::default() })
    }

    /// The same journal; what this redactor knows is blotted out of every entry.
    pub fn with_redactor(self, redactor: Redactor) -> Journal {
        Journal { redactor, ..self }
    }

    /// Appends an entry in one write, without secrets: what was written is returned. What ends a trial or the run is on
    /// the disk when this returns; the rest has reached the kernel, so it outlives the process.
    ///
    /// # Errors
    /// Whatever the file system says, or that an earlier entry could not be written; the run must not go on.
    pub fn append<'e>(&self, entry: &'e Entry) -> io::Result<Cow<'e, Entry>> {
        let mut line = Vec::with_capacity(1024);
        serde_json::to_writer(&mut line, entry)?;
        let mut entry = Cow::Borrowed(entry);
        if let Some(cleared) = self.redactor.cleared(&*entry, &line)? {
            line.clear();
            serde_json::to_writer(&mut line, &cleared)?;
            entry = Cow::Owned(cleared);
        }
        line.push(b'\n');
        {
            let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
            if *failed {
                return Err(io::Error::other("an earlier entry could not be written"));
            }
            *failed = true;
            (&self.file).write_all(&line)?;
            *failed = false;
        }
        if matches!(*entry, Entry::RunStarted { .. } | Entry::TrialFinished { .. } | Entry::RunFinished { .. }) {
            self.file.sync_data()?;
        }
        Ok(entry)
    }
}

impl Journal {
    /// What was written, from its beginning, by the descriptor that is open already: no other is needed, and it does not
    /// matter where the file is by now.
    ///
    /// # Errors
    /// Whatever the file system says.
    pub(super) fn read_back(&self) -> io::Result<Entries<impl BufRead>> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(0))?;
        Ok(Entries::new(BufReader::with_capacity(1 << 16, file)))
    }
}

/// The entries of a journal, one after the other: no more than one line is held.
#[derive(Debug)]
pub(super) struct Entries<R> {
    journal: R,
    line: Vec<u8>,
    read: usize,
    /// Bytes of a last line that was cut off.
    pub(super) cut_off: usize,
    /// The first whole line that can't be read, counted from 1, and why.
    pub(super) damaged: Option<(usize, String)>,
    /// Why the file could not be read to its end.
    pub(super) failure: Option<io::Error>,
}

impl<R: BufRead> Entries<R> {
    pub(super) fn new(journal: R) -> Entries<R> {
        Entries { journal, line: Vec::new(), read: 0, cut_off: 0, damaged: None, failure: None }
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
        let entry = serde_json::from_slice(&self.line);
        entry.map_err(|error| self.damaged = Some((self.read, error.to_string()))).ok()
    }
}

/// What a journal holds.
#[derive(Debug, Clone, PartialEq)]
pub struct JournalText {
    /// The entries, up to the first line that can't be read.
    pub entries: Vec<Entry>,
    /// Bytes of a last line that was cut off by a kill: recognised and left out.
    pub cut_off: usize,
    /// The first whole line that can't be read, counted from 1, and why.
    pub damaged: Option<(usize, String)>,
}

/// Reads a journal's bytes. A last line without its newline was cut off and is left out; a whole line that can't be
/// read is damage, and whatever follows it is left out too.
pub fn read_journal(bytes: &[u8]) -> JournalText {
    let mut entries = Entries::new(bytes);
    let read = entries.by_ref().collect();
    JournalText { entries: read, cut_off: entries.cut_off, damaged: entries.damaged }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secret::Secret;

    fn journal_bytes() -> Vec<u8> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.ndjson");
        let journal = Journal::create(&path).unwrap();
        for turn in 1..=3 {
            journal.append(&Entry::UserSaid { trial: 1, turn, text: "naïve\n\"quoted\" \u{1b}".to_owned() }).unwrap();
        }
        std::fs::read(&path).unwrap()
    }

    #[test]
    fn every_prefix_of_a_journal_reads_as_its_whole_lines() {
        let bytes = journal_bytes();
        for end in 0..=bytes.len() {
            let whole = bytes[..end].iter().filter(|byte| **byte == b'\n').count();
            let text = read_journal(&bytes[..end]);
            assert_eq!(text.entries.len(), whole, "at byte {end}");
            assert_eq!(text.damaged, None, "at byte {end}");
            assert_eq!(text.cut_off > 0, end > 0 && bytes[end - 1] != b'\n', "at byte {end}");
        }
    }

    #[test]
    fn no_spelling_of_a_secret_reaches_the_disk_and_what_was_written_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.ndjson");
        let redactor = Redactor::default();
        let journal = Journal::create(&path).unwrap().with_redactor(redactor.clone());
        redactor.learn(&Secret::new("sk-canary/\"1\""));
        let said = |text: &str| Entry::UserSaid { trial: 1, turn: 1, text: text.to_owned() };
        let written = journal.append(&said("it is sk-canary/\"1\", or c2stY2FuYXJ5LyIxIg==")).unwrap().into_owned();
        assert_eq!(written, said("it is ***, or ***"));
        assert!(matches!(journal.append(&said("nothing")).unwrap(), Cow::Borrowed(_)));
        assert_eq!(read_journal(&std::fs::read(&path).unwrap()).entries, [written, said("nothing")]);
    }

    #[test]
    fn a_damaged_line_is_named_and_what_precedes_it_is_kept() {
        let mut bytes = journal_bytes();
        let second = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        bytes[second] = b'#';
        let text = read_journal(&bytes);
        assert_eq!(text.entries.len(), 1);
        assert_eq!(text.damaged.as_ref().map(|(line, _)| *line), Some(2));
    }

    #[test]
    fn what_several_threads_append_at_once_is_line_by_line_and_each_in_its_order() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.ndjson");
        let journal = Journal::create(&path).unwrap();
        std::thread::scope(|scope| {
            for trial in 0..8 {
                let journal = &journal;
                scope.spawn(move || {
                    for turn in 0..50 {
                        let text = "x".repeat(turn as usize * 400);
                        journal.append(&Entry::UserSaid { trial, turn, text }).unwrap();
                    }
                });
            }
        });
        let read = read_journal(&std::fs::read(&path).unwrap());
        assert_eq!((read.entries.len(), read.cut_off, read.damaged), (400, 0, None));
        let mut next = [0; 8];
        for entry in read.entries {
            let Entry::UserSaid { trial, turn, .. } = entry else { panic!("{entry:?}") };
            assert_eq!(std::mem::replace(&mut next[trial as usize], turn + 1), turn);
        }
    }

    #[test]
    fn a_journal_is_never_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.ndjson");
        std::fs::write(&path, "kept").unwrap();
        assert!(Journal::create(&path).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "kept");
    }
}
