//! Errors of Cypher that are errors on every backend, found by the embedded graph's compiler.
//!
//! Invariant: no statement that Neo4j takes is refused. The compiler is believed only where nothing in a statement is beyond
//! openCypher, which it knows by heart, and only about classes of errors that Neo4j has too.

use graphdblite::{ErrorCode, GraphError as Theirs};

use super::Limits;
use super::bridge::bridge;
use super::engine::Store;
use super::gap;
use super::wire;
use crate::graph::cypher::{Kind, Token, significant, split};
use crate::graph::{GraphErrorKind, Parameters, Value};

/// The first error of a text, which may be several statements, that no backend takes; `None` where there is none, or where
/// only the backend itself can tell.
pub fn certain_problem(text: &str, parameters: &[&str]) -> Option<String> {
    let mut store = Store::open(Limits::default()).ok()?;
    let given: Parameters = parameters.iter().map(|name| ((*name).to_owned(), Value::Null)).collect();
    let statements = split(text);
    statements.iter().enumerate().find_map(|(at, statement)| {
        let problem = problem(&mut store, statement, &given)?;
        let which = if statements.len() > 1 { format!("Statement {}: ", at + 1) } else { String::new() };
        Some(format!("{which}{problem}"))
    })
}

fn problem(store: &mut Store, statement: &str, given: &Parameters) -> Option<String> {
    let tokens = significant(statement);
    if !is_open_cypher(&tokens) || gap::function(statement).is_some() {
        return None;
    }
    let given = store.given(given).ok()?;
    let theirs = store.database.compile(&bridge(statement).text, Some(&given)).err()?;
    let Theirs::Query(query) = &theirs else { return None };
    let is_certain = matches!(
        query.code(),
        ErrorCode::UnexpectedSyntax | ErrorCode::UndefinedVariable | ErrorCode::DifferentColumnsInUnion
    );
    let error = wire::error(statement, &theirs);
    (is_certain && error.kind == GraphErrorKind::Statement).then(|| in_words(&error.message, statement))
}

/// The compiler's words, with what stands at the place instead of the names of its own grammar's rules.
fn in_words(message: &str, statement: &str) -> String {
    let parts = message.split_once(": expected ").filter(|(_, expected)| expected.contains('_'));
    let Some((place, _)) = parts else { return message.to_owned() };
    let (line, column) = match place.rsplit_once("line ").and_then(|(_, place)| place.split_once(", column ")) {
        Some((line, column)) => (line.parse().unwrap_or(0), column.parse().unwrap_or(0)),
        None => (0_usize, 0_usize),
    };
    let rest = statement.lines().nth(line.wrapping_sub(1)).unwrap_or_default();
    let word: String =
        rest.chars().skip(column.saturating_sub(1)).take_while(|c| !c.is_whitespace()).take(30).collect();
    if word.is_empty() {
        format!("{place}: something is missing here")
    } else {
        format!("{place}: `{word}` can't stand here")
    }
}

/// openCypher's own words that begin a clause or stand within one.
const KEYWORDS: [&str; 52] = [
    "ALL",
    "AND",
    "ANY",
    "AS",
    "ASC",
    "ASCENDING",
    "BY",
    "CASE",
    "CONTAINS",
    "CREATE",
    "DELETE",
    "DESC",
    "DESCENDING",
    "DETACH",
    "DISTINCT",
    "ELSE",
    "END",
    "ENDS",
    "EXISTS",
    "FALSE",
    "IN",
    "IS",
    "LIMIT",
    "MATCH",
    "MERGE",
    "NONE",
    "NOT",
    "NULL",
    "ON",
    "OPTIONAL",
    "OR",
    "ORDER",
    "REMOVE",
    "RETURN",
    "SET",
    "SINGLE",
    "SKIP",
    "STARTS",
    "THEN",
    "TRUE",
    "UNION",
    "UNWIND",
    "WHEN",
    "WHERE",
    "WITH",
    "XOR",
    "COUNT",
    "COLLECT",
    "SUM",
    "AVG",
    "MIN",
    "MAX",
];

