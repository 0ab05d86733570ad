//! Text → tree.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::Number;

use super::notes::{Deviation, Deviations};
use super::string::has_lone_surrogate;
use super::{JsonContent, JsonEntry, JsonNode, JsonNote};
use crate::text::{KEPT_DIGITS, significant_digits};

/// Brackets within brackets, at most.
const DEEPEST: usize = 128;

/// Up to this many keys, a linear scan is faster than a hash set.
const LINEAR_SCAN_KEYS: usize = 16;

/// A document, and what in it is no JSON.
#[derive(Debug)]
pub(in crate::dataset) struct JsonText<'a> {
    /// The value; of several documents in a row, one a line, a list of them.
    pub(in crate::dataset) root: JsonNode<'a>,
    /// Deviations that were accepted: what is no JSON.
    pub(in crate::dataset) notes: Vec<JsonNote>,
    /// Whole numbers of which not all digits are kept: as they are read, and as they are written.
    pub(in crate::dataset) long_integers: Vec<(String, String)>,
}

/// Why a text is no JSON, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::dataset) struct JsonError {
    /// The first byte of what is wrong.
    pub(in crate::dataset) start: usize,
    /// The byte after its last.
    pub(in crate::dataset) end: usize,
    /// The problem, in a sentence.
    pub(in crate::dataset) message: String,
    /// The remedy to suggest.
    pub(in crate::dataset) help: Option<String>,
}

/// Reads a text without a byte-order mark.
pub(in crate::dataset) fn read(text: &str) -> Result<JsonText<'_>, JsonError> {
    let mut reader = Reader { text, at: 0, depth: 0, deviations: Deviations::default(), long_integers: Vec::new() };
    let documents = reader.documents().map_err(|error| reader.with_suspicion(error))?;
    let root = match <[JsonNode<'_>; 1]>::try_from(documents) {
        Ok([root]) => root,
        Err(documents) => JsonNode { content: JsonContent::List(documents), start: 0, end: text.len() },
    };
    Ok(JsonText { root, notes: reader.deviations.notes(), long_integers: reader.long_integers })
}

/// How far a text is read.
pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    depth: usize,
    pub(super) deviations: Deviations,
    /// Whole numbers of which not all digits are kept: as they are read, and as they are written.
    long_integers: Vec<(String, String)>,
}

impl JsonText<'_> {
    /// The same with texts of its own.
    pub(in crate::dataset) fn into_owned(self) -> JsonText<'static> {
        JsonText { root: self.root.into_owned(), notes: self.notes, long_integers: self.long_integers }
    }
}

