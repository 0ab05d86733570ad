//! The tree itself, and how saphyr fills it.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor};
use serde_json::{Map, Number, Value};
use serde_saphyr::options::{DuplicateKeyPolicy, NonFiniteFloatPolicy};
use serde_saphyr::{Location, Spanned};

use super::SourceSpan;

/// A value and where it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct YamlNode {
    /// The value.
    pub content: YamlContent,
    /// Where it is written; for an alias, where its anchor is.
    pub span: SourceSpan,
}

/// A value, with the type that YAML 1.2's core schema gives it.
#[derive(Debug, Clone, PartialEq)]
pub enum YamlContent {
    /// `null`, `~` or nothing at all.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer, in JSON's range.
    Int(Number),
    /// A number with a point or an exponent; NaN and infinities can occur.
    Float(f64),
    /// Text.
    String(String),
    /// A list.
    List(Vec<YamlNode>),
    /// A mapping, in the order in which it is written.
    Mapping(Vec<YamlEntry>),
}

/// One entry of a mapping.
#[derive(Debug, Clone, PartialEq)]
pub struct YamlEntry {
    /// Its key.
    pub key: Key,
    /// Its value.
    pub value: YamlNode,
}

/// A key and where it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct Key {
    /// Its text; a number or a boolean is spelled as JSON spells it.
    pub text: String,
    /// Where it is written.
    pub span: SourceSpan,
}

impl YamlNode {
    /// The entry of this key, if this is a mapping that has it.
    pub fn entry(&self, key: &str) -> Option<&YamlEntry> {
        self.entries().iter().find(|entry| entry.key.text == key)
    }

    /// The value of this key, if this is a mapping that has it.
    pub fn get(&self, key: &str) -> Option<&YamlNode> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// The entries of a mapping; none for anything else.
    pub fn entries(&self) -> &[YamlEntry] {
        match &self.content {
            YamlContent::Mapping(entries) => entries,
            _ => &[],
        }
    }

    /// The items of a list; none for anything else.
    pub fn items(&self) -> &[YamlNode] {
        match &self.content {
            YamlContent::List(items) => items,
            _ => &[],
        }
    }

    /// The text, if it is one.
    pub fn text(&self) -> Option<&str> {
        match &self.content {
            YamlContent::String(text) => Some(text),
            _ => None,
        }
    }

    /// Whether the file holds nothing but comments.
    pub(super) fn is_empty_document(&self) -> bool {
        self.content == YamlContent::Null && self.span.start == self.span.end
    }
}

/// The tree as JSON; a number that JSON lacks becomes null, the structural check has refused it before.
pub fn as_json(node: &YamlNode) -> Value {
    match &node.content {
        YamlContent::Null => Value::Null,
        YamlContent::Bool(truth) => Value::Bool(*truth),
        YamlContent::Int(number) => Value::Number(number.clone()),
        YamlContent::Float(number) => Number::from_f64(*number).map_or(Value::Null, Value::Number),
        YamlContent::String(text) => Value::String(text.clone()),
        YamlContent::List(items) => Value::Array(items.iter().map(as_json).collect()),
        YamlContent::Mapping(entries) => Value::Object(
            entries.iter().map(|entry| (entry.key.text.clone(), as_json(&entry.value))).collect::<Map<_, _>>(),
        ),
    }
}

impl From<&Value> for YamlNode {
    /// A tree that is written nowhere.
    fn from(value: &Value) -> YamlNode {
        let content = match value {
            Value::Null => YamlContent::Null,
            Value::Bool(truth) => YamlContent::Bool(*truth),
            Value::Number(number) if number.is_f64() => YamlContent::Float(number.as_f64().unwrap_or_default()),
            Value::Number(number) => YamlContent::Int(number.clone()),
            Value::String(text) => YamlContent::String(text.clone()),
            Value::Array(items) => YamlContent::List(items.iter().map(YamlNode::from).collect()),
            Value::Object(entries) => {
                YamlContent::Mapping(entries.iter().map(|(key, value)| YamlEntry::from_json(key, value)).collect())
            }
        };
        YamlNode { content, span: SourceSpan::default() }
    }
}

impl YamlEntry {
    fn from_json(key: &str, value: &Value) -> YamlEntry {
        YamlEntry { key: Key { text: key.to_owned(), span: SourceSpan::default() }, value: YamlNode::from(value) }
    }
}

