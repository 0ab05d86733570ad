use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::*;
use crate::evidence::{Node, QueryObservation, Table, Value};

fn id(number: u32) -> AssertionId {
    AssertionId::new(number.to_string())
}

fn evidence(result: Observed<Table>) -> Evidence {
    Evidence { queries: vec![QueryObservation { assertion: id(2), result, sides: None }], ..Evidence::sample() }
}

fn value(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => number.as_i64().map_or(Value::Float(number.as_f64().unwrap()), Value::Int),
        Json::String(text) => Value::String(text.clone()),
        Json::Array(items) => Value::List(items.iter().map(value).collect()),
        Json::Object(entries) => Value::Map(entries.iter().map(|(key, item)| (key.clone(), value(item))).collect()),
    }
}

fn table(columns: &[&str], rows: Json) -> Table {
    let rows = rows.as_array().unwrap().iter().map(|row| row.as_array().unwrap().iter().map(value).collect());
    Table { columns: columns.iter().map(|name| (*name).to_owned()).collect(), rows: rows.collect() }
}

fn check(cypher: &str, expected: Json, table: Table) -> Component {
    evaluate(&CypherCheck { cypher: cypher.into(), expected }, &id(2), &evidence(Observed::Seen(table)))
}

fn holds(expected: Json, columns: &[&str], rows: Json) -> bool {
    check("RETURN x", expected, table(columns, rows)).score() == Some(Score::ONE)
}

#[test]
fn a_scalar_is_one_row_of_one_column() {
    assert!(holds(json!(1), &["x"], json!([[1]])));
    assert!(holds(json!(null), &["x"], json!([[null]])));
    assert!(!holds(json!(1), &["x"], json!([])));
    assert!(!holds(json!(null), &["x"], json!([])));
    assert!(!holds(json!(1), &["x"], json!([[1], [1]])));
    assert!(!holds(json!(1), &["x", "y"], json!([[1, 1]])));
    assert!(!holds(json!(1), &["x"], json!([[[1]]])));
}

#[test]
fn a_list_is_a_row_a_column_or_a_list() {
    assert!(holds(json!(["a", 1]), &["x", "y"], json!([["a", 1]])));
    assert!(!holds(json!([1, "a"]), &["x", "y"], json!([["a", 1]])));
    assert!(holds(json!([1, 2]), &["x"], json!([[2], [1]])));
    assert!(!holds(json!([1, 1]), &["x"], json!([[1], [2]])));
    assert!(holds(json!([1, 2]), &["x"], json!([[[1, 2]]])));
    assert!(!holds(json!([1, 2]), &["x"], json!([[[2, 1]]])));
    assert!(holds(json!([1]), &["x"], json!([[1]])));
    assert!(holds(json!(["a", ["b", "c"]]), &["x", "y"], json!([["a", ["b", "c"]]])));
    assert!(!holds(json!([1, 2]), &["x", "y"], json!([[1, 2], [1, 2]])));
}

#[test]
fn rows_of_another_width_are_the_jobs_error_and_never_false() {
    for expected in
        [json!(1), json!([["Lyon"]]), json!([["Lyon", 1], ["Oslo"]]), json!(["Lyon", 1, 2]), json!(["Lyon"])]
    {
        for rows in [json!([["Lyon", 1]]), json!([])] {
            let component = check("RETURN x, y", expected.clone(), table(&["x", "y"], rows));
            let is_reported =
                component.is_missing() && component.why().ends_with("2 columns (x, y): no agent can make that true");
            // Two rows for two columns may be one row of two lists.
            assert!(
                is_reported || expected.as_array().is_some_and(|rows| rows.len() == 2),
                "{expected}: {component:?}"
            );
        }
    }
    for expected in [json!(["Lyon", 2]), json!([["Oslo", 1]]), json!([]), json!([["a", 1], ["b", 2], ["c", 3]])] {
        let component = check("RETURN x, y", expected.clone(), table(&["x", "y"], json!([["Lyon", 1]])));
        assert_eq!(component.score(), Some(Score::ZERO), "{expected}");
    }
}