impl<'a> Reader<'a> {
    fn documents(&mut self) -> Result<Vec<JsonNode<'a>>, JsonError> {
        let mut documents = vec![self.value()?];
        loop {
            let end = self.at;
            self.skip()?;
            if self.at == self.text.len() {
                return Ok(documents);
            }
            // JSON Lines: the next object or list begins a line of its own.
            let is_next = matches!(self.peek(), Some(b'{' | b'[')) && self.text[end..self.at].contains('\n');
            let is_line = documents.last().is_some_and(|last| matches!(last.content, JsonContent::Object(_)));
            if !is_next || !is_line {
                return Err(self.error("the document ends before this", Some("is a bracket closed too early above?")));
            }
            documents.push(self.value()?);
        }
    }

    /// A text over several lines may be one whose closing quote is missing.
    fn with_suspicion(&self, mut error: JsonError) -> JsonError {
        if let (None, Some(start)) = (&error.help, self.deviations.has_line_break()) {
            let line = self.text[..start].bytes().filter(|&byte| byte == b'\n').count() + 1;
            error.help = Some(format!("a text goes on over line {line}: is its closing quote missing?"));
        }
        error
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// An error at the current token.
    fn error(&self, message: impl Into<String>, help: Option<&str>) -> JsonError {
        let rest = &self.text[self.at..];
        let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let length = if word == 0 { rest.chars().next().map_or(0, char::len_utf8) } else { word };
        self.error_at(self.at, self.at + length, message, help)
    }

    pub(super) fn error_at(
        &self,
        start: usize,
        end: usize,
        message: impl Into<String>,
        help: Option<&str>,
    ) -> JsonError {
        JsonError { start, end, message: message.into(), help: help.map(str::to_owned) }
    }

    /// Skips white space and comments.
    fn skip(&mut self) -> Result<(), JsonError> {
        // Most tokens stand behind each other or behind one space.
        if self.peek() == Some(b' ') {
            self.at += 1;
        }
        if self.peek().is_some_and(|byte| byte.is_ascii_graphic() && !matches!(byte, b'/' | b'#')) {
            return Ok(());
        }
        loop {
            let rest = &self.text[self.at..];
            let trimmed = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
            self.at += rest.len() - trimmed.len();
            let length = if trimmed.starts_with("//") || trimmed.starts_with('#') {
                trimmed.find(['\n', '\r']).unwrap_or(trimmed.len())
            } else if let Some(comment) = trimmed.strip_prefix("/*") {
                let Some(end) = comment.find("*/") else {
                    return Err(self.error_at(
                        self.at,
                        self.at + 2,
                        "this comment is not closed",
                        Some("end it with `*/`"),
                    ));
                };
                end + 4
            } else {
                return Ok(());
            };
            self.deviations.add(Deviation::Comment, self.at, self.at + length);
            self.at += length;
        }
    }

    fn value(&mut self) -> Result<JsonNode<'a>, JsonError> {
        self.skip()?;
        let start = self.at;
        let content = match self.peek() {
            None if self.text.trim().is_empty() => return Err(self.error("the file is empty", None)),
            None => return Err(self.error("the file ends here, where a value is expected", None)),
            Some(b'{') => self.nested(Reader::object)?,
            Some(b'[') => self.nested(Reader::list)?,
            Some(b'"') => JsonContent::Text(self.text(start)?),
            Some(b'-' | b'+' | b'.' | b'0'..=b'9') => self.number()?,
            Some(_) => self.keyword()?,
        };
        Ok(JsonNode { content, start, end: self.at })
    }

    /// A text, in which JSON may stand that is read later.
    fn text(&mut self, start: usize) -> Result<Cow<'a, str>, JsonError> {
        let text = self.string()?;
        let has_escapes = matches!(text, Cow::Owned(_));
        if has_escapes && text.trim_start().starts_with(['{', '[']) && has_lone_surrogate(&text) {
            self.deviations.add(Deviation::LoneSurrogate, start, self.at);
        }
        Ok(text)
    }

    fn nested(
        &mut self,
        inner: fn(&mut Self, usize) -> Result<JsonContent<'a>, JsonError>,
    ) -> Result<JsonContent<'a>, JsonError> {
        if self.depth == DEEPEST {
            return Err(self.error(format!("brackets within brackets, more than {DEEPEST} deep"), None));
        }
        let start = self.at;
        (self.depth, self.at) = (self.depth + 1, self.at + 1);
        let content = inner(self, start)?;
        self.depth -= 1;
        Ok(content)
    }

    fn list(&mut self, start: usize) -> Result<JsonContent<'a>, JsonError> {
        let mut items = Vec::new();
        let mut comma = None;
        loop {
            self.skip()?;
            if self.is_closed(b']', start, comma)? {
                return Ok(JsonContent::List(items));
            }
            if !items.is_empty() && comma.is_none() {
                return Err(self.missing_comma("item", start));
            }
            items.push(self.value()?);
            comma = self.comma()?;
        }
    }

    fn object(&mut self, start: usize) -> Result<JsonContent<'a>, JsonError> {
        let mut entries: Vec<JsonEntry<'a>> = Vec::new();
        let mut comma = None;
        loop {
            self.skip()?;
            if self.is_closed(b'}', start, comma)? {
                self.note_twice(&entries);
                return Ok(JsonContent::Object(entries));
            }
            if !entries.is_empty() && comma.is_none() {
                return Err(self.missing_comma("key", start));
            }
            let key_start = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.error("a key is expected here, in double quotes", None));
            }
            let key = self.string()?;
            let key_end = self.at;
            self.skip()?;
            if self.peek() != Some(b':') {
                return Err(self.error_at(key_start, key_end, "a colon and a value must follow this key", None));
            }
            self.at += 1;
            entries.push(JsonEntry { key, start: key_start, end: key_end, value: self.value()? });
            comma = self.comma()?;
        }
    }

    /// Whether the bracket is closed here; a comma before that gets a warning.
    fn is_closed(&mut self, closing: u8, start: usize, comma: Option<usize>) -> Result<bool, JsonError> {
        match self.peek() {
            Some(byte) if byte == closing => {
                if let Some(comma) = comma {
                    self.deviations.add(Deviation::TrailingComma, comma, comma + 1);
                }
                self.at += 1;
                Ok(true)
            }
            Some(b',') => Err(self.error("a comma stands where a value is expected", None)),
            Some(b']' | b'}') => Err(self.error(
                format!("this bracket does not close the `{}` of line {}", &self.text[start..=start], self.line(start)),
                None,
            )),
            None => Err(self.error_at(start, start + 1, "this bracket is not closed", None)),
            _ => Ok(false),
        }
    }

    fn comma(&mut self) -> Result<Option<usize>, JsonError> {
        self.skip()?;
        let at = self.at;
        let is_comma = self.peek() == Some(b',');
        self.at += usize::from(is_comma);
        Ok(is_comma.then_some(at))
    }

    fn missing_comma(&self, what: &str, start: usize) -> JsonError {
        let bracket = &self.text[start..=start];
        let message =
            format!("a comma is missing before this, or the `{bracket}` of line {} is not closed", self.line(start));
        match self.peek() {
            Some(b'"' | b'{' | b'[') => self.error(message, None),
            _ => {
                self.error(format!("after a value only a comma, the next {what} or a closing bracket can stand"), None)
            }
        }
    }

    fn line(&self, at: usize) -> usize {
        self.text[..at].bytes().filter(|&byte| byte == b'\n').count() + 1
    }

    fn note_twice(&mut self, entries: &[JsonEntry<'_>]) {
        if entries.len() <= LINEAR_SCAN_KEYS {
            for (at, entry) in entries.iter().enumerate() {
                if entries[..at].iter().any(|former| former.key == entry.key) {
                    self.deviations.add_twice(&entry.key, entry.start, entry.end);
                }
            }
            return;
        }
        let mut seen = HashSet::new();
        for entry in entries {
            if !seen.insert(entry.key.as_ref()) {
                self.deviations.add_twice(&entry.key, entry.start, entry.end);
            }
        }
    }

    fn number(&mut self) -> Result<JsonContent<'a>, JsonError> {
        let start = self.at;
        let rest = &self.text[start..];
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.' | '_');
        let written = &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())];
        self.at += written.len();
        if written.trim_start_matches(['-', '+']) == "Infinity" {
            self.deviations.add(Deviation::NotANumber, start, self.at);
            return Ok(JsonContent::Null);
        }
        if let Some(whole) = small_whole(written) {
            return Ok(JsonContent::Number(whole.into()));
        }
        let Ok(number) = serde_json::from_str::<Number>(written) else {
            let help = "JSON's numbers are 12, -0.5 and 1e3: without a plus, leading zeros or a bare point";
            return Err(self.error_at(start, self.at, "this is no number", Some(help)));
        };
        let digits = written.trim_start_matches('-').trim_end_matches('0').len();
        if number.is_f64() && !written.contains(['.', 'e', 'E']) && digits > KEPT_DIGITS {
            let read = number.as_f64().unwrap_or_default();
            // Nobody would see any more that digits are missing.
            if significant_digits(read) <= KEPT_DIGITS {
                let message = format!("this whole number has more digits than are kept: it would be read as {read:e}");
                let help = format!("put it in quotes, or write {read:e} if that is near enough");
                return Err(self.error_at(start, self.at, message, Some(&help)));
            }
            self.long_integers.push((number.to_string(), written.to_owned()));
            self.deviations.add(Deviation::LongInteger, start, self.at);
        }
        Ok(JsonContent::Number(number))
    }

    fn keyword(&mut self) -> Result<JsonContent<'a>, JsonError> {
        let start = self.at;
        let rest = &self.text[start..];
        let word = &rest[..rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())];
        let content = match word {
            "true" => JsonContent::Bool(true),
            "false" => JsonContent::Bool(false),
            "null" => JsonContent::Null,
            "NaN" | "Infinity" => {
                self.deviations.add(Deviation::NotANumber, start, start + word.len());
                JsonContent::Null
            }
            "True" | "False" | "None" | "undefined" => {
                return Err(self.error("this is no JSON", Some("JSON writes `true`, `false` and `null`")));
            }
            "" if rest.starts_with('\'') => {
                return Err(self.error("a text stands in double quotes in JSON, not in single ones", None));
            }
            "" if rest.starts_with(['}', ']', ',', ':']) => return Err(self.error("a value is missing here", None)),
            _ => return Err(self.error("a value is expected here", Some("a text needs double quotes"))),
        };
        self.at += word.len();
        Ok(content)
    }
}

/// A whole number of so few digits that all are kept, without a sign.
fn small_whole(written: &str) -> Option<u64> {
    let is_plain = written.bytes().all(|byte| byte.is_ascii_digit()) && (!written.starts_with('0') || written == "0");
    if is_plain && (1..=15).contains(&written.len()) { written.parse().ok() } else { None }
}
