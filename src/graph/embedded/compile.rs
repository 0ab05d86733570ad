//! Whether the embedded graph understands a text of Cypher, known without a graph.

use super::certain::first_problem;
use crate::graph::StatementProblem;

/// The first thing that the embedded graph does not understand of a text, which may be several statements; `None` if it
/// can run. `parameters` are the names of those that it will be given.
pub fn compile_problem(text: &str, parameters: &[&str]) -> Option<StatementProblem> {
    first_problem(text, parameters, |store, statement, given| {
        Some(store.compile(statement, given).err()?.error.message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_not_run_is_reported_without_running_it() {
        let problem = |text: &str| compile_problem(text, &["user"]).map(|problem| problem.to_string());
        for text in [
            "RETURN 1",
            "MATCH (u:User {id: $user})-[r]->(n) WHERE n.x > 1 RETURN u, count(n) AS c ORDER BY c DESC LIMIT 3",
            "CREATE (a:A {x: 1})-[:R]->(:B); MATCH (a:A) SET a.y = 2; MATCH (n) DETACH DELETE n",
            "UNWIND range(1, 1000000000) AS x RETURN count(x)",
            "RETURN 1 AS x UNION RETURN 2 AS x",
            "MERGE (:A {u: $user})",
            "CREATE INDEX x IF NOT EXISTS FOR (n:N) ON (n.x)",
        ] {
            assert_eq!(problem(text), None, "{text}");
        }
        for (text, part) in [
            ("MATCH (n) RETRN n", ""),
            ("MATCH (n) RETURN m", "m"),
            ("CREATE (:A); CREATE (:B", "Statement 2: "),
            ("RETURN point({x: 1, y: 2})", "it runs on Neo4j"),
        ] {
            let found = problem(text).unwrap_or_else(|| panic!("{text} has no problem"));
            assert!(found.contains(part), "{text}: {found}");
        }
    }
}
