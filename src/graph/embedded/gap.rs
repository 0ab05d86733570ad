//! Why the engine did not understand: no Cypher at all, or Cypher that only Neo4j knows.
//!
//! This only sorts errors that the engine has raised. It never stops a statement that the engine would run.

use super::names;
use crate::graph::cypher::{Kind, Token, closing, significant};
use crate::graph::{GraphError, GraphErrorKind};

/// Neo4j's functions that the engine lacks and no bridge writes.
const FUNCTIONS: &[&str] = &[
    "acos",
    "asin",
    "atan",
    "atan2",
    "btrim",
    "char_length",
    "character_length",
    "cos",
    "cosh",
    "cot",
    "coth",
    "degrees",
    "elementid",
    "file",
    "haversin",
    "id",
    "isempty",
    "isnan",
    "linenumber",
    "normalize",
    "nullif",
    "point",
    "point.distance",
    "point.withinbbox",
    "radians",
    "randomuuid",
    "reduce",
    "sin",
    "sinh",
    "stdevp",
    "tan",
    "tanh",
    "timestamp",
    "tobooleanlist",
    "tobooleanornull",
    "tofloatlist",
    "tofloatornull",
    "tointegerlist",
    "tointegerornull",
    "tostringlist",
    "tostringornull",
    "valuetype",
    "vector.similarity.cosine",
    "vector.similarity.euclidean",
];

/// The first part of the names of the procedures that Neo4j and its usual plugins bring.
const PROCEDURES: [&str; 8] = ["db", "dbms", "tx", "jmx", "apoc", "gds", "genai", "n10s"];

/// An error for Cypher that the engine lacks.
pub(super) fn unsupported(what: &str, engine: Option<&str>) -> GraphError {
    let mut message = format!("{what} is not in the embedded graph; it runs on Neo4j (graph.neo4j).");
    if let Some(words) = engine {
        message.push_str(&format!(" The embedded graph said: {words}"));
    }
    GraphError { kind: GraphErrorKind::Unsupported, message }
}

/// The name of a function that Neo4j has and the engine lacks.
pub(super) fn function(statement: &str) -> Option<String> {
    let tokens = significant(statement);
    tokens.windows(2).enumerate().find_map(|(at, pair)| {
        let name = qualified(&tokens, at);
        let known = FUNCTIONS.contains(&name.to_ascii_lowercase().as_str());
        (pair[0].kind == Kind::Word && pair[1].is("(") && known).then(|| format!("The function {name}()"))
    })
}

/// The name of a procedure that a Neo4j can have.
pub(super) fn procedure(statement: &str) -> Option<String> {
    let tokens = significant(statement);
    tokens.windows(3).enumerate().find_map(|(at, three)| {
        let space = three[1].text.to_ascii_lowercase();
        let known = three[0].is_word("CALL") && three[2].is(".") && PROCEDURES.contains(&space.as_str());
        let part = |token: &&Token<'_>| token.kind == Kind::Word || token.is(".");
        known.then(|| {
            let name: String = tokens[at + 1..].iter().take_while(part).map(|token| token.text).collect();
            format!("The procedure {}()", name.trim_end_matches("YIELD"))
        })
    })
}

/// Whether a Neo4j can have a procedure of this name.
pub(super) fn is_procedure(name: &str) -> bool {
    let space = name.split('.').next().unwrap_or_default().to_ascii_lowercase();
    name.contains('.') && PROCEDURES.contains(&space.as_str())
}

/// The name of a construct that Neo4j has and the engine's grammar lacks.
pub(super) fn syntax(statement: &str) -> Option<String> {
    let tokens = significant(statement);
    if (1..tokens.len()).any(|at| tokens[at - 1].is_word("NOT") && is_bare_map(&tokens, at)) {
        // Neo4j refuses that whatever is in the map.
        return None;
    }
    let found = (0..tokens.len()).find_map(|at| construct(&tokens, at)).map(str::to_owned);
    found.or_else(|| name(&tokens)).or_else(|| function(statement))
}

