//! The errors and warnings on one file, each with its place.

use std::cell::RefCell;

use super::json::{JsonError, JsonNode, JsonNote};
use crate::job::{Problem, Problems, SourceLines};
use crate::secret::{is_key_name, is_long_and_mixed};

/// The most problems that are shown; any more are only counted.
const MOST: usize = 100;

/// Problems and oddities of a file, found while it was read.
pub(super) struct Findings<'a> {
    file: &'a str,
    lines: &'a SourceLines<'a>,
    root: Option<&'a JsonNode<'a>>,
    errors: RefCell<ProblemList>,
    warnings: RefCell<ProblemList>,
}

#[derive(Default)]
struct ProblemList {
    list: Vec<Problem>,
    untold: usize,
}

impl ProblemList {
    fn add(&mut self, problem: impl FnOnce() -> Problem) {
        if self.list.len() < MOST { self.list.push(problem()) } else { self.untold += 1 }
    }
}

impl<'a> Findings<'a> {
    /// Nothing yet on this file. `root` is its tree, for the paths in messages.
    pub(super) fn new(file: &'a str, lines: &'a SourceLines<'a>, root: Option<&'a JsonNode<'a>>) -> Findings<'a> {
        Findings { file, lines, root, errors: RefCell::default(), warnings: RefCell::default() }
    }

    /// Adds an error on the bytes of a value.
    pub(super) fn error(&self, start: usize, end: usize, message: &str, help: Option<String>) {
        self.errors.borrow_mut().add(|| self.problem(start, end, message, help));
    }

    /// Adds a warning on the bytes of a value.
    pub(super) fn warn(&self, start: usize, end: usize, message: &str, help: Option<String>) {
        self.warnings.borrow_mut().add(|| self.problem(start, end, message, help));
    }

    /// Adds what was read although it is no JSON.
    pub(super) fn add_notes(&self, notes: &[JsonNote]) {
        for note in notes {
            self.warnings
                .borrow_mut()
                .add(|| problem(self.file, self.lines, note.start, note.end, note.message.clone(), None));
        }
    }

    /// What is written from one byte to another.
    pub(super) fn text(&self, start: usize, end: usize) -> Option<&'a str> {
        self.lines.text().get(start..end)
    }

    /// The line of a byte, from 1.
    pub(super) fn line(&self, byte: usize) -> usize {
        self.lines.line_of(byte)
    }

    /// Whether there are as many errors as are shown: nobody needs a suggestion for the next one.
    pub(super) fn is_full(&self) -> bool {
        self.errors.borrow().list.len() >= MOST
    }

    /// The warnings, or all errors.
    pub(super) fn finish(self) -> Result<Vec<Problem>, Problems> {
        let (mut errors, mut warnings) = (self.errors.into_inner(), self.warnings.into_inner());
        let in_order = |problem: &Problem| (problem.line, problem.column);
        errors.list.sort_by_key(in_order);
        warnings.list.sort_by_key(in_order);
        if errors.list.is_empty() {
            return Ok(warnings.list);
        }
        errors.list.dedup();
        Err(Problems { list: errors.list, untold: errors.untold })
    }

    fn problem(&self, start: usize, end: usize, message: &str, help: Option<String>) -> Problem {
        let path = self.root.map(|root| root.path_to(start)).unwrap_or_default();
        let message = if path.is_empty() { message.to_owned() } else { format!("{path}: {message}") };
        problem(self.file, self.lines, start, end, message, help)
    }
}

/// The one problem of a text that could not be read.
pub(super) fn unreadable(file: &str, lines: &SourceLines<'_>, error: JsonError) -> Problems {
    let problem = problem(file, lines, error.start, error.end, error.message, error.help);
    Problems { list: vec![problem], untold: 0 }
}

/// A problem with a file as a whole, of which no line is shown.
pub(super) fn about_file(file: &str, message: impl Into<String>, help: Option<&str>) -> Problem {
    let lines = SourceLines::new("");
    Problem { line: 0, ..problem(file, &lines, 0, 0, message.into(), help.map(str::to_owned)) }
}