#[test]
fn an_empty_list_is_no_rows_or_an_empty_list() {
    assert!(holds(json!([]), &[], json!([])));
    assert!(holds(json!([]), &["x", "y"], json!([])));
    assert!(holds(json!([]), &["x"], json!([[[]]])));
    assert!(!holds(json!([]), &["x"], json!([[null]])));
    assert!(!holds(json!([]), &["x"], json!([[1]])));
}

#[test]
fn a_table_is_a_list_of_rows() {
    assert!(holds(json!([["a", 1], ["b", 2]]), &["x", "y"], json!([["b", 2], ["a", 1]])));
    assert!(holds(json!([[1], [2]]), &["x"], json!([[2], [1]])));
    assert!(holds(json!([{"y": 1, "x": "a"}, {"x": "b", "y": 2}]), &["x", "y"], json!([["b", 2], ["a", 1]])));
    assert!(!holds(json!([{"x": "a"}]), &["x", "y"], json!([["a", 1]])));
    assert!(!holds(json!([{"x": "a", "z": 1}]), &["x", "y"], json!([["a", 1]])));
    assert!(!holds(json!([["a", 1], ["a", 1]]), &["x", "y"], json!([["a", 1], ["b", 2]])));
    assert!(holds(json!([[1, 2], [3, 4]]), &["x"], json!([[[[1, 2], [3, 4]]]])));
}

#[test]
fn a_map_is_a_row_by_name_or_a_map() {
    assert!(holds(json!({"y": 1, "x": "a"}), &["x", "y"], json!([["a", 1]])));
    assert!(holds(json!({"y": 1, "x": "a"}), &["m"], json!([[{"x": "a", "y": 1}]])));
    assert!(holds(json!({"m": {"x": "a"}}), &["m"], json!([[{"x": "a"}]])));
    assert!(!holds(json!({"x": "a"}), &["x", "y"], json!([["a", 1]])));
    assert!(!holds(json!({"x": "a"}), &["x"], json!([["a"], ["a"]])));
}

#[test]
fn other_columns_than_the_job_names_are_missing_and_never_false() {
    let cannot_be = |expected: Json, columns: &[&str], rows: Json| {
        let component = check("RETURN x", expected, table(columns, rows));
        matches!(component, Component::Missing { .. }) && component.why().contains("`expected` names the columns")
    };
    assert!(cannot_be(json!({"a": 1, "b": 2}), &["a"], json!([[1]])));
    assert!(cannot_be(json!({"b": 1}), &["a"], json!([[1]])));
    assert!(cannot_be(json!({"a": 1}), &["a", "b"], json!([[1, null]])));
    assert!(cannot_be(json!([{"a": 1}, {"b": 1}]), &["a"], json!([[1], [1]])));
    assert!(cannot_be(json!({"a": 1}), &["b", "c"], json!([])), "columns are known without rows");
    // These could be true of another graph.
    assert!(!cannot_be(json!({"a": 1}), &["m"], json!([[null]])), "no node was found");
    assert!(!cannot_be(json!({"a": 1}), &["m"], json!([])), "no node was found");
    assert!(!cannot_be(json!({"a": 1}), &["m"], json!([[{"b": 1}]])), "a map with other keys");
    assert!(!cannot_be(json!([{"a": 1}, {"a": 2}]), &["m", "n"], json!([[{"a": 1}, {"a": 1}]])), "a row of maps");
    assert!(!cannot_be(json!({"a": 1}), &["a"], json!([[2]])));
    assert!(!cannot_be(json!({"a": 1}), &[], json!([])));
    assert!(!cannot_be(json!([1, 2]), &["a"], json!([[1]])));
}

