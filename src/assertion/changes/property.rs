//! Whether a property is what the job wants it to be.

use std::cmp::Ordering;

use regex::Regex;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::config::{PropertyConfig, PropertyTypeConfig};
use super::union::{BoundConfig, MatcherConfig};
use crate::assertion::equal;
use crate::evidence::{Temporal, TemporalKind, Value};

/// A regular expression that must match a whole text.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Pattern {
    text: String,
    /// None where the text is no regular expression: nothing matches it. [`property_problem`] says so.
    regex: Option<Regex>,
}

impl From<String> for Pattern {
    fn from(text: String) -> Pattern {
        Pattern { regex: whole(&text).ok(), text }
    }
}

impl From<Pattern> for String {
    fn from(pattern: Pattern) -> String {
        pattern.text
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Pattern) -> bool {
        self.text == other.text
    }
}

impl Pattern {
    fn matches(&self, text: &str) -> bool {
        self.regex.as_ref().is_some_and(|regex| regex.is_match(text))
    }

    /// The syntax error, in short.
    fn problem(&self) -> Option<String> {
        match whole(&self.text).err()? {
            regex::Error::Syntax(drawing) => {
                let last = drawing.lines().last().unwrap_or_default();
                Some(last.trim_start_matches("error: ").trim().to_owned())
            }
            other => Some(other.to_string()),
        }
    }
}

fn whole(pattern: &str) -> Result<Regex, regex::Error> {
    // On its own first, so that a bracket that is missing in it is not found in ours.
    Regex::new(pattern)?;
    Regex::new(&format!(r"\A(?:{pattern})\z"))
}

impl MatcherConfig {
    /// Whether a property with this value, or without any, fits.
    pub(super) fn matches(&self, value: Option<&Value>) -> bool {
        let property = match (self, value) {
            (MatcherConfig::Equal(expected), value) => return equals(expected, value),
            (MatcherConfig::Like(property), None) => return property.equals == Some(Json::Null) && is_alone(property),
            (MatcherConfig::Like(property), Some(_)) => property,
        };
        let Some(value) = value else { return false };
        property.kind.is_none_or(|kind| is_of(kind, value))
            && property.regex.as_ref().is_none_or(|regex| text(value).is_some_and(|text| regex.matches(text)))
            && property.min.as_ref().is_none_or(|min| order(value, min).is_some_and(Ordering::is_ge))
            && property.max.as_ref().is_none_or(|max| order(value, max).is_some_and(Ordering::is_le))
            && property.equals.as_ref().is_none_or(|expected| equals(expected, Some(value)))
    }
}

fn is_alone(property: &PropertyConfig) -> bool {
    property.kind.is_none() && property.regex.is_none() && property.min.is_none() && property.max.is_none()
}

fn equals(expected: &Json, value: Option<&Value>) -> bool {
    equal::equal(expected, value.unwrap_or(&Value::Null))
}

fn text(value: &Value) -> Option<&str> {
    match value {
        Value::String(text) => Some(text),
        Value::Temporal(temporal) => Some(&temporal.text),
        _ => None,
    }
}

fn is_of(kind: PropertyTypeConfig, value: &Value) -> bool {
    use PropertyTypeConfig as Type;
    match value {
        Value::String(_) => kind == Type::String,
        Value::Int(_) => matches!(kind, Type::Integer | Type::Number),
        Value::Float(_) => matches!(kind, Type::Float | Type::Number),
        Value::Bool(_) => kind == Type::Boolean,
        Value::List(_) => kind == Type::List,
        Value::Map(_) => kind == Type::Map,
        Value::Point(_) => kind == Type::Point,
        Value::Temporal(temporal) => match temporal.kind {
            TemporalKind::Date => kind == Type::Date,
            TemporalKind::Time => kind == Type::Time,
            TemporalKind::LocalTime => kind == Type::LocalTime,
            TemporalKind::DateTime => kind == Type::DateTime,
            TemporalKind::LocalDateTime => kind == Type::LocalDateTime,
            TemporalKind::Duration => kind == Type::Duration,
        },
        Value::Null | Value::Node(_) | Value::Relationship(_) | Value::Path(_) => false,
    }
}

