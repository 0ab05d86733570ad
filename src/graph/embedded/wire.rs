//! The engine's values, errors and rows as ours.

use std::collections::{BTreeMap, BTreeSet};

use graphdblite::bounds::{check, room};
use graphdblite::{ErrorCode, GraphError as Theirs, QueryError, Value as Engine};

use super::gap;
use crate::cypher::{Columns, Projection, Statement, columns};
use crate::descriptors;
use crate::graph::{GraphError, GraphErrorKind, Node, Path, Relationship, Temporal, TemporalKind, Value};

/// A value of the engine as ours.
pub(super) fn value(engine: &Engine) -> Value {
    check();
    let temporal = |kind, text: String| Value::Temporal(Temporal { kind, text });
    match engine {
        Engine::Null => Value::Null,
        Engine::Bool(truth) => Value::Bool(*truth),
        Engine::I64(number) => Value::Int(*number),
        Engine::F64(number) => Value::Float(*number),
        Engine::String(text) => {
            room(text.len());
            Value::String(text.clone())
        }
        Engine::List(items) => Value::List(items.iter().map(value).collect()),
        Engine::Map(entries) => Value::Map(properties(entries)),
        Engine::Node(found) => node(found).into(),
        Engine::Edge(found) => relationship(found).into(),
        Engine::Path(path) => Value::Path(Path {
            nodes: path.nodes.iter().map(node).collect(),
            relationships: path.edges.iter().map(relationship).collect(),
        }),
        Engine::Date(date) => temporal(TemporalKind::Date, date.to_string()),
        Engine::LocalTime(time) => temporal(TemporalKind::LocalTime, time.to_string()),
        Engine::Time(time) => temporal(TemporalKind::Time, time.to_string()),
        Engine::LocalDateTime(moment) => temporal(TemporalKind::LocalDateTime, moment.to_string()),
        Engine::DateTime(moment) => temporal(TemporalKind::DateTime, moment.to_string()),
        Engine::Duration(duration) => temporal(TemporalKind::Duration, duration.to_string()),
    }
}

fn properties<'a>(entries: impl IntoIterator<Item = (&'a String, &'a Engine)>) -> BTreeMap<String, Value> {
    entries.into_iter().map(|(key, entry)| (key.clone(), value(entry))).collect()
}

fn node(node: &graphdblite::Node) -> Node {
    let mut labels = node.labels.clone();
    labels.sort();
    Node { id: node.id.0.to_string(), labels, properties: properties(&node.properties) }
}

fn relationship(edge: &graphdblite::Edge) -> Relationship {
    Relationship {
        id: edge.seq.to_string(),
        kind: edge.label.clone(),
        start: edge.src.0.to_string(),
        end: edge.dst.0.to_string(),
        properties: properties(&edge.properties),
    }
}

/// Reads the rows of a statement one by one, under the names that the statement gives them.
pub(super) struct RowReader {
    declared: Columns,
    /// The engine's names of the columns, in the statement's order, and the statement's: known with the first row.
    found: Option<(Vec<String>, Vec<String>)>,
}

impl RowReader {
    pub(super) fn new(declared: Columns) -> RowReader {
        RowReader { declared, found: None }
    }

    /// A row as values; `None` when the statement returns nothing.
    pub(super) fn row(&mut self, record: &graphdblite::Record) -> Option<Vec<Value>> {
        if self.declared == Columns::Nothing {
            return None;
        }
        let (keys, _) = self.found.get_or_insert_with(|| found(&self.declared, record));
        Some(keys.iter().map(|key| record.get(key).map_or(Value::Null, value)).collect())
    }

    /// The names of the columns, after the last row.
    pub(super) fn columns(self) -> Vec<String> {
        match (self.found, self.declared) {
            (Some((_, columns)), _) | (None, Columns::Named(columns)) => columns,
            _ => Vec::new(),
        }
    }
}

fn found(declared: &Columns, first: &graphdblite::Record) -> (Vec<String>, Vec<String>) {
    let keys: Vec<&String> = first.keys().filter(|key| !is_hidden(key)).collect();
    let owned = |keys: Vec<&String>| keys.into_iter().cloned().collect::<Vec<_>>();
    match declared {
        Columns::Named(names) if names.len() == keys.len() => (owned(in_order(&keys, names)), names.clone()),
        Columns::Star(last) => {
            let keys = owned(star(keys, last));
            (keys.clone(), keys)
        }
        _ => (owned(keys.clone()), owned(keys)),
    }
}

fn is_hidden(key: &str) -> bool {
    ["_anon_", "__anon_", "_path_rel_"].iter().any(|prefix| key.starts_with(prefix))
}

/// The engine's columns in the statement's order: those of the same name first, as the engine writes other names its
/// own way; the rest keep their order.
fn in_order<'a>(keys: &[&'a String], names: &[String]) -> Vec<&'a String> {
    let mut rest = keys.iter().filter(|key| !names.contains(key));
    names
        .iter()
        .zip(keys)
        .map(|(name, at)| keys.iter().find(|key| **key == name).or_else(|| rest.next()).unwrap_or(at))
        .copied()
        .collect()
}

