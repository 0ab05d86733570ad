use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Texts that are JSON, or nearly.
fn any_text() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"a\"",
        "\"b\\n\"",
        "\"\\u00e9\"",
        "\"\\ud83d\\ude00\"",
        "\"\\u0007\"",
        "\"\\/\"",
        "\"\\u0022\"",
        "\"é\"",
        " ",
        "\n",
        "0",
        "-0",
        "12",
        "-7",
        "01",
        "1.5",
        "1.50",
        "1e3",
        "0.000001",
        "true",
        "null",
        "123456789012345678",
        "\"",
        "\\",
        "\"\\ud83d\"",
        "\u{7f}",
    ]);
    prop::collection::vec(piece, 1..12).prop_map(|pieces| pieces.concat())
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".*".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((".*", inner), 0..5).prop_map(|entries| entries.into_iter().collect()),
        ]
    })
}

fn is_as_if_read(text: &str) -> bool {
    let Some(lazy) = LazyValue::from_text(text) else { return false };
    let value: Value = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&lazy).unwrap(), value.to_string(), "{text}");
    assert_eq!(lazy.to_string(), value.to_string());
    assert_eq!(serde_json::to_value(&lazy).unwrap(), value);
    assert_eq!(lazy, value);
    assert_eq!(lazy.into_value(), value);
    true
}

proptest! {
    #[test]
    fn what_is_not_read_yet_is_written_as_if_it_were(text in any_text(), value in any_value()) {
        is_as_if_read(&text);
        is_as_if_read(&value.to_string());
        is_as_if_read(&format!("{value:#}"));
    }
}

#[test]
fn usual_texts_are_not_read() {
    for text in [
        r#"{"city":"Paris","days":[1,2.5,-3],"open":true,"note":null}"#,
        "{\"city\": \"Paris\",\n \"days\": [ ],  \"tags\": { } }",
        r#"{"name": "Caf\u00e9 \"Zur Post\" \ud83d\ude00 \/ 5 \\ \n"}"#,
        "\"plain\"",
        " 17 ",
    ] {
        assert!(is_as_if_read(text), "{text}");
    }
}

#[test]
fn what_is_written_in_another_way_is_read_at_once() {
    for text in [
        r#"{"a": 1, "a": 2}"#,
        r#"{"a": 1, "\u0061": 2}"#,
        "1e3",
        "1.50",
        "-0",
        "12345678901234567890123",
        r#""\u0007""#,
        r#""\ud83d""#,
        "{} {}",
        "{",
        "[1,]",
        "01",
        "",
        "\"a",
        "nul",
    ] {
        assert!(LazyValue::from_text(text).is_none(), "{text}");
    }
    assert!(LazyValue::from_text(&"[".repeat(5000)).is_none());
}

#[test]
fn it_is_the_value() {
    let mut lazy = LazyValue::from_text(r#"{"a": [1, "b"]}"#).unwrap();
    assert!(lazy.is_written_as(&LazyValue::from_text(r#"{"a":[1,"b"]}"#).unwrap()));
    assert!(!lazy.is_written_as(&lazy["a"].clone().into()));
    assert_eq!(lazy, LazyValue::from(json!({"a": [1, "b"]})));
    assert_eq!((lazy["a"][1].as_str(), format!("{lazy:#}")), (Some("b"), format!("{:#}", json!({"a": [1, "b"]}))));
    lazy.read_mut().unwrap()["a"] = json!(2);
    assert_eq!((lazy.to_string(), LazyValue::default().is_null()), (r#"{"a":2}"#.to_owned(), true));
    let read: LazyValue = serde_json::from_str("{\"a\":  2}").unwrap();
    assert_eq!(lazy, read);
}
