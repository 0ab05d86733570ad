//! Whether one expected value equals one value of the graph; types are distinguished.

use std::cmp::Ordering;

use serde_json::{Map, Number, Value as Json};

use crate::evidence::{Node, Relationship, Value};
use crate::script::{order_of_whole, whole_float};

/// Whether the expected value and the graph's are the same.
pub(in crate::assertion) fn equal(expected: &Json, value: &Value) -> bool {
    match (expected, value) {
        (Json::Null, Value::Null) => true,
        (Json::Bool(expected), Value::Bool(value)) => expected == value,
        (Json::Number(expected), Value::Int(value)) => is_integer(expected, *value),
        (Json::Number(expected), Value::Float(value)) => is_float(expected, *value),
        (Json::String(expected), Value::String(value)) => expected == value,
        (Json::String(expected), Value::Temporal(value)) => *expected == value.text,
        (Json::Array(expected), Value::List(values)) => all_equal(expected, values),
        (Json::Array(expected), Value::Point(point)) => {
            expected.len() == point.coordinates.len()
                && expected.iter().zip(&point.coordinates).all(|(item, value)| equal(item, &Value::Float(*value)))
        }
        (Json::Array(expected), Value::Path(path)) => {
            let elements = elements(&path.nodes, &path.relationships);
            expected.len() == elements.len() && expected.iter().zip(&elements).all(|(item, value)| equal(item, value))
        }
        (Json::Object(expected), Value::Map(values)) => same_entries(expected, values),
        (Json::Object(expected), Value::Node(node)) => same_entries(expected, &node.properties),
        (Json::Object(expected), Value::Relationship(relationship)) => same_entries(expected, &relationship.properties),
        _ => false,
    }
}

/// Whether the expected values are the values, one by one.
pub(in crate::assertion) fn all_equal(expected: &[Json], values: &[Value]) -> bool {
    expected.len() == values.len() && expected.iter().zip(values).all(|(expected, value)| equal(expected, value))
}

fn same_entries(expected: &Map<String, Json>, values: &std::collections::BTreeMap<String, Value>) -> bool {
    expected.len() == values.len()
        && expected.iter().all(|(key, expected)| values.get(key).is_some_and(|value| equal(expected, value)))
}

fn elements(nodes: &[Node], relationships: &[Relationship]) -> Vec<Value> {
    let mut relationships = relationships.iter();
    nodes
        .iter()
        .flat_map(|node| {
            let next = relationships.next().map(|relationship| Value::Relationship(relationship.clone()));
            std::iter::once(Value::Node(node.clone())).chain(next)
        })
        .collect()
}

fn is_integer(expected: &Number, value: i64) -> bool {
    match whole(expected) {
        Some(expected) => expected == i128::from(value),
        None => expected.as_f64().and_then(whole_float) == Some(i128::from(value)),
    }
}

fn is_float(expected: &Number, value: f64) -> bool {
    match whole(expected) {
        Some(expected) => whole_float(value) == Some(expected),
        None => expected.as_f64() == Some(value),
    }
}

/// Compares a number of the graph with a number of the job, exactly; `None` where either is no number.
pub(in crate::assertion) fn order(value: &Value, bound: &Number) -> Option<Ordering> {
    match (value, whole(bound), bound.as_f64()) {
        (Value::Int(value), Some(bound), _) => Some(i128::from(*value).cmp(&bound)),
        (Value::Int(value), None, Some(bound)) => order_of_whole(i128::from(*value), bound),
        (Value::Float(value), Some(bound), _) => order_of_whole(bound, *value).map(Ordering::reverse),
        (Value::Float(value), None, Some(bound)) => value.partial_cmp(&bound),
        _ => None,
    }
}

