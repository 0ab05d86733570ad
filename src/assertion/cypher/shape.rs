//! Which rows an expectation stands for, and whether the table has them.

use serde_json::{Map, Value as Json};

use crate::assertion::equal::{all_equal, equal};
use crate::evidence::{Table, Value};

/// Whether the table is what is expected in one of the readings that [`super::evaluate`] lists.
pub(super) fn matches(expected: &Json, table: &Table, ordered: bool) -> bool {
    let is_row = |row: &Vec<Value>, item: &Json| match item {
        Json::Array(values) => all_equal(values, row),
        Json::Object(entries) => is_row_by_name(entries, &table.columns, row),
        _ => false,
    };
    let is_only_cell = |row: &Vec<Value>, item: &Json| row.len() == 1 && equal(item, &row[0]);
    let one_row = match table.rows.as_slice() {
        [row] => Some(row),
        _ => None,
    };
    let cell = one_row.is_some_and(|row| is_only_cell(row, expected));
    match expected {
        Json::Array(items) => {
            cell || has_rows(items, &table.rows, ordered, is_row)
                || has_rows(items, &table.rows, ordered, is_only_cell)
                || one_row.is_some_and(|row| row.len() > 1 && all_equal(items, row))
        }
        Json::Object(_) => cell || one_row.is_some_and(|row| is_row(row, expected)),
        _ => cell,
    }
}

/// Why an expectation can't be met by the columns of this table, whatever their values.
pub(super) fn other_columns(expected: &Json, table: &Table) -> Option<String> {
    let columns = table.columns.join(", ");
    if let Some(names) = names_of_other_columns(expected, table) {
        return Some(format!(
            "`expected` names the columns {names}, but the query returns {columns}: no agent can make that true"
        ));
    }
    let width = other_width(expected, table)?;
    let count = table.columns.len();
    Some(format!(
        "`expected` has {width}, but the query returns {count} columns ({columns}): no agent can make that true"
    ))
}

/// The columns that an expectation names, if it names any and the query has others: whatever the graph holds, it can't be
/// met. Where a map or a node may be intended, there is no problem.
fn names_of_other_columns(expected: &Json, table: &Table) -> Option<String> {
    let is_map = |value: &Value| matches!(value, Value::Map(_) | Value::Node(_) | Value::Relationship(_));
    let is_null = |value: &Value| matches!(value, Value::Null);
    let cells = || table.rows.iter().flatten();
    let maps_are_possible = cells().any(is_map)
        || (table.columns.len() == 1 && cells().all(is_null))
        || (table.rows.is_empty() && expected.as_array().is_some_and(|items| items.len() == table.columns.len()));
    // Not every backend knows the columns of a result without rows.
    if table.columns.is_empty() || maps_are_possible {
        return None;
    }
    let rows: Vec<&Map<String, Json>> = match expected {
        Json::Object(entries) => vec![entries],
        Json::Array(items) => items.iter().map(Json::as_object).collect::<Option<_>>()?,
        _ => return None,
    };
    let other = |row: &&&Map<String, Json>| {
        row.len() != table.columns.len() || !table.columns.iter().all(|column| row.contains_key(column))
    };
    let names = rows.iter().find(other)?.keys().map(String::as_str).collect::<Vec<_>>();
    Some(names.join(", "))
}

/// Why an expectation can't be met whatever the graph holds: the query returns several columns, and not as many as it
/// has in a row.
fn other_width(expected: &Json, table: &Table) -> Option<String> {
    let columns = table.columns.len();
    if columns < 2 {
        return None;
    }
    let values = |count: usize| if count == 1 { "one value".to_owned() } else { format!("{count} values") };
    match expected {
        Json::Object(_) => None,
        Json::Array(items) if items.is_empty() || items.iter().all(Json::is_object) => None,
        Json::Array(items) => {
            let is_row = |item: &&Json| item.as_array().is_some_and(|values| values.len() == columns);
            match items.iter().find(|item| !is_row(item)) {
                Some(_) if items.len() == columns => None,
                Some(Json::Array(row)) => Some(format!("a row of {}", values(row.len()))),
                Some(_) if items.iter().any(Json::is_array) => Some("a row that is no list".to_owned()),
                Some(_) => Some(format!("a row of {}", values(items.len()))),
                None => None,
            }
        }
        _ => Some("one value".to_owned()),
    }
}

fn is_row_by_name(entries: &Map<String, Json>, columns: &[String], row: &[Value]) -> bool {
    entries.len() == columns.len()
        && columns.len() == row.len()
        && columns.iter().zip(row).all(|(name, value)| entries.get(name).is_some_and(|item| equal(item, value)))
}

/// Whether each item has a row of its own and each row an item. Two items that fit one row fit the same rows, so the
/// first free row will do.
fn has_rows(items: &[Json], rows: &[Vec<Value>], ordered: bool, fits: impl Fn(&Vec<Value>, &Json) -> bool) -> bool {
    if items.len() != rows.len() {
        return false;
    }
    if ordered {
        return items.iter().zip(rows).all(|(item, row)| fits(row, item));
    }
    let mut free: Vec<&Vec<Value>> = rows.iter().collect();
    items.iter().all(|item| match free.iter().position(|row| fits(row, item)) {
        Some(place) => {
            free.swap_remove(place);
            true
        }
        None => false,
    })
}
