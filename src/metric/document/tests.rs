use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::metric::selection::Paths;

fn config(options: Value) -> JsonConfig {
    serde_json::from_value(options).unwrap()
}

fn measured(options: Value, reply: &str, expected: Option<&str>) -> Result<Measured, MeasureProblem> {
    JsonMeasure::new(&config(options))?.measure(reply, expected)
}

fn json_of(options: Value, reply: &str, expected: &str) -> Result<Measured, MeasureProblem> {
    measured(options, reply, Some(expected))
}

fn passes(options: Value, reply: &str, expected: &str) -> bool {
    json_of(options, reply, expected).unwrap().is_full()
}

#[test]
fn a_reply_is_one_document_and_the_expected_one() {
    assert!(passes(json!({}), r#" {"a": 1, "b": [2, 3]}"#, r#"{"b": [2, 3], "a": 1.0000001}"#));
    for reply in ["not json", "{} {}", "", "{\"a\": 1} Anything else?"] {
        let measured = json_of(json!({"match": "skip"}), reply, "").unwrap();
        assert!(
            !measured.is_full() && measured.why.starts_with("the reply is no JSON document"),
            "{reply} {}",
            measured.why
        );
    }
    assert!(passes(json!({"match": "skip"}), r#"{"a": 1}"#, "not looked at"));
    assert!(passes(json!({"expected": [1]}), "[1]", "not looked at"));
    assert!(passes(json!({"ignorePaths": ["at"]}), r#"{"x": 1, "at": 2}"#, r#"{"x": 1}"#));
    assert!(!passes(json!({"numberTolerance": 0.0}), "1.0000001", "1"));
}

#[test]
fn schemas_are_of_2020_12_and_violations_are_reported_with_their_places() {
    let schema = json!({"match": "skip", "schema": {"type": "object", "required": ["answer"], "properties": {
        "answer": {"type": "string"}, "id": {"const": 9007199254740993_u64}, "rows": {"prefixItems": [{"type": "string"}]}}}});
    assert!(passes(schema.clone(), r#"{"answer": "Paris", "id": 9007199254740993, "rows": ["a", 1]}"#, ""));
    let measured = json_of(schema, r#"{"answer": 5, "id": 9007199254740992, "rows": [1]}"#, "").unwrap();
    assert!(!measured.is_full());
    for line in ["`/answer`: must be string, is number, actual 5", "`/id`: ", "`/rows/0`: must be string"] {
        assert!(measured.why.contains(line), "{}", measured.why);
    }
}

#[test]
fn a_schema_reaches_for_nothing_outside_itself() {
    for reference in ["file:///etc/passwd", "https://example.com/schema.json", "other.json"] {
        let error = json_of(json!({"schema": {"$ref": reference}}), "1", "1").unwrap_err().to_string();
        assert!(error.starts_with("`schema` is no JSON Schema: "), "{error}");
    }
    assert!(passes(json!({"schema": {"$ref": "#/$defs/n", "$defs": {"n": {"type": "number"}}}}), "1", "1"));
}

#[test]
fn a_schema_that_refers_to_itself_without_end_is_reported_and_does_not_go_on_for_ever() {
    let endless = json!({"match": "skip", "schema": {"$ref": "#"}});
    match json_of(endless, "1", "") {
        Ok(measured) => assert!(!measured.is_full(), "{}", measured.why),
        Err(error) => assert!(error.to_string().contains("`schema`"), "{error}"),
    }
    let list = json!({"match": "skip", "schema": {"type": "array", "items": {"$ref": "#"}}});
    assert!(passes(list.clone(), "[[], [[]]]", ""));
    assert!(!passes(list, "[[], [[1]]]", ""));
}

#[test]
fn documents_that_are_nested_without_measure_are_refused() {
    assert!(!passes(json!({"match": "skip"}), &"[".repeat(200_000), ""));
    assert!(!measure_xml(&"<a>".repeat(200_000)).is_full());
    let closed = format!("{}{}", "<a>".repeat(200_000), "</a>".repeat(200_000));
    measure_xml(&closed);
}

#[test]
fn criteria_of_trpc_become_options_or_are_refused() {
    use trpc::{json_criterion, xml_criterion};
    let tree = json!({"onlyTree": {"m": {"x.y": true}}, "numberTolerance": 0.5});
    let config = json_criterion(&tree, true).unwrap().unwrap();
    assert_eq!(config.only_paths, Some(Paths::List(vec!["/m/x.y".to_owned()])));
    assert!(config.strict && config.number_tolerance == 0.5);
    assert_eq!(json_criterion(&json!({"ignore": true, "matchStrategy": "nope"}), false), Ok(None));
    assert_eq!(json_criterion(&json!({"matchStrategy": "skip"}), false), Ok(None));
    for (criterion, why) in [
        (json!({"matchStrategy": "nope"}), "`matchStrategy`: unknown variant `nope`"),
        (json!({"onlyTree": {"a": "true"}}), "it must be `true`, `false` or an object"),
        (json!({"onlyTree": {"a": true}, "ignoreTree": {"b": true}}), "exclude each other"),
        (json!({"compareName": "mine"}), "`compareName` names `mine`, which is registered in a Go program"),
    ] {
        let error = json_criterion(&criterion, false).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
    assert_eq!(xml_criterion(&json!({"valid": true, "matchStrategy": "skip"})), Ok(true));
    assert_eq!(xml_criterion(&json!({"matchStrategy": "skip"})), Ok(false));
    assert!(xml_criterion(&json!({"valid": true})).is_err());
    assert!(xml_criterion(&json!({"valid": true, "matchStrategy": "exact"})).is_err());
}

#[test]
fn an_empty_tree_below_a_key_wants_the_key_there_in_trpcs_own_dialect_alone() {
    // What `compareObjectOnlyTree` of trpc-agent-go says of each pair.
    for (tree, actual, expected, same) in [
        (json!({"a": {}}), r#"{"b": 1}"#, r#"{"b": 1}"#, false),
        (json!({"a": {}}), r#"{"a": {"x": 1}, "b": 1}"#, r#"{"a": {"x": 2}}"#, true),
        (json!({"a": {}}), r#"{"a": 1}"#, r#"{"a": 2}"#, false),
        (json!({"a": {}}), r#"{"a": {}}"#, r#"{"a": null}"#, false),
        (json!({"a": {}}), r#"{"a": [1]}"#, r#"{"a": [2]}"#, false),
        (json!({"a": {"b": false}}), r#"{"a": {"b": 1}}"#, r#"{"a": {"b": 2}}"#, true),
        (json!({"a": false}), "{}", r#"{"a": 2}"#, true),
        (json!({"a": {"b": {}}, "c": true}), r#"{"a": {"b": {}}, "c": 1}"#, r#"{"a": {"b": {"d": 0}}, "c": 1}"#, true),
        (json!({"a": {"b": {}}, "c": true}), r#"{"a": {}, "c": 1}"#, r#"{"a": {}, "c": 1}"#, false),
    ] {
        let config = trpc::json_criterion(&json!({"onlyTree": tree}), true).unwrap().unwrap();
        let again: JsonConfig = serde_json::from_value(serde_json::to_value(&config).unwrap()).unwrap();
        assert_eq!(again, config, "{tree}");
        let measure = JsonMeasure::new(&config).unwrap();
        assert_eq!(measure.measure(actual, Some(expected)).unwrap().is_full(), same, "{tree} {actual} {expected}");
    }
    let lenient = trpc::json_criterion(&json!({"onlyTree": {"a": {}}}), false).unwrap().unwrap();
    assert!(JsonMeasure::new(&lenient).unwrap().measure("{}", Some("{}")).unwrap().is_full(), "it selects nothing");
}

#[test]
fn places_are_found_by_jsonpath() {
    let options = json!({"paths": {"$.a[0].b": 1, "$..id": "x"}});
    assert!(measured(options.clone(), r#"{"a": [{"b": 1}], "c": {"id": "x"}}"#, None).unwrap().is_full());
    let why = measured(options, r#"{"a": [{"b": 2, "id": 1}], "id": "x"}"#, None).unwrap().why;
    assert_eq!(
        why,
        "the document is not as it is expected\n  `$.a[0].b`: expected 1, actual 2\n  `$..id`: expected one value, found 2"
    );
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    for (options, why) in [
        (json!({"onlyPaths": ["a"], "ignorePaths": ["b"]}), "exclude each other"),
        (json!({"numberTolerance": -1.0}), "`numberTolerance` is -1"),
        (json!({"schema": {"type": 123}}), "no JSON Schema"),
        (json!({"paths": {"a[": 1}}), "`a[` is no JSONPath"),
        (json!({"onlyPaths": ["a..b"]}), "empty key"),
    ] {
        let error = config(options.clone()).check().unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
        assert!(json_of(options, "no json", "1").is_err());
    }
    assert!(serde_json::from_value::<JsonConfig>(json!({"match": "invalid"})).is_err());
    let error = json_of(json!({}), "1", "no json").unwrap_err().to_string();
    assert!(
        error.starts_with("the expected reply \"no json\" is no JSON: expected ident at line 1 column 2"),
        "{error}"
    );
    let error = measured(json!({}), "1", None).unwrap_err().to_string();
    assert_eq!(error, "there is no expected document to compare with: give `expected`, `schema` or `paths`");
}

#[test]
fn many_differences_are_cut() {
    let list = |from: usize| Value::from((from..from + 15).collect::<Vec<_>>()).to_string();
    let why = json_of(json!({}), &list(0), &list(100)).unwrap().why;
    assert_eq!(why.lines().count(), 12);
    assert!(why.ends_with("`/9`: expected 109, actual 9\n  and 5 more"), "{why}");
}

#[test]
fn xml_is_well_formed_with_one_root() {
    for reply in [
        "<root><child>value</child></root>",
        "<!-- c --><root/>",
        "\n<?xml version=\"1.0\"?><root xmlns:h=\"urn:test\"><h:child /></root>\n",
        "<!DOCTYPE r [<!ENTITY e \"x\">]><r>&e;&amp;&#65;</r>",
        "<x:a/>",
        "<?xml version='1.0'?> <!-- <z> --> <!DOCTYPE x:a [<!ENTITY e \"x\">]>\n<x:a y:b='1'><z:c/>&e;</x:a>",
    ] {
        assert!(measure_xml(reply).is_full(), "{reply} {}", measure_xml(reply).why);
    }
    for reply in [
        "",
        "   ",
        "<root>",
        "<root></other>",
        "<a/><b/>",
        "text<root/>",
        "<a/>text",
        "<a b=1/>",
        "<a>&x;</a>",
        "<a b='1' b='2'/>",
    ] {
        assert!(!measure_xml(reply).is_full(), "{reply}");
    }
    assert!(!measure_xml("<x:a></y:a>").is_full() && !measure_xml("<x:a><b></x:a>").is_full());
    let many: String = (0..60).map(|number| format!("<p{number}:a/>")).collect();
    assert!(measure_xml(&format!("<r>{many}</r>")).why.starts_with("the reply has more than 50 prefixes"));
    assert_eq!(
        measure_xml("<a><b></a>").why,
        "the reply is no well-formed XML document: expected 'b' tag, not 'a' at 1:7\n  actual: \"<a><b></a>\""
    );
}

#[test]
fn entities_that_grow_without_bound_are_refused_in_time() {
    let mut bomb = "<!DOCTYPE r [<!ENTITY e0 \"ha\">".to_owned();
    for level in 1..40 {
        bomb.push_str(&format!("<!ENTITY e{level} \"&e{0};&e{0};&e{0};&e{0};\">", level - 1));
    }
    bomb.push_str("]><r>&e39;</r>");
    assert!(!measure_xml(&bomb).is_full());
}

proptest! {
    #[test]
    fn any_reply_can_be_measured(reply in "\\PC{0,40}") {
        measure_xml(&reply);
        let measured = json_of(json!({"match": "skip"}), &reply, "");
        prop_assert!(measured.is_ok());
    }
}