fn whole(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::evidence::{Point, Temporal, TemporalKind};

    fn node(properties: &[(&str, Value)]) -> Value {
        Value::Node(Node {
            id: "1".into(),
            labels: vec!["Reminder".into()],
            properties: properties.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect(),
        })
    }

    #[test]
    fn types_are_distinguished() {
        let values = [
            (json!(null), Value::Null),
            (json!(true), Value::Bool(true)),
            (json!(1), Value::Int(1)),
            (json!("1"), Value::String("1".into())),
            (json!("true"), Value::String("true".into())),
            (json!("null"), Value::String("null".into())),
            (json!(""), Value::String(String::new())),
            (json!(0), Value::Int(0)),
            (json!(false), Value::Bool(false)),
            (json!([]), Value::List(vec![])),
            (json!([1]), Value::List(vec![Value::Int(1)])),
            (json!({}), Value::Map(Default::default())),
        ];
        for (row, (expected, _)) in values.iter().enumerate() {
            for (column, (_, value)) in values.iter().enumerate() {
                assert_eq!(equal(expected, value), row == column, "{expected} against {value:?}");
            }
        }
    }

    #[test]
    fn integers_and_floats_of_the_same_value_are_equal() {
        assert!(equal(&json!(1), &Value::Float(1.0)));
        assert!(equal(&json!(1.0), &Value::Int(1)));
        assert!(equal(&json!(-0.0), &Value::Int(0)));
        assert!(!equal(&json!(1), &Value::Float(1.5)));
        assert!(!equal(&json!(0.30000000000000004), &Value::Float(0.3)));
    }

    #[test]
    fn large_numbers_are_not_rounded() {
        let large = 9_007_199_254_740_993_i64;
        assert!(equal(&json!(large), &Value::Int(large)));
        assert!(!equal(&json!(large), &Value::Int(large - 1)));
        assert!(!equal(&json!(large), &Value::Float(large as f64)));
        assert!(equal(&json!(large - 1), &Value::Float((large - 1) as f64)));
        assert!(!equal(&json!(i64::MAX), &Value::Float(i64::MAX as f64)));
        assert!(equal(&json!(u64::MAX / 2 + 1), &Value::Float(9_223_372_036_854_775_808.0)));
        assert!(!equal(&json!(1e300), &Value::Int(i64::MAX)));
    }

    #[test]
    fn nothing_is_nan() {
        for expected in [json!(null), json!(0), json!("NaN"), json!(0.5)] {
            assert!(!equal(&expected, &Value::Float(f64::NAN)));
        }
        assert!(!equal(&json!(1), &Value::Float(f64::INFINITY)));
    }

    #[test]
    fn a_node_is_exactly_its_properties() {
        let value = node(&[("title", Value::String("call".into())), ("tags", Value::List(vec![Value::Int(1)]))]);
        assert!(equal(&json!({"tags": [1.0], "title": "call"}), &value));
        assert!(!equal(&json!({"title": "call"}), &value));
        assert!(!equal(&json!({"title": "call", "tags": [1], "done": null}), &value));
        assert!(!equal(&json!("call"), &value));
    }

    #[test]
    fn temporals_points_and_paths_have_a_spelling() {
        let date = Value::Temporal(Temporal { kind: TemporalKind::Date, text: "2026-03-01".into() });
        assert!(equal(&json!("2026-03-01"), &date));
        assert!(!equal(&json!("2026-3-1"), &date));
        assert!(equal(&json!([1, 2.5]), &Value::Point(Point { srid: 7203, coordinates: vec![1.0, 2.5] })));
        let (a, b) = (node(&[("n", Value::Int(1))]), node(&[("n", Value::Int(2))]));
        let (Value::Node(a), Value::Node(b)) = (a, b) else { unreachable!() };
        let knows = Relationship {
            id: "7".into(),
            kind: "KNOWS".into(),
            start: "1".into(),
            end: "2".into(),
            properties: Default::default(),
        };
        let path = Value::Path(crate::evidence::Path { nodes: vec![a, b], relationships: vec![knows] });
        assert!(equal(&json!([{"n": 1}, {}, {"n": 2}]), &path));
        assert!(!equal(&json!([{"n": 1}, {"n": 2}]), &path));
    }

    proptest! {
        #[test]
        fn the_order_agrees_with_equality_and_with_plain_numbers(
            a in prop_oneof![any::<i64>(), -5i64..5],
            b in prop_oneof![any::<f64>(), (-10i64..10).prop_map(|n| n as f64 / 2.0)],
        ) {
            let Some(bound) = Number::from_f64(b) else { return Ok(()) };
            let of_int = order(&Value::Int(a), &bound).unwrap();
            prop_assert_eq!(of_int == Ordering::Equal, equal(&Json::Number(bound), &Value::Int(a)));
            prop_assert_eq!(order(&Value::Float(b), &Number::from(a)), Some(of_int.reverse()));
            if a.abs() < 1 << 50 {
                prop_assert_eq!(Some(of_int), (a as f64).partial_cmp(&b));
            }
        }

        #[test]
        fn integers_equal_only_themselves(a: i64, b: i64) {
            prop_assert_eq!(equal(&json!(a), &Value::Int(b)), a == b);
        }

        #[test]
        fn an_integer_and_a_float_compare_exactly(a in prop_oneof![any::<i64>(), -100i64..100], b in prop_oneof![any::<f64>(), (-100i64..100).prop_map(|n| n as f64)]) {
            let exact = b.fract() == 0.0 && b.abs() < 1e30 && b as i128 == i128::from(a);
            prop_assert_eq!(equal(&json!(a), &Value::Float(b)), exact);
        }
    }
}
