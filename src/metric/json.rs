//! Two JSON documents compared: where they differ, by path. Arguments of calls are compared in `trajectory/value`, by rules for
//! each path and by the equality of other languages, of which a document has neither; what both say of numbers whose digits are
//! not known stands here.

use serde_json::Value;

use super::measured::shown;
use super::selection::Selection;
use crate::text::{KEPT_DIGITS, significant_digits};

/// How two JSON values are compared.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonRules {
    /// Numbers that differ by at most so much are the same.
    pub number_tolerance: f64,
    /// Only what is below these is compared; `None` for all.
    pub only: Option<Selection>,
    /// Paths that are left out, with all below them.
    pub ignore: Selection,
    /// Whether the actual mapping may have more entries than the expected one.
    pub extra: bool,
    /// Whether lists are compared as a whole where a selection goes on below them, and large integers as floating-point
    /// numbers, as trpc-agent-go does.
    pub strict: bool,
}

impl JsonRules {
    /// The absolute tolerance of numbers, where none is given.
    pub const TOLERANCE: f64 = 1e-6;
}

impl Default for JsonRules {
    fn default() -> JsonRules {
        JsonRules {
            number_tolerance: JsonRules::TOLERANCE,
            only: None,
            ignore: Selection::default(),
            extra: false,
            strict: false,
        }
    }
}

/// One difference of two documents.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonDifference {
    /// Where: a JSON Pointer, empty for the document itself.
    pub path: String,
    /// The expected value; `None` for nothing.
    pub expected: Option<Value>,
    /// The actual value; `None` for nothing.
    pub actual: Option<Value>,
}

impl std::fmt::Display for JsonDifference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let place = if self.path.is_empty() { "the document".to_owned() } else { shown(&self.path).replace('"', "`") };
        let value = |value: &Option<Value>| value.as_ref().map_or("nothing".to_owned(), shown_json);
        write!(f, "{place}: expected {}, actual {}", value(&self.expected), value(&self.actual))
    }
}

/// A value on one line, shortened.
pub fn shown_json(value: &Value) -> String {
    let quoted = shown(&value.to_string());
    quoted[1..quoted.len() - 1].to_owned()
}

/// The result of a comparison.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JsonDifferences {
    /// All differences, in the expected value's order; what is only in the actual one comes after it.
    pub found: Vec<JsonDifference>,
    /// Where numbers look equal and may still differ: JSON Pointers.
    pub unknown: Vec<String>,
    /// Places that are to be compared and that neither value has: JSON Pointers.
    pub absent: Vec<String>,
}

impl JsonDifferences {
    /// Why it is not known whether the values are the same; `None` where it is.
    pub fn doubt(&self) -> Option<String> {
        if let Some(path) = self.absent.first().filter(|_| self.found.is_empty()) {
            let place = shown(path).replace('"', "`");
            return Some(format!(
                "only {place} is compared, and what is expected has nothing there: correct the selection"
            ));
        }
        let path = self.unknown.first().filter(|_| self.found.is_empty())?;
        let place = if path.is_empty() { "the document".to_owned() } else { shown(path).replace('"', "`") };
        Some(format!("{place} is {HIDDEN_DIGITS}; give a `numberTolerance` of 1 or more"))
    }
}

/// The note on numbers that look equal and may still differ.
pub(in crate::metric) const HIDDEN_DIGITS: &str = "a whole number beyond 64 bits, of which not all digits are known";

/// Whether digits of a number may be lost: whole numbers beyond 64 bits are read as floating-point ones. Of 1e30 none are.
pub(in crate::metric) fn may_hide_digits(value: &Value) -> bool {
    is_beyond_64_bits(value) && value.as_f64().is_some_and(|number| significant_digits(number) > KEPT_DIGITS)
}

/// Whether it is not known how a number is written: 1e30, or with 31 digits.
pub(in crate::metric) fn is_beyond_64_bits(value: &Value) -> bool {
    let is_beyond = |number: f64| number >= 2_f64.powi(64) || number <= -(2_f64.powi(63));
    value.is_f64() && value.as_f64().is_some_and(is_beyond)
}

/// All differences of two values.
pub fn json_differences(actual: &Value, expected: &Value, rules: &JsonRules) -> JsonDifferences {
    let mut found = JsonDifferences::default();
    let scope = ComparedPart { only: rules.only.as_ref(), ignore: Some(&rules.ignore) };
    compare(&mut String::new(), actual, expected, scope, rules, &mut found);
    found
}

/// The compared part of a value.
#[derive(Clone, Copy)]
struct ComparedPart<'a> {
    /// `None` for all of it.
    only: Option<&'a Selection>,
    /// `None` for nothing.
    ignore: Option<&'a Selection>,
}

impl<'a> ComparedPart<'a> {
    /// The compared part of a key's value; `None` if it is not compared at all.
    fn below(self, key: &str) -> Option<ComparedPart<'a>> {
        let only = match self.only {
            None => None,
            Some(only) => Some(only.below(key)?).filter(|it| !it.is_place()),
        };
        let ignore = self.ignore.and_then(|it| it.below(key));
        let is_ignored = ignore.is_some_and(Selection::is_place);
        (!is_ignored).then_some(ComparedPart { only, ignore })
    }
}

