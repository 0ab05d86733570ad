//! Runs the contract on a backend.

use eval_job::graph::{Graph, GraphError, Table};

use super::case::{Case, Expected, Step};

/// Runs all cases, each on a graph of its own, and shows everything that went wrong at once.
pub async fn run_contract(cases: &[Case], fresh: impl AsyncFn() -> Box<dyn Graph>) {
    let mut failures = Vec::new();
    for case in cases {
        let graph = fresh().await;
        if let Err(failure) = run(case, graph.as_ref()).await {
            failures.push(format!("== {}\n{failure}", case.name));
        }
    }
    assert!(failures.is_empty(), "{} of {} cases failed:\n\n{}", failures.len(), cases.len(), failures.join("\n\n"));
}

async fn run(case: &Case, graph: &dyn Graph) -> Result<(), String> {
    for step in &case.steps {
        let got = match step.writes {
            true => graph.write(&step.statement, &case.parameters).await,
            false => graph.read(&step.statement, &case.parameters).await,
        };
        let expected = match &step.embedded {
            Some(embedded) if graph.backend() == "embedded" => embedded,
            _ => &step.expected,
        };
        if !is_met(expected, &got) {
            return Err(format!("{}\nexpected: {}\ngot:      {}", step.statement, shown(expected), got_shown(&got)));
        }
        says_where_it_runs(step, &got)?;
    }
    Ok(())
}

fn is_met(expected: &Expected, got: &Result<Table, GraphError>) -> bool {
    match (expected, got) {
        (Expected::Success, Ok(_)) => true,
        (Expected::Error(kind), Err(error)) => format!("{:?}", error.kind) == *kind && !error.message.is_empty(),
        (Expected::Rows { columns, rows, ordered }, Ok(table)) => {
            let mut wanted: Vec<Vec<String>> =
                rows.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect()).collect();
            let mut found = texts(table);
            if !ordered {
                wanted.sort();
                found.sort();
            }
            let unnamed = table.rows.is_empty() && table.columns.is_empty();
            found == wanted && (unnamed || table.columns == *columns)
        }
        _ => false,
    }
}

/// An error about something unsupported names the backend that has it.
fn says_where_it_runs(step: &Step, got: &Result<Table, GraphError>) -> Result<(), String> {
    match got {
        Err(error)
            if format!("{:?}", error.kind) == "Unsupported" && !error.message.contains("Neo4j (graph.neo4j)") =>
        {
            Err(format!("{}\ndoes not say where it runs: {error}", step.statement))
        }
        _ => Ok(()),
    }
}

fn texts(table: &Table) -> Vec<Vec<String>> {
    table.rows.iter().map(|row| row.iter().map(|value| value.to_string()).collect()).collect()
}

fn shown(expected: &Expected) -> String {
    match expected {
        Expected::Success => "success".to_owned(),
        Expected::Error(kind) => format!("an error of kind {kind}"),
        Expected::Rows { columns, rows, .. } => format!("{columns:?} {rows:?}"),
    }
}

fn got_shown(got: &Result<Table, GraphError>) -> String {
    match got {
        Ok(table) => format!("{:?} {:?}", table.columns, texts(table)),
        Err(error) => format!("{:?}: {error}", error.kind),
    }
}