/// The policy for a key that comes twice in a mapping.
#[derive(Clone, Copy)]
pub(super) enum Duplicates {
    /// It is an error.
    Refuse,
    /// The first one counts.
    KeepFirst,
    /// The last one counts.
    KeepLast,
}

/// The most keys and values of a job: a file with more is no job that somebody has, and would take gigabytes to hold.
pub(super) const MOST_VALUES: usize = 10_000_000;

/// How many values aliases may add to those that are written out.
const REPLAYED: usize = 20_000;

/// The text that aliases may add to what is written out, in bytes.
const REPLAYED_TEXT: usize = 16 << 20;

/// Reads one document. Budgets keep a hostile file from costing more than one of its length does: values that are written out
/// may be as many as there is room for, and those that aliases add are few.
pub(super) fn read(text: &str, duplicates: Duplicates) -> Result<YamlNode, serde_saphyr::Error> {
    // In `{a,b}` each letter is a key and a null.
    let values = (2 * text.len() + REPLAYED).min(MOST_VALUES);
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: 64,
            max_nodes: values,
            max_events: 4 * values,
            max_recorded_anchor_events: 100_000,
            // An escape of two bytes can stand for a character of three.
            max_total_scalar_bytes: 2 * text.len() + REPLAYED_TEXT,
        },
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: REPLAYED },
        duplicate_keys: match duplicates {
            Duplicates::Refuse => DuplicateKeyPolicy::Error,
            Duplicates::KeepFirst => DuplicateKeyPolicy::FirstWins,
            Duplicates::KeepLast => DuplicateKeyPolicy::LastWins,
        },
        strict_booleans: true,
        reject_unsupported_tags: true,
        non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
    };
    serde_saphyr::from_str_with_options(text, options)
}

/// A location as a span of ours.
pub(super) fn span(location: Location) -> SourceSpan {
    let start = location.span().byte_offset().unwrap_or(0) as usize;
    let length = location.span().byte_len().unwrap_or(0) as usize;
    SourceSpan { line: location.line() as usize, column: location.column() as usize, start, end: start + length }
}

impl<'de> Deserialize<'de> for YamlNode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<YamlNode, D::Error> {
        let spanned = Spanned::<YamlContent>::deserialize(deserializer)?;
        Ok(YamlNode { content: spanned.value, span: span(spanned.defined) })
    }
}

impl<'de> Deserialize<'de> for YamlContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<YamlContent, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = YamlContent;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> Result<YamlContent, E> {
        Ok(YamlContent::Null)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<YamlContent, E> {
        Ok(YamlContent::Bool(truth))
    }

    fn visit_i64<E>(self, number: i64) -> Result<YamlContent, E> {
        Ok(YamlContent::Int(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<YamlContent, E> {
        Ok(YamlContent::Int(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<YamlContent, E> {
        Ok(YamlContent::Float(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<YamlContent, E> {
        Ok(YamlContent::String(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<YamlContent, E> {
        Ok(YamlContent::String(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<YamlContent, A::Error> {
        let mut nodes = Vec::new();
        while let Some(node) = items.next_element()? {
            nodes.push(node);
        }
        Ok(YamlContent::List(nodes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<YamlContent, A::Error> {
        let mut mapping = Vec::new();
        while let Some(key) = entries.next_key::<Spanned<KeyText>>()? {
            let key = Key { text: key.value.0, span: span(key.defined) };
            mapping.push(YamlEntry { key, value: entries.next_value()? });
        }
        Ok(YamlContent::Mapping(mapping))
    }
}

/// The expected type of a key.
pub(super) const KEY: &str = "a key that is text";

struct KeyText(String);

impl<'de> Deserialize<'de> for KeyText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<KeyText, D::Error> {
        Ok(KeyText(match YamlContent::deserialize(deserializer)? {
            YamlContent::Null => "null".to_owned(),
            YamlContent::Bool(truth) => truth.to_string(),
            YamlContent::Int(number) => number.to_string(),
            YamlContent::Float(number) => number.to_string(),
            YamlContent::String(text) => text,
            YamlContent::List(_) => return Err(D::Error::invalid_type(Unexpected::Seq, &KEY)),
            YamlContent::Mapping(_) => return Err(D::Error::invalid_type(Unexpected::Map, &KEY)),
        }))
    }
}
