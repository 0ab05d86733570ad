//! What every graph backend must do, as Neo4j 5 does it: `cases/*.txt`, in the form that [`case`] reads.
//!
//! Both backends are held to the same lines, so each query is compared between them; where the embedded graph differs,
//! the case says so, and `DIFFERENCES.md` lists it. A case compares column names, values with their types (1 is not 1.0), and order, unless it says `unordered`.

mod case;
pub(crate) mod run;

use std::collections::BTreeSet;

use eval_job::graph::embedded::EmbeddedGraph;
use eval_job::graph::{Graph, Parameters};

use crate::servers::neo4j;
use case::Case;

/// All cases, in the order of their files.
pub(crate) fn cases() -> Vec<Case> {
    [
        include_str!("cases/values.txt"),
        include_str!("cases/functions.txt"),
        include_str!("cases/clauses.txt"),
        include_str!("cases/writing.txt"),
        include_str!("cases/paths.txt"),
        include_str!("cases/temporal.txt"),
        include_str!("cases/errors.txt"),
        include_str!("cases/library.txt"),
        include_str!("cases/syntax.txt"),
    ]
    .into_iter()
    .flat_map(case::read)
    .collect()
}

#[tokio::test]
async fn the_embedded_graph_keeps_the_contract() {
    let fresh = async || Box::new(EmbeddedGraph::new().unwrap()) as Box<dyn Graph>;
    run::run_contract(&cases(), fresh).await;
}

#[tokio::test]
async fn neo4j_keeps_the_contract() {
    let Some(database) = neo4j::database("neo4j_keeps_the_contract").await else { return };
    let fresh = async || {
        let graph = database.server.graph();
        graph.write("MATCH (n) DETACH DELETE n", &Parameters::new()).await.unwrap();
        Box::new(graph) as Box<dyn Graph>
    };
    run::run_contract(&cases(), fresh).await;
}

#[test]
fn the_contract_has_many_cases_and_no_name_twice() {
    let cases = cases();
    assert!(cases.len() >= 160, "{} cases", cases.len());
    let names: BTreeSet<&str> = cases.iter().map(|case| case.name).collect();
    assert_eq!(names.len(), cases.len());
}

#[test]
fn the_differences_are_written_down() {
    let rows: String = cases()
        .iter()
        .filter_map(|case| case.differs.map(|differs| format!("| {} | {} | {differs} |\n", case.name, case.in_neo4j())))
        .collect();
    let expected = format!(
        "# Where the embedded graph differs from Neo4j 5\n\nRead off the contract's cases; the test `the_differences_are_written_down` keeps it so.\n\n\
         | case | Neo4j | embedded graph |\n|---|---|---|\n{rows}"
    );
    assert_eq!(include_str!("DIFFERENCES.md"), expected, "\nDIFFERENCES.md must read:\n\n{expected}");
}
