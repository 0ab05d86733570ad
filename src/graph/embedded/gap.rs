//! Why the engine did not understand: no Cypher at all, or Cypher that only Neo4j knows.
//!
//! This only sorts errors that the engine has raised. It never stops a statement that the engine would run.

use super::names;
use crate::cypher::{Statement, TokenKind, is_one_of};
use crate::graph::{GraphError, GraphErrorKind};

/// Neo4j's functions that the engine lacks and no bridge writes.
const FUNCTIONS: &str = "acos asin atan atan2 btrim char_length character_length cos cosh cot coth degrees file \
                         haversin isnan linenumber normalize nullif point point.distance point.withinbbox \
                         radians reduce sin sinh stdevp tan tanh tobooleanlist tobooleanornull \
                         tofloatlist tofloatornull tointegerlist tointegerornull tostringlist tostringornull valuetype \
                         vector.similarity.cosine vector.similarity.euclidean";

/// The first part of the names of the procedures that Neo4j and its usual plugins bring.
const PROCEDURES: &str = "db dbms tx jmx apoc gds genai n10s";

/// An error for Cypher that the engine lacks.
pub(super) fn unsupported(what: &str, engine: Option<&str>) -> GraphError {
    let mut message = format!("{what} is not in the embedded graph; it runs on Neo4j (graph.neo4j).");
    if let Some(reason) = engine {
        message.push_str(&format!(" The embedded graph said: {reason}"));
    }
    GraphError::new(GraphErrorKind::Unsupported, message)
}

/// The name of a function that Neo4j has and the engine lacks.
pub(super) fn function(s: &Statement<'_>) -> Option<String> {
    let calls = |at: &usize| s.kind(*at) == Some(TokenKind::Word) && s.is(at + 1, "(");
    let name = (0..s.len()).filter(calls).map(|at| qualified(s, at)).find(|name| is_one_of(name, FUNCTIONS))?;
    Some(format!("The function {name}()"))
}

/// The name of a procedure that a Neo4j can have.
pub(super) fn procedure(s: &Statement<'_>) -> Option<String> {
    let known = |at: &usize| s.keyword(*at, "CALL") && s.is(at + 2, ".") && is_one_of(s.at(at + 1), PROCEDURES);
    let call = (0..s.len()).find(known)?;
    let part = |at: &usize| s.kind(*at) == Some(TokenKind::Word) || s.is(*at, ".");
    let name: String = (call + 1..s.len()).take_while(part).map(|at| s.at(at)).collect();
    Some(format!("The procedure {}()", name.trim_end_matches("YIELD")))
}

/// Whether a Neo4j can have a procedure of this name.
pub(super) fn is_procedure(name: &str) -> bool {
    name.split_once('.').is_some_and(|(space, _)| is_one_of(space, PROCEDURES))
}

/// The name of a construct that Neo4j has and the engine's grammar lacks.
pub(super) fn syntax(s: &Statement<'_>) -> Option<String> {
    let is_bare_map = |at: usize| s.is(at, "{") && s.close(at).is_some_and(|close| !s.symbol(close + 1, ".["));
    if (1..s.len()).any(|at| s.keyword(at - 1, "NOT") && is_bare_map(at)) {
        // Neo4j refuses that, whatever is in the map.
        return None;
    }
    let found = (0..s.len()).find_map(|at| construct(s, at)).map(str::to_owned);
    found.or_else(|| name(s)).or_else(|| function(s))
}

