//! Whether values are unique.

use std::collections::HashMap;
use std::ops::ControlFlow;

use graphdblite::{Database, Properties, Value as Engine};

use super::rules::{Constraint, EntityKind, SchemaFault, fault};
use crate::graph::embedded::error::{StatementError, StatementErrorKind};
use crate::graph::{GraphError, GraphErrorKind};

/// Two nodes or relationships with the same values, and the values as Cypher writes them.
struct Double {
    first: String,
    second: String,
    values: String,
}

/// Refuses a new constraint that the graph breaks already.
pub(super) fn holds(database: &Database, constraint: &Constraint) -> Result<(), StatementError> {
    let Some(Double { first, second, values }) = double(database, constraint)? else { return Ok(()) };
    let of = sort(constraint);
    Err(fault(
        SchemaFault::ConstraintCreation,
        format!(
            "Unable to create Constraint( name='{}', type='{}', schema={} ):\nBoth {first} and {second} have the {of} and {values}.",
            constraint.name,
            constraint.kind(),
            constraint.subject.text(),
        ),
    ))
}

/// Refuses what was written, when it breaks the constraint.
pub(super) fn kept(database: &Database, constraint: &Constraint) -> Result<(), StatementError> {
    let Some(Double { first, values, .. }) = double(database, constraint)? else { return Ok(()) };
    Err(StatementError {
        reason: StatementErrorKind::Constraint,
        error: GraphError::new(
            GraphErrorKind::Statement,
            format!("{first} already exists with {} and {values}", sort(constraint)),
        ),
    })
}

fn sort(constraint: &Constraint) -> String {
    match constraint.subject.entity {
        EntityKind::Node => format!("label `{}`", constraint.label_or_type()),
        EntityKind::Relationship => format!("type `{}`", constraint.label_or_type()),
    }
}

fn double(database: &Database, constraint: &Constraint) -> Result<Option<Double>, StatementError> {
    let mut seen: HashMap<String, String> = HashMap::new();
    let mut found = None;
    let mut look = |id: &dyn Fn() -> String, properties: &Properties| {
        let values: Option<Vec<(&String, &Engine)>> =
            constraint.subject.properties.iter().map(|name| Some((name, properties.get(name)?))).collect();
        // A node that lacks one of the properties is not held to the constraint.
        let Some(values) = values else { return ControlFlow::Continue(()) };
        let key = values.iter().map(|(_, value)| key(value)).collect::<Vec<_>>().join("\u{0}");
        match seen.get(&key) {
            None => {
                seen.insert(key, id());
                ControlFlow::Continue(())
            }
            Some(first) => {
                let sort = if values.len() == 1 { "property" } else { "properties" };
                let written: Vec<String> =
                    values.iter().map(|(name, value)| format!("`{name}` = {}", literal(value))).collect();
                let values = format!("{sort} {}", written.join(", "));
                found = Some(Double { first: first.clone(), second: id(), values });
                ControlFlow::Break(())
            }
        }
    };
    let visited = match constraint.subject.entity {
        EntityKind::Node => database.each_node(&mut |node| {
            if !node.labels.iter().any(|label| label == constraint.label_or_type()) {
                return ControlFlow::Continue(());
            }
            look(&|| format!("Node({})", node.id.0), &node.properties)
        }),
        EntityKind::Relationship => database.each_edge(&mut |edge| {
            if edge.label != constraint.label_or_type() {
                return ControlFlow::Continue(());
            }
            look(&|| format!("Relationship({})", edge.seq), &edge.properties)
        }),
    };
    visited?;
    Ok(found)
}

/// The same for values that are equal, and for no others: `1` is `1.0`.
fn key(value: &Engine) -> String {
    match value {
        Engine::I64(number) => format!("n{number}"),
        Engine::F64(number) if number.fract() == 0.0 && number.abs() < 9.0e18 => format!("n{}", *number as i64),
        Engine::F64(number) => format!("f{}", number.to_bits()),
        Engine::String(text) => format!("s{}:{text}", text.len()),
        Engine::List(items) => format!("[{}]", items.iter().map(key).collect::<Vec<_>>().join(",")),
        other => format!("{other:?}"),
    }
}

fn literal(value: &Engine) -> String {
    match value {
        Engine::String(text) => format!("'{text}'"),
        other => super::super::wire::value(other).to_string(),
    }
}
