//! Tables and properties of the reader.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::string::has_lone_surrogate;
use super::{json_within, read};

fn value(text: &str) -> Value {
    read(text).unwrap_or_else(|error| panic!("{text}: {error:?}")).root.to_json()
}

#[test]
fn what_is_json_is_read_without_a_word() {
    for text in [
        "{}",
        "[]",
        "null",
        "true",
        "-0.5e3",
        "\"\\u00e4\\ud83d\\ude00\\n\\/\"",
        "[1,[2,{\"a\":[]}]]",
        " {\"a\" : 1 } ",
        "9223372036854775807",
        "18446744073709551615",
        "\"日本\"",
    ] {
        let read = read(text).unwrap();
        assert_eq!(read.root.to_json(), serde_json::from_str::<Value>(text).unwrap(), "{text}");
        assert!(read.notes.is_empty(), "{text}: {:?}", read.notes);
    }
}

#[test]
fn what_people_write_is_read_and_told() {
    for (text, expected, note) in [
        ("// a\n{\"a\": 1 /* b */} # c", json!({"a": 1}), "a comment: JSON has none; it is skipped (3 times)"),
        ("[1, 2,]", json!([1, 2]), "a comma before a closing bracket"),
        ("{\"a\": 1,\n}", json!({"a": 1}), "a comma before a closing bracket"),
        ("\"a\nb\"", json!("a\nb"), "line break within a text"),
        ("[NaN, -Infinity]", json!([null, null]), "JSON has no NaN and no Infinity; it is read as null (2 times)"),
        ("\"\\ud800x\"", json!("\u{fffd}x"), "half a character"),
        (r#""{\"a\": \"\\ud83dx\"}""#, json!(r#"{"a": "\ud83dx"}"#), "half a character"),
        ("12345678901234567890123", json!(12345678901234567890123f64), "more digits"),
        ("{\"a\": 1, \"b\": 0, \"a\": 2}", json!({"a": 2, "b": 0}), "the key `a` comes twice"),
    ] {
        let read = read(text).unwrap();
        assert_eq!(read.root.to_json(), expected, "{text}");
        assert!(read.notes.len() == 1 && read.notes[0].message.contains(note), "{text}: {:?}", read.notes);
    }
}

#[test]
fn json_in_a_text_is_read_with_half_characters_too() {
    for (text, inner) in [
        (r#"{"a": "\ud83d\ude00"}"#, json!({"a": "\u{1f600}"})),
        (r#"{"a": "\ud83dx"}"#, json!({"a": "\u{fffd}x"})),
        (r#"["\\ud83d", "\udc00"]"#, json!(["\\ud83d", "\u{fffd}"])),
        (r#"{"a": "\ud83d""#, json!(r#"{"a": "\ud83d""#)),
        ("Hello", json!("Hello")),
    ] {
        assert_eq!(json_within(text.into()), inner, "{text}");
    }
    assert!(!has_lone_surrogate(r#"["\ud83d\ude00", "\\ud83d", "\u00e4", "\"]"#));
}

#[test]
fn a_whole_number_whose_digits_would_be_lost_unseen_is_refused() {
    let error = read("{\"a\": 1000000000000000000000000000001}").unwrap_err();
    assert!(error.message.ends_with("it would be read as 1e30"), "{error:?}");
    assert_eq!(
        (error.start, error.help.as_deref()),
        (6, Some("put it in quotes, or write 1e30 if that is near enough"))
    );
    for whole in ["100000000000000000000000", "1e30", "-123456789012345000000000"] {
        assert!(read(whole).unwrap().notes.is_empty(), "{whole}");
    }
}

#[test]
fn what_is_no_json_is_refused_at_its_place() {
    let deep = "[".repeat(200);
    for (text, at, message) in [
        ("", 0, "the file is empty"),
        (" \n", 2, "the file is empty"),
        ("// only\n", 8, "ends here"),
        ("{\"a\": }", 6, "a value is missing"),
        ("{\"a\" 1}", 1, "a colon and a value must follow"),
        ("{a: 1}", 1, "a key is expected here, in double quotes"),
        ("{'a': 1}", 1, "a key is expected"),
        ("['a']", 1, "double quotes"),
        ("[1 2]", 3, "only a comma"),
        ("{\"a\": 1 \"b\": 2}", 8, "a comma is missing"),
        ("[1,,2]", 3, "a comma stands"),
        ("[1", 0, "not closed"),
        ("[1}", 2, "does not close the `[` of line 1"),
        ("{\"a\": [1}", 8, "does not close"),
        ("\"abc", 0, "this text is not closed"),
        ("\"\\d\"", 1, "no such escape"),
        ("\"\\u12\"", 1, "no such escape"),
        ("[True]", 1, "this is no JSON"),
        ("[01]", 1, "no number"),
        ("[+1, .5]", 1, "no number"),
        ("[1e999]", 1, "no number"),
        ("{} {}", 3, "ends before this"),
        ("[1] ]", 4, "ends before this"),
        ("/* a", 0, "comment is not closed"),
        (deep.as_str(), 128, "more than 128 deep"),
    ] {
        let error = read(text).map(|read| read.root.to_json()).expect_err(text);
        assert!(error.message.contains(message) && error.start == at, "{text}: {error:?}");
    }
}

#[test]
fn a_quote_that_is_missing_is_suspected() {
    let error = read("{\n\"a\": \"x,\n\"b\": 1}").unwrap_err();
    assert_eq!(error.help.as_deref(), Some("a text goes on over line 2: is its closing quote missing?"), "{error:?}");
}

#[test]
fn documents_one_a_line_are_a_list() {
    let read = read("{\"a\": 1}\n\n{\"a\": 2}\n").unwrap();
    assert_eq!(read.root.to_json(), json!([{"a": 1}, {"a": 2}]));
}

#[test]
fn a_value_has_its_path() {
    let text = r#"{"a": [0, {"b c": "x"}]}"#;
    let root = read(text).unwrap().root;
    let path = |of: &str| root.path_to(text.find(of).unwrap());
    assert_eq!([path("{"), path("[0"), path("0"), path("\"x\"")], ["", "a", "a[0]", "a[1].b c"]);
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| if number.is_finite() { number.into() } else { Value::Null }),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::btree_map(any::<String>(), inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn whatever_is_written_is_read(document in any_json()) {
        prop_assert_eq!(&value(&document.to_string()), &document);
        prop_assert_eq!(&value(&serde_json::to_string_pretty(&document).unwrap()), &document);
    }

    #[test]
    fn no_text_breaks_the_reader(text in "[\\[\\]{},:\"'\\\\/*#ua0-9.eE+\\-a-f \n\t\u{e4}\u{1f600}]{0,80}") {
        let end = text.len();
        match read(&text) {
            Ok(read) => prop_assert!(read.root.end <= end && read.notes.iter().all(|note| note.end <= end)),
            Err(error) => prop_assert!(error.start <= error.end && error.end <= end && text.is_char_boundary(error.start)),
        }
    }
}