#[test]
fn a_node_is_its_properties() {
    let node = Value::Node(Node {
        id: "1".into(),
        labels: vec!["Reminder".into()],
        properties: [("title".to_owned(), Value::String("call".into()))].into(),
    });
    let nodes = Table { columns: vec!["r".into()], rows: vec![vec![node]] };
    for expected in [json!({"title": "call"}), json!([{"title": "call"}]), json!([[{"title": "call"}]])] {
        assert_eq!(check("RETURN r", expected, nodes.clone()).score(), Some(Score::ONE));
    }
    let wrong = check("RETURN r", json!({"title": "mail"}), nodes);
    assert_eq!(wrong.why(), r#"expected 1 row {title: "mail"}, got 1 row: [{r: (:Reminder {title: "call"})}]"#);
}

#[test]
fn order_counts_only_where_the_query_fixes_it() {
    let rows = || table(&["x"], json!([[2], [1]]));
    assert_eq!(check("RETURN x", json!([1, 2]), rows()).score(), Some(Score::ONE));
    let wrong = check("RETURN x ORDER BY x DESC", json!([1, 2]), rows());
    assert_eq!(wrong.score(), Some(Score::ZERO));
    assert_eq!(wrong.why(), "expected [1, 2], got 2 rows: [[2], [1]]; the rows are right, but their order is not");
    assert_eq!(check("RETURN x ORDER BY x DESC", json!([2, 1]), rows()).score(), Some(Score::ONE));
}

#[test]
fn the_reason_shows_what_came() {
    let why = |expected: Json, rows: Json| check("RETURN x", expected, table(&["x"], rows)).why().to_owned();
    assert_eq!(why(json!(1), json!([[1]])), "returned 1");
    assert_eq!(why(json!(1), json!([[2]])), "expected 1, got 2");
    assert_eq!(
        why(json!(1), json!([["1"]])),
        r#"expected 1, got "1"; the value "1" is a text, and a number is expected"#
    );
    assert_eq!(why(json!(1.0), json!([[1.5]])), "expected 1.0, got 1.5");
    assert_eq!(why(json!(1), json!([[1], [2]])), "expected 1 row [[1]], got 2 rows: [[1], [2]]");
    assert_eq!(why(json!(1), json!([])), "expected 1 row [[1]], got no rows");
    assert_eq!(why(json!([[1]]), json!([])), "expected 1 row [[1]], got no rows");
    assert_eq!(why(json!([[1], [2]]), json!([[3], [4]])), "expected 2 rows [[1], [2]], got 2 rows: [[3], [4]]");
    assert_eq!(why(json!([]), json!([])), "returned no rows");
    assert_eq!(why(json!([]), json!([[1], [2]])), "expected [], got 2 rows: [[1], [2]]");
    assert_eq!(why(json!([{"x": 1}]), json!([[1]])), "returned [{x: 1}]");
}

#[test]
fn a_long_result_is_cut() {
    let rows: Vec<Json> = (0..50_000).map(|number| json!([number])).collect();
    let why = check("RETURN x", json!(1), table(&["x"], Json::Array(rows))).why().to_owned();
    assert!(why.starts_with("expected 1 row [[1]], got 50000 rows: [[0], [1], "), "{why}");
    assert!(why.ends_with('…') && why.chars().count() < 320, "{why}");
    let long = check("RETURN x", json!(1), table(&["x"], json!([["é".repeat(1000)]])));
    assert!(long.why().chars().count() < 300);
}

#[test]
fn what_was_not_seen_is_missing() {
    let wanted = CypherCheck { cypher: "RETURN 1".into(), expected: json!(1) };
    let failed = evaluate(&wanted, &id(2), &evidence(Observed::Failed("the graph is down".into())));
    assert_eq!(failed, Component::missing("the query could not be run: the graph is down"));
    let other = evaluate(&wanted, &id(1), &evidence(Observed::Seen(Table::default())));
    assert_eq!(
        other,
        Component::missing(
            "the query of assertion `1` was never run, and what it returns can't be determined without the graph"
        )
    );
}

fn scalar() -> impl Strategy<Value = Json> {
    prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Json::from),
        (-3i64..3).prop_map(Json::from),
        "[a-c]{0,2}".prop_map(Json::from),
    ]
}

