//! Runs a scenario on a fresh embedded graph and says what came of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use eval_job::graph::embedded::{EmbeddedGraph, EmbeddedLimits};
use eval_job::graph::{Graph, GraphError, GraphErrorKind, Parameters, Table, Value};

use super::feature::{Scenario, Step};
use super::literal::{all_found, same, value};

/// What came of a scenario.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// What must come of it.
    Passed,
    /// It needs procedures that the TCK brings itself, or the TCK leaves it out.
    NotApplicable,
    /// An error that names Neo4j as the place where the query runs.
    Refused(String),
    /// The query is valid, and an error came that names no way out.
    Failed(String),
    /// An error had to come, and none did.
    Accepted(String),
    /// Rows, columns or changes of the graph that are not the expected ones.
    WrongResult(String),
}

/// The graph's nodes, relationships, labels and properties: what the TCK counts as effects.
struct Contents {
    nodes: BTreeSet<String>,
    relationships: BTreeSet<String>,
    labels: BTreeSet<String>,
    properties: BTreeSet<(String, String, String)>,
}

/// Runs a scenario. `graphs` is the TCK's folder of named graphs.
pub async fn run(scenario: &Scenario, graphs: &Path) -> Outcome {
    let procedures = scenario.steps.iter().any(|step| step.text.starts_with("there exists a procedure"));
    if scenario.ignored || procedures {
        return Outcome::NotApplicable;
    }
    run_steps(scenario, graphs).await.err().unwrap_or(Outcome::Passed)
}

async fn run_steps(scenario: &Scenario, graphs: &Path) -> Result<(), Outcome> {
    // One scenario sums a million numbers, which the engine holds as rows.
    let graph = EmbeddedGraph::with_limits(EmbeddedLimits { memory: 4 << 30, ..EmbeddedLimits::default() }).unwrap();
    let mut parameters = Parameters::new();
    let mut answer = Ok(Table::default());
    let (mut before, mut after) = (contents(&graph).await, contents(&graph).await);
    for step in &scenario.steps {
        match step.text.as_str() {
            "an empty graph" | "any graph" => {}
            "having executed" => {
                graph.write(&step.doc, &Parameters::new()).await.map_err(refused)?;
            }
            "parameters are" => {
                parameters.extend(step.table.iter().map(|row| (row[0].clone(), written(&row[1]))));
            }
            "executing query" => {
                before = contents(&graph).await;
                answer = graph.write(&step.doc, &parameters).await;
                after = contents(&graph).await;
            }
            "executing control query" => answer = graph.write(&step.doc, &parameters).await,
            "no side effects" | "the side effects should be" => effects(step, &before, &after)?,
            "the result should be empty" => {
                let table = answer.clone().map_err(refused)?;
                if !table.rows.is_empty() {
                    return Err(Outcome::WrongResult(format!("no rows expected, got {}", shown(&table))));
                }
            }
            text if text.starts_with("the result should be") => {
                rows(step, text, &answer.clone().map_err(refused)?)?;
            }
            text if text.contains(" should be raised at ") => error(text, &answer)?,
            text => {
                let name = text.strip_prefix("the ").and_then(|text| text.strip_suffix(" graph"));
                let Some(name) = name else { panic!("{} {}: not understood: {text}", scenario.feature, scenario.name) };
                let script = graphs.join(name).join(format!("{name}.cypher"));
                let script = std::fs::read_to_string(&script).unwrap();
                graph.write(&script, &Parameters::new()).await.map_err(refused)?;
            }
        }
    }
    Ok(())
}

fn refused(error: GraphError) -> Outcome {
    match error.kind {
        GraphErrorKind::Unsupported => Outcome::Refused(error.message),
        kind => Outcome::Failed(format!("{kind:?}: {}", error.message)),
    }
}

