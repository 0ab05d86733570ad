//! When two plain values are equal: as JSON means it, and as the other systems' languages do.

use serde_json::{Number, Value};

use crate::metric::json;
use crate::text::{case_folded, lowered};

/// The system whose equality holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Equality {
    /// Numbers by their worth, everything else as it stands.
    Json,
    /// Python's `==`: true is 1.
    Python,
    /// Go's numbers: all of them floating-point.
    Go,
    /// watsonx' text of both values.
    Watsonx,
}

/// How values are compared where no rule says otherwise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Mode {
    pub(super) equality: Equality,
    pub(super) fold: bool,
    pub(super) list_order: bool,
    pub(super) extra: bool,
    pub(super) tolerance: f64,
    pub(super) texts_as_values: bool,
    /// Whether `onlyPaths` and `ignorePaths` reach into lists.
    pub(super) into_lists: bool,
    /// Whether a text in the place of a pattern is written in lower case with it.
    pub(super) folds_patterns: bool,
    /// Whether patterns are read as Go reads them.
    pub(super) re2: bool,
}

/// Whether two values that are no lists and no mappings are equal.
pub(super) fn plain(mode: &Mode, expected: &Value, actual: &Value) -> bool {
    match (expected, actual) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Number(a), Value::Number(b)) => numbers(mode, a, b),
        (Value::String(a), Value::String(b)) => texts(mode, a, b),
        (Value::Bool(flag), Value::Number(number)) | (Value::Number(number), Value::Bool(flag))
            if mode.equality == Equality::Python =>
        {
            number.as_f64() == Some(f64::from(u8::from(*flag)))
        }
        (Value::String(text), Value::Number(number)) | (Value::Number(number), Value::String(text))
            if mode.texts_as_values =>
        {
            number_of(text).is_some_and(|spelled| numbers(mode, &spelled, number))
        }
        (Value::String(text), Value::Bool(flag)) | (Value::Bool(flag), Value::String(text)) if mode.texts_as_values => {
            text.trim().eq_ignore_ascii_case(if *flag { "true" } else { "false" })
        }
        _ => false,
    }
}

/// Whether two texts are equal.
pub(super) fn texts(mode: &Mode, a: &str, b: &str) -> bool {
    let are_alike = || match a.is_ascii() && b.is_ascii() {
        true => a.eq_ignore_ascii_case(b),
        false => cased(mode, a) == cased(mode, b),
    };
    a == b || (mode.fold && are_alike())
}

/// A text without case, as the mode means it.
pub(super) fn cased(mode: &Mode, text: &str) -> String {
    if mode.folds_patterns { lowered(text) } else { case_folded(text) }
}

/// The number that a text spells as JSON does: no leading zeros, which identifiers have.
fn number_of(text: &str) -> Option<Number> {
    let text = text.trim();
    let is_number = text.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    is_number.then(|| serde_json::from_str(text).ok()).flatten()
}

fn integer(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

fn numbers(mode: &Mode, a: &Number, b: &Number) -> bool {
    let (Some(left), Some(right)) = (a.as_f64(), b.as_f64()) else { return a == b };
    let near = (left - right).abs() <= mode.tolerance;
    if mode.equality == Equality::Go {
        return near;
    }
    match (integer(a), integer(b)) {
        // Beyond 2^53 floating-point numbers would take neighbours for the same.
        (Some(a), Some(b)) => a == b || (mode.tolerance > 0.0 && (a - b).unsigned_abs() as f64 <= mode.tolerance),
        (None, None) => left == right || near,
        (Some(whole), None) => is_whole(right, whole) || (mode.tolerance > 0.0 && near),
        (None, Some(whole)) => is_whole(left, whole) || (mode.tolerance > 0.0 && near),
    }
}

fn is_whole(float: f64, whole: i128) -> bool {
    float.fract() == 0.0 && float.abs() < 1e30 && float as i128 == whole
}

/// Whether two values that are equal as they were read may differ in a digit, at any depth. Go's can't: it reads all numbers as
/// floating-point ones.
pub(super) fn may_hide_digits(mode: &Mode, expected: &Value, actual: &Value) -> bool {
    match (expected, actual) {
        (Value::Array(expected), Value::Array(actual)) => {
            expected.iter().zip(actual).any(|(expected, actual)| may_hide_digits(mode, expected, actual))
        }
        (Value::Object(expected), Value::Object(actual)) => expected
            .iter()
            .any(|(key, expected)| actual.get(key).is_some_and(|actual| may_hide_digits(mode, expected, actual))),
        _ => {
            mode.equality != Equality::Go
                && mode.tolerance < 1.0
                && (json::may_hide_digits(expected) || json::may_hide_digits(actual))
        }
    }
}

/// Whether two texts are the same whole number, to the last digit; `None` where one is no whole number.
pub(super) fn same_whole(a: &str, b: &str) -> Option<bool> {
    let read = |text: &str| {
        let text = text.trim();
        let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
        let is_whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let digits = digits.trim_start_matches('0').to_owned();
        is_whole.then(|| (text.starts_with('-') && !digits.is_empty(), digits))
    };
    Some(read(a)? == read(b)?)
}

/// Python's `==` of any two values.
pub(super) fn python(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| python(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| python(a, b)))
        }
        _ => plain(&PYTHON, a, b),
    }
}

