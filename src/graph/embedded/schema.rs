//! Statements that must not reach the engine: schema commands, and what it would answer wrongly.

use super::gap;
use super::stages::aggregates;
use crate::graph::cypher::{Kind, Token, significant};
use crate::graph::{GraphError, GraphErrorKind};

/// What is to be done with a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Course {
    /// The engine runs it.
    Run,
    /// A schema command that changes no answer, so that nothing needs to be done: an index only makes queries faster.
    Hint,
    /// It is refused.
    Refuse(GraphError),
}

/// Chooses the course for a statement.
pub(super) fn course(statement: &str) -> Course {
    let tokens = significant(statement);
    let words: Vec<String> =
        tokens.iter().take_while(|token| token.kind == Kind::Word).map(|token| token.text.to_uppercase()).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["CREATE", "CONSTRAINT", ..] | ["CREATE", "OR", "REPLACE", "CONSTRAINT", ..] => {
            Course::Refuse(gap::unsupported("A constraint (CREATE CONSTRAINT)", None))
        }
        ["DROP", "CONSTRAINT", .., "IF", "EXISTS"] | ["DROP", "INDEX", ..] => Course::Hint,
        ["DROP", "CONSTRAINT", ..] => Course::Refuse(GraphError {
            kind: GraphErrorKind::Statement,
            message:
                "There is no such constraint to drop: the embedded graph has none. Try DROP CONSTRAINT … IF EXISTS."
                    .to_owned(),
        }),
        ["CREATE", rest @ ..] if rest.iter().take(4).any(|word| *word == "INDEX") => index(rest, &tokens),
        ["EXPLAIN" | "PROFILE", ..] => Course::Refuse(gap::unsupported("A query plan (EXPLAIN, PROFILE)", None)),
        _ if tokens.windows(2).any(|pair| pair[0].is_word("percentileDisc") && pair[1].is("(")) => {
            // The engine takes the value above the percentile, Neo4j the one that reaches it.
            Course::Refuse(gap::unsupported("The function percentileDisc()", None))
        }
        _ if star_meets_hidden_columns(&tokens) => Course::Refuse(GraphError {
            kind: GraphErrorKind::Unsupported,
            message:
                "`*` together with DISTINCT, UNION or an aggregation over a pattern with unnamed parts is not in the \
                      embedded graph; it runs on Neo4j (graph.neo4j). Name the columns that you need instead of `*`."
                    .to_owned(),
        }),
        _ => Course::Run,
    }
}

fn index(words: &[&str], tokens: &[Token<'_>]) -> Course {
    if words.contains(&"FULLTEXT") || words.contains(&"VECTOR") {
        return Course::Refuse(gap::unsupported("A full-text or vector index", None));
    }
    let has_for = tokens.windows(2).any(|pair| pair[0].is_word("FOR") && pair[1].is("("));
    let has_on = tokens.windows(2).any(|pair| pair[0].is_word("ON") && (pair[1].is("(") || pair[1].is_word("EACH")));
    if has_for && has_on {
        return Course::Hint;
    }
    Course::Refuse(GraphError {
        kind: GraphErrorKind::Statement,
        message:
            "This CREATE INDEX is not understood. Try CREATE INDEX name IF NOT EXISTS FOR (n:Label) ON (n.property)."
                .to_owned(),
    })
}

/// The engine gives unnamed nodes and relationships hidden columns, and `*` takes them along: they would take part in
/// what DISTINCT, UNION and grouping compare.
fn star_meets_hidden_columns(tokens: &[Token<'_>]) -> bool {
    let star = |at: usize| {
        tokens[at].is("*") && at > 0 && ["RETURN", "WITH", "DISTINCT"].iter().any(|word| tokens[at - 1].is_word(word))
    };
    let Some(at) = (0..tokens.len()).find(|at| star(*at)) else { return false };
    let compared = tokens[at - 1].is_word("DISTINCT")
        || tokens.iter().any(|token| token.is_word("UNION"))
        || (0..tokens.len()).any(|at| aggregates(tokens, at));
    let unnamed = tokens.windows(2).any(|pair| {
        let opens = pair[0].is("(") || pair[0].is("[");
        opens && [":", ")", "]", "{", "*"].iter().any(|symbol| pair[1].is(symbol)) || pair[0].is("-") && pair[1].is("-")
    });
    compared && unnamed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(statement: &str) -> Option<GraphErrorKind> {
        match course(statement) {
            Course::Refuse(error) => Some(error.kind),
            _ => None,
        }
    }

    #[test]
    fn an_index_is_a_hint() {
        for statement in [
            "CREATE INDEX FOR (n:Person) ON (n.name)",
            "create index person_name if not exists for (n:Person) on (n.name, n.age)",
            "CREATE RANGE INDEX x FOR ()-[r:KNOWS]-() ON (r.since)",
            "CREATE LOOKUP INDEX x FOR (n) ON EACH labels(n)",
            "DROP INDEX person_name IF EXISTS",
            "DROP CONSTRAINT one IF EXISTS",
        ] {
            assert_eq!(course(statement), Course::Hint, "{statement}");
        }
    }

    #[test]
    fn what_would_not_be_enforced_is_refused() {
        for statement in [
            "CREATE CONSTRAINT one FOR (n:Person) REQUIRE n.name IS UNIQUE",
            "CREATE FULLTEXT INDEX x FOR (n:Person) ON EACH [n.name]",
            "EXPLAIN MATCH (n) RETURN n",
            "MATCH (n)-->() RETURN DISTINCT *",
            "MATCH (n:A) WITH *, count(*) AS c MATCH (:B) RETURN c",
        ] {
            assert_eq!(kind(statement), Some(GraphErrorKind::Unsupported), "{statement}");
        }
    }

    #[test]
    fn what_neo4j_refuses_is_refused() {
        for statement in ["DROP CONSTRAINT one", "CREATE INDEX ON :Person(name)"] {
            assert_eq!(kind(statement), Some(GraphErrorKind::Statement), "{statement}");
        }
    }

    #[test]
    fn everything_else_runs() {
        for statement in [
            "CREATE (:Index {name: 'x'})",
            "CREATE (n:Constraint) RETURN n",
            "MATCH (n)-[r]->(m) RETURN DISTINCT *",
            "MATCH (n)-->() RETURN *",
            "MATCH (n) RETURN count(*)",
        ] {
            assert_eq!(course(statement), Course::Run, "{statement}");
        }
    }
}
