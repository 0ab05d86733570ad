//! The first line of a journal where it is long, as that of a run of many trials: it is parsed as it is read, and not held.

use std::io::{self, BufRead, BufReader, Read};

use serde::Deserialize;

use super::line::{Damage, LineCheck};
use crate::record::Entry;
use crate::secret::Redactor;

/// A first line that was read.
pub(super) struct FirstLine {
    /// Its entry.
    pub(super) entry: serde_json::Result<Entry>,
    /// Its number, if it is as it was written.
    pub(super) number: Result<u64, Damage>,
    /// How many bytes it has.
    pub(super) length: u64,
    /// Whether it has an end; else it was cut off.
    pub(super) is_whole: bool,
}

/// Reads a line of which this has been read already.
///
/// # Errors
/// When the journal can't be read.
pub(super) fn read(begun: &[u8], journal: &mut impl BufRead) -> io::Result<FirstLine> {
    let mut line = LongLine { begun, journal, check: LineCheck::default(), length: 0, is_whole: false, is_over: false };
    let entry = Entry::deserialize(&mut serde_json::Deserializer::from_reader(BufReader::new(&mut line)));
    io::copy(&mut line, &mut io::sink())?;
    let LongLine { check, length, is_whole, .. } = line;
    Ok(FirstLine { entry, number: check.finish(), length, is_whole })
}

/// The entry without what the redactor knows. Of the trials of a group the first stands for all.
pub(super) fn cleared(mut entry: Entry, redactor: &Redactor) -> serde_json::Result<Entry> {
    let Entry::RunStarted { trials, .. } = &mut entry else { return Ok(entry) };
    let sample = trials.sample();
    let all = std::mem::replace(trials, sample);
    let cleared = redactor.cleared(&entry, &serde_json::to_vec(&entry)?)?;
    let mut entry = cleared.unwrap_or(entry);
    if let Entry::RunStarted { trials, .. } = &mut entry {
        *trials = all.named_as(trials);
    }
    Ok(entry)
}

/// A line up to its end.
struct LongLine<'a, R> {
    begun: &'a [u8],
    journal: &'a mut R,
    check: LineCheck,
    length: u64,
    is_whole: bool,
    is_over: bool,
}

impl<R: BufRead> Read for LongLine<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut read = self.begun.read(buffer)?;
        if read == 0 && !self.is_over {
            let next = self.journal.fill_buf()?;
            let end = memchr::memchr(b'\n', next).map_or(next.len(), |end| end + 1);
            read = end.min(buffer.len());
            buffer[..read].copy_from_slice(&next[..read]);
            self.journal.consume(read);
            self.is_whole = buffer[..read].ends_with(b"\n");
            self.is_over = self.is_whole || (read == 0 && !buffer.is_empty());
        }
        self.check.add(&buffer[..read]);
        self.length += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::super::entries::Entries;
    use super::super::read_journal;
    use super::*;
    use crate::record::FORMAT_VERSION;
    use crate::secret::Secret;
    use crate::store::folder::Journal;

    const SECRET: &str = "sk-canary-Zq8vKp2mXc7VhT5kW";

    /// The journal of a run whose first line has more than a megabyte.
    fn journal() -> Vec<u8> {
        let trial = |number: u32| {
            let case = if number.is_multiple_of(2) { "even" } else { SECRET };
            format!(
                r#"{{"number": {number}, "case": "{case}", "model": "m", "condition": "withFacts", "repeat": {number}}}"#
            )
        };
        let begun = Entry::RunStarted {
            version: FORMAT_VERSION,
            id: "k3f9qz".to_owned(),
            at: chrono::DateTime::UNIX_EPOCH,
            provenance: serde_json::from_str(r#"{"job": "Travel desk", "models": ["m"]}"#).unwrap(),
            job: None,
            templates: Default::default(),
            trials: (1..=20_000).map(|number| serde_json::from_str(&trial(number)).unwrap()).collect(),
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.ndjson");
        let journal = Journal::create(&path).unwrap();
        for entry in [begun, Entry::TrialStarted { trial: 7, at: chrono::DateTime::UNIX_EPOCH, case: None }] {
            drop(journal.append(&entry).unwrap());
        }
        drop(journal);
        let bytes = std::fs::read(&path).unwrap();
        assert!(bytes.len() > 1 << 20);
        bytes
    }

    fn trials(entry: &Entry) -> usize {
        match entry {
            Entry::RunStarted { trials, .. } => trials.len(),
            _ => 0,
        }
    }

    #[test]
    fn it_is_read_as_any_other() {
        let bytes = journal();
        let read = read_journal(&bytes);
        assert_eq!((read.damaged, read.cut_off, read.entries.len()), (None, 0, 2));
        let first = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        assert_eq!(read.entries[0], serde_json::from_slice(&bytes[..first]).unwrap());
        let mut entries = Entries::new(bytes.as_slice());
        entries.by_ref().for_each(drop);
        assert_eq!((entries.span.start, entries.read), (first as u64, 2));
        let marked = [b"\xEF\xBB\xBF", bytes.as_slice()].concat();
        let mut entries = Entries::new(marked.as_slice());
        assert_eq!((entries.by_ref().count(), entries.span.start, entries.damaged), (2, first as u64 + 3, None));
    }

    #[test]
    fn what_is_not_as_it_was_written_is_told() {
        let bytes = journal();
        let place = |text: &[u8]| memchr::memmem::rfind(&bytes, text).unwrap();
        // Another repetition: it can be read, and is damaged.
        let mut altered = bytes.clone();
        altered[place(b"\"repeat\":19999") + 13] = b'8';
        let read = read_journal(&altered);
        assert_eq!((read.damaged, trials(&read.entries[0])), (Some((1, Damage::Altered)), 20_000));
        // It can't be read: the rest is.
        altered[place(b"\"number\":19999")] = b'!';
        let read = read_journal(&altered);
        assert_eq!((read.damaged.map(|it| it.0), read.entries.len(), trials(&read.entries[0])), (Some(1), 1, 0));
        // It was cut off.
        let cut = (1 << 20) + 5;
        let read = read_journal(&bytes[..cut]);
        assert_eq!((read.cut_off, read.entries.len(), read.damaged), (cut, 0, None));
    }

    #[test]
    fn secrets_are_cleared_from_it() {
        let bytes = journal();
        let redactor = Redactor::new([&Secret::new(SECRET)]);
        let mut entries = Entries::new(bytes.as_slice());
        entries.redactor = Some(redactor);
        let Some(Entry::RunStarted { trials, .. }) = entries.next() else { panic!("{:?}", entries.damaged) };
        assert_eq!((trials.len(), trials.iter().nth(1).unwrap().case), (20_000, "even".to_owned()));
        assert!(trials.iter().all(|trial| !trial.case.contains(SECRET)));
    }
}
