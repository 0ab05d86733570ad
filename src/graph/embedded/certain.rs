//! Errors of Cypher that are errors on every backend, found by the embedded graph's compiler.
//!
//! Invariant: no statement that Neo4j takes is refused. The compiler is believed only where nothing in a statement is beyond
//! openCypher, which it knows by heart, and only about classes of errors that Neo4j has too.

use graphdblite::{ErrorCode, GraphError as Theirs};

use super::EmbeddedLimits;
use super::bridge::bridge;
use super::engine::OpenDatabase;
use super::gap;
use super::wire;
use crate::cypher::{Statement, TokenKind, is_one_of, split};
use crate::graph::{GraphErrorKind, Parameters, StatementProblem, Value};

/// The first error of a text, which may be several statements, that every backend would report; `None` where there is
/// none, or where only the backend itself can decide.
pub fn certain_problem(text: &str, parameters: &[&str]) -> Option<StatementProblem> {
    first_problem(text, parameters, problem)
}

/// The first problem of a text, which may be several statements. `parameters` are the names of those that it will be given.
pub(super) fn first_problem(
    text: &str,
    parameters: &[&str],
    problem: impl Fn(&mut OpenDatabase, &str, &Parameters) -> Option<String>,
) -> Option<StatementProblem> {
    // Where the engine can't even be opened, the error comes when it is needed.
    let mut store = OpenDatabase::open(EmbeddedLimits::default()).ok()?;
    let given: Parameters = parameters.iter().map(|name| ((*name).to_owned(), Value::Null)).collect();
    let statements = split(text);
    statements.iter().enumerate().find_map(|(at, statement)| {
        let problem = problem(&mut store, statement, &given)?;
        // The place is one in the statement, and not in the whole text.
        Some(match statements.len() {
            1 => StatementProblem::from_message(&problem),
            _ => StatementProblem { at: None, message: format!("Statement {}: {problem}", at + 1) },
        })
    })
}

fn problem(store: &mut OpenDatabase, text: &str, given: &Parameters) -> Option<String> {
    let statement = Statement::parse(text);
    if !is_open_cypher(&statement) || gap::function(&statement).is_some() {
        return None;
    }
    let given = store.given(given).ok()?;
    let theirs = store.database.compile(&bridge(&statement).text, Some(&given)).err()?;
    let Theirs::Query(query) = &theirs else { return None };
    let is_certain = matches!(
        query.code(),
        ErrorCode::UnexpectedSyntax | ErrorCode::UndefinedVariable | ErrorCode::DifferentColumnsInUnion
    );
    let error = wire::error(text, &theirs);
    (is_certain && error.kind == GraphErrorKind::Statement).then(|| readable(&error.message, text))
}

/// The compiler's message, with the token at the place instead of the names of its own grammar's rules.
fn readable(message: &str, statement: &str) -> String {
    let parts = message.split_once(": expected ").filter(|(_, expected)| expected.contains('_'));
    let Some((place, _)) = parts else { return message.to_owned() };
    let (line, column) = match place.rsplit_once("line ").and_then(|(_, place)| place.split_once(", column ")) {
        Some((line, column)) => (line.parse().unwrap_or(0), column.parse().unwrap_or(0)),
        None => (0_usize, 0_usize),
    };
    let rest = statement.lines().nth(line.wrapping_sub(1)).unwrap_or_default();
    let token: String =
        rest.chars().skip(column.saturating_sub(1)).take_while(|c| !c.is_whitespace()).take(30).collect();
    if token.is_empty() {
        format!("{place}: something is missing here")
    } else {
        format!("{place}: `{token}` can't stand here")
    }
}

/// openCypher's keywords after which an operand is expected, so that none can end with them.
const BEFORE_OPERANDS: &str = "AND AS BY CASE CONTAINS CREATE DELETE DETACH DISTINCT ELSE ENDS IN IS LIMIT MATCH MERGE NOT ON \
                               OPTIONAL OR ORDER REMOVE RETURN SET SKIP STARTS THEN UNION UNWIND WHEN WHERE WITH XOR ALL \
                               ANY NONE SINGLE EXISTS COUNT COLLECT";

