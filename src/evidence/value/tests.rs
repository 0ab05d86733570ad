use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

fn through_json(value: &Value) -> Value {
    let text = serde_json::to_string(value).expect("a value serialises");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Equal with types, where NaN equals NaN and -0.0 is not 0.0.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Float(left), Value::Float(right)) => {
            left.to_bits() == right.to_bits() || left.is_nan() && right.is_nan()
        }
        (Value::List(left), Value::List(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Map(left), Value::Map(right)) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| left.0 == right.0 && same(left.1, right.1))
        }
        _ => left == right,
    }
}

fn properties() -> impl Strategy<Value = BTreeMap<String, Value>> {
    prop::collection::btree_map("[$a-zé]{0,6}", scalar(), 0..3)
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        prop::num::f64::NORMAL.prop_map(Value::Float),
        any::<i32>().prop_map(|whole| Value::Float(f64::from(whole))),
        any::<String>().prop_map(Value::String),
    ]
}

fn node() -> impl Strategy<Value = Node> {
    ("[0-9]{1,3}", prop::collection::vec("[A-Z][a-z]{0,4}", 0..3), properties())
        .prop_map(|(id, labels, properties)| Node { id, labels, properties })
}

fn relationship() -> impl Strategy<Value = Relationship> {
    ("[0-9]{1,3}", "[A-Z]{1,4}", "[0-9]", "[0-9]", properties())
        .prop_map(|(id, kind, start, end, properties)| Relationship { id, kind, start, end, properties })
}

fn kind() -> impl Strategy<Value = TemporalKind> {
    prop::sample::select(vec![
        TemporalKind::Date,
        TemporalKind::Time,
        TemporalKind::LocalTime,
        TemporalKind::DateTime,
        TemporalKind::LocalDateTime,
        TemporalKind::Duration,
    ])
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => scalar(),
        1 => prop::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0]).prop_map(Value::Float),
        1 => (kind(), any::<String>()).prop_map(|(kind, text)| Value::Temporal(Temporal { kind, text })),
        1 => (any::<u32>(), prop::collection::vec(-1e6..1e6, 2..=3))
            .prop_map(|(srid, coordinates)| Value::Point(Point { srid, coordinates })),
        1 => node().prop_map(Value::Node),
        1 => relationship().prop_map(Value::Relationship),
        1 => (prop::collection::vec(node(), 2), relationship())
            .prop_map(|(nodes, only)| Value::Path(Path { nodes, relationships: vec![only] })),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::List),
            prop::collection::btree_map("[$a-z.]{0,6}", inner, 0..5).prop_map(Value::Map),
        ]
    })
}

proptest! {
    #[test]
    fn every_value_survives_json_text_with_its_type(value in value()) {
        let back = through_json(&value);
        prop_assert!(same(&value, &back), "{value:?} came back as {back:?}");
    }

    #[test]
    fn every_value_prints_on_one_line(value in value()) {
        let text = value.to_string();
        prop_assert!(!text.contains(['\n', '\u{1b}']), "{}", text);
    }
}

#[test]
fn an_integral_float_stays_a_float() {
    assert_eq!(serde_json::to_string(&Value::Float(2.0)).unwrap(), "2.0");
    assert_eq!(through_json(&Value::Float(2.0)), Value::Float(2.0));
    assert_eq!(through_json(&Value::Float(1e300)), Value::Float(1e300));
    assert_eq!(through_json(&Value::Int(i64::MIN)), Value::Int(i64::MIN));
}

#[test]
fn what_json_can_not_tell_apart_is_wrapped() {
    let json = |value: &Value| serde_json::to_string(value).unwrap();
    assert_eq!(json(&Value::Float(f64::NAN)), r#"{"$float":"NaN"}"#);
    assert_eq!(json(&Value::Float(f64::NEG_INFINITY)), r#"{"$float":"-Infinity"}"#);
    assert_eq!(json(&[("$node", 1_i64)].into()), r#"{"$map":{"$node":1}}"#);
    assert_eq!(json(&[("a", 1_i64)].into()), r#"{"a":1}"#);
    let date = Temporal { kind: TemporalKind::Date, text: "2024-02-29".to_owned() };
    assert_eq!(json(&date.into()), r#"{"$date":"2024-02-29"}"#);
}

#[test]
fn a_document_that_is_no_value_is_refused() {
    for text in [
        r#"{"$nope":1}"#,
        r#"{"$float":"1"}"#,
        r#"{"$date":"x","a":1}"#,
        r#"{"a":1,"$date":"x"}"#,
        "18446744073709551615",
    ] {
        assert!(serde_json::from_str::<Value>(text).is_err(), "{text}");
    }
}

#[test]
fn values_print_as_cypher() {
    let node = |id: &str, title: &str| Node {
        id: id.to_owned(),
        labels: vec!["Reminder".to_owned()],
        properties: [("title".to_owned(), title.into())].into(),
    };
    let due = Relationship {
        id: "r".to_owned(),
        kind: "NEXT".to_owned(),
        start: "2".to_owned(),
        end: "1".to_owned(),
        properties: BTreeMap::new(),
    };
    let path = Path { nodes: vec![node("1", "a"), node("2", "b")], relationships: vec![due] };
    for (value, expected) in [
        (Value::Null, "null"),
        (Value::List(vec![Value::Int(1), Value::Float(2.0), "x".into()]), "[1, 2.0, 'x']"),
        (node("1", "Call Ada").into(), "(:Reminder {title: 'Call Ada'})"),
        (path.into(), "(:Reminder {title: 'a'})<-[:NEXT]-(:Reminder {title: 'b'})"),
        ("it's \u{1b}[31m\n".into(), r"'it\'s \u001b[31m\n'"),
        ([("two words", true)].into(), "{`two words`: true}"),
        (Value::Float(f64::INFINITY), "Infinity"),
        (Temporal { kind: TemporalKind::Duration, text: "P1D".to_owned() }.into(), "duration('P1D')"),
        (Point { srid: 7203, coordinates: vec![1.0, 2.5] }.into(), "point({srid: 7203, x: 1.0, y: 2.5})"),
    ] {
        assert_eq!(value.to_string(), expected);
    }
}

#[test]
fn plain_json_becomes_plain_values() {
    let json = serde_json::json!({"a": [1, 1.0, "x", null, true], "$node": 18446744073709551615u64});
    let Value::Map(map) = Value::from(json) else { panic!("a map") };
    assert_eq!(
        map["a"],
        Value::List(vec![Value::Int(1), Value::Float(1.0), "x".into(), Value::Null, Value::Bool(true)])
    );
    assert_eq!(map["$node"], Value::Float(18446744073709551615.0));
}