/// Words with which openCypher's statements begin.
const FIRST: [&str; 8] = ["MATCH", "OPTIONAL", "UNWIND", "WITH", "RETURN", "CREATE", "MERGE", "DETACH"];

/// Words that other versions of Cypher put where openCypher has none: nothing that is near one of them is a slip of the pen.
const OTHERS: [&str; 24] = [
    "FILTER",
    "LET",
    "NEXT",
    "INSERT",
    "OFFSET",
    "FINISH",
    "FOREACH",
    "CALL",
    "YIELD",
    "LOAD",
    "USE",
    "USING",
    "SHOW",
    "SHORTEST",
    "GROUP",
    "GROUPS",
    "WALK",
    "TRAIL",
    "ACYCLIC",
    "PATH",
    "PATHS",
    "REPEATABLE",
    "DIFFERENT",
    "NODETACH",
];

/// Whether all of a statement is openCypher as far as its tokens tell, but for what may be misspelled in it.
fn is_open_cypher(tokens: &[Token<'_>]) -> bool {
    let begins = tokens.first().is_some_and(|first| FIRST.iter().any(|word| first.is_word(word)));
    begins && !calls_by_a_long_name(tokens) && (0..tokens.len()).all(|at| is_plain(tokens, at))
}

fn is_plain(tokens: &[Token<'_>], at: usize) -> bool {
    let token = &tokens[at];
    let after = |steps: usize| tokens.get(at + steps);
    let next = |symbol: &str| after(1).is_some_and(|token| token.is(symbol));
    let before = |symbol: &str| at > 0 && tokens[at - 1].is(symbol);
    match token.kind {
        Kind::Space | Kind::Comment => true,
        Kind::Backtick => token.text.trim_matches('`').bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'),
        Kind::Quoted => !token.text.contains('\\'),
        Kind::Number => token.text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'),
        // Not as a label, and not as all properties of a pattern.
        Kind::Parameter => {
            let is_whole_pattern = at > 1 && next(")") && ends_operand(&tokens[at - 1]);
            !(next("(") || is_whole_pattern || token.text.contains('`'))
        }
        Kind::Symbol => match token.text {
            "(" => !is_within_pattern_parentheses(tokens, at),
            "+" | "*" => !before(">") && !before("-"),
            ")" | "]" | "[" | "," | "=" | "<" | ">" | "-" | "/" | "%" | "^" | "." | "}" | "~" => true,
            // No subquery, no quantifier, no projection of a map.
            "{" => {
                !(at > 0
                    && (matches!(tokens[at - 1].text, ")" | ">" | "-" | "]" | "+" | "*") || is_subquery(tokens, at)))
            }
            // No `::`, no computed label, no `!` or `%` within labels.
            ":" => !next(":") && !before(":") && !next("(") && !next("!") && !next("%") && !next("$"),
            // Between types, and within a comprehension.
            "|" => opening(tokens, at).is_some_and(|open| tokens[open].is("[")) && !next("|") && !before("|"),
            _ => false,
        },
        Kind::Word => is_plain_word(tokens, at),
    }
}

fn is_plain_word(tokens: &[Token<'_>], at: usize) -> bool {
    let token = &tokens[at];
    if !token.text.is_ascii() {
        return false;
    }
    let previous = at.checked_sub(1).map(|before| &tokens[before]);
    let next = tokens.get(at + 1);
    let is_keyword = KEYWORDS.iter().any(|word| token.is_word(word));
    if token.is_word("IS") {
        // `IS NULL` and `IS NOT NULL`; there are predicates of types and of normal forms besides.
        return tokens[at + 1..].iter().take(2).any(|next| next.is_word("NULL"));
    }
    if ["COUNT", "COLLECT", "EXISTS"].iter().any(|word| token.is_word(word)) && next.is_some_and(|next| next.is("{")) {
        return false;
    }
    if ["ALL", "ANY"].iter().any(|word| token.is_word(word)) && !next.is_some_and(|next| next.is("(")) {
        return false;
    }
    if ["ALL", "ANY"].iter().any(|word| token.is_word(word))
        && previous.is_some_and(|before| before.is_word("MATCH") || before.is("=") && is_pattern_name(tokens, at))
    {
        return false;
    }
    if token.is_word("WHERE") && opening(tokens, at).is_some() {
        // Within brackets it is openCypher's only after `x IN list`; within a pattern it is Neo4j's.
        let open = opening(tokens, at).unwrap_or_default();
        return tokens[open..at].iter().any(|token| token.is_word("IN")) && !is_node_or_relationship(tokens, open);
    }
    if ["CREATE", "ON"].iter().any(|word| token.is_word(word)) {
        // Indexes and constraints are the backend's.
        let is_clause = next.is_some_and(|next| next.is("(") || next.is_word("MATCH") || next.is_word("CREATE"));
        return is_clause || tokens.get(at + 2).is_some_and(|second| second.is("="));
    }
    if ["ORDER", "SKIP", "LIMIT"].iter().any(|word| token.is_word(word)) && !is_in_its_place(tokens, at) {
        // Elsewhere it is a clause of its own.
        return false;
    }
    if token.is_word("DISTINCT") && previous.is_some_and(|before| before.is_word("UNION")) {
        return false;
    }
    if is_keyword {
        return !is_a_name(tokens, at);
    }
    // A name stands where an operand is wanted; after an operand it is a word that only another Cypher can know, or one
    // that is misspelled.
    if !previous.is_some_and(ends_operand) {
        return true;
    }
    !OTHERS.iter().any(|word| token.is_word(word)) && is_misspelled(token.text)
}

/// Whether a word is none, but one letter away from one with which a clause begins.
fn is_misspelled(text: &str) -> bool {
    const LONG: [&str; 9] = ["MATCH", "OPTIONAL", "UNWIND", "RETURN", "WHERE", "CREATE", "MERGE", "DELETE", "REMOVE"];
    let upper = text.to_uppercase();
    LONG.iter().any(|word| strsim::damerau_levenshtein(&upper, word) == 1)
}

/// Whether an operand can end with this: a name, a number, a text, a closed bracket.
fn ends_operand(token: &Token<'_>) -> bool {
    const NO_OPERANDS: [&str; 40] = [
        "AND", "AS", "BY", "CASE", "CONTAINS", "CREATE", "DELETE", "DETACH", "DISTINCT", "ELSE", "ENDS", "IN", "IS",
        "LIMIT", "MATCH", "MERGE", "NOT", "ON", "OPTIONAL", "OR", "ORDER", "REMOVE", "RETURN", "SET", "SKIP", "STARTS",
        "THEN", "UNION", "UNWIND", "WHEN", "WHERE", "WITH", "XOR", "ALL", "ANY", "NONE", "SINGLE", "EXISTS", "COUNT",
        "COLLECT",
    ];
    match token.kind {
        Kind::Word => !NO_OPERANDS.iter().any(|word| token.is_word(word)),
        Kind::Symbol => matches!(token.text, ")" | "]" | "}"),
        Kind::Space | Kind::Comment => false,
        Kind::Backtick | Kind::Quoted | Kind::Number | Kind::Parameter => true,
    }
}

/// Where the bracket opens in which this stands.
fn opening(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    let mut depth = 0usize;
    for place in (0..at).rev() {
        match tokens[place].text {
            ")" | "]" | "}" if tokens[place].kind == Kind::Symbol => depth += 1,
            "(" | "[" | "{" if tokens[place].kind == Kind::Symbol => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return Some(place),
            },
            _ => {}
        }
    }
    None
}

/// `(a)-[r …]`, `MATCH (n …)`: the bracket of a node or of a relationship.
fn is_node_or_relationship(tokens: &[Token<'_>], open: usize) -> bool {
    let Some(before) = open.checked_sub(1).map(|before| &tokens[before]) else { return true };
    match tokens[open].text {
        "[" => before.is("-"),
        "(" => {
            before.is("-")
                || before.is(">")
                || before.is_word("MATCH")
                || before.is_word("CREATE")
                || before.is_word("MERGE")
                || before.is(",")
        }
        _ => false,
    }
}

/// `p = ANY …`: what a pattern is named, after `MATCH` or a comma.
fn is_pattern_name(tokens: &[Token<'_>], at: usize) -> bool {
    at.checked_sub(3).is_some_and(|place| tokens[place].is_word("MATCH") || tokens[place].is(","))
}

/// `((a)-->(b))+`: parentheses around a part of a pattern.
fn is_within_pattern_parentheses(tokens: &[Token<'_>], at: usize) -> bool {
    let next = tokens.get(at + 1).is_some_and(|next| next.is("("));
    let Some(before) = at.checked_sub(1).map(|before| &tokens[before]) else { return false };
    next && (before.is_word("MATCH")
        || before.is(")")
        || before.is("-")
        || before.is(">")
        || before.is(",")
        || before.is("="))
}

/// `COUNT {`, `CALL {`, `n {.name}`: a brace after a word that is no keyword of openCypher's, or that has a subquery.
fn is_subquery(tokens: &[Token<'_>], at: usize) -> bool {
    let before = &tokens[at - 1];
    let has_label = at > 1 && tokens[at - 2].is(":");
    let in_pattern = opening(tokens, at).is_some_and(|open| is_node_or_relationship(tokens, open));
    match before.kind {
        Kind::Word if before.is_word("EXISTS") || before.is_word("COUNT") || before.is_word("COLLECT") => true,
        // A name within a pattern, or a label; else the projection of a map.
        Kind::Word | Kind::Backtick => ends_operand(before) && !has_label && !in_pattern,
        _ => false,
    }
}

/// Whether a keyword stands where a name does: `AS order`, `(end:A)`, `[in IN xs]`.
fn is_a_name(tokens: &[Token<'_>], at: usize) -> bool {
    let previous = at.checked_sub(1).map(|before| &tokens[before]);
    let Some(next) = tokens.get(at + 1) else { return previous.is_some_and(|before| before.is_word("AS")) };
    let opens = previous.is_some_and(|before| before.is("(") || before.is("["));
    let is_value = ["TRUE", "FALSE", "NULL"].iter().any(|word| tokens[at].is_word(word));
    previous.is_some_and(|before| before.is_word("AS"))
        || opens && ([":", ")", "{", "]", "*", "-"].iter().any(|symbol| next.is(symbol)) || next.is_word("IN"))
        || next.is("=") && !is_value
}

/// Whether `ORDER BY`, `SKIP` and `LIMIT` belong to the `WITH` or `RETURN` before them.
fn is_in_its_place(tokens: &[Token<'_>], at: usize) -> bool {
    const CLAUSES: [&str; 13] = [
        "MATCH", "WHERE", "UNWIND", "WITH", "RETURN", "CREATE", "MERGE", "SET", "DELETE", "REMOVE", "ORDER", "SKIP",
        "LIMIT",
    ];
    let is_clause = |token: &&Token<'_>| CLAUSES.iter().any(|word| token.is_word(word));
    let Some(clause) = tokens[..at].iter().rev().find(is_clause) else { return false };
    let may_follow: &[&str] = match tokens[at].text.to_uppercase().as_str() {
        "ORDER" => &["WITH", "RETURN"],
        "SKIP" => &["WITH", "RETURN", "ORDER"],
        _ => &["WITH", "RETURN", "ORDER", "SKIP"],
    };
    may_follow.iter().any(|word| clause.is_word(word))
}

/// `my.own.function(…)`: what it is, only the backend knows.
fn calls_by_a_long_name(tokens: &[Token<'_>]) -> bool {
    tokens.windows(3).any(|three| three[0].is(".") && three[2].is("("))
}

#[cfg(test)]
mod tests;