/// A problem with a file as a whole, shown at the first line that says something.
pub(super) fn about_text(file: &str, text: &str, message: impl Into<String>, help: Option<&str>) -> Problem {
    let lines = SourceLines::new(text);
    let text = lines.text();
    let start = text.len() - text.trim_start().len();
    let length = text[start..].find(['\n', '\r']).unwrap_or(text.len() - start);
    problem(file, &lines, start, start + length.min(MAX_UNDERLINED), message.into(), help.map(str::to_owned))
}

/// The most bytes of a line that are underlined.
const MAX_UNDERLINED: usize = 60;

fn problem(
    file: &str,
    lines: &SourceLines<'_>,
    start: usize,
    end: usize,
    message: String,
    help: Option<String>,
) -> Problem {
    let mut span = lines.at(start);
    span.end = end.max(start);
    Problem {
        file: file.to_owned(),
        line: span.line,
        column: span.column,
        caret: span.column,
        width: lines.width(span),
        source_line: without_secrets(lines.line(span.line)),
        message,
        expected: Vec::new(),
        help,
    }
}

/// The line, with asterisks instead of what stands beside the name of a key or looks like one.
fn without_secrets(line: &str) -> String {
    // YAML's values need no quotes.
    if let Some((key, value)) = line.split_once(": ")
        && is_key_name(key.trim_start_matches([' ', '-', '\t']).trim_matches('"'))
        && !value.trim_start().starts_with(['"', '$'])
    {
        let hidden: String = value.chars().map(|c| if c.is_whitespace() { c } else { '*' }).collect();
        return format!("{key}: {hidden}");
    }
    let mut shown = String::with_capacity(line.len());
    let (mut rest, mut is_after_key) = (line, false);
    while let Some(start) = rest.find('"') {
        let inner = &rest[start + 1..];
        let mut is_escaped = false;
        let length = inner.find(|c| {
            let ends = c == '"' && !is_escaped;
            is_escaped = c == '\\' && !is_escaped;
            ends
        });
        let text = &inner[..length.unwrap_or(inner.len())];
        let after = inner[text.len()..].trim_start_matches('"');
        shown.push_str(&rest[..=start]);
        let is_secret = is_after_key && !text.starts_with("${") || text.split_whitespace().any(may_be_a_key);
        if is_secret {
            shown.extend(text.chars().map(|_| '*'))
        } else {
            shown.push_str(text)
        }
        shown.push_str(&inner[text.len()..inner.len() - after.len()]);
        is_after_key = after.trim_start().starts_with(':') && is_key_name(text);
        rest = after;
    }
    shown.push_str(rest);
    shown
}

/// Whether a word is long and mixed as keys are, and no time.
fn may_be_a_key(word: &str) -> bool {
    is_long_and_mixed(word) && chrono::DateTime::parse_from_rfc3339(word).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_not_shown() {
        for (line, shown) in [
            (r#"  "apiKey": "hunter22", "a": "b""#, r#"  "apiKey": "********", "a": "b""#),
            (r#"  "apiKey": "${JUDGE_KEY}""#, r#"  "apiKey": "${JUDGE_KEY}""#),
            (r#"  "name": "a \" b""#, r#"  "name": "a \" b""#),
            ("  token: hunter22", "  token: ********"),
            (r#"  "password": "open"#, r#"  "password": "****"#),
            ("no quotes", "no quotes"),
            (
                r#""tool_call_count_v1": 1, "at": "2026-01-05T10:00:00Z""#,
                r#""tool_call_count_v1": 1, "at": "2026-01-05T10:00:00Z""#,
            ),
            (r#""x": "a sk-proj-a8f3k29d7hs01m""#, r#""x": "************************""#),
        ] {
            assert_eq!(without_secrets(line), shown);
        }
    }

    #[test]
    fn a_problem_has_its_path_and_its_line() {
        let lines = SourceLines::new("{\n  \"a\": [1, true]\n}");
        let root = super::super::json::read(lines.text()).unwrap().root;
        let findings = Findings::new("f.json", &lines, Some(&root));
        let second = &root.get("a").unwrap().items()[1];
        findings.error(second.start, second.end, "must be a number", None);
        let text = crate::job::render_problems(&findings.finish().unwrap_err());
        assert_eq!(text, "f.json:2:12: a[1]: must be a number\n  |\n2 |   \"a\": [1, true]\n  |            ^^^^\n");
    }
}
