//! Rules between the keys of one mapping, as JSON Schema says them, and how a key that is present is read.

use schemars::Schema;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

/// Exactly one of these keys: each is a kind of its own.
pub(super) fn exactly_one(schema: &mut Schema, kinds: &[&str]) {
    let branches: Vec<Value> = kinds.iter().map(|kind| json!({ "required": [kind] })).collect();
    schema.insert("oneOf".to_owned(), Value::Array(branches));
}

/// At most one of these keys.
pub(super) fn at_most_one(schema: &mut Schema, kinds: &[&str]) {
    apart(schema, &pairs(kinds));
}

/// Every two of these keys.
pub(super) fn pairs<'a>(kinds: &[&'a str]) -> Vec<[&'a str; 2]> {
    let with_later = |(index, kind): (usize, &&'a str)| {
        let kind = *kind;
        kinds[index + 1..].iter().map(move |other| [kind, *other])
    };
    kinds.iter().enumerate().flat_map(with_later).collect()
}

/// Never both keys of a pair.
pub(super) fn apart(schema: &mut Schema, pairs: &[[&str; 2]]) {
    let rules = pairs.iter().map(|pair| json!({ "not": { "required": pair } })).collect();
    schema.insert("allOf".to_owned(), Value::Array(rules));
}

/// Reads a key that must have a value where it is present.
pub(super) fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// Reads a key that counts as present without a value too: `demo:` is `demo: {}`.
pub(super) fn present_or_empty<'de, T: Deserialize<'de> + Default, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    Option::<T>::deserialize(deserializer).map(|value| Some(value.unwrap_or_default()))
}

/// Reads a key that says nothing where it has no value.
pub(super) fn or_default<'de, T: Deserialize<'de> + Default, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::<T>::deserialize(deserializer).map(Option::unwrap_or_default)
}