/// Compares a value with a bound; `None` where they can't be compared: a duration has no order, and a date is not a
/// moment.
fn order(value: &Value, bound: &BoundConfig) -> Option<Ordering> {
    match (value, bound) {
        (value, BoundConfig::Number(bound)) => equal::order(value, bound),
        (Value::String(text), BoundConfig::Text(bound)) => Some(text.as_str().cmp(bound)),
        (Value::Temporal(temporal), BoundConfig::Text(bound)) => {
            let bound = Temporal { kind: temporal.kind, text: bound.clone() };
            temporal.parse()?.compare(&bound.parse()?)
        }
        _ => None,
    }
}

/// A problem with a property matcher of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PropertyProblem {
    /// The key; none for the mapping as a whole.
    pub key: Option<&'static str>,
    /// The problem, in a sentence.
    pub message: String,
    /// A suggestion.
    pub help: Option<String>,
}

/// The first thing that is wrong with what a job says of a property.
pub fn property_problem(property: &PropertyConfig) -> Option<PropertyProblem> {
    use PropertyTypeConfig as Type;
    let problem = |key, message: &str, help: &str| {
        Some(PropertyProblem { key, message: message.to_owned(), help: (!help.is_empty()).then(|| help.to_owned()) })
    };
    if property == &PropertyConfig::default() {
        let help = "say what the property must be like, or write `equals: {}` for an empty map";
        return problem(None, "an empty mapping says nothing of the property", help);
    }
    if let Some(error) = property.regex.as_ref().and_then(Pattern::problem) {
        let help = r"a sign that stands for itself has a backslash before it: `\(`";
        return problem(Some("regex"), &format!("this is no regular expression: {error}"), help);
    }
    let bounds = [("min", &property.min), ("max", &property.max)];
    let bounds = || bounds.iter().filter_map(|(key, bound)| Some((*key, (*bound).as_ref()?)));
    for (key, bound) in bounds() {
        let fits = match (property.kind, bound) {
            (None, _) => true,
            (Some(Type::Integer | Type::Float | Type::Number), bound) => matches!(bound, BoundConfig::Number(_)),
            (Some(Type::Boolean | Type::List | Type::Map | Type::Duration | Type::Point), _) => false,
            (Some(_), bound) => matches!(bound, BoundConfig::Text(_)),
        };
        if !fits {
            let bound = if matches!(bound, BoundConfig::Number(_)) { "a number" } else { "text" };
            return problem(Some(key), &format!("no value of this `type` can be compared with {bound}"), "");
        }
    }
    let textual = |kind| {
        !matches!(
            kind,
            Type::Integer | Type::Float | Type::Number | Type::Boolean | Type::List | Type::Map | Type::Point
        )
    };
    if property.regex.is_some() && property.kind.is_some_and(|kind| !textual(kind)) {
        return problem(Some("regex"), "no value of this `type` has a text", "");
    }
    match (&property.min, &property.max) {
        (Some(BoundConfig::Number(min)), Some(BoundConfig::Number(max))) => {
            let min = min.as_i64().map_or_else(|| Value::Float(min.as_f64().unwrap_or(f64::NAN)), Value::Int);
            (equal::order(&min, max) == Some(Ordering::Greater))
                .then(|| problem(Some("min"), "`min` is more than `max`: no value is in between", ""))?
        }
        (Some(BoundConfig::Text(min)), Some(BoundConfig::Text(max))) => {
            let moment = |text: &String| Temporal { kind: TemporalKind::DateTime, text: text.clone() }.parse();
            let order = match (moment(min), moment(max)) {
                (Some(min), Some(max)) => min.compare(&max),
                _ => Some(min.cmp(max)),
            };
            (order == Some(Ordering::Greater))
                .then(|| problem(Some("min"), "`min` comes after `max`: no value is in between", ""))?
        }
        (Some(_), Some(_)) => problem(Some("max"), "`min` and `max` are a number and a text: no value is both", ""),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::evidence::Point;

    fn matches(config: Json, value: Option<Value>) -> bool {
        serde_json::from_value::<MatcherConfig>(config).unwrap().matches(value.as_ref())
    }

    fn temporal(kind: TemporalKind, text: &str) -> Value {
        Value::Temporal(Temporal { kind, text: text.to_owned() })
    }

    #[test]
    fn a_plain_value_is_that_value() {
        for (config, value) in [
            (json!(1), Some(Value::Float(1.0))),
            (json!(1.0), Some(Value::Int(1))),
            (json!("1"), Some("1".into())),
            (json!(null), None),
            (json!({"equals": null}), None),
            (json!([1, "a"]), Some(Value::List(vec![1_i64.into(), "a".into()]))),
            (json!("2026-03-01"), Some(temporal(TemporalKind::Date, "2026-03-01"))),
            (json!({"equals": {"a": 1}}), Some([("a", 1_i64)].into())),
        ] {
            assert!(matches(config.clone(), value.clone()), "{config} {value:?}");
        }
        for (config, value) in [
            (json!(1), Some("1".into())),
            (json!("1"), Some(Value::Int(1))),
            (json!(null), Some("null".into())),
            (json!("a"), None),
            (json!({"type": "string"}), None),
            (json!({"equals": null, "type": "string"}), None),
        ] {
            assert!(!matches(config.clone(), value.clone()), "{config} {value:?}");
        }
    }

    #[test]
    fn each_value_has_one_type_and_numbers_two() {
        let values = [
            ("string", Value::from("x")),
            ("integer", Value::Int(2)),
            ("float", Value::Float(2.0)),
            ("boolean", Value::Bool(true)),
            ("list", Value::List(vec![])),
            ("map", Value::Map(Default::default())),
            ("date", temporal(TemporalKind::Date, "2026-03-01")),
            ("time", temporal(TemporalKind::Time, "09:00:00Z")),
            ("localtime", temporal(TemporalKind::LocalTime, "09:00:00")),
            ("datetime", temporal(TemporalKind::DateTime, "2026-03-01T09:00:00Z")),
            ("localdatetime", temporal(TemporalKind::LocalDateTime, "2026-03-01T09:00:00")),
            ("duration", temporal(TemporalKind::Duration, "P1D")),
            ("point", Point { srid: 7203, coordinates: vec![1.0, 2.0] }.into()),
        ];
        for (row, (kind, _)) in values.iter().enumerate() {
            for (column, (_, value)) in values.iter().enumerate() {
                assert_eq!(matches(json!({ "type": kind }), Some(value.clone())), row == column, "{kind} {value}");
            }
        }
        let numbers = values.iter().filter(|(_, value)| matches(json!({"type": "number"}), Some(value.clone())));
        assert_eq!(numbers.map(|(kind, _)| *kind).collect::<Vec<_>>(), ["integer", "float"]);
    }

    #[test]
    fn a_pattern_matches_whole_texts() {
        for (pattern, text, expected) in [
            ("Ada", "Ada", true),
            ("Ada", "Call Ada", false),
            (".*Ada.*", "Call Ada now", true),
            ("a|ab", "ab", true),
            ("(?i)ada", "ADA", true),
            ("[0-9]{4}", "2026", true),
            ("[0-9]{4}", "20261", false),
        ] {
            assert_eq!(matches(json!({ "regex": pattern }), Some(text.into())), expected, "{pattern} {text}");
        }
        assert!(matches(json!({"regex": "2026-.*"}), Some(temporal(TemporalKind::Date, "2026-03-01"))));
        assert!(!matches(json!({"regex": "1"}), Some(Value::Int(1))));
        assert!(whole("a)(b").is_err() && whole("(").is_err());
    }

    #[test]
    fn ranges_are_exact_and_types_stay_apart() {
        let large = 9_007_199_254_740_993_i64;
        for (config, value, expected) in [
            (json!({"min": 1, "max": 3}), Value::Int(3), true),
            (json!({"min": 1, "max": 3}), Value::Float(3.000001), false),
            (json!({"min": 0.5}), Value::Int(0), false),
            (json!({"min": 0.5}), Value::Int(1), true),
            (json!({"min": 1}), Value::from("2"), false),
            (json!({"max": large}), Value::Int(large + 1), false),
            (json!({"min": large}), Value::Float((large - 1) as f64), false),
            (json!({"min": 0}), Value::Float(f64::NAN), false),
            (json!({"min": "b"}), Value::from("a"), false),
            (json!({"min": "b"}), Value::from("ba"), true),
            (json!({"min": "b"}), Value::Int(7), false),
        ] {
            assert_eq!(matches(config.clone(), Some(value.clone())), expected, "{config} {value}");
        }
    }

    #[test]
    fn dates_and_times_are_compared_by_the_calendar() {
        use TemporalKind::{Date, DateTime, Duration, LocalDateTime, LocalTime, Time};
        for (kind, text, config, expected) in [
            (Date, "2026-03-01", json!({"min": "2026-03-01", "max": "2026-03-01"}), true),
            (Date, "2026-03-01", json!({"min": "2026-03-01T00:00"}), false),
            (LocalTime, "09:00:00", json!({"max": "09:00"}), true),
            (LocalTime, "09:00:00.5", json!({"max": "09:00"}), false),
            (LocalDateTime, "2026-03-01T09:00:00", json!({"min": "2026-03-01T09:00"}), true),
            (DateTime, "2026-03-01T09:00:00+11:00[Australia/Sydney]", json!({"max": "2026-02-28T22:00Z"}), true),
            (DateTime, "2026-03-01T09:00:00+11:00", json!({"min": "2026-02-28T22:00:01Z"}), false),
            (DateTime, "2026-03-01T09:00:00+11:00", json!({"min": "2026-02-28"}), false),
            (Time, "09:00:00+02:00", json!({"min": "07:00Z", "max": "07:00:00Z"}), true),
            (Time, "01:00:00+02:00", json!({"min": "00:00Z"}), false),
            (Duration, "P2D", json!({"min": "P1D"}), false),
        ] {
            assert_eq!(matches(config.clone(), Some(temporal(kind, text))), expected, "{text} {config}");
        }
    }

    #[test]
    fn what_can_not_hold_is_a_problem() {
        for (config, key) in [
            (json!({}), None),
            (json!({"regex": "("}), Some("regex")),
            (json!({"regex": "a", "type": "integer"}), Some("regex")),
            (json!({"min": 2, "max": 1}), Some("min")),
            (json!({"min": 1.5, "max": 1}), Some("min")),
            (json!({"min": "b", "max": "a"}), Some("min")),
            (json!({"min": 2, "max": "3"}), Some("max")),
            (json!({"min": 2, "type": "string"}), Some("min")),
            (json!({"max": "2", "type": "float"}), Some("max")),
            (json!({"max": "P1D", "type": "duration"}), Some("max")),
        ] {
            let problem = property_problem(&serde_json::from_value(config.clone()).unwrap());
            assert_eq!(problem.map(|problem| problem.key), Some(key), "{config}");
        }
        for config in [
            json!({"equals": {}}),
            json!({"equals": null}),
            json!({"min": 2, "max": 2.0}),
            json!({"type": "datetime", "min": "2026-03-01T09:00+11:00", "max": "2026-02-28T23:00Z"}),
            json!({"type": "date", "regex": ".*", "min": "2026-01-01"}),
        ] {
            assert_eq!(property_problem(&serde_json::from_value(config.clone()).unwrap()), None, "{config}");
        }
    }
}
