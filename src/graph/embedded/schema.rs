//! Statements that must not reach the engine: schema commands, and what it would answer wrongly.

use super::catalog::{SchemaCommand, command};
use super::gap;
use super::stages::groups;
use crate::cypher::{Statement, TokenKind};
use crate::graph::{GraphError, GraphErrorKind};

/// The way a statement takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Dispatch {
    /// The engine runs it.
    Run,
    /// It is about an index or a constraint.
    Schema(SchemaCommand),
    /// `EXPLAIN`: the engine only compiles the rest, and there are no rows.
    Compile,
}

/// Chooses the way for a statement, or refuses it.
pub(super) fn dispatch(s: &Statement<'_>) -> Result<Dispatch, GraphError> {
    if let Some(command) = command(s) {
        return command.map(Dispatch::Schema);
    }
    if s.keyword(0, "EXPLAIN") {
        return Ok(Dispatch::Compile);
    }
    if s.keyword(0, "PROFILE") {
        return Err(gap::unsupported("A query plan (PROFILE)", None));
    }
    if (0..s.len()).any(|at| is_old_octal(s, at)) {
        let message = "A number can't begin with 0. Octal numbers are written 0o17.".to_owned();
        return Err(GraphError::new(GraphErrorKind::Statement, message));
    }
    if star_meets_hidden_columns(s) {
        let message = "`*` together with DISTINCT, UNION or an aggregation over a pattern with unnamed parts is not in the \
                       embedded graph; it runs on Neo4j (graph.neo4j). Name the columns that you need instead of `*`.";
        return Err(GraphError::new(GraphErrorKind::Unsupported, message.to_owned()));
    }
    Ok(Dispatch::Run)
}

/// `017`, which Neo4j refuses and the engine takes for 17.
fn is_old_octal(s: &Statement<'_>, at: usize) -> bool {
    // `.01` is a point and its digits.
    let digits = s.at(at).strip_prefix('0').filter(|_| !s.is(at.wrapping_sub(1), "."));
    s.kind(at) == Some(TokenKind::Number)
        && digits.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
}

/// The engine gives unnamed nodes and relationships hidden columns, and `*` takes them along: they would take part in
/// what DISTINCT, UNION and grouping compare.
fn star_meets_hidden_columns(s: &Statement<'_>) -> bool {
    let unions = (0..s.len()).any(|at| s.keyword(at, "UNION"));
    (0..s.len()).filter_map(|at| s.projection(at)).any(|projection| {
        let star = projection.items.iter().any(|item| item.len() == 1 && s.is(item.start, "*"));
        star && (projection.distinct || unions || groups(s, &projection)) && has_unnamed(s, projection.at)
    })
}

/// Whether a pattern before this token has parts without a name.
fn has_unnamed(s: &Statement<'_>, end: usize) -> bool {
    (1..end).any(|at| s.symbol(at - 1, "([") && s.symbol(at, ":)]{*") || s.is(at - 1, "-") && s.is(at, "-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dispatch(text: &str) -> Result<Dispatch, GraphError> {
        super::dispatch(&Statement::parse(text))
    }

    fn kind(statement: &str) -> Option<GraphErrorKind> {
        match dispatch(statement) {
            Err(error) => Some(error.kind),
            _ => None,
        }
    }

    #[test]
    fn what_would_be_answered_wrongly_is_refused() {
        for statement in [
            "CREATE FULLTEXT INDEX x FOR (n:Person) ON EACH [n.name]",
            "PROFILE MATCH (n) RETURN n",
            "MATCH (n)-->() RETURN DISTINCT *",
            "MATCH (n)-->() WITH *, count(*) AS c RETURN c",
            "MATCH (n)-->() RETURN * UNION MATCH (n)-->() RETURN *",
        ] {
            assert_eq!(kind(statement), Some(GraphErrorKind::Unsupported), "{statement}");
        }
    }

    #[test]
    fn everything_else_runs() {
        for statement in [
            "CREATE (:Index {name: 'x'})",
            "CREATE (n:Constraint) RETURN n",
            "MATCH (n)-[r]->(m) RETURN DISTINCT *",
            "MATCH (n)-->() RETURN *",
            "MATCH (n)-->() WITH n.x AS x, count(*) AS c RETURN *",
            "MATCH (n) WITH * MATCH (n)-->() RETURN count(*)",
            "MATCH (n) RETURN count(*)",
        ] {
            assert_eq!(dispatch(statement), Ok(Dispatch::Run), "{statement}");
        }
    }
}