fn construct(s: &Statement<'_>, at: usize) -> Option<&'static str> {
    let before = at.wrapping_sub(1);
    Some(match s.at(at) {
        "|" if s.is(at + 1, "|") => "Joining strings with ||",
        "&" | "!" => "A label expression (&, |, !)",
        "|" if in_node(s, at) => "A label expression (&, |, !)",
        "(" if s.is(at + 1, "(") && s.kind(at + 2) == Some(TokenKind::Word) && s.is(before, "-") => {
            "A quantified path pattern"
        }
        "{" if s.symbol(before, ")>") => "A quantified path pattern",
        "." if s.is(before, "{") && s.kind(at.wrapping_sub(2)) == Some(TokenKind::Word) => "This map projection",
        ":" if s.is(at + 1, ":") => "A type predicate (IS ::)",
        _ if s.kind(at) == Some(TokenKind::Parameter) && in_pattern(s, at) => {
            "A parameter for all properties of a pattern"
        }
        _ if s.kind(at) != Some(TokenKind::Word) || s.symbol(before, ".:") => return None,
        _ if s.keyword(at, "CALL") && s.symbol(at + 1, "{(") => "A subquery (CALL { … })",
        _ if s.keyword(at, "FOREACH") && s.is(at + 1, "(") => "FOREACH",
        _ if s.keyword(at, "COUNT") && s.is(at + 1, "{") => "This COUNT { … }",
        _ if s.keyword(at, "COLLECT") && s.is(at + 1, "{") => "COLLECT { … }",
        _ if s.keyword(at, "EXISTS") && s.is(at + 1, "{") => "This EXISTS { … }",
        _ if s.keyword(at, "REDUCE") && s.is(at + 1, "(") => "The function reduce()",
        _ if s.keyword(at, "LOAD") && s.keyword(at + 1, "CSV") => "LOAD CSV",
        _ if s.keyword(at, "USING") && s.keyword(at + 1, "INDEX SCAN JOIN TEXT RANGE POINT") => {
            "A planner hint (USING)"
        }
        _ if s.keyword(at, "SHORTEST") || s.keyword(at, "ANY") && s.is(at + 1, "(") && s.is(before, "=") => {
            "A SHORTEST path selector"
        }
        _ if s.keyword(at, "WHEN") && s.symbol(at + 1, "<>=") => "A comparison right after WHEN",
        _ if s.keyword(at, "WHEN") && s.keyword(at + 1, "IS STARTS ENDS") => "A predicate right after WHEN",
        _ if s.keyword(at, "REMOVE") && s.is(at + 2, "[") => "REMOVE of a computed property",
        _ if s.keyword(at, "TYPED") => "A type predicate (IS TYPED)",
        _ if s.keyword(at, "NORMALIZED") => "A normalisation predicate",
        _ if s.keyword(at, "FINISH") => "FINISH",
        _ if s.keyword(at, "TRANSACTIONS") => "CALL … IN TRANSACTIONS",
        _ if s.keyword(at, "WHERE") && in_brackets(s, at) => "A WHERE inside a pattern",
        _ if s.keyword(at, "YIELD CALL") => "This CALL",
        _ if at > 0 => return None,
        _ if s.keyword(at, "SHOW") => "SHOW",
        _ if s.keyword(at, "USE") => "USE",
        _ if s.keyword(at, "CYPHER") => "A CYPHER option",
        _ if s.keyword(at, "INSERT") => "INSERT",
        _ if s.keyword(at, "ALTER GRANT") => "An administration command",
        _ => return None,
    })
}

/// A name that Neo4j takes and the engine does not.
fn name(s: &Statement<'_>) -> Option<String> {
    s.tokens.iter().find_map(|token| {
        let bare = token.text.trim_matches(['`', '$']);
        let readable = match token.kind {
            TokenKind::Word | TokenKind::Parameter => bare.is_ascii() || names::is_plain(bare),
            TokenKind::Backtick => names::is_plain(bare),
            _ => true,
        };
        (!readable).then(|| format!("The name `{bare}` here"))
    })
}

/// A function's name with what stands before its dots.
fn qualified(s: &Statement<'_>, mut at: usize) -> String {
    let mut name = s.at(at).to_owned();
    while s.is(at.wrapping_sub(1), ".") && s.kind(at.wrapping_sub(2)) == Some(TokenKind::Word) {
        at -= 2;
        name = format!("{}.{name}", s.at(at));
    }
    name
}

/// `( name? : …` around a token: a node pattern, or as good as one.
fn in_node(s: &Statement<'_>, at: usize) -> bool {
    s.open(at).is_some_and(|open| s.is(open, "(") && (s.is(open + 1, ":") || s.is(open + 2, ":")))
}

fn in_pattern(s: &Statement<'_>, at: usize) -> bool {
    // Neo4j takes it in CREATE only.
    let first = s.is(at.wrapping_sub(1), "(") || s.kind(at.wrapping_sub(1)) == Some(TokenKind::Word);
    in_brackets(s, at)
        && s.symbol(at + 1, ")]")
        && first
        && s.clause(at).is_some_and(|clause| s.keyword(clause, "CREATE"))
}

/// Inside `(…)` of a pattern or `-[…]-`, as opposed to a function's arguments or a list.
fn in_brackets(s: &Statement<'_>, at: usize) -> bool {
    let Some((open, before)) = s.open(at).and_then(|open| Some((open, open.checked_sub(1)?))) else { return false };
    match s.at(open) {
        "(" => s.kind(before) != Some(TokenKind::Word) || s.keyword(before, "MATCH CREATE MERGE"),
        "[" => s.is(before, "-"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn syntax(text: &str) -> Option<String> {
        super::syntax(&Statement::parse(text))
    }

    fn procedure(text: &str) -> Option<String> {
        super::procedure(&Statement::parse(text))
    }

    fn function(text: &str) -> Option<String> {
        super::function(&Statement::parse(text))
    }

    #[test]
    fn known_gaps_are_named() {
        for (statement, expected) in [
            ("CALL { RETURN 1 AS x } RETURN x", "A subquery (CALL { … })"),
            ("MATCH (n) CALL (n) { RETURN 1 AS x } RETURN x", "A subquery (CALL { … })"),
            ("FOREACH (x IN [1] | CREATE (:Y))", "FOREACH"),
            ("RETURN COUNT { MATCH (n:A) }", "This COUNT { … }"),
            ("RETURN COLLECT { MATCH (n:A) RETURN n.x }", "COLLECT { … }"),
            ("MATCH (n:A|B) RETURN n", "A label expression (&, |, !)"),
            ("MATCH (n:A&!B) RETURN n", "A label expression (&, |, !)"),
            ("MATCH (n:A WHERE n.x > 1) RETURN n", "A WHERE inside a pattern"),
            ("MATCH (a)-[r WHERE r.x > 1]->(b) RETURN a", "A WHERE inside a pattern"),
            ("MATCH ((a)-[:R]->(b)){2} RETURN a", "A quantified path pattern"),
            ("RETURN 'a' || 'b'", "Joining strings with ||"),
            ("CREATE (n:P $props)", "A parameter for all properties of a pattern"),
            ("RETURN reduce(a = 0, x IN [1] | a + x)", "The function reduce()"),
            ("MATCH (n:Straße) RETURN n", "The name `Straße` here"),
            ("MATCH (n:`Two Words`) RETURN n", "The name `Two Words` here"),
            ("SHOW INDEXES", "SHOW"),
            ("RETURN NOT {``: true}.``", "The name `` here"),
            ("RETURN n {.*, x: 1}", "This map projection"),
        ] {
            assert_eq!(syntax(statement).as_deref(), Some(expected), "{statement}");
        }
    }

    #[test]
    fn a_plain_mistake_is_no_gap() {
        for statement in [
            "RETURN 1 +",
            "MATCH (n $props) RETURN n",
            "RETURN NOT {``: true}",
            "CREATE (n) MERGE (n)-[:R $props]->(m)",
            "MATCH (n RETURN n",
            "MATCH (n)-[:A|B]->(m) RETURN x y",
            "RETUN 1",
            "MATCH (n) WHERE n.x = $x RETRUN n",
            "RETURN [x IN [1] WHERE x > 0 | x",
            "MATCH (n) WHERE (n.x > 1 AND) RETURN n",
        ] {
            assert_eq!(syntax(statement), None, "{statement}");
        }
    }

    #[test]
    fn procedures_of_neo4j_are_named() {
        assert_eq!(procedure("MATCH (n) CALL db.labels() YIELD x").as_deref(), Some("The procedure db.labels()"));
        assert_eq!(procedure("CALL apoc.help('x')").as_deref(), Some("The procedure apoc.help()"));
        assert_eq!(procedure("CALL no.such.procedure()"), None);
    }

    #[test]
    fn functions_that_only_neo4j_has_are_named() {
        assert_eq!(function("RETURN point.distance(a, b)").as_deref(), Some("The function point.distance()"));
        assert_eq!(function("RETURN toIntegerOrNull(1)").as_deref(), Some("The function toIntegerOrNull()"));
        assert_eq!(function("RETURN nope(1)"), None);
    }
}
