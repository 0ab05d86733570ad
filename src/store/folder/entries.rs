//! Reading a journal, line by line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use chrono::{DateTime, Utc};
use serde::Deserialize;

use super::line::{self, Damage};
use crate::record::{Entry, LaterEntries, ListedProvenance, ListedRun, Verdict};
use crate::secret::Redactor;

/// The entries of a journal, one after the other: no more than one line is held.
#[derive(Debug)]
pub(super) struct Entries<R> {
    journal: R,
    line: Vec<u8>,
    /// How many lines were read, the last one included.
    pub(super) read: usize,
    /// Where the last line stands.
    pub(super) span: LineSpan,
    /// Whether each line has a number and a checksum.
    is_numbered: bool,
    /// Redacts every entry.
    pub(super) redactor: Option<Redactor>,
    /// Bytes of a last line that was cut off.
    pub(super) cut_off: usize,
    /// The first whole line that is not as it was written, counted from 1, and its damage.
    pub(super) damaged: Option<(usize, Damage)>,
    /// How many whole lines could not be read.
    pub(super) left_out: usize,
    /// The number of the next entry.
    expected: u64,
    /// Nothing that follows belongs to the run.
    is_over: bool,
    /// Why the file could not be read to its end.
    pub(super) failure: Option<io::Error>,
}

impl<R: BufRead> Entries<R> {
    pub(super) fn new(journal: R) -> Entries<R> {
        let span = LineSpan { start: 0, length: 0 };
        let (line, is_numbered, redactor) = (Vec::new(), false, None);
        Entries {
            journal,
            line,
            read: 0,
            span,
            is_numbered,
            redactor,
            cut_off: 0,
            damaged: None,
            left_out: 0,
            expected: 1,
            is_over: false,
            failure: None,
        }
    }

    /// The version in the line just read.
    pub(super) fn version(&self) -> Option<u32> {
        version(&self.line)
    }

    /// The entry of the line just read, if it is what was written. Version 1 of the format had no numbers.
    fn checked(&mut self) -> Result<Entry, Damage> {
        if self.read == 1 {
            if self.line.starts_with(BYTE_ORDER_MARK) {
                self.line.drain(..BYTE_ORDER_MARK.len());
            }
            self.is_numbered = line::is_numbered(&self.line) || version(&self.line) != Some(1);
        }
        if self.is_numbered {
            let number = line::check(&self.line)?;
            if number < self.expected {
                return Err(Damage::Repeated(number));
            }
            if number > self.expected {
                let (first, last) = (self.expected, number - 1);
                let damage = if first == last { Damage::OneDeleted(first) } else { Damage::Deleted(first, last) };
                self.damaged.get_or_insert((self.read, damage));
            }
            self.expected = number + 1;
        }
        let read = entry(&self.line, self.redactor.as_ref()).map_err(|error| match kind(&self.line) {
            Some(kind) if self.is_numbered && error.to_string().starts_with("unknown variant") => Damage::Newer(kind),
            _ => Damage::Unreadable(error.to_string()),
        })?;
        if self.read > 1 && matches!(read, Entry::RunStarted { .. }) {
            self.is_over = true;
            return Err(Damage::AnotherRun);
        }
        Ok(read)
    }
}

/// A buffer for a line that has grown past this is not kept.
const LONGEST_KEPT: usize = 1 << 20;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

impl<R: BufRead> Iterator for Entries<R> {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        while !self.is_over && self.failure.is_none() {
            self.line.clear();
            // The first line of a run of many trials is longer than all others.
            self.line.shrink_to(LONGEST_KEPT);
            if let Err(error) = self.journal.read_until(b'\n', &mut self.line) {
                self.failure = Some(error);
                return None;
            }
            if self.line.last() != Some(&b'\n') {
                self.cut_off = self.line.len();
                return None;
            }
            self.read += 1;
            self.span =
                LineSpan { start: self.span.start + u64::from(self.span.length), length: self.line.len() as u32 };
            match self.checked() {
                Ok(entry) => return Some(entry),
                Err(damage) => {
                    self.damaged.get_or_insert((self.read, damage));
                    // A run whose first entry is missing is damaged: nothing of it can be read.
                    if let (1, Ok(altered @ Entry::RunStarted { .. })) =
                        (self.read, entry(&self.line, self.redactor.as_ref()))
                    {
                        self.expected = 2;
                        return Some(altered);
                    }
                    self.left_out += 1;
                }
            }
        }
        None
    }
}

