//! Reads agents' JSON: fields that may be missing, and arguments that many write as JSON within a text.

use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use crate::http::read_json;

/// Fields of a value that may be anything.
pub(super) trait JsonFields {
    /// The text under this key, if it is one and not empty.
    fn text(&self, key: &str) -> Option<&str>;

    /// The list under this key; anything else is an empty one.
    fn list(&self, key: &str) -> &[Value];
}

impl JsonFields for Value {
    fn text(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_str().filter(|text| !text.is_empty())
    }

    fn list(&self, key: &str) -> &[Value] {
        self.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }
}

/// A count of tokens; `None` where it is anything but a whole number that is not negative. It only informs, and makes no reply
/// unreadable.
pub(super) fn token_count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    Ok(Value::deserialize(deserializer)?.as_u64())
}

/// Arguments of a call: JSON within a text is parsed, and an empty text means none. Any other text stays a text.
pub(super) fn arguments_of(written: Value) -> Value {
    match &written {
        Value::String(text) if text.trim().is_empty() => json!({}),
        _ => json_within(written),
    }
}

/// A mapping or a list that was written as text; anything else as it is.
pub(super) fn json_within(value: Value) -> Value {
    let read = value.as_str().and_then(|text| read_json::<Value>(text).ok());
    read.filter(|read| read.is_object() || read.is_array()).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_within_a_text_is_read_and_other_text_stays() {
        for (written, expected) in [
            (json!("{\"a\":1}"), json!({"a": 1})),
            (json!({"a": "{}"}), json!({"a": "{}"})),
            (json!(" "), json!({})),
            (json!("5"), json!("5")),
            (json!("{broken"), json!("{broken")),
            (Value::Null, Value::Null),
        ] {
            assert_eq!(arguments_of(written), expected);
        }
    }
}
