//! Assertions on the graph: what a query returned against what the job expects.
//!
//! Invariants: types are distinguished (1 is 1.0, but neither "1" nor true); numbers are compared exactly; a query that
//! could not be run, or has other columns than the job
//! names, is missing, never false.

mod added;
mod apart;
mod typo;
mod config;
mod order;
mod shape;
mod show;
mod sides;

pub use added::{holds_of_added_sides, holds_of_what_was_added};
pub use apart::{can_be_kept_apart, counts};
pub use config::CypherCheck;
pub use sides::{Sides, sides};
pub use typo::LABELS;

use serde_json::Value as Json;

use crate::cypher::{Columns, Statement, columns};
use crate::evidence::{AssertionId, Evidence, Observed, Table};
use crate::score::{Component, Score};

/// Evaluates it on what a trial left behind. `id` is what the assertion is known by in its case.
///
/// # What `expected` says
///
/// | `expected` | what the query must return |
/// |---|---|
/// | a scalar | one row of one column: that value |
/// | `{…}` | one row: its columns by name; or one row of one column: a map, or a node or relationship with exactly these properties |
/// | `[]` | no rows; or one row of one column: an empty list |
/// | `[a, b]` | with several columns: one row of these values; with one column: a row for each value, or one row with that list |
/// | `[[a, b], [c, d]]` | a row for each inner list, in the order of the columns |
/// | `[{x: a}, {x: b}]` | a row for each map, its columns by name |
///
/// Where two readings are possible, either will do; the query's own shape decides between them. The rows are
/// compared in any order, unless the last `RETURN` has an `ORDER BY`. The items of a list within a row are always
/// compared in order. Dates and times are written as ISO 8601 strings, points as lists of their coordinates, and paths
/// as lists of nodes and relationships in turn.
pub fn evaluate(check: &CypherCheck, id: &AssertionId, evidence: &Evidence) -> Component {
    let Some(observation) = evidence.queries.iter().find(|observation| observation.assertion == *id) else {
        return Component::missing(format!(
            "the query of assertion `{id}` was never run, and what it returns can't be determined without the graph"
        ));
    };
    let table = match &observation.result {
        Observed::Seen(table) => table,
        Observed::Failed(error) => return Component::missing(format!("the query could not be run: {error}")),
    };
    if let Some(problem) = shape::other_columns(&check.expected, table) {
        return Component::missing(problem);
    }
    let ordered = table.rows.len() > 1 && order::is_ordered(&check.cypher);
    if shape::matches(&check.expected, table, ordered) {
        return Component::scored(Score::ONE, format!("returned {}", show::result(table, &check.expected)));
    }
    let mut why = show::difference(table, &check.expected);
    if ordered && shape::matches(&check.expected, table, false) {
        why.push_str("; the rows are right, but their order is not");
    }
    if let Some(hint) = show::other_type(table, &check.expected) {
        why.push_str(&format!("; {hint}"));
    }
    if let Some(hint) = typo::hint(&check.cypher, evidence) {
        why.push_str(&format!("; {hint}"));
    }
    Component::scored(Score::ZERO, why)
}

/// Whether a query computes from its parameters alone, so that no change of the graph shows in it.
pub fn reads_no_graph(cypher: &str) -> bool {
    Statement::parse(cypher).reads_no_graph()
}

/// Why `expected` can't be what a query returns, whatever the graph holds, as far as the query's text tells. Where only the
/// backend knows the columns, and where one value may be a map, there is no problem.
pub fn expected_problem(cypher: &str, expected: &Json) -> Option<String> {
    let Columns::Named(names) = columns(&Statement::parse(cypher)) else { return None };
    // Backends differ in how they spell the name of what has no alias.
    let is_plain = |name: &String| name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'));
    let names_columns = match expected {
        Json::Object(_) => true,
        Json::Array(items) => items.iter().all(Json::is_object),
        _ => false,
    };
    if names.len() < 2 || names_columns && !names.iter().all(is_plain) {
        return None;
    }
    shape::other_columns(expected, &Table { columns: names, rows: Vec::new() })
}

/// Why `expected` can't be what the query returns, as far as what it returned at one moment shows.
pub fn unusable(check: &CypherCheck, table: &Table) -> Option<String> {
    // One value can be a map at another moment, where the query says so.
    let varies = || ["case", "coalesce"].iter().any(|function| check.cypher.to_lowercase().contains(function));
    if table.columns.len() == 1 && varies() { None } else { shape::other_columns(&check.expected, table) }
}

#[cfg(test)]
mod tests;
