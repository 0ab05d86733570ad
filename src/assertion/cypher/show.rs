//! Results and expectations as text: JSON where possible, cut where it is long.

use serde_json::Value as Json;

use crate::assertion::equal::equal;
use crate::evidence::{Table, Value};
use crate::text::cut;

/// The most characters of a result that are shown.
const MAX_SHOWN_CHARS: usize = 240;

/// The difference between result and expectation, in a sentence.
pub(super) fn difference(table: &Table, expected: &Json) -> String {
    let one_cell = table.rows.len() == 1 && table.rows[0].len() == 1;
    let wanted = match expected {
        Json::Array(rows)
            if !one_cell && !rows.is_empty() && rows.iter().all(|row| row.is_array() || row.is_object()) =>
        {
            format!(
                "{} {}",
                if rows.len() == 1 { "1 row".to_owned() } else { format!("{} rows", rows.len()) },
                cut(spaced(expected), MAX_SHOWN_CHARS)
            )
        }
        Json::Array(_) => cut(spaced(expected), MAX_SHOWN_CHARS),
        Json::Object(_) => format!("1 row {}", cut(spaced(expected), MAX_SHOWN_CHARS)),
        _ if one_cell => cut(spaced(expected), MAX_SHOWN_CHARS),
        _ => format!("1 row [[{}]]", cut(spaced(expected), MAX_SHOWN_CHARS)),
    };
    let got = match table.rows.as_slice() {
        [] => "no rows".to_owned(),
        [row] if row.len() == 1 && !matches!(expected, Json::Object(_)) => result(table, expected),
        [_] => format!("1 row: {}", rows(table, expected)),
        many => format!("{} rows: {}", many.len(), rows(table, expected)),
    };
    format!("expected {wanted}, got {got}")
}

/// The note that a value has another type than the expected one with the same spelling: `"1"` and 1.
pub(super) fn other_type(table: &Table, expected: &Json) -> Option<String> {
    fn leaves<'j>(json: &'j Json, found: &mut Vec<&'j Json>) {
        match json {
            Json::Array(items) => items.iter().for_each(|item| leaves(item, found)),
            Json::Object(entries) => entries.values().for_each(|item| leaves(item, found)),
            leaf => found.push(leaf),
        }
    }
    let mut wanted = Vec::new();
    leaves(expected, &mut wanted);
    let kind = |value: &Value| match value {
        Value::Bool(_) => Some("a boolean"),
        Value::Int(_) => Some("an integer"),
        Value::Float(_) => Some("a number"),
        Value::String(_) => Some("a text"),
        _ => None,
    };
    let kind_of_json = |json: &Json| match json {
        Json::Bool(_) => Some("a boolean"),
        Json::Number(_) => Some("a number"),
        Json::String(_) => Some("a text"),
        _ => None,
    };
    let plain = |text: String| text.trim_matches('"').to_owned();
    let is_other = |item: &&&Json, cell: &Value| {
        !equal(item, cell) && plain(item.to_string()).eq_ignore_ascii_case(&plain(value(cell)))
    };
    table.rows.iter().flatten().find_map(|cell| {
        let item = wanted.iter().find(|item| is_other(item, cell))?;
        let (is, wanted) = (kind(cell)?, kind_of_json(item)?);
        Some(format!("the value {} is {is}, and {wanted} is expected", value(cell)))
    })
}

/// The result: a single value as itself, anything else as rows.
pub(super) fn result(table: &Table, expected: &Json) -> String {
    match table.rows.as_slice() {
        [] => "no rows".to_owned(),
        [row] if row.len() == 1 && !by_name(expected) => cut(value(&row[0]), MAX_SHOWN_CHARS),
        _ => rows(table, expected),
    }
}

/// Rows are shown with the columns' names where the job names them.
fn by_name(expected: &Json) -> bool {
    match expected {
        Json::Object(_) => true,
        Json::Array(items) => items.iter().any(Json::is_object),
        _ => false,
    }
}

fn rows(table: &Table, expected: &Json) -> String {
    let by_name = by_name(expected) && !table.columns.is_empty();
    let mut text = String::from("[");
    for (place, row) in table.rows.iter().enumerate() {
        if place > 0 {
            text.push_str(", ");
        }
        let cells = row.iter().enumerate().map(|(place, cell)| match table.columns.get(place) {
            Some(name) if by_name => format!("{name}: {}", value(cell)),
            _ => value(cell),
        });
        let cells = cells.collect::<Vec<_>>().join(", ");
        text.push_str(&if by_name { format!("{{{cells}}}") } else { format!("[{cells}]") });
        if text.len() > 4 * MAX_SHOWN_CHARS {
            break;
        }
    }
    text.push(']');
    cut(text, MAX_SHOWN_CHARS)
}

/// JSON with a space after each comma and colon, as values are shown too.
fn spaced(json: &Json) -> String {
    match json {
        Json::Array(items) => format!("[{}]", items.iter().map(spaced).collect::<Vec<_>>().join(", ")),
        Json::Object(entries) => {
            let entries = entries.iter().map(|(key, value)| format!("{key}: {}", spaced(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// A value in JSON's spelling, where it has one, else in Cypher's.
fn value(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Float(value) => format!("{value:?}"),
        Value::String(value) => Json::from(value.as_str()).to_string(),
        Value::List(values) => format!("[{}]", values.iter().map(self::value).collect::<Vec<_>>().join(", ")),
        Value::Map(entries) => map(entries),
        Value::Temporal(temporal) => Json::from(temporal.text.as_str()).to_string(),
        Value::Point(point) => format!("point{:?}", point.coordinates),
        Value::Node(node) => format!("({} {})", labels(&node.labels), map(&node.properties)),
        Value::Relationship(relationship) => {
            format!("[:{} {}]", relationship.kind, map(&relationship.properties))
        }
        Value::Path(path) => {
            let mut text = String::new();
            for (place, node) in path.nodes.iter().enumerate() {
                text.push_str(&format!("({})", labels(&node.labels)));
                if let Some(relationship) = path.relationships.get(place) {
                    let forward = relationship.start == node.id;
                    let (left, right) = if forward { ("-", "->") } else { ("<-", "-") };
                    text.push_str(&format!("{left}[:{}]{right}", relationship.kind));
                }
            }
            text
        }
    }
}

fn labels(labels: &[String]) -> String {
    labels.iter().map(|label| format!(":{label}")).collect()
}

fn map(entries: &std::collections::BTreeMap<String, Value>) -> String {
    let entries: Vec<String> = entries.iter().map(|(key, item)| format!("{key}: {}", value(item))).collect();
    format!("{{{}}}", entries.join(", "))
}
