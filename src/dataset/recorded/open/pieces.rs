//! A file in pieces, each of which is read for itself: lines, or the items of a large list.

use std::io::{BufRead, Read};
use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::super::super::findings::about_file;
use super::super::super::load::single;
use super::super::super::{FileReader, Files};
use super::super::openai::id_of;
use super::{items, name, traces};
use crate::job::{Problem, Problems};

/// A part of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::dataset) struct Piece {
    /// Where it stands: the first byte and the length of each part. Nowhere is the whole file.
    pub(in crate::dataset) spans: Vec<(u64, u64)>,
    /// The line at which it begins.
    pub(in crate::dataset) line: usize,
    /// Which of the file's pieces it is, from 1; `None` for the whole file.
    pub(super) number: Option<usize>,
    /// What names its one conversation, where that was seen without reading all of it.
    pub(super) seen: Option<Box<ConversationNames>>,
    /// How many conversations it has.
    pub(super) conversations: usize,
}

/// What names a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::dataset) struct ConversationNames {
    /// Its id.
    pub(super) id: String,
    /// Other ids in it, in the order in which they are looked for.
    pub(super) other_ids: Vec<String>,
    /// The agent's model, where it is named.
    pub(super) model: Option<String>,
    /// The id of its session.
    pub(super) session: Option<String>,
}

/// A file in pieces.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::dataset) struct Pieces {
    /// The text before each piece.
    pub(in crate::dataset) before: String,
    /// The text behind each piece.
    pub(in crate::dataset) after: String,
    /// The pieces, in the file's order.
    pub(in crate::dataset) list: Vec<Piece>,
}

/// The keys of lists with a conversation an item.
const LISTS: [&str; 3] = ["eval_case_results", "evalCaseResults", "evalCases"];

/// A file of at least so many bytes that holds one list is read item by item.
pub(in crate::dataset) const LARGE: u64 = 8 << 20;

/// The longest line that is read.
const LONGEST_LINE: u64 = 256 << 20;

/// Cuts a file into pieces.
pub(super) fn cut(path: &Path, files: &dyn Files, warnings: &mut Vec<Problem>) -> Result<Pieces, Problems> {
    let failed = |error: std::io::Error| {
        let message = match error.kind() {
            std::io::ErrorKind::NotFound => "there is no such file and no such folder".to_owned(),
            std::io::ErrorKind::InvalidData => "this file is not UTF-8; save it as UTF-8".to_owned(),
            _ => format!("this file can't be read: {error}"),
        };
        single(about_file(&name(path), message, None))
    };
    if let Some(pieces) = items::cut(path, files, &LISTS, LARGE).map_err(failed)? {
        return Ok(pieces);
    }
    let reader = files.reader(path).map_err(failed)?;
    let mut lines = FileLines { reader, start: 0, line: 0, bytes: Vec::new() };
    if lines.next_filled(path).map_err(failed)?? && is_object_or_list(&lines.bytes) {
        let (list, filled) = cut_lines(path, lines, warnings).map_err(failed)??;
        if filled > 1 {
            return Ok(Pieces { list, ..Pieces::default() });
        }
    }
    Ok(Pieces { list: vec![Piece { line: 1, ..Piece::default() }], ..Pieces::default() })
}

/// The lines of a file, one at a time.
struct FileLines {
    reader: Box<dyn FileReader>,
    /// Where the line begins.
    start: u64,
    /// Its number, from 1.
    line: usize,
    bytes: Vec<u8>,
}

impl FileLines {
    /// Reads the next line that is not blank; `false` at the end.
    fn next_filled(&mut self, path: &Path) -> std::io::Result<Result<bool, Problems>> {
        loop {
            self.start += self.bytes.len() as u64;
            self.bytes.clear();
            let read = self.reader.by_ref().take(LONGEST_LINE + 1).read_until(b'\n', &mut self.bytes)?;
            if read == 0 {
                return Ok(Ok(false));
            }
            self.line += 1;
            if self.bytes.len() as u64 > LONGEST_LINE {
                let message = format!("line {} is longer than {} MiB", self.line, LONGEST_LINE >> 20);
                return Ok(Err(single(Problem { line: self.line, ..about_file(&name(path), message, None) })));
            }
            if self.start == 0 && self.bytes.starts_with(b"\xEF\xBB\xBF") {
                self.bytes.drain(..3);
                self.start = 3;
            }
            if !self.bytes.trim_ascii().is_empty() {
                return Ok(Ok(true));
            }
        }
    }
}

/// The entries of an object that tell what a line is, read without the rest.
#[derive(Deserialize)]
struct LineHead {
    id: Option<serde_json::Value>,
    conversation_id: Option<serde_json::Value>,
    case: Option<serde_json::Value>,
    session_id: Option<serde_json::Value>,
    model: Option<serde_json::Value>,
    messages: Option<Vec<IgnoredAny>>,
    #[serde(rename = "resourceSpans")]
    spans: Option<IgnoredAny>,
    #[serde(rename = "resourceLogs")]
    logs: Option<IgnoredAny>,
    #[serde(rename = "resourceMetrics")]
    metrics: Option<IgnoredAny>,
}

/// The pieces of a file with a document a line, and how many lines are not blank.
fn cut_lines(
    path: &Path,
    mut lines: FileLines,
    warnings: &mut Vec<Problem>,
) -> std::io::Result<Result<(Vec<Piece>, usize), Problems>> {
    let (mut list, mut traces, mut filled) = (Vec::new(), traces::Traces::default(), 0);
    let file_name = name(path);
    let stem = super::stem(&file_name);
    loop {
        filled += 1;
        let (line, number) = (lines.line, list.len() + traces.len() + 1);
        let span = (lines.start, lines.bytes.trim_ascii_end().len() as u64);
        let mut piece = Piece { spans: vec![span], line, number: Some(number), ..Piece::default() };
        let is_last = lines.bytes.last() != Some(&b'\n');
        match serde_json::from_slice::<LineHead>(&lines.bytes) {
            Ok(head) if head.spans.is_some() || head.logs.is_some() => traces.add(&lines.bytes, span, line),
            // Metrics stand among them.
            Ok(head) if head.metrics.is_some() => {}
            Ok(head) => {
                if head.messages.is_some() {
                    // In the order of `ID_KEYS`.
                    let ids = [head.case, head.id, head.conversation_id, head.session_id];
                    let mut ids = ids.into_iter().flatten().filter_map(|id| id_of(&id));
                    piece.seen = Some(Box::new(ConversationNames {
                        id: ids.next().unwrap_or_else(|| format!("{stem}-{number}")),
                        other_ids: ids.collect(),
                        model: head.model.and_then(|model| model.as_str().map(str::to_owned)),
                        session: None,
                    }));
                }
                list.push(piece);
            }
            Err(error) if error.is_eof() && is_last && number > 1 => {
                let message = format!("line {line} breaks off: it is left out");
                let help = "is it still being written?";
                warnings.push(Problem { line, ..about_file(&name(path), message, Some(help)) });
            }
            // The reader reports the error with its place.
            Err(_) => list.push(piece),
        }
        match lines.next_filled(path)? {
            Ok(true) => {}
            Ok(false) => break,
            Err(problems) => return Ok(Err(problems)),
        }
    }
    list.extend(traces.into_pieces());
    list.shrink_to_fit();
    Ok(Ok((list, filled)))
}

/// Whether a line is a document of its own.
fn is_object_or_list(line: &[u8]) -> bool {
    matches!(line.trim_ascii_start().first(), Some(b'{' | b'[')) && serde_json::from_slice::<IgnoredAny>(line).is_ok()
}
