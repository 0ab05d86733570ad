//! Values and types in messages.

use serde_json::Value;

use super::Place;
use crate::job::problem::{quoted_key, shortened};
use crate::job::source::{Content, YamlNode};

/// JSON Schema's name for the type of a value.
pub(super) fn kind_of(content: &Content) -> &'static str {
    match content {
        Content::Null => "null",
        Content::Bool(_) => "boolean",
        Content::Int(_) => "integer",
        Content::Float(_) => "number",
        Content::String(_) => "string",
        Content::List(_) => "array",
        Content::Mapping(_) => "object",
    }
}

/// A type as an author calls it.
pub(super) fn article(kind: &str) -> &'static str {
    match kind {
        "boolean" => "true or false",
        "integer" => "an integer",
        "number" => "a number",
        "string" => "a string",
        "array" => "a list",
        "object" => "a mapping",
        _ => "nothing",
    }
}

/// The value, as an author calls it.
pub(super) fn found(node: &YamlNode, written: &str) -> String {
    let written = shortened(written);
    match &node.content {
        Content::Null if written.is_empty() => "nothing".to_owned(),
        Content::Null => format!("{written}, which means nothing"),
        Content::Bool(_) => format!("the boolean {written}"),
        Content::Int(_) => format!("the integer {written}"),
        Content::Float(_) => format!("the number {written}"),
        Content::String(text) => format!("the string \"{}\"", shortened(text.trim_end())),
        Content::List(_) => "a list".to_owned(),
        Content::Mapping(_) => "a mapping".to_owned(),
    }
}

/// The usual fix for a value of the wrong type.
pub(super) fn help_for_type(
    schema: &Value,
    expected: &str,
    node: &YamlNode,
    written: &str,
    place: &Place<'_>,
) -> Option<String> {
    let key = place.key.map(|key| key.text.as_str());
    match (expected, &node.content) {
        ("string", Content::Bool(_) | Content::Int(_) | Content::Float(_)) => {
            Some(format!("put it in quotes: \"{written}\""))
        }
        ("string", Content::Mapping(_)) => Some("text with `: ` in it needs quotes around all of it".to_owned()),
        ("string", Content::List(_)) => {
            Some("text that starts with `[` or `- ` needs quotes around all of it".to_owned())
        }
        ("string", Content::Null) if !written.is_empty() => {
            Some(format!("if it is meant as text, put it in quotes: \"{written}\""))
        }
        ("array", Content::Null) if schema["minItems"].is_null() => {
            Some(format!("write `{}: []` if there are none", key?))
        }
        (_, Content::Null) if key.is_some() => {
            Some(format!("write a value for {}, or leave the key out", quoted_key(key?)))
        }
        ("array", _) => Some("start each entry on a line of its own with `- `".to_owned()),
        ("integer", Content::Float(number)) if number.fract() == 0.0 && number.abs() < 1e15 => {
            Some(format!("write {number:.0}"))
        }
        ("integer" | "number", Content::String(text)) if text.trim().parse::<f64>().is_ok_and(f64::is_finite) => {
            Some("leave out the quotes".to_owned())
        }
        _ => None,
    }
}