/// The rest of openCypher's keywords.
const OTHER_KEYWORDS: &str = "ASC ASCENDING DESC DESCENDING END FALSE NULL TRUE SUM AVG MIN MAX";

/// Words with which openCypher's statements begin.
const FIRST: &str = "MATCH OPTIONAL UNWIND WITH RETURN CREATE MERGE DETACH";

/// Words that other versions of Cypher put where openCypher has none: nothing that is near one of them is a slip of the pen.
const OTHERS: &str = "FILTER LET NEXT INSERT OFFSET FINISH FOREACH CALL YIELD LOAD USE USING SHOW SHORTEST GROUP GROUPS WALK \
                      TRAIL ACYCLIC PATH PATHS REPEATABLE DIFFERENT NODETACH";

/// Whether all of a statement is openCypher as far as its tokens show, but for misspellings.
fn is_open_cypher(s: &Statement<'_>) -> bool {
    // `my.own.function(…)`: only the backend knows it.
    let calls_by_a_long_name = (0..s.len()).any(|at| s.is(at, ".") && s.is(at + 2, "("));
    s.keyword(0, FIRST) && !calls_by_a_long_name && (0..s.len()).all(|at| is_plain(s, at))
}

fn is_plain(s: &Statement<'_>, at: usize) -> bool {
    let (text, before) = (s.at(at), at.wrapping_sub(1));
    match s.tokens[at].kind {
        TokenKind::Space | TokenKind::Comment => true,
        TokenKind::Backtick => text.trim_matches('`').bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'),
        TokenKind::Quoted => !text.contains('\\'),
        TokenKind::Number => text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'),
        // Not as a label, and not as all properties of a pattern.
        TokenKind::Parameter => {
            let is_whole_pattern = at > 1 && s.is(at + 1, ")") && ends_operand(s, before);
            !(s.is(at + 1, "(") || is_whole_pattern || text.contains('`'))
        }
        TokenKind::Symbol => match text {
            // No parentheses around a part of a pattern: `((a)-->(b))+`.
            "(" => !(s.is(at + 1, "(") && (s.keyword(before, "MATCH") || s.symbol(before, ")->,="))),
            "+" | "*" => !s.symbol(before, ">-"),
            // No subquery, no quantifier, no projection of a map.
            "{" => !(s.symbol(before, ")>-]+*") || at > 0 && is_subquery(s, at)),
            // No `::`, no computed label, no `!` or `%` within labels.
            ":" => !s.symbol(at + 1, ":(!%$") && !s.is(before, ":"),
            // Between types, and within a comprehension.
            "|" => s.open(at).is_some_and(|open| s.is(open, "[")) && !s.is(at + 1, "|") && !s.is(before, "|"),
            symbol => ")][,=<>-/%^.}~".contains(symbol),
        },
        TokenKind::Word => text.is_ascii() && is_plain_word(s, at),
    }
}

fn is_plain_word(s: &Statement<'_>, at: usize) -> bool {
    let before = at.wrapping_sub(1);
    if s.keyword(at, "IS") {
        // `IS NULL` and `IS NOT NULL`; there are predicates of types and of normal forms besides.
        return s.keyword(at + 1, "NULL") || s.keyword(at + 2, "NULL");
    }
    if s.keyword(at, "COUNT COLLECT EXISTS") && s.is(at + 1, "{") {
        return false;
    }
    // `MATCH ANY (…)`, `p = ANY (…)`.
    let is_pattern_name = || at > 2 && (s.keyword(at - 3, "MATCH") || s.is(at - 3, ","));
    let selects_paths = || s.keyword(before, "MATCH") || s.is(before, "=") && is_pattern_name();
    if s.keyword(at, "ALL ANY") && (!s.is(at + 1, "(") || selects_paths()) {
        return false;
    }
    if let Some(open) = s.open(at).filter(|_| s.keyword(at, "WHERE")) {
        // Within brackets it is openCypher's only after `x IN list`; within a pattern it is Neo4j's.
        return (open..at).any(|at| s.keyword(at, "IN")) && !is_node_or_relationship(s, open);
    }
    if s.keyword(at, "CREATE ON") {
        // Indexes and constraints are the backend's.
        return s.is(at + 1, "(") || s.keyword(at + 1, "MATCH CREATE") || s.is(at + 2, "=");
    }
    if s.keyword(at, "ORDER SKIP LIMIT") && !is_in_its_place(s, at)
        || s.keyword(at, "DISTINCT") && s.keyword(before, "UNION")
    {
        // Elsewhere it is a clause of its own.
        return false;
    }
    if s.keyword(at, BEFORE_OPERANDS) || s.keyword(at, OTHER_KEYWORDS) {
        return !is_a_name(s, at);
    }
    // A name stands where an operand is expected; after an operand it is a keyword of another Cypher, or misspelled.
    !ends_operand(s, before) || !s.keyword(at, OTHERS) && is_misspelled(s.at(at))
}