fn compare(
    path: &mut String,
    actual: &Value,
    expected: &Value,
    scope: ComparedPart<'_>,
    rules: &JsonRules,
    found: &mut JsonDifferences,
) {
    match (actual, expected) {
        (Value::Object(actual), Value::Object(expected)) => {
            let beyond = actual.keys().filter(|key| !rules.extra && !expected.contains_key(*key));
            let both = expected.keys().chain(beyond);
            let wanted = scope.only.into_iter().flat_map(|only| only.keys());
            let neither = wanted.filter(|key| !expected.contains_key(*key) && !actual.contains_key(*key));
            for key in both.chain(neither) {
                let Some(below) = scope.below(key) else { continue };
                let length = path.len();
                path.push('/');
                path.push_str(&key.replace('~', "~0").replace('/', "~1"));
                compare_part(path, (actual.get(key), expected.get(key)), below, rules, found);
                path.truncate(length);
            }
        }
        (Value::Array(actual), Value::Array(expected)) => {
            let below = if rules.strict { ComparedPart { only: None, ignore: None } } else { scope };
            for at in 0..actual.len().max(expected.len()) {
                let length = path.len();
                path.push_str(&format!("/{at}"));
                compare_part(path, (actual.get(at), expected.get(at)), below, rules, found);
                path.truncate(length);
            }
        }
        _ if same(actual, expected, rules) => {
            let hides = !rules.strict && rules.number_tolerance < 1.0;
            if hides && (may_hide_digits(actual) || may_hide_digits(expected)) {
                found.unknown.push(path.clone());
            }
        }
        _ => found.found.push(JsonDifference {
            path: path.clone(),
            expected: Some(expected.clone()),
            actual: Some(actual.clone()),
        }),
    }
}

/// Compares the parts of two values at one place, which one of them may lack.
fn compare_part(
    path: &mut String,
    parts: (Option<&Value>, Option<&Value>),
    scope: ComparedPart<'_>,
    rules: &JsonRules,
    found: &mut JsonDifferences,
) {
    match parts {
        (Some(actual), Some(expected)) => compare(path, actual, expected, scope, rules, found),
        // The selection is to blame, not who replied; the original fails it.
        (None, None) if !rules.strict => found.absent.push(path.clone()),
        (actual, expected) => {
            let (expected, actual) = (expected.cloned(), actual.cloned());
            found.found.push(JsonDifference { path: path.clone(), expected, actual });
        }
    }
}