/// Values as Python compares them.
pub(super) const PYTHON: Mode = Mode {
    equality: Equality::Python,
    fold: false,
    list_order: true,
    extra: false,
    tolerance: 0.0,
    texts_as_values: false,
    into_lists: true,
    folds_patterns: false,
    re2: false,
};

/// A value as one line of text: a text as it is, anything else as JSON.
pub(super) fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const JSON: Mode = Mode { equality: Equality::Json, ..PYTHON };

    #[test]
    fn numbers_are_equal_by_their_worth() {
        let big = 9_007_199_254_740_993_u64;
        for (mode, a, b, same) in [
            (JSON, json!(2), json!(2.0), true),
            (JSON, json!(big), json!(big - 1), false),
            (JSON, json!(big), json!(9_007_199_254_740_992.0), false),
            (JSON, json!(true), json!(1), false),
            (JSON, json!(-1), json!(u64::MAX), false),
            (JSON, json!("5"), json!(5), false),
            (PYTHON, json!(true), json!(1), true),
            (PYTHON, json!(false), json!(0.0), true),
            (PYTHON, json!(true), json!("true"), false),
            (PYTHON, json!(big), json!(big - 1), false),
            (Mode { equality: Equality::Go, tolerance: 1e-6, ..JSON }, json!(big), json!(big - 1), true),
            (Mode { equality: Equality::Go, tolerance: 1e-6, ..JSON }, json!(1.0), json!(1.00001), false),
            (Mode { tolerance: 0.5, ..JSON }, json!(1), json!(1.4), true),
            (Mode { tolerance: 0.5, ..JSON }, json!(1), json!(2), false),
            (Mode { tolerance: 1.0, ..JSON }, json!(big), json!(big - 1), true),
            (Mode { texts_as_values: true, ..JSON }, json!("5.0"), json!(5), true),
            (Mode { texts_as_values: true, ..JSON }, json!("007"), json!(7), false),
            (Mode { texts_as_values: true, ..JSON }, json!("nan"), json!(7), false),
            (Mode { texts_as_values: true, ..JSON }, json!("True"), json!(true), true),
            (Mode { fold: true, ..JSON }, json!("STRASSE ÄÖ"), json!("strasse äö"), true),
        ] {
            assert_eq!(plain(&mode, &a, &b), same, "{a} {b}");
            assert_eq!(plain(&mode, &b, &a), same, "{b} {a}");
        }
    }

    #[test]
    fn whole_numbers_as_texts_are_the_same_to_the_last_digit() {
        for (a, b, same) in [
            ("9007199254740993", "9007199254740992", Some(false)),
            (" 007", "+7", Some(true)),
            ("-0", "0", Some(true)),
            ("-7", "7", Some(false)),
            ("123456789012345678901234567890", "123456789012345678901234567891", Some(false)),
            ("7.0", "7", None),
            ("", "7", None),
        ] {
            assert_eq!(same_whole(a, b), same, "{a} {b}");
        }
    }

    #[test]
    fn python_compares_mappings_without_order_and_lists_with_it() {
        assert!(python(&json!({"a": 1, "b": [1, true]}), &json!({"b": [1.0, 1], "a": true})));
        assert!(!python(&json!([1, 2]), &json!([2, 1])));
        assert!(!python(&json!({}), &json!(null)));
    }
}
