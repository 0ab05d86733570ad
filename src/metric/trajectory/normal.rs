//! watsonx' normal form of argument values, with its oddities: it decides under `strict` in that dialect.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::text::with_ascii_digits;

/// The word that stands for any value.
pub(super) const IGNORE_WORD: &str = "<IGNORE>";

/// The value as watsonx compares it: texts in lower case, whatever reads as a number as that number, lists sorted.
pub(super) fn normalised(value: &Value) -> Value {
    match value {
        Value::String(text) if text == IGNORE_WORD => value.clone(),
        Value::String(text) => match python_float(text) {
            Some(number) => number_text(number).into(),
            None => text.to_lowercase().into(),
        },
        Value::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(whole), ..) => whole.to_string().into(),
            (None, Some(whole), _) => whole.to_string().into(),
            (None, None, float) => number_text(float.unwrap_or(f64::NAN)).into(),
        },
        // Python's words for them; only those of text are put in lower case.
        Value::Bool(flag) => if *flag { "True" } else { "False" }.into(),
        Value::Null => "none".into(),
        Value::Array(list) => {
            let mut list: Vec<Value> = list.iter().map(normalised).collect();
            list.sort_by_cached_key(sorted_text);
            list.into()
        }
        Value::Object(map) => Value::Object(map.iter().map(|(key, value)| (key.clone(), normalised(value))).collect()),
    }
}

/// A number as text: a whole one without a point.
fn number_text(number: f64) -> String {
    if number.is_finite() && number.fract() == 0.0 {
        let text = format!("{number:.0}");
        if text == "-0" { "0".to_owned() } else { text }
    } else {
        format!("{number:?}").to_lowercase()
    }
}

/// The number that Python's `float` reads from a text.
pub(super) fn python_float(text: &str) -> Option<f64> {
    let plain = if text.is_ascii() { Cow::Borrowed(text) } else { Cow::Owned(with_ascii_digits(text)) };
    let text = plain.trim();
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let named = unsigned.to_ascii_lowercase();
    if matches!(named.as_str(), "inf" | "infinity" | "nan") {
        let number = if named == "nan" { f64::NAN } else { f64::INFINITY };
        return Some(if text.starts_with('-') { -number } else { number });
    }
    let first = unsigned.chars().next()?;
    if !(first.is_ascii_digit() || first == '.') {
        return None;
    }
    // An underscore may stand between two digits.
    let bytes = text.as_bytes();
    let digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    let is_misplaced = |at: usize| !(digit(at.checked_sub(1)) && digit(Some(at + 1)));
    if text.match_indices('_').any(|(at, _)| is_misplaced(at)) {
        return None;
    }
    text.replace('_', "").parse().ok()
}

/// JSON with its keys sorted: the same for equal values.
pub(super) fn sorted_text(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<(&String, &Value)> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            let entries = entries.into_iter().map(|(key, value)| format!("{key:?}:{}", sorted_text(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
        }
        Value::Array(list) => format!("[{}]", list.iter().map(sorted_text).collect::<Vec<_>>().join(",")),
        _ => value.to_string(),
    }
}

/// The mapping with one level: keys of mappings within it are joined by points. An empty mapping leaves nothing.
pub(super) fn flattened(map: &Map<String, Value>) -> Map<String, Value> {
    fn collect(map: &Map<String, Value>, prefix: &str, flat: &mut Map<String, Value>) {
        for (key, value) in map {
            let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
            match value {
                Value::Object(inner) => collect(inner, &path, flat),
                _ => drop(flat.insert(path, value.clone())),
            }
        }
    }
    let mut flat = Map::new();
    collect(map, "", &mut flat);
    flat
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_take_the_form_that_pythons_takes() {
        for (value, normal) in [
            (json!(10.0), json!("10")),
            (json!("010"), json!("10")),
            (json!("1e3"), json!("1000")),
            (json!(" 1_000 "), json!("1000")),
            (json!("1__0"), json!("1__0")),
            (json!("_1"), json!("_1")),
            (json!("-0.0"), json!("0")),
            (json!("1.50"), json!("1.5")),
            (json!("NaN"), json!("nan")),
            (json!("-inf"), json!("-inf")),
            (json!("0x10"), json!("0x10")),
            (json!("１０"), json!("10")),
            (json!("٣"), json!("3")),
            (json!("9007199254740993"), json!("9007199254740992")),
            (json!(9_007_199_254_740_993_u64), json!("9007199254740993")),
            (json!("<IGNORE>"), json!("<IGNORE>")),
            (json!("<Ignore>"), json!("<ignore>")),
            (json!(true), json!("True")),
            (json!("True"), json!("true")),
            (json!(null), json!("none")),
            (json!([2, 10, "B", "a", {"k": 1}]), json!(["10", "2", "a", "b", {"k": "1"}])),
        ] {
            assert_eq!(normalised(&value), normal, "{value}");
        }
    }

    #[test]
    fn mappings_are_flattened() {
        let map = json!({"a": {"b": {"c": 1}, "d": []}, "e": {}, "f": null});
        assert_eq!(Value::Object(flattened(map.as_object().unwrap())), json!({"a.b.c": 1, "a.d": [], "f": null}));
    }
}