/// The place of lines that stand in a journal one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LineSpan {
    pub(super) start: u64,
    /// In bytes, the breaks included.
    pub(super) length: u32,
}

impl LineSpan {
    /// The most bytes of several lines: they are read at once.
    const MOST: u32 = 64 * 1024;

    /// Adds the place of the next line to those of a trial. Lines that follow each other are one span: where no other
    /// conversation goes on at the same time, a trial takes as much memory as one of its lines.
    pub(super) fn add(spans: &mut Vec<LineSpan>, next: LineSpan) {
        match spans.last_mut() {
            Some(last)
                if last.start + u64::from(last.length) == next.start
                    && last.length.saturating_add(next.length) <= LineSpan::MOST =>
            {
                last.length += next.length;
            }
            _ => {
                // Most trials need one or two.
                spans.reserve_exact(usize::from(spans.is_empty()));
                spans.push(next);
            }
        }
    }
}

/// The entry of a line, without what the redactor knows.
pub(super) fn entry(line: &[u8], redactor: Option<&Redactor>) -> serde_json::Result<Entry> {
    let entry: Entry = serde_json::from_slice(line)?;
    let cleared = redactor.map(|redactor| redactor.cleared(&entry, line)).transpose()?.flatten();
    Ok(cleared.unwrap_or(entry))
}

/// The entries that stand there.
pub(super) fn entries_at(
    mut file: &File,
    span: LineSpan,
    redactor: Option<&Redactor>,
) -> io::Result<impl Iterator<Item = io::Result<Entry>>> {
    let mut lines = vec![0; span.length as usize];
    file.seek(SeekFrom::Start(span.start))?;
    file.read_exact(&mut lines)?;
    let mut place = 0;
    Ok(std::iter::from_fn(move || {
        let rest = lines.get(place..).filter(|rest| !rest.is_empty())?;
        let line = rest.split_inclusive(|byte| *byte == b'\n').next()?;
        place += line.len();
        Some(entry(line, redactor).map_err(io::Error::from))
    }))
}

/// The run as its first line tells it: nothing of how it ended.
pub(super) fn first_line(mut file: &File) -> Option<ListedRun> {
    #[derive(Deserialize)]
    struct Started {
        version: u32,
        id: String,
        at: DateTime<Utc>,
        provenance: ListedProvenance,
    }
    let mut line = Vec::new();
    file.seek(SeekFrom::Start(0)).ok()?;
    BufReader::new(file).read_until(b'\n', &mut line).ok()?;
    let Started { version, id, at, provenance } = serde_json::from_slice(&line).ok()?;
    let verdict = Verdict::Incomplete;
    Some(ListedRun {
        version,
        id,
        started_at: at,
        finished_at: None,
        verdict,
        has_no_gate: false,
        provenance,
        figures: Vec::new(),
    })
}

/// Whether the last line of a journal says that the run has ended.
pub(super) fn has_ended(mut file: &File) -> bool {
    const ENOUGH: u64 = 1024;
    let mut end = Vec::new();
    let length = file.seek(SeekFrom::End(0)).unwrap_or_default();
    let read = file.seek(SeekFrom::Start(length.saturating_sub(ENOUGH))).and_then(|_| file.read_to_end(&mut end));
    let last = end.trim_ascii_end().rsplit(|byte| *byte == b'\n').next();
    read.is_ok() && last.and_then(kind).is_some_and(|kind| kind == "runFinished")
}

/// What later entries say of earlier ones. Only those lines are parsed that tell it: it is known before the trials are read.
pub(super) fn later(mut journal: impl BufRead) -> io::Result<LaterEntries> {
    let restarted = memchr::memmem::Finder::new(b"\"trialRestarted\"");
    let judged = memchr::memmem::Finder::new(b"\"wasOver\"");
    let resumed = memchr::memmem::Finder::new(b"\"runResumed\"");
    let (mut later, mut line) = (LaterEntries::default(), Vec::new());
    while journal.read_until(b'\n', &mut line)? > 0 {
        if [&restarted, &judged, &resumed].iter().any(|it| it.find(&line).is_some())
            && let Ok(read) = entry(&line, None)
        {
            later.add(&read);
        }
        line.clear();
    }
    Ok(later)
}