/// `*` is in alphabetical order, as Neo4j has it; named columns follow.
fn star<'a>(mut keys: Vec<&'a String>, last: &[String]) -> Vec<&'a String> {
    keys.sort_by_key(|key| (last.iter().position(|name| name == *key), key.as_str()));
    keys
}

/// An error of the engine as ours. `statement` is what the user wrote.
pub(super) fn error(statement: &str, theirs: &Theirs) -> GraphError {
    let text = message(theirs);
    let statement = &Statement::parse(statement);
    let has_with_star = || (0..statement.len()).any(|at| statement.keyword(at, "WITH") && statement.is(at + 1, "*"));
    let ours = |kind| GraphError::new(kind, text.clone());
    let unless = |gap: Option<String>| match gap {
        Some(gap) => gap::unsupported(&gap, Some(&text)),
        None => ours(GraphErrorKind::Statement),
    };
    match theirs {
        Theirs::Query(query) if text.contains("exceeded maximum of") => {
            GraphError::new(GraphErrorKind::Limit, format!("{} (the embedded graph's limit)", query.message()))
        }
        Theirs::SizeLimit { .. } => ours(GraphErrorKind::Limit),
        Theirs::Transaction { message, .. } if message.contains("not permitted inside a read transaction") => {
            refused_write()
        }
        Theirs::InvalidName { name, .. } => gap::unsupported(&format!("The name `{name}`"), Some(&text)),
        Theirs::Query(query) => match query.code() {
            ErrorCode::UnknownFunction => unless(gap::function(statement)),
            ErrorCode::ProcedureNotFound => unless(gap::procedure(statement)),
            ErrorCode::UnexpectedSyntax => unless(gap::syntax(statement)),
            ErrorCode::UndefinedVariable | ErrorCode::Other if has_with_star() => {
                gap::unsupported("This WITH *", Some(&text))
            }
            _ if query.message().starts_with("Multiple result columns") && all_different(statement) => {
                gap::unsupported("Two columns that differ only in how they are written", Some(&text))
            }
            _ => ours(GraphErrorKind::Statement),
        },
        Theirs::NodeNotFound { .. } | Theirs::EdgeNotFound { .. } | Theirs::HasEdges { .. } => {
            ours(GraphErrorKind::Statement)
        }
        _ => ours(GraphErrorKind::Other),
    }
}

/// The error of every backend for a write where only reading is allowed.
pub(super) fn refused_write() -> GraphError {
    GraphError {
        kind: GraphErrorKind::WriteRefused,
        message:
            "The statement writes to the graph, and only reading is allowed here. Move CREATE, MERGE, SET, REMOVE \
                  and DELETE to a setup."
                .to_owned(),
    }
}

/// Whether the columns of the statement have different names, and the aliases of each WITH.
fn all_different(s: &Statement<'_>) -> bool {
    let different = |names: Vec<&str>| names.iter().collect::<BTreeSet<_>>().len() == names.len();
    let aliases =
        |projection: &Projection| projection.items.iter().filter_map(|item| Some(s.at(s.alias(item)?))).collect();
    let Columns::Named(returned) = columns(s) else { return false };
    different(returned.iter().map(String::as_str).collect()) && s.projections.iter().map(aliases).all(different)
}

/// SQLite does not say why it can't open a file. Where no file descriptor is left that is why.
fn explained(message: String, none_left: impl FnOnce() -> bool) -> String {
    match message.contains("unable to open database file") && none_left() {
        true => format!("{message}: {}; try {}", descriptors::NONE_LEFT, descriptors::HINT),
        false => message,
    }
}

/// The engine's message on one line: a syntax error loses its drawing and keeps its place.
pub(super) fn message(theirs: &Theirs) -> String {
    let Theirs::Query(query) = theirs else {
        return explained(theirs.to_string().replace('\n', " "), descriptors::are_exhausted);
    };
    let message = match query.message().split_once("\n  = ") {
        Some((_, expected)) => expected.to_owned(),
        None => query.message().replace('\n', " "),
    };
    let mut text = match (query, query.span()) {
        (QueryError::SyntaxError { .. }, Some(span)) => {
            format!("Syntax error at line {}, column {}: {message}", span.line, span.col)
        }
        (_, Some(span)) => format!("{message} (line {}, column {})", span.line, span.col),
        (QueryError::SyntaxError { .. }, None) => format!("Syntax error: {message}"),
        _ => message,
    };
    if let Some(hint) = query.hint() {
        text.push_str(&format!("; {hint}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_can_not_be_opened_for_want_of_a_descriptor_is_reported_so() {
        let message = || "storage error: unable to open database file".to_owned();
        assert!(explained(message(), || true).contains("no file descriptor left; try fewer conversations"));
        assert_eq!(explained(message(), || false), message());
        assert_eq!(explained("disk I/O error".to_owned(), || true), "disk I/O error");
    }
}
