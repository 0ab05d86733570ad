//! Reading a journal, line by line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use chrono::{DateTime, Utc};
use serde::Deserialize;

use super::line::{self, Damage};
use super::line_places::LineSpan;
use super::long_line::{self, FirstLine};
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

    /// Takes in the line just read, which has this number and entry; returns the entry, if it is what was written, and also the damaged
    /// one that a run begins with: without it nothing of the run can be read.
    fn accept(
        &mut self,
        number: Result<u64, Damage>,
        entry: impl FnOnce(&Self) -> serde_json::Result<Entry>,
    ) -> Option<Entry> {
        let damage = match (self.note_number(number), entry(self)) {
            (Ok(()), Ok(Entry::RunStarted { .. })) if self.read > 1 => {
                self.is_over = true;
                Damage::AnotherRun
            }
            (Ok(()), Ok(entry)) => return Some(entry),
            (Err(damage), Ok(altered @ Entry::RunStarted { .. })) if self.read == 1 => {
                self.damaged.get_or_insert((1, damage));
                self.expected = 2;
                return Some(altered);
            }
            (Err(damage), _) => damage,
            (Ok(()), Err(error)) => match kind(&self.line) {
                Some(kind) if self.is_numbered && error.to_string().starts_with("unknown variant") => {
                    Damage::Newer(kind)
                }
                _ => Damage::Unreadable(error.to_string()),
            },
        };
        self.damaged.get_or_insert((self.read, damage));
        self.left_out += 1;
        None
    }

    /// Version 1 of the format had no numbers.
    fn note_number(&mut self, number: Result<u64, Damage>) -> Result<(), Damage> {
        if self.is_numbered {
            let number = number?;
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
        Ok(())
    }

    /// Takes in the first line where it is long: only its beginning is held.
    fn long_first(&mut self) -> io::Result<Option<Entry>> {
        let FirstLine { entry, number, length, is_whole } = long_line::read(&self.line, &mut self.journal)?;
        if !is_whole {
            (self.cut_off, self.is_over) = (length as usize, true);
            return Ok(None);
        }
        self.read = 1;
        self.span.length = length as u32;
        self.is_numbered = number != Err(Damage::Unnumbered) || version(&self.line) != Some(1);
        Ok(self.accept(number, |it| match &it.redactor {
            Some(redactor) => long_line::cleared(entry?, redactor),
            None => entry,
        }))
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
            self.line.shrink_to(LONGEST_KEPT);
            // The first line of a run of many trials is longer than all others.
            let most = if self.read == 0 { LONGEST_KEPT as u64 } else { u64::MAX };
            let mut read = self.journal.by_ref().take(most).read_until(b'\n', &mut self.line).map(|_| None);
            if self.read == 0 && self.line.starts_with(BYTE_ORDER_MARK) {
                self.line.drain(..BYTE_ORDER_MARK.len());
                self.span.start = BYTE_ORDER_MARK.len() as u64;
            }
            let has_end = self.line.last() == Some(&b'\n');
            let is_long = self.read == 0 && !has_end && self.line.len() + BYTE_ORDER_MARK.len() >= LONGEST_KEPT;
            if is_long && read.is_ok() {
                read = self.long_first();
            }
            match read {
                Err(error) => self.failure = Some(error),
                Ok(Some(entry)) => return Some(entry),
                Ok(None) if is_long => {}
                Ok(None) if !has_end => {
                    self.cut_off = self.line.len();
                    return None;
                }
                Ok(None) => {
                    self.read += 1;
                    let start = self.span.start + u64::from(self.span.length);
                    self.span = LineSpan { start, length: self.line.len() as u32 };
                    if self.read == 1 {
                        self.is_numbered = line::is_numbered(&self.line) || version(&self.line) != Some(1);
                    }
                    let accepted = self.accept(line::check(&self.line), |it| entry(&it.line, it.redactor.as_ref()));
                    if accepted.is_some() {
                        return accepted;
                    }
                }
            }
        }
        None
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
    file.seek(SeekFrom::Start(0)).ok()?;
    // The line holds the job, which may be large: it is passed over as it is read.
    let mut line = serde_json::Deserializer::from_reader(BufReader::new(file));
    let Started { version, id, at, provenance } = Started::deserialize(&mut line).ok()?;
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
    // The first line may be long.
    if journal.fill_buf()?.starts_with(b"{\"kind\":\"runStarted\"") {
        journal.skip_until(b'\n')?;
    }
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
    // Of a long one only the beginning is there.
    let begins = || line.strip_prefix(b"{\"kind\":\"runStarted\",\"version\":");
    let digits = || begins()?.split(|byte| !byte.is_ascii_digit()).next();
    let written = || std::str::from_utf8(digits()?).ok()?.parse().ok();
    serde_json::from_slice(line).ok().map(|first: First| first.version).or_else(written)
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
    use super::super::line_places::LinePlaces;
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
        let (mut read, mut places) = (Entries::new(BufReader::new(&file)), LinePlaces::default());
        while let Some(entry) = read.next() {
            places.add(entry.trial().unwrap(), read.span);
        }
        (dir, file, places.by_trial().of(1).collect())
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