/// Whether a name is one letter away from a keyword that begins a clause.
fn is_misspelled(text: &str) -> bool {
    let upper = text.to_uppercase();
    "MATCH OPTIONAL UNWIND RETURN WHERE CREATE MERGE DELETE REMOVE"
        .split(' ')
        .any(|keyword| strsim::damerau_levenshtein(&upper, keyword) == 1)
}

/// Whether an operand can end with this: a name, a number, a text, a closed bracket.
fn ends_operand(s: &Statement<'_>, at: usize) -> bool {
    match s.kind(at) {
        None | Some(TokenKind::Space | TokenKind::Comment) => false,
        Some(TokenKind::Word) => !is_one_of(s.at(at), BEFORE_OPERANDS),
        Some(TokenKind::Symbol) => s.symbol(at, ")]}"),
        Some(TokenKind::Backtick | TokenKind::Quoted | TokenKind::Number | TokenKind::Parameter) => true,
    }
}

/// `(a)-[r …]`, `MATCH (n …)`: the bracket of a node or of a relationship.
fn is_node_or_relationship(s: &Statement<'_>, open: usize) -> bool {
    let Some(before) = open.checked_sub(1) else { return true };
    match s.at(open) {
        "[" => s.is(before, "-"),
        "(" => s.symbol(before, "->,") || s.keyword(before, "MATCH CREATE MERGE"),
        _ => false,
    }
}

/// `COUNT {`, `CALL {`, `n {.name}`: a brace after a name that is no keyword of openCypher's, or that has a subquery.
fn is_subquery(s: &Statement<'_>, at: usize) -> bool {
    let in_pattern = || s.open(at - 1).is_some_and(|open| is_node_or_relationship(s, open));
    // A name within a pattern, or a label; else the projection of a map.
    s.keyword(at - 1, "EXISTS COUNT COLLECT")
        || s.named(at - 1) && ends_operand(s, at - 1) && !s.is(at.wrapping_sub(2), ":") && !in_pattern()
}

/// Whether a keyword stands where a name does: `AS order`, `(end:A)`, `[in IN xs]`.
fn is_a_name(s: &Statement<'_>, at: usize) -> bool {
    let opens = s.symbol(at.wrapping_sub(1), "([");
    s.keyword(at.wrapping_sub(1), "AS")
        || opens && (s.symbol(at + 1, ":){]*-") || s.keyword(at + 1, "IN"))
        || s.is(at + 1, "=") && !s.keyword(at, "TRUE FALSE NULL")
}

/// Whether `ORDER BY`, `SKIP` and `LIMIT` belong to the `WITH` or `RETURN` before them.
fn is_in_its_place(s: &Statement<'_>, at: usize) -> bool {
    let Some(clause) = s.clause(at) else { return false };
    s.keyword(clause, "WITH RETURN")
        || !s.keyword(at, "ORDER") && s.keyword(clause, "ORDER")
        || s.keyword(at, "LIMIT") && s.keyword(clause, "SKIP")
}

#[cfg(test)]
mod tests;