/// An error that says the statement is wrong. One that sends it to Neo4j instead is a refusal.
fn error(text: &str, answer: &Result<Table, GraphError>) -> Result<(), Outcome> {
    match answer {
        Err(error) if error.kind == GraphErrorKind::Statement => Ok(()),
        Err(error) => Err(refused(error.clone())),
        Ok(table) => Err(Outcome::Accepted(format!("{text}, but it gave {}", shown(table)))),
    }
}

fn rows(step: &Step, text: &str, table: &Table) -> Result<(), Outcome> {
    let (columns, expected) = step.table.split_first().unwrap();
    let expected: Vec<Vec<Value>> = expected.iter().map(|row| row.iter().map(|cell| written(cell)).collect()).collect();
    let any_list = text.contains("ignoring element order for lists");
    let same_row = |written: &Vec<Value>, got: &Vec<Value>| {
        written.len() == got.len() && written.iter().zip(got).all(|(written, got)| same(written, got, any_list))
    };
    let same_rows = if text.contains("in order") {
        expected.len() == table.rows.len() && expected.iter().zip(&table.rows).all(|(a, b)| same_row(a, b))
    } else {
        all_found(&expected, &table.rows, same_row)
    };
    let expected = Table { columns: columns.to_vec(), rows: expected };
    let untold = table.rows.is_empty() && table.columns.is_empty();
    if same_rows && (untold || table.columns == expected.columns) {
        return Ok(());
    }
    Err(Outcome::WrongResult(format!("expected {}, got {}", shown(&expected), shown(table))))
}

fn effects(step: &Step, before: &Contents, after: &Contents) -> Result<(), Outcome> {
    let mut expected: BTreeMap<&str, usize> =
        step.table.iter().map(|row| (row[0].as_str(), row[1].parse().unwrap())).collect();
    expected.retain(|_, count| *count > 0);
    let mut found = BTreeMap::from([
        ("+nodes", after.nodes.difference(&before.nodes).count()),
        ("-nodes", before.nodes.difference(&after.nodes).count()),
        ("+relationships", after.relationships.difference(&before.relationships).count()),
        ("-relationships", before.relationships.difference(&after.relationships).count()),
        ("+labels", after.labels.difference(&before.labels).count()),
        ("-labels", before.labels.difference(&after.labels).count()),
        ("+properties", after.properties.difference(&before.properties).count()),
        ("-properties", before.properties.difference(&after.properties).count()),
    ]);
    found.retain(|_, count| *count > 0);
    if found == expected {
        return Ok(());
    }
    Err(Outcome::WrongResult(format!("changes expected {expected:?}, found {found:?}")))
}

async fn contents(graph: &EmbeddedGraph) -> Contents {
    let mut contents = Contents {
        nodes: BTreeSet::new(),
        relationships: BTreeSet::new(),
        labels: BTreeSet::new(),
        properties: BTreeSet::new(),
    };
    for query in ["MATCH (n) RETURN n", "MATCH ()-[r]->() RETURN r"] {
        for row in graph.read(query, &Parameters::new()).await.unwrap().rows {
            let (id, properties) = match row.into_iter().next() {
                Some(Value::Node(node)) => {
                    contents.nodes.insert(node.id.clone());
                    contents.labels.extend(node.labels);
                    (node.id, node.properties)
                }
                Some(Value::Relationship(relationship)) => {
                    contents.relationships.insert(relationship.id.clone());
                    (relationship.id, relationship.properties)
                }
                other => panic!("{query}: {other:?}"),
            };
            contents.properties.extend(properties.into_iter().map(|(key, value)| (id.clone(), key, value.to_string())));
        }
    }
    contents
}

fn written(cell: &str) -> Value {
    value(cell).unwrap_or_else(|error| panic!("{error}"))
}

fn shown(table: &Table) -> String {
    let rows: Vec<String> =
        table.rows.iter().take(5).map(|row| row.iter().map(Value::to_string).collect::<Vec<_>>().join(" | ")).collect();
    format!("{} rows of {:?}: {}", table.rows.len(), table.columns, rows.join(" // "))
}
