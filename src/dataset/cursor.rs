//! Values of a file on their way into types: whatever does not fit is reported at its place.

use serde_json::{Map, Value};

pub(super) use super::fields::Fields;
use super::findings::Findings;
use super::json::{JsonContent, JsonNode};
use crate::evidence::LazyValue;
use crate::text::nearest;

/// How the keys of a system may be spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spelling {
    /// As they are named.
    Exact,
    /// In snake_case, as they are named, or in camelCase.
    SnakeOrCamel,
    /// In any case, as Go reads them.
    AnyCase,
}

impl Spelling {
    pub(super) fn fits(self, name: &str, key: &str) -> bool {
        match self {
            Spelling::Exact => name == key,
            Spelling::AnyCase => name.eq_ignore_ascii_case(key),
            Spelling::SnakeOrCamel => name == key || is_camel_of(name, key),
        }
    }
}

/// Whether the key is the snake_case name in camelCase.
fn is_camel_of(name: &str, key: &str) -> bool {
    let mut is_upper = false;
    let mut key = key.chars();
    for character in name.chars() {
        if character == '_' {
            is_upper = true;
            continue;
        }
        let expected = if is_upper { character.to_ascii_uppercase() } else { character };
        is_upper = false;
        if key.next() != Some(expected) {
            return false;
        }
    }
    key.next().is_none()
}

/// The treatment of keys that nobody asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnknownKeys {
    /// The system refuses them: an error each.
    Refused,
    /// The system ignores them: they are kept, with a warning each.
    Kept,
}

/// A value, and where problems with it are reported.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    /// The value.
    pub(super) node: &'a JsonNode<'a>,
    /// Where problems go.
    pub(super) findings: &'a Findings<'a>,
}

impl<'a> Cursor<'a> {
    /// The value of a file.
    pub(super) fn new(node: &'a JsonNode<'a>, findings: &'a Findings<'a>) -> Cursor<'a> {
        Cursor { node, findings }
    }

    /// Another value of the same file.
    pub(super) fn at(self, node: &'a JsonNode<'a>) -> Cursor<'a> {
        Cursor { node, ..self }
    }

    /// Reports an error on this value.
    pub(super) fn error(self, message: impl AsRef<str>) {
        self.findings.error(self.node.start, self.node.end, message.as_ref(), None);
    }

    /// Reports an error on this value, with what to try.
    pub(super) fn error_with(self, message: impl AsRef<str>, help: impl Into<String>) {
        self.findings.error(self.node.start, self.node.end, message.as_ref(), Some(help.into()));
    }

    /// Reports a warning on this value.
    pub(super) fn warn(self, message: impl AsRef<str>) {
        self.findings.warn(self.node.start, self.node.end, message.as_ref(), None);
    }

    /// The line of the value, from 1.
    pub(super) fn line(self) -> usize {
        self.findings.line(self.node.start)
    }

    /// The name of those that is nearest to a wrong one, as long as errors are shown.
    pub(super) fn nearest<'n>(self, wrong: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
        // Names of a letter or two are all near to each other.
        let is_short = wrong.chars().count() < 3;
        if is_short || self.findings.is_full() { None } else { nearest(wrong, known) }
    }

    fn wants(self, expected: &str) {
        self.error(format!("{expected} is expected here, not {}", self.node.kind()));
    }

    /// Whether it is null.
    pub(super) fn is_null(self) -> bool {
        self.node.content == JsonContent::Null
    }

    /// A text.
    pub(super) fn text(self) -> Option<&'a str> {
        let text = self.node.text();
        if text.is_none() {
            self.wants("text");
        }
        text
    }

    /// A text that says something.
    pub(super) fn filled_text(self) -> Option<&'a str> {
        let text = self.text()?;
        if text.trim().is_empty() {
            self.error("this text must not be empty");
            return None;
        }
        Some(text)
    }

    /// A number; one in quotes is one too, as for the systems that read these files.
    pub(super) fn number(self) -> Option<f64> {
        let number = match &self.node.content {
            JsonContent::Number(number) => number.as_f64(),
            JsonContent::Text(text) => text.trim().parse().ok().filter(|number: &f64| number.is_finite()),
            _ => None,
        };
        if number.is_none() {
            self.wants("a number");
        }
        number
    }

    /// A whole number.
    pub(super) fn whole(self) -> Option<i64> {
        let number = self.number()?;
        if number.fract() != 0.0 || number.abs() > 9e15 {
            self.error("a whole number is expected here");
            return None;
        }
        Some(number as i64)
    }

    /// A whole number that is not negative.
    pub(super) fn count(self) -> Option<u32> {
        let number = self.whole()?;
        let count = u32::try_from(number).ok();
        if count.is_none() {
            self.error("a whole number, zero or more, is expected here");
        }
        count
    }

    /// Yes or no.
    pub(super) fn flag(self) -> Option<bool> {
        if let JsonContent::Bool(truth) = self.node.content {
            return Some(truth);
        }
        self.wants("true or false");
        None
    }

    /// The items of a list.
    pub(super) fn items(self) -> Vec<Cursor<'a>> {
        if !matches!(self.node.content, JsonContent::List(_)) {
            self.wants("a list");
        }
        self.node.items().iter().map(|item| self.at(item)).collect()
    }

    /// The texts of a list.
    pub(super) fn texts(self) -> Vec<String> {
        self.items().into_iter().filter_map(|item| item.text().map(str::to_owned)).collect()
    }

    /// An object whose keys are spelled so.
    pub(super) fn fields(self, spelling: Spelling) -> Option<Fields<'a>> {
        let JsonContent::Object(entries) = &self.node.content else {
            self.wants("an object");
            return None;
        };
        Some(Fields::new(self, spelling, entries))
    }

    /// Any object, as it is.
    pub(super) fn map(self) -> Option<Map<String, Value>> {
        match self.node.to_json() {
            Value::Object(map) => Some(map),
            _ => {
                self.wants("an object");
                None
            }
        }
    }

    /// Any object, which is read when somebody looks at it.
    pub(super) fn object(self) -> Option<LazyValue> {
        let is_object = matches!(self.node.content, JsonContent::Object(_));
        if !is_object {
            self.wants("an object");
        }
        is_object.then(|| self.lazy())
    }

    /// The value, as it is.
    pub(super) fn json(self) -> Value {
        self.node.to_json()
    }

    /// The value, which is read when somebody looks at it.
    pub(super) fn lazy(self) -> LazyValue {
        let written = self.findings.text(self.node.start, self.node.end);
        written.and_then(LazyValue::from_text).unwrap_or_else(|| self.json().into())
    }
}
