//! What every graph backend must do, as Neo4j 5 does it: `cases/*.txt`, in the form that [`case`] reads.
//!
//! A case compares column names, values with their types (1 is not 1.0), and order, unless it says `unordered`.

mod case;
pub(crate) mod run;

use std::collections::BTreeSet;

use eval_job::graph::Graph;
use eval_job::graph::embedded::EmbeddedGraph;
use eval_job::graph::neo4j::{Limits, Neo4jConnection, Neo4jGraph};
use eval_job::graph::{GraphErrorKind, Parameters};
use eval_job::secret::Secret;

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

/// A Neo4j 5 whose data may be deleted.
#[expect(clippy::disallowed_methods, reason = "an ignored test is told by its caller where the server is")]
fn server(password: Option<&str>) -> Neo4jGraph {
    let told = |name: &str, otherwise: &str| std::env::var(name).unwrap_or_else(|_| otherwise.to_owned());
    let connection = Neo4jConnection {
        uri: told("NEO_URI", "bolt://localhost:7687"),
        username: told("NEO_USERNAME", "neo4j"),
        password: Secret::new(password.map_or_else(|| told("NEO_PASSWORD", ""), str::to_owned)),
        database: None,
    };
    Neo4jGraph::connect(connection, Limits::default()).unwrap_or_else(|error| panic!("{error}"))
}

#[tokio::test]
#[ignore = "deletes everything in the Neo4j of NEO_URI, NEO_USERNAME and NEO_PASSWORD"]
async fn neo4j_keeps_the_contract() {
    let fresh = async || {
        let graph = server(None);
        graph.write("MATCH (n) DETACH DELETE n", &Parameters::new()).await.unwrap();
        Box::new(graph) as Box<dyn Graph>
    };
    run::run_contract(&cases(), fresh).await;
    let error = server(Some("wrong")).read("RETURN 1", &Parameters::new()).await.unwrap_err();
    assert_eq!(error.kind, GraphErrorKind::Unauthorized, "{error}");
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