/// Whether two values that are not both objects or lists are the same.
fn same(actual: &Value, expected: &Value, rules: &JsonRules) -> bool {
    let (Value::Number(a), Value::Number(b)) = (actual, expected) else { return actual == expected };
    let integer = |number: &serde_json::Number| number.as_i64().map(i128::from).or(number.as_u64().map(i128::from));
    match (integer(a), integer(b)) {
        // No digit of a large integer is lost.
        (Some(a), Some(b)) if !rules.strict => a == b || (a.abs_diff(b) as f64) <= rules.number_tolerance,
        _ => a.as_f64().zip(b.as_f64()).is_some_and(|(a, b)| a == b || (a - b).abs() <= rules.number_tolerance),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn differ(actual: Value, expected: Value, rules: &JsonRules) -> Vec<String> {
        json_differences(&actual, &expected, rules).found.iter().map(ToString::to_string).collect()
    }

    fn only(paths: &[&str]) -> JsonRules {
        JsonRules { only: Some(Selection::from_paths(paths).unwrap()), ..JsonRules::default() }
    }

    fn ignore(paths: &[&str]) -> JsonRules {
        JsonRules { ignore: Selection::from_paths(paths).unwrap(), ..JsonRules::default() }
    }

    #[test]
    fn each_difference_is_reported_with_its_path() {
        let actual = json!({"a": 1, "b": [1, {"c": "x"}], "extra": null, "n": {"a/b": true}});
        let expected = json!({"a": "1", "b": [1, {"c": "y"}, 3], "gone": {}, "n": {"a/b": false}});
        assert_eq!(
            differ(actual, expected, &JsonRules::default()),
            [
                "`/a`: expected \"1\", actual 1",
                "`/b/1/c`: expected \"y\", actual \"x\"",
                "`/b/2`: expected 3, actual nothing",
                "`/gone`: expected {}, actual nothing",
                "`/n/a~1b`: expected false, actual true",
                "`/extra`: expected nothing, actual null",
            ]
        );
        assert_eq!(differ(json!([]), json!({}), &JsonRules::default()), ["the document: expected {}, actual []"]);
        assert!(differ(json!({"a": 1, "b": 2}), json!({"b": 2, "a": 1}), &JsonRules::default()).is_empty());
    }

    #[test]
    fn numbers_beyond_64_bits_that_look_equal_are_not_known_to_be() {
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let (a, b) = (read("{\"n\": 123456789012345678901}"), read("{\"n\": 123456789012345678902}"));
        let doubt = |rules: &JsonRules| json_differences(&a, &b, rules).doubt();
        let why = doubt(&JsonRules::default()).unwrap();
        assert!(why.starts_with("`/n` is a whole number beyond 64 bits"), "{why}");
        assert_eq!(doubt(&JsonRules { number_tolerance: 1.0, ..JsonRules::default() }), None);
        assert_eq!(doubt(&JsonRules { strict: true, ..JsonRules::default() }), None);
        let more = json!({"n": a["n"], "m": 1});
        assert_eq!(json_differences(&more, &b, &JsonRules::default()).doubt(), None, "they differ anyway");
        let (float, other) = (read("{\"n\": 1e30}"), read("{\"n\": 1000000000000000000000000000000}"));
        assert_eq!(json_differences(&float, &other, &JsonRules::default()), JsonDifferences::default());
        let largest = json!(u64::MAX);
        assert_eq!(json_differences(&largest, &largest, &JsonRules::default()), JsonDifferences::default());
    }

    #[test]
    fn numbers_are_the_same_within_the_tolerance_and_large_integers_to_the_last_digit() {
        let same = |a: Value, b: Value, rules: &JsonRules| differ(a, b, rules).is_empty();
        let default = JsonRules::default();
        assert!(same(json!(1.0), json!(1), &default));
        assert!(same(json!(1.0), json!(1.0000005), &default));
        assert!(!same(json!(1.0), json!(1.00001), &default));
        assert!(same(json!(1.0), json!(1.5), &JsonRules { number_tolerance: 0.5, ..JsonRules::default() }));
        assert!(same(json!(7), json!(9), &JsonRules { number_tolerance: 2.0, ..JsonRules::default() }));
        assert!(!same(json!(9007199254740993_u64), json!(9007199254740992_u64), &default));
        assert!(same(
            json!(9007199254740993_u64),
            json!(9007199254740992_u64),
            &JsonRules { strict: true, ..JsonRules::default() }
        ));
        assert!(!same(json!(1), json!("1"), &default) && !same(json!(1), json!(true), &default));
    }

    #[test]
    fn selections_reach_into_lists_unless_the_originals_answer_is_asked_for() {
        let (a, b) = (json!({"rows": [{"id": 1, "at": 5}]}), json!({"rows": [{"id": 1, "at": 6}]}));
        assert!(differ(a.clone(), b.clone(), &ignore(&["rows.at"])).is_empty());
        assert!(differ(a.clone(), b.clone(), &only(&["rows.id"])).is_empty());
        assert_eq!(differ(a.clone(), b.clone(), &only(&["/rows/at"])).len(), 1);
        assert_eq!(differ(a, b, &JsonRules { strict: true, ..ignore(&["rows.at"]) }).len(), 1);
    }

    #[test]
    fn what_is_selected_must_be_there_and_what_is_ignored_need_not() {
        let nothing = json_differences(&json!({}), &json!({}), &only(&["a"]));
        assert!(nothing.doubt().unwrap().starts_with("only `/a` is compared, and what is expected has nothing there"));
        assert_eq!(differ(json!({"a": 1}), json!({}), &only(&["a"])), ["`/a`: expected nothing, actual 1"]);
        let strict = JsonRules { strict: true, ..only(&["a"]) };
        assert_eq!(differ(json!({}), json!({}), &strict), ["`/a`: expected nothing, actual nothing"]);
        assert!(differ(json!({"a": 1, "b": 2}), json!({"a": 1}), &ignore(&["b"])).is_empty());
        assert_eq!(differ(json!({"m": {"t": 1, "x": 1}}), json!({"m": {"t": 2}}), &ignore(&["m.t"])).len(), 1);
        assert!(differ(json!({"m": {"x": 1, "y": 1}}), json!({"m": {"x": 1, "y": 2}}), &only(&["m.x"])).is_empty());
        // The wider place counts, in whatever order they are given.
        for paths in [["m", "m.x"], ["m.x", "m"]] {
            assert_eq!(differ(json!({"m": {"y": 1}}), json!({"m": {"y": 2}}), &only(&paths)).len(), 1);
        }
        assert!(differ(json!({"a": 1}), json!({"a": 2}), &only(&[])).is_empty());
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            (-1e6..1e6).prop_map(Value::from),
            "\\PC{0,5}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 20, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-c/~.]{1,2}", inner, 0..4)
                    .prop_map(|it| Value::Object(it.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_value_is_the_same_as_itself_and_differences_are_found_from_both_sides(a in any_json(), b in any_json()) {
            let rules = JsonRules::default();
            prop_assert!(json_differences(&a, &a, &rules).found.is_empty());
            let (forth, back) = (json_differences(&a, &b, &rules).found, json_differences(&b, &a, &rules).found);
            prop_assert_eq!(forth.len(), back.len());
            for difference in &forth {
                let at = |value: &Value| value.pointer(&difference.path).cloned();
                prop_assert_eq!(&at(&a), &difference.actual);
                prop_assert_eq!(&at(&b), &difference.expected);
            }
        }
    }
}
