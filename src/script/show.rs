//! Scripts and their values as text: on one line, cut where they are long.

use rhai::Dynamic;

use super::record::Record;
use crate::text::cut;

/// The most characters of a script or value that are shown.
const MAX_SHOWN_CHARS: usize = 200;

/// A script on one line.
pub(crate) fn line(script: &str) -> String {
    cut(script.split_whitespace().collect::<Vec<_>>().join(" "), MAX_SHOWN_CHARS)
}

/// A value as a script would spell it.
pub(crate) fn shown(value: &Dynamic) -> String {
    let mut text = String::new();
    spell(value, &mut text);
    cut(text, MAX_SHOWN_CHARS)
}

/// The message for a value that is neither true nor false.
pub(crate) fn no_boolean(value: &Dynamic) -> String {
    format!("the expression must be true or false, but it is {}; compare it with something", shown(value))
}

/// The same in short.
pub(crate) fn short(value: &Dynamic) -> String {
    const SHORT: usize = 60;
    cut(shown(value), SHORT)
}

/// A value with its type's name.
pub(crate) fn with_type(value: &Dynamic) -> String {
    let text = shown(value);
    match value {
        _ if value.is_unit() => "`()`".to_owned(),
        _ if value.is_int() || value.is_float() => format!("the number {text}"),
        _ if value.is_string() || value.is_char() => format!("the text {text}"),
        _ if value.is_array() => format!("the list {text}"),
        _ if value.is_map() => format!("the map {text}"),
        _ => text,
    }
}

fn spell(value: &Dynamic, text: &mut String) {
    if text.len() > 4 * MAX_SHOWN_CHARS {
        return;
    }
    if let Ok(items) = value.as_array_ref() {
        text.push('[');
        for (place, item) in items.iter().enumerate() {
            text.push_str(if place > 0 { ", " } else { "" });
            spell(item, text);
        }
        text.push(']');
    } else if let Ok(entries) = value.as_map_ref() {
        spell_entries("#{", entries.iter().map(|(key, item)| (key.as_str(), item)), text);
    } else if let Some(record) = value.clone().try_cast::<Record>() {
        spell_entries("{", record.fields.iter().map(|(key, item)| (*key, item)), text);
    } else if let Ok(own) = value.as_immutable_string_ref() {
        text.push_str(&serde_json::Value::from(own.as_str()).to_string());
    } else if value.is_unit() {
        text.push_str("()");
    } else {
        text.push_str(&value.to_string());
    }
}

fn spell_entries<'a>(open: &str, entries: impl Iterator<Item = (&'a str, &'a Dynamic)>, text: &mut String) {
    text.push_str(open);
    for (place, (key, item)) in entries.enumerate() {
        text.push_str(if place > 0 { ", " } else { "" });
        text.push_str(key);
        text.push_str(": ");
        spell(item, text);
    }
    text.push('}');
}