fn construct(tokens: &[Token<'_>], at: usize) -> Option<&'static str> {
    let token = tokens[at];
    let after = |steps: usize| tokens.get(at + steps);
    let next = |symbol: &str| after(1).is_some_and(|token| token.is(symbol));
    let next_word = |word: &str| after(1).is_some_and(|token| token.is_word(word));
    let first = at == 0;
    let before = |symbol: &str| at > 0 && tokens[at - 1].is(symbol);
    Some(match token.text {
        "|" if next("|") => "Joining strings with ||",
        "&" | "!" => "A label expression (&, |, !)",
        "|" if in_node(tokens, at) => "A label expression (&, |, !)",
        "(" if next("(") && after(2).is_some_and(|token| token.kind == Kind::Word) && at > 0 && before("-") => {
            "A quantified path pattern"
        }
        "{" if before(")") || before(">") => "A quantified path pattern",
        "." if at > 1 && before("{") && tokens[at - 2].kind == Kind::Word => "This map projection",
        ":" if next(":") => "A type predicate (IS ::)",
        _ if token.kind == Kind::Parameter && in_pattern(tokens, at) => "A parameter for all properties of a pattern",
        _ if token.kind != Kind::Word || before(".") || before(":") => return None,
        _ if token.is_word("CALL") && (next("{") || next("(")) => "A subquery (CALL { … })",
        _ if token.is_word("FOREACH") && next("(") => "FOREACH",
        _ if token.is_word("COUNT") && next("{") => "This COUNT { … }",
        _ if token.is_word("COLLECT") && next("{") => "COLLECT { … }",
        _ if token.is_word("EXISTS") && next("{") => "This EXISTS { … }",
        _ if token.is_word("REDUCE") && next("(") => "The function reduce()",
        _ if token.is_word("LOAD") && next_word("CSV") => "LOAD CSV",
        _ if token.is_word("USING")
            && ["INDEX", "SCAN", "JOIN", "TEXT", "RANGE", "POINT"].iter().any(|w| next_word(w)) =>
        {
            "A planner hint (USING)"
        }
        _ if token.is_word("SHORTEST") || token.is_word("ANY") && next("(") && before("=") => {
            "A SHORTEST path selector"
        }
        _ if token.is_word("WHEN") && ["<", ">", "="].iter().any(|symbol| next(symbol)) => {
            "A comparison right after WHEN"
        }
        _ if token.is_word("WHEN") && (next_word("IS") || next_word("STARTS") || next_word("ENDS")) => {
            "A predicate right after WHEN"
        }
        _ if token.is_word("REMOVE") && after(2).is_some_and(|token| token.is("[")) => "REMOVE of a computed property",
        _ if token.is_word("TYPED") => "A type predicate (IS TYPED)",
        _ if token.is_word("NORMALIZED") => "A normalisation predicate",
        _ if token.is_word("FINISH") => "FINISH",
        _ if token.is_word("TRANSACTIONS") => "CALL … IN TRANSACTIONS",
        _ if token.is_word("WHERE") && in_brackets(tokens, at) => "A WHERE inside a pattern",
        _ if token.is_word("YIELD") || token.is_word("CALL") => "This CALL",
        _ if first && token.is_word("SHOW") => "SHOW",
        _ if first && token.is_word("USE") => "USE",
        _ if first && token.is_word("CYPHER") => "A CYPHER option",
        _ if first && token.is_word("INSERT") => "INSERT",
        _ if first && (token.is_word("ALTER") || token.is_word("GRANT")) => "An administration command",
        _ => return None,
    })
}

/// `{…}` of which no entry is taken out.
fn is_bare_map(tokens: &[Token<'_>], at: usize) -> bool {
    let closes = if tokens[at].is("{") { closing(tokens, at) } else { None };
    closes.is_some_and(|close| !tokens.get(close + 1).is_some_and(|next| next.is(".") || next.is("[")))
}

/// A name that Neo4j takes and the engine does not.
fn name(tokens: &[Token<'_>]) -> Option<String> {
    tokens.iter().find_map(|token| {
        let bare = token.text.trim_matches(['`', '$']);
        let named = matches!(token.kind, Kind::Word | Kind::Backtick | Kind::Parameter);
        let plain = token.kind == Kind::Word && bare.is_ascii() || names::is_plain(bare);
        (named && !plain && !(token.kind == Kind::Parameter && bare.is_ascii()))
            .then(|| format!("The name `{bare}` here"))
    })
}

/// A function's name with what stands before its dots.
fn qualified(tokens: &[Token<'_>], at: usize) -> String {
    let mut name = tokens[at].text.to_owned();
    let mut at = at;
    while at >= 2 && tokens[at - 1].is(".") && tokens[at - 2].kind == Kind::Word {
        at -= 2;
        name = format!("{}.{name}", tokens[at].text);
    }
    name
}

/// The bracket that is open around a token.
fn opening<'a>(tokens: &[Token<'a>], at: usize) -> Option<(usize, Token<'a>)> {
    let mut depth = 0usize;
    for (before, token) in tokens[..at].iter().enumerate().rev() {
        match token.text {
            ")" | "]" | "}" if token.kind == Kind::Symbol => depth += 1,
            "(" | "[" | "{" if token.kind == Kind::Symbol && depth == 0 => return Some((before, *token)),
            "(" | "[" | "{" if token.kind == Kind::Symbol => depth -= 1,
            _ => {}
        }
    }
    None
}

/// `( name? : …` around a token: a node pattern, or as good as one.
fn in_node(tokens: &[Token<'_>], at: usize) -> bool {
    opening(tokens, at).is_some_and(|(open, bracket)| {
        bracket.is("(") && (tokens[open + 1].is(":") || tokens.get(open + 2).is_some_and(|token| token.is(":")))
    })
}

fn in_pattern(tokens: &[Token<'_>], at: usize) -> bool {
    let closes = tokens.get(at + 1).is_some_and(|token| token.is(")") || token.is("]"));
    // Neo4j takes it in CREATE only.
    let clause = ["CREATE", "MERGE", "MATCH"];
    let creates = tokens[..at].iter().rev().find(|token| clause.iter().any(|word| token.is_word(word)));
    in_brackets(tokens, at)
        && closes
        && at > 0
        && (tokens[at - 1].kind == Kind::Word || tokens[at - 1].is("("))
        && creates.is_some_and(|clause| clause.is_word("CREATE"))
}

/// Inside `(…)` of a pattern or `-[…]-`, as opposed to a function's arguments or a list.
fn in_brackets(tokens: &[Token<'_>], at: usize) -> bool {
    opening(tokens, at).is_some_and(|(open, bracket)| {
        let before = open.checked_sub(1).map(|before| tokens[before]);
        let clause = |token: Token<'_>| ["MATCH", "CREATE", "MERGE"].iter().any(|word| token.is_word(word));
        match before {
            Some(before) if bracket.is("(") => before.kind != Kind::Word || clause(before),
            Some(before) if bracket.is("[") => before.is("-"),
            _ => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