/// The version of the format, in the first line of a journal.
fn version(line: &[u8]) -> Option<u32> {
    #[derive(Deserialize)]
    struct First {
        version: u32,
    }
    serde_json::from_slice(line).ok().map(|first: First| first.version)
}

/// The kind of an entry, also of one that is not known.
fn kind(line: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Kind {
        kind: String,
    }
    serde_json::from_slice(line).ok().map(|kind: Kind| kind.kind)
}

/// The entries of a journal.
#[derive(Debug, Clone, PartialEq)]
pub struct JournalText {
    /// The entries of all lines that are as they were written.
    pub entries: Vec<Entry>,
    /// Bytes of a last line that was cut off by a kill: recognised and left out.
    pub cut_off: usize,
    /// The first whole line that is not as it was written, counted from 1, and its damage.
    pub damaged: Option<(usize, Damage)>,
}

/// Reads a journal's bytes. A last line without its newline was cut off and is left out, and so is a whole line that is
/// not as it was written.
pub fn read_journal(bytes: &[u8]) -> JournalText {
    let mut entries = Entries::new(bytes);
    let read = entries.by_ref().collect();
    JournalText { entries: read, cut_off: entries.cut_off, damaged: entries.damaged }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::folder::Journal;

    fn user_said(trial: u32, text: &str) -> Entry {
        Entry::UserSaid { trial, turn: 1, text: text.to_owned(), farewell: None, used_ms: None }
    }

    /// The spans of trial 1 in a journal of these entries, and the file.
    fn spans_of_first(entries: &[Entry]) -> (tempfile::TempDir, File, Vec<LineSpan>) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.ndjson");
        let journal = Journal::create(&path).unwrap();
        entries.iter().for_each(|entry| drop(journal.append(entry).unwrap()));
        drop(journal);
        let file = File::open(&path).unwrap();
        let (mut read, mut spans) = (Entries::new(BufReader::new(&file)), Vec::new());
        while let Some(entry) = read.next() {
            if entry.trial() == Some(1) {
                LineSpan::add(&mut spans, read.span);
            }
        }
        (dir, file, spans)
    }

    fn texts(file: &File, spans: &[LineSpan]) -> Vec<String> {
        let entries = spans.iter().flat_map(|span| entries_at(file, *span, None).unwrap());
        entries
            .map(|entry| match entry.unwrap() {
                Entry::UserSaid { text, .. } => text,
                other => panic!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn lines_that_follow_each_other_are_one_span_and_those_apart_are_several() {
        let in_a_row = [user_said(1, "a"), user_said(1, "b\n"), user_said(1, "c"), user_said(2, "d")];
        let (_dir, file, spans) = spans_of_first(&in_a_row);
        assert_eq!((spans.len(), texts(&file, &spans)), (1, vec!["a".to_owned(), "b\n".to_owned(), "c".to_owned()]));
        let mixed = [user_said(1, "a"), user_said(2, "b"), user_said(1, "c"), user_said(1, "d")];
        let (_dir, file, spans) = spans_of_first(&mixed);
        assert_eq!((spans.len(), texts(&file, &spans)), (2, vec!["a".to_owned(), "c".to_owned(), "d".to_owned()]));
    }

    #[test]
    fn long_lines_are_not_read_all_at_once() {
        let long = "x".repeat(LineSpan::MOST as usize / 2);
        let (_dir, file, spans) = spans_of_first(&[user_said(1, &long), user_said(1, &long), user_said(1, "last")]);
        assert_eq!(spans.len(), 2);
        assert_eq!(texts(&file, &spans), [long.clone(), long, "last".to_owned()]);
    }

    #[test]
    fn a_line_that_was_altered_after_it_was_read_is_an_error_and_those_before_it_are_read() {
        let (dir, file, spans) = spans_of_first(&[user_said(1, "a"), user_said(1, "b")]);
        let path = dir.path().join("journal.ndjson");
        let text = std::fs::read_to_string(&path).unwrap().replace(r#""text":"b""#, r#""text":777"#);
        std::fs::write(&path, text).unwrap();
        let read: Vec<io::Result<Entry>> = entries_at(&file, spans[0], None).unwrap().collect();
        assert!(read[0].is_ok() && read[1].is_err(), "{read:?}");
    }
}
