//! Statements that must not reach the engine: schema commands, and what it would answer wrongly.

use super::catalog::{Command, command};
use super::gap;
use super::stages::Projection;
use crate::graph::cypher::{Kind, Token, closing, significant};
use crate::graph::{GraphError, GraphErrorKind, Parameters, Value};

/// What is to be done with a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Dispatch {
    /// The engine runs it.
    Run,
    /// It is about an index or a constraint.
    Schema(Command),
    /// `EXPLAIN`: the engine only compiles what comes after the word, and there are no rows.
    Compile,
}

/// Chooses what is to be done with a statement.
pub(super) fn dispatch(statement: &str, parameters: &Parameters) -> Result<Dispatch, GraphError> {
    if let Some(command) = command(statement) {
        return command.map(Dispatch::Schema);
    }
    let tokens = significant(statement);
    let words: Vec<String> =
        tokens.iter().take_while(|token| token.kind == Kind::Word).map(|token| token.text.to_uppercase()).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["EXPLAIN", ..] => Ok(Dispatch::Compile),
        ["PROFILE", ..] => Err(gap::unsupported("A query plan (PROFILE)", None)),
        _ if (0..tokens.len()).any(|at| is_old_octal(&tokens, at)) => Err(GraphError {
            kind: GraphErrorKind::Statement,
            message: "A number can't begin with 0. Octal numbers are written 0o17.".to_owned(),
        }),
        _ if takes_another_value(&tokens, parameters) => {
            Err(gap::unsupported("The function percentileDisc() between 0 and 1", None))
        }
        _ if star_meets_hidden_columns(&tokens) => Err(GraphError {
            kind: GraphErrorKind::Unsupported,
            message:
                "`*` together with DISTINCT, UNION or an aggregation over a pattern with unnamed parts is not in the \
                      embedded graph; it runs on Neo4j (graph.neo4j). Name the columns that you need instead of `*`."
                    .to_owned(),
        }),
        _ => Ok(Dispatch::Run),
    }
}

/// `017`, which Neo4j refuses and the engine takes for 17.
fn is_old_octal(tokens: &[Token<'_>], at: usize) -> bool {
    let token = tokens[at];
    // `.01` is a point and its digits.
    let digits = token.text.strip_prefix('0').filter(|_| at == 0 || !tokens[at - 1].is("."));
    token.kind == Kind::Number
        && digits.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
}

/// Whether a percentileDisc() may give another value than Neo4j's: the engine rounds to the nearest place, Neo4j takes the
/// one that reaches the percentile. Both take the first for 0 and the last for 1, and refuse what is beyond.
fn takes_another_value(tokens: &[Token<'_>], parameters: &Parameters) -> bool {
    (0..tokens.len().saturating_sub(1)).any(|at| {
        let calls = tokens[at].is_word("percentileDisc") && tokens[at + 1].is("(");
        let Some(close) = closing(tokens, at + 1).filter(|_| calls) else { return calls };
        let percentile = match &tokens[at + 2..close] {
            [.., comma, number] if comma.is(",") && number.kind == Kind::Number => number.text.parse().ok(),
            [.., comma, sign, number] if comma.is(",") && sign.is("-") => number.text.parse().ok().map(|p: f64| -p),
            [.., comma, name] if comma.is(",") && name.kind == Kind::Parameter => {
                match parameters.get(name.text.trim_matches(['$', '`'])) {
                    Some(Value::Int(percentile)) => Some(*percentile as f64),
                    Some(Value::Float(percentile)) => Some(*percentile),
                    _ => None,
                }
            }
            _ => None,
        };
        percentile.is_none_or(|percentile| percentile > 0.0 && percentile < 1.0)
    })
}

/// The engine gives unnamed nodes and relationships hidden columns, and `*` takes them along: they would take part in
/// what DISTINCT, UNION and grouping compare.
fn star_meets_hidden_columns(tokens: &[Token<'_>]) -> bool {
    let unions = tokens.iter().any(|token| token.is_word("UNION"));
    (1..tokens.len()).filter(|at| tokens[*at].is("*")).any(|at| {
        let distinct = tokens[at - 1].is_word("DISTINCT");
        let start = if distinct { at.saturating_sub(2) } else { at - 1 };
        if !tokens[start].is_word("RETURN") && !tokens[start].is_word("WITH") {
            return false;
        }
        let groups = Projection::read(tokens, start).is_none_or(|projection| projection.groups());
        (distinct || unions || groups) && has_unnamed(&tokens[..start])
    })
}

/// Whether a pattern has parts without a name.
fn has_unnamed(tokens: &[Token<'_>]) -> bool {
    tokens.windows(2).any(|pair| {
        let opens = pair[0].is("(") || pair[0].is("[");
        opens && [":", ")", "]", "{", "*"].iter().any(|symbol| pair[1].is(symbol)) || pair[0].is("-") && pair[1].is("-")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(statement: &str) -> Option<GraphErrorKind> {
        match dispatch(statement, &Parameters::new()) {
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
    fn percentiles_run_where_both_take_the_same_value() {
        let parameters = Parameters::from([("p".to_owned(), Value::Float(0.5)), ("one".to_owned(), Value::Int(1))]);
        for (arguments, runs) in [
            ("x, 0", true),
            ("[1, 2][0], 1.0", true),
            ("x, -1", true),
            ("x, $one", true),
            ("x, 0.5", false),
            ("x, $p", false),
            ("x, $missing", false),
            ("0.9, x", false),
            ("x", false),
        ] {
            let found = dispatch(&format!("UNWIND [1] AS x RETURN percentileDisc({arguments})"), &parameters);
            assert_eq!(found == Ok(Dispatch::Run), runs, "{arguments}");
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
            assert_eq!(dispatch(statement, &Parameters::new()), Ok(Dispatch::Run), "{statement}");
        }
    }
}
