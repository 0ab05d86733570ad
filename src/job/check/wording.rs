//! Values and types in messages.

use serde_json::Value;

use super::ValueContext;
use crate::job::problem::{quoted_key, shortened};
use crate::job::source::{YamlContent, YamlNode};

/// JSON Schema's name for the type of a value.
pub(super) fn kind_of(content: &YamlContent) -> &'static str {
    match content {
        YamlContent::Null => "null",
        YamlContent::Bool(_) => "boolean",
        YamlContent::Int(_) => "integer",
        YamlContent::Float(_) => "number",
        YamlContent::String(_) => "string",
        YamlContent::List(_) => "array",
        YamlContent::Mapping(_) => "object",
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
        YamlContent::Null if written.is_empty() => "nothing".to_owned(),
        YamlContent::Null => format!("{written}, which means nothing"),
        YamlContent::Bool(_) => format!("the boolean {written}"),
        YamlContent::Int(_) => format!("the integer {written}"),
        YamlContent::Float(_) => format!("the number {written}"),
        YamlContent::String(text) => format!("the string \"{}\"", shortened(text.trim_end())),
        YamlContent::List(_) => "a list".to_owned(),
        YamlContent::Mapping(_) => "a mapping".to_owned(),
    }
}

/// The usual fix for a value of the wrong type.
pub(super) fn help_for_type(
    schema: &Value,
    expected: &str,
    node: &YamlNode,
    written: &str,
    place: &ValueContext<'_>,
) -> Option<String> {
    let key = place.key.map(|key| key.text.as_str());
    match (expected, &node.content) {
        ("string", YamlContent::Bool(_) | YamlContent::Int(_) | YamlContent::Float(_)) => {
            Some(format!("put it in quotes: \"{written}\""))
        }
        ("string", YamlContent::Mapping(_)) => Some("text with `: ` in it needs quotes around all of it".to_owned()),
        ("string", YamlContent::List(_)) => {
            Some("text that starts with `[` or `- ` needs quotes around all of it".to_owned())
        }
        ("string", YamlContent::Null) if !written.is_empty() => {
            Some(format!("if it is meant as text, put it in quotes: \"{written}\""))
        }
        ("array", YamlContent::Null) if schema["minItems"].is_null() => {
            Some(format!("write `{}: []` if there are none", key?))
        }
        (_, YamlContent::Null) if key.is_some() => {
            Some(format!("write a value for {}, or leave the key out", quoted_key(key?)))
        }
        ("array", _) => Some("start each entry on a line of its own with `- `".to_owned()),
        ("integer", YamlContent::Float(number)) if number.fract() == 0.0 && number.abs() < 1e15 => {
            Some(format!("write {number:.0}"))
        }
        ("integer" | "number", YamlContent::String(text)) if text.trim().parse::<f64>().is_ok_and(f64::is_finite) => {
            Some("leave out the quotes".to_owned())
        }
        ("integer" | "number", YamlContent::String(text)) => help_for_unit(schema, text.trim()),
        // `gate: 0.8`, `evaluator: openai/gpt-4.1-mini`.
        ("object", YamlContent::Int(_) | YamlContent::Float(_) | YamlContent::String(_)) => {
            let properties = schema["properties"].as_object()?;
            let is_number = !matches!(node.content, YamlContent::String(_));
            let numbers =
                || properties.iter().filter(|(_, property)| is_of(property, "number")).map(|(name, _)| name.as_str());
            let name = match is_number {
                true if numbers().count() == 1 => numbers().next()?,
                false if properties.contains_key("model") => "model",
                _ => return None,
            };
            Some(format!("write `{}: {{{name}: {written}}}`", key?))
        }
        _ => None,
    }
}

fn is_of(schema: &Value, kind: &str) -> bool {
    schema["type"] == kind || schema["type"].as_array().is_some_and(|kinds| kinds.iter().any(|own| own == kind))
}

/// The number of a text with a unit, in the unit of the schema's description: `80%`, `5s`, `10m`.
fn help_for_unit(schema: &Value, text: &str) -> Option<String> {
    let at = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = (text[..at].parse::<f64>().ok()?, text[at..].trim());
    let seconds = match unit {
        "%" if schema["maximum"] == 1 || schema["maximum"] == 1.0 => return Some(percent(number)),
        "ms" => 0.001,
        "s" | "sec" | "seconds" => 1.0,
        "m" | "min" | "minutes" => 60.0,
        "h" | "hours" => 3600.0,
        _ => return None,
    } * number;
    let description = schema["description"].as_str()?;
    if description.contains("milliseconds") {
        Some(format!("it is in milliseconds: write {}", rounded(seconds * 1000.0)))
    } else if description.starts_with("Seconds") {
        Some(format!("it is in seconds: write {}", rounded(seconds)))
    } else {
        None
    }
}

/// The help for a number of percent where a share is expected.
pub(super) fn percent(number: f64) -> String {
    format!("{number} percent is {}", rounded(number / 100.0))
}

/// Without the noise of binary fractions.
fn rounded(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}
