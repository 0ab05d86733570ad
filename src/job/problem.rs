//! The problems of a job file as data; `render` writes them down.

use super::redaction::{REDACTED, Redaction};
use super::source::{SourceLines, SourceSpan};
use super::template_check::TemplatePlace;
use crate::secret::is_misplaced_in_key;

/// One thing that is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file, as it was named to us.
    pub file: String,
    /// The line, from 1; 0 where the problem is about the file as a whole.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// The character of `source_line` at which the place begins, from 1: not the column where a part of the line is not shown.
    pub caret: usize,
    /// The length of the marked part of `source_line` in characters, at least 1.
    pub width: usize,
    /// The line as the author wrote it, without its break.
    pub source_line: String,
    /// The problem, in a sentence.
    pub message: String,
    /// The alternatives; may be empty.
    pub expected: Vec<String>,
    /// A suggestion.
    pub help: Option<String>,
}

impl Problem {
    /// Adds what could stand there instead.
    pub(super) fn expect<T: Into<String>>(&mut self, expected: impl IntoIterator<Item = T>) -> &mut Problem {
        self.expected = expected.into_iter().map(Into::into).collect();
        self
    }

    /// Adds what to try.
    pub(super) fn try_this(&mut self, help: impl Into<Option<String>>) -> &mut Problem {
        self.help = help.into();
        self
    }
}

/// Everything that is wrong with a job file, in the order of its lines; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems {
    /// In the order of the file's lines, a hundred at most, then those in templates that it names.
    pub list: Vec<Problem>,
    /// The number of further problems.
    pub untold: usize,
}

/// The most problems that are shown. Others are only counted, since each holds its source line.
const MOST: usize = 100;

/// Collects the problems of one file while it is being read.
pub(super) struct Report<'a> {
    /// The text that the problems are in.
    pub(super) lines: &'a SourceLines<'a>,
    /// Hides secrets in its lines.
    pub(super) redaction: Redaction,
    file: &'a str,
    list: Vec<Problem>,
    /// Problems in other files, with their lines.
    elsewhere: Vec<Problem>,
}

impl<'a> Report<'a> {
    /// An empty report on a file.
    pub(super) fn new(file: &'a str, lines: &'a SourceLines<'a>) -> Report<'a> {
        Report { lines, redaction: Redaction::Everything, file, list: Vec::new(), elsewhere: Vec::new() }
    }

    /// Adds a problem.
    pub(super) fn add(&mut self, at: SourceSpan, message: impl Into<String>) -> &mut Problem {
        let index = self.list.len();
        self.list.push(Problem {
            file: self.file.to_owned(),
            line: at.line,
            column: at.column,
            caret: at.column,
            width: self.lines.width(at),
            source_line: String::new(),
            message: message.into(),
            expected: Vec::new(),
            help: None,
        });
        &mut self.list[index]
    }

    /// Adds a problem in a file that the job names.
    pub(super) fn add_elsewhere(&mut self, at: TemplatePlace, message: String) {
        let TemplatePlace { file, line, column, width, source_line } = at;
        let (caret, expected, help) = (column, Vec::new(), None);
        self.elsewhere.push(Problem { file, line, column, caret, width, source_line, message, expected, help });
    }

    /// Whether no problem was found so far.
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty() && self.elsewhere.is_empty()
    }

    /// `Ok` if there are no problems.
    pub(super) fn finish(self) -> Result<(), Problems> {
        if self.is_empty() { Ok(()) } else { Err(self.failed()) }
    }

    /// The problems in the order of the file's lines, then those in other files; what stands behind an alias is
    /// reported once.
    pub(super) fn failed(mut self) -> Problems {
        self.list.sort_by_key(|problem| (problem.line, problem.column));
        self.list.dedup();
        let untold = self.list.len().saturating_sub(MOST);
        self.list.truncate(MOST);
        let mut hidden = None;
        // Only now: a hostile file has one long line and a problem in every part of it.
        for problem in &mut self.list {
            let line = self.lines.line(problem.line);
            if hidden.as_ref().is_none_or(|(of, _)| *of != problem.line) {
                hidden = Some((problem.line, self.redaction.hidden(self.lines, problem.line)));
            }
            if let Some((_, hidden)) = &hidden {
                self.redaction.apply(problem, line, hidden);
            }
        }
        self.list.append(&mut self.elsewhere);
        Problems { list: self.list, untold }
    }
}

/// A text from the file, in backticks and cut short where it is long.
pub(super) fn quoted(text: &str) -> String {
    format!("`{}`", shortened(text))
}

/// The key of a mapping, in backticks; hidden where it holds what may be a secret.
pub(super) fn quoted_key(key: &str) -> String {
    quoted(if is_misplaced_in_key(key) { REDACTED } else { key })
}

/// A text from the file, cut short where it is long.
pub(super) fn shortened(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn listed(names: &[String], last_by: &str) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} {last_by} {last}", first.join(", ")),
    }
}