proptest! {
    #[test]
    fn a_shuffled_table_is_the_same_table(
        (rows, shuffled) in proptest::collection::vec(proptest::collection::vec(scalar(), 2), 0..6)
            .prop_flat_map(|rows| (Just(rows.clone()), Just(rows).prop_shuffle())),
    ) {
        prop_assert!(holds(json!(rows), &["x", "y"], json!(shuffled)));
    }

    #[test]
    fn a_row_more_or_less_fails(rows in proptest::collection::vec(proptest::collection::vec(scalar(), 2), 1..6), extra in scalar()) {
        prop_assert!(!holds(json!(rows), &["x", "y"], json!(rows[1..])));
        let mut more = rows.clone();
        more.push(vec![extra.clone(), extra]);
        prop_assert!(!holds(json!(rows), &["x", "y"], json!(more)));
    }
}

#[test]
fn what_no_graph_can_return_is_known_from_the_text() {
    for (cypher, expected, part) in [
        ("MATCH (n) RETURN n.a AS a, n.b AS b", json!(1), "one value"),
        ("MATCH (n) RETURN n.a, count( * )", json!([1, 2, 3]), "a row of 3 values"),
        ("MATCH (n) RETURN n.a AS a, n.b AS b", json!([[1]]), "a row of one value"),
        ("MATCH (n) RETURN n.a AS a, n.b AS b", json!({"a": 1, "c": 2}), "names the columns a, c"),
        ("MATCH (n) RETURN n.a AS a, n.b AS b", json!([{"a": 1}]), "names the columns a"),
        ("MATCH (n) RETURN n.a, n.b", json!({"a": 1, "b": 2}), "names the columns a, b"),
    ] {
        let problem = expected_problem(cypher, &expected);
        assert!(problem.as_ref().is_some_and(|problem| problem.contains(part)), "{cypher} {expected}: {problem:?}");
    }
    for (cypher, expected) in [
        ("MATCH (n) RETURN n.a AS a, n.b AS b", json!([1, 2])),
        ("MATCH (n) RETURN n.a AS a, n.b AS b", json!([[1, 2], [3, 4]])),
        ("MATCH (n) RETURN n.a AS a, n.b AS b", json!([])),
        ("MATCH (n) RETURN n.a AS a, n.b AS b", json!({"a": 1, "b": 2})),
        ("MATCH (n) RETURN properties(n) AS a, n AS b", json!([{"x": 1}, {"y": 2}])),
        ("MATCH (n) RETURN count( * ), n.x", json!({"count(*)": 1, "n.x": 2})),
        ("MATCH (n) RETURN n", json!({"name": "x"})),
        ("MATCH (n) RETURN *", json!(1)),
        ("CALL db.labels()", json!([[1, 2]])),
        ("MATCH (n) RETURN collect(n.x)", json!([1, 2])),
    ] {
        assert_eq!(expected_problem(cypher, &expected), None, "{cypher} {expected}");
    }
}

#[test]
fn a_value_of_another_type_is_reported() {
    let why = |expected: Json, rows: Json| {
        let columns = vec!["x"; rows[0].as_array().unwrap().len()];
        let check = CypherCheck { cypher: "RETURN x".to_owned(), expected };
        evaluate(&check, &id(2), &evidence(Observed::Seen(table(&columns, rows)))).why().to_owned()
    };
    for (expected, rows, hint) in [
        (json!("1"), json!([[1]]), "the value 1 is an integer, and a text is expected"),
        (json!(1), json!([["1"]]), "the value \"1\" is a text, and a number is expected"),
        (json!([["a", "true"]]), json!([["a", true]]), "the value true is a boolean, and a text is expected"),
        (json!(true), json!([["True"]]), "the value \"True\" is a text, and a boolean is expected"),
    ] {
        let why = why(expected, rows);
        assert!(why.contains(hint), "{why}");
    }
    assert!(!why(json!("2"), json!([[1]])).contains("is expected"));
}
