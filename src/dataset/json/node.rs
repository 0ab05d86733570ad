//! The tree itself. Its texts are those of the file where nothing in them is escaped.

use std::borrow::Cow;

use serde_json::{Map, Number, Value};

use crate::job::{YamlContent, YamlNode};

/// A JSON value and where it is written.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::dataset) struct JsonNode<'a> {
    /// The value.
    pub(in crate::dataset) content: JsonContent<'a>,
    /// Its first byte.
    pub(in crate::dataset) start: usize,
    /// The byte after its last.
    pub(in crate::dataset) end: usize,
}

/// A JSON value.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::dataset) enum JsonContent<'a> {
    Null,
    Bool(bool),
    Number(Number),
    Text(Cow<'a, str>),
    List(Vec<JsonNode<'a>>),
    /// In the file's order; a key that comes twice is there twice.
    Object(Vec<JsonEntry<'a>>),
}

/// One entry of an object.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::dataset) struct JsonEntry<'a> {
    /// The key.
    pub(in crate::dataset) key: Cow<'a, str>,
    /// The first byte of the key.
    pub(in crate::dataset) start: usize,
    /// The byte after its last.
    pub(in crate::dataset) end: usize,
    /// The value.
    pub(in crate::dataset) value: JsonNode<'a>,
}

impl<'a> JsonNode<'a> {
    /// The entries of an object; none for anything else.
    pub(in crate::dataset) fn entries(&self) -> &[JsonEntry<'a>] {
        if let JsonContent::Object(entries) = &self.content { entries } else { &[] }
    }

    /// The items of a list; none for anything else.
    pub(in crate::dataset) fn items(&self) -> &[JsonNode<'a>] {
        if let JsonContent::List(items) = &self.content { items } else { &[] }
    }

    /// The value of this key, if this is an object that has it. Of a key that comes twice the last one counts.
    pub(in crate::dataset) fn get(&self, key: &str) -> Option<&JsonNode<'a>> {
        self.entries().iter().rev().find(|entry| entry.key == key).map(|entry| &entry.value)
    }

    /// Whether this is an object that has this key with a value: null is as good as none.
    pub(in crate::dataset) fn has_value(&self, key: &str) -> bool {
        self.get(key).is_some_and(|value| value.content != JsonContent::Null)
    }

    /// Whether this is an object that has this key, also where it is null: by such keys formats are told apart.
    pub(in crate::dataset) fn has(&self, key: &str) -> bool {
        self.entries().iter().any(|entry| entry.key == key)
    }

    /// The text, if it is one.
    pub(in crate::dataset) fn text(&self) -> Option<&str> {
        if let JsonContent::Text(text) = &self.content { Some(text) } else { None }
    }

    /// The kind of the value, for messages.
    pub(in crate::dataset) fn kind(&self) -> &'static str {
        match self.content {
            JsonContent::Null => "null",
            JsonContent::Bool(_) => "true or false",
            JsonContent::Number(_) => "a number",
            JsonContent::Text(_) => "text",
            JsonContent::List(_) => "a list",
            JsonContent::Object(_) => "an object",
        }
    }

    /// The value without its places.
    pub(in crate::dataset) fn to_json(&self) -> Value {
        match &self.content {
            JsonContent::Null => Value::Null,
            JsonContent::Bool(truth) => Value::Bool(*truth),
            JsonContent::Number(number) => Value::Number(number.clone()),
            JsonContent::Text(text) => Value::String(text.as_ref().to_owned()),
            JsonContent::List(items) => Value::Array(items.iter().map(JsonNode::to_json).collect()),
            JsonContent::Object(entries) => Value::Object(
                entries
                    .iter()
                    .map(|entry| (entry.key.as_ref().to_owned(), entry.value.to_json()))
                    .collect::<Map<_, _>>(),
            ),
        }
    }

    /// The same value with texts of its own.
    pub(in crate::dataset) fn into_owned(self) -> JsonNode<'static> {
        let content = match self.content {
            JsonContent::Null => JsonContent::Null,
            JsonContent::Bool(truth) => JsonContent::Bool(truth),
            JsonContent::Number(number) => JsonContent::Number(number),
            JsonContent::Text(text) => JsonContent::Text(Cow::Owned(text.into_owned())),
            JsonContent::List(items) => JsonContent::List(items.into_iter().map(JsonNode::into_owned).collect()),
            JsonContent::Object(entries) => {
                let owned = |JsonEntry { key, start, end, value }| JsonEntry {
                    key: Cow::Owned(Cow::into_owned(key)),
                    start,
                    end,
                    value: JsonNode::into_owned(value),
                };
                JsonContent::Object(entries.into_iter().map(owned).collect())
            }
        };
        JsonNode { content, start: self.start, end: self.end }
    }

    /// The path to the value that begins at this byte: `eval_cases[2].conversation[0]`; empty for the whole.
    pub(in crate::dataset) fn path_to(&self, start: usize) -> String {
        let (mut path, mut node) = (String::new(), self);
        while node.start != start {
            let next = match &node.content {
                JsonContent::List(items) => {
                    let index = items.partition_point(|item| item.start <= start).checked_sub(1);
                    index.map(|index| (format!("[{index}]"), &items[index]))
                }
                JsonContent::Object(entries) => {
                    let index = entries.partition_point(|entry| entry.start <= start).checked_sub(1);
                    let dot = if path.is_empty() { "" } else { "." };
                    index.map(|index| (format!("{dot}{}", entries[index].key), &entries[index].value))
                }
                _ => None,
            };
            let Some((step, child)) = next.filter(|(_, child)| child.start <= start) else { break };
            path.push_str(&step);
            node = child;
        }
        path
    }
}

impl From<&YamlNode> for JsonNode<'static> {
    fn from(node: &YamlNode) -> JsonNode<'static> {
        let content = match &node.content {
            YamlContent::Null => JsonContent::Null,
            YamlContent::Bool(truth) => JsonContent::Bool(*truth),
            YamlContent::Int(number) => JsonContent::Number(number.clone()),
            YamlContent::Float(number) => Number::from_f64(*number).map_or(JsonContent::Null, JsonContent::Number),
            YamlContent::String(text) => JsonContent::Text(text.clone().into()),
            YamlContent::List(items) => JsonContent::List(items.iter().map(JsonNode::from).collect()),
            YamlContent::Mapping(entries) => JsonContent::Object(
                entries
                    .iter()
                    .map(|entry| JsonEntry {
                        key: entry.key.text.clone().into(),
                        start: entry.key.span.start,
                        end: entry.key.span.end,
                        value: JsonNode::from(&entry.value),
                    })
                    .collect(),
            ),
        };
        JsonNode { content, start: node.span.start, end: node.span.end }
    }
}
