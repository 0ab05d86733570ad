//! Rewrites Neo4j's syntax to the engine's where both mean exactly the same.
//!
//! | Neo4j | the engine |
//! |---|---|
//! | `` `name` `` that needs no backticks | `name` (it takes `` `a` `` and `a` for two names) |
//! | `-[*]-`, `-[*2..]-` | with an upper bound (it stops at 50 hops without an error) |
//! | `n:A\|B` in a predicate | `(n:A OR n:B)` ([`labels`](super::labels)) |
//! | `1_000` | `1000` |
//! | `CALL { WITH a DELETE a } IN TRANSACTIONS` at the end | `DELETE a` |
//! | `COUNT { (a)-->(b) WHERE … }` | `size([(a)-->(b) WHERE … \| 1])` |
//! | `n {.name, key: value}`, `n {.*}` | a map literal, null for a null |

mod braces;

use super::{names, scope, stages};
use crate::cypher::{Span, Statement, TokenKind};

/// The most hops that the engine can count.
const ENDLESS: &str = "4294967295";

/// A statement, rewritten in the engine's syntax.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RewrittenStatement {
    pub(super) text: String,
    /// Its names that the engine would take for null, in a sentence.
    pub(super) name_problem: Option<String>,
}

/// Rewrites a statement in the engine's syntax.
pub(super) fn bridge(statement: &Statement<'_>) -> RewrittenStatement {
    let text = write(statement, 0..statement.len());
    let ours = Statement::parse(&text);
    RewrittenStatement { text: stages::stages(&ours), name_problem: scope::problem(&ours) }
}

/// The replacement for some tokens, and the first token after them.
type Rewritten = Option<(String, usize)>;

fn write(s: &Statement<'_>, span: Span) -> String {
    let mut text = String::with_capacity(s.text.len());
    let mut at = span.start;
    while at < span.end {
        if at > span.start {
            text.push_str(s.gap(at));
        }
        let rewritten = braces::count(s, at)
            .or_else(|| braces::projection(s, at))
            .or_else(|| hops(s, at))
            .or_else(|| super::labels::predicate(s, at))
            .or_else(|| braces::batches(s, at))
            .or_else(|| number(s, at));
        match rewritten {
            Some((rewritten, next)) => {
                text.push_str(&rewritten);
                at = next;
            }
            None => {
                text.push_str(plain(s, at));
                at += 1;
            }
        }
    }
    text
}

/// `*` and `*2..` in a relationship pattern: an upper bound, which the engine otherwise sets to 50.
fn hops(s: &Statement<'_>, at: usize) -> Rewritten {
    let ends = |at| s.symbol(at, "]{") || s.kind(at) == Some(TokenKind::Parameter);
    let has_low = s.kind(at + 1) == Some(TokenKind::Number);
    let dots = at + 1 + usize::from(has_low);
    if !s.is(at, "*") {
        None
    } else if ends(at + 1) {
        // `[*]` and `[:T* {…}]`; a list never ends with an operator.
        Some((format!("*1..{ENDLESS}"), at + 1))
    } else if s.is(dots, ".") && s.is(dots + 1, ".") && ends(dots + 2) {
        let low = if has_low { s.at(at + 1) } else { "1" };
        Some((format!("*{low}..{ENDLESS}"), dots + 2))
    } else {
        None
    }
}

/// A number without the underscores that group its digits.
fn number(s: &Statement<'_>, at: usize) -> Rewritten {
    let text = s.at(at);
    let digits = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_hexdigit);
    let between = |(at, _): (usize, &str)| at > 0 && digits(at - 1) && digits(at + 1);
    let grouped = s.kind(at) == Some(TokenKind::Number) && text.contains('_') && text.match_indices('_').all(between);
    grouped.then(|| (text.replace('_', ""), at + 1))
}

/// A token as the engine reads it: a plain name without backticks, and a keyword where it is a label or a type, which is no keyword there.
fn plain<'a>(s: &Statement<'a>, at: usize) -> &'a str {
    match s.at(at).strip_prefix('`').and_then(|name| name.strip_suffix('`')) {
        Some(name) if names::is_plain(name) || names::is_reserved(name) && is_label(s, at) => name,
        _ => s.at(at),
    }
}

/// Whether a label or a type stands here: behind a colon, and not as the value of a key.
fn is_label(s: &Statement<'_>, at: usize) -> bool {
    at > 0 && s.is(at - 1, ":") && !s.open(at).is_some_and(|open| s.is(open, "{"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(statement: &str) -> String {
        write(&Statement::parse(statement), 0..Statement::parse(statement).len())
    }

    #[test]
    fn bridges_write_the_same_in_the_engines_words() {
        for (statement, expected) in [
            ("MATCH (`n`:`Person`) RETURN `n`.`name`, `two words`", "MATCH (n:Person) RETURN n.name, `two words`"),
            ("RETURN `match`, 'a `b`'", "RETURN `match`, 'a `b`'"),
            ("MATCH (n:`Order`)-[:`Contains`]->() WHERE n:`Set`", "MATCH (n:Order)-[:Contains]->() WHERE n:Set"),
            ("RETURN {a: `order`}", "RETURN {a: `order`}"),
            ("(a)-[*]->(b)", "(a)-[*1..4294967295]->(b)"),
            ("(a)-[r:T*2..]->(b)", "(a)-[r:T*2..4294967295]->(b)"),
            ("(a)-[:T* 0 .. ]-(b)", "(a)-[:T*0..4294967295 ]-(b)"),
            ("(a)-[:T*..]-(b)", "(a)-[:T*1..4294967295]-(b)"),
            ("(a)-[:T*..3]-(b)", "(a)-[:T*..3]-(b)"),
            ("(a)-[:T*2]-(b)-[:T*1..2]-(c)", "(a)-[:T*2]-(b)-[:T*1..2]-(c)"),
            ("RETURN [2*3], x[1*2..3]", "RETURN [2*3], x[1*2..3]"),
            ("RETURN 1_000, 0x1_F, 1_, 1__0, n.a_1", "RETURN 1000, 0x1F, 1_, 1__0, n.a_1"),
            ("MATCH (n) WHERE n:A|B RETURN n", "MATCH (n) WHERE (n:A OR n:B) RETURN n"),
            ("MATCH (n) WHERE NOT n:A&!B|(C) RETURN n", "MATCH (n) WHERE NOT (n:A AND (NOT n:B) OR (n:C)) RETURN n"),
            (
                "MATCH (n) WHERE (n:A|B) AND n:C RETURN n:A|B",
                "MATCH (n) WHERE ((n:A OR n:B)) AND n:C RETURN (n:A OR n:B)",
            ),
            ("MATCH (n) WHERE (n:A|B)-->() RETURN n", "MATCH (n) WHERE (n:A|B)-->() RETURN n"),
            ("MATCH (n:A|B), (m:C|D) RETURN n", "MATCH (n:A|B), (m:C|D) RETURN n"),
            ("MATCH (a)-[r:R|S]->(b) RETURN a", "MATCH (a)-[r:R|S]->(b) RETURN a"),
            ("RETURN [n IN ns WHERE n:A | n.x], {n: A}", "RETURN [n IN ns WHERE n:A | n.x], {n: A}"),
            ("MATCH (a) CALL { WITH a DETACH DELETE a } IN TRANSACTIONS OF 10 ROWS", "MATCH (a) DETACH DELETE a"),
            ("MATCH (a) CALL (a) { SET a.x = 1 } IN TRANSACTIONS", "MATCH (a) SET a.x = 1"),
            (
                "MATCH (a) CALL { WITH a RETURN 1 AS x } IN TRANSACTIONS",
                "MATCH (a) CALL { WITH a RETURN 1 AS x } IN TRANSACTIONS",
            ),
            ("RETURN COUNT { (n)-->(m) WHERE m.x > 1 }", "RETURN size([(n)-->(m) WHERE m.x > 1 | 1])"),
            ("RETURN COUNT { MATCH (n)-->(m) }", "RETURN size([(n)-->(m) | 1])"),
            ("RETURN COUNT { MATCH (n:A) }", "RETURN COUNT { MATCH (n:A) }"),
            ("RETURN COUNT { (a)-->(b), (c) }", "RETURN COUNT { (a)-->(b), (c) }"),
            ("RETURN COUNT { (a) WHERE a.x - 1 > 0 }", "RETURN COUNT { (a) WHERE a.x - 1 > 0 }"),
            (
                "RETURN COUNT { MATCH (a)-->(b) RETURN DISTINCT b }",
                "RETURN COUNT { MATCH (a)-->(b) RETURN DISTINCT b }",
            ),
            (
                "RETURN n {.name, .`age`, id: id2(n, 1)}",
                "RETURN (CASE WHEN n IS NULL THEN NULL ELSE {name: n.name, age: n.age, id: id2(n, 1)} END)",
            ),
            ("RETURN n {.*}", "RETURN properties(n)"),
            ("RETURN n {.*, x: 1}", "RETURN n {.*, x: 1}"),
            ("MATCH (n {x: 1}), (:A {x: .5}) RETURN {a: 1}", "MATCH (n {x: 1}), (:A {x: .5}) RETURN {a: 1}"),
        ] {
            assert_eq!(text(statement), expected, "{statement}");
        }
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_bridge(text in "([a-z_$ ;:`'\"*.,|0-9\\[\\]{}()-]|COUNT|id\\(|n \\{\\.){0,40}") {
            bridge(&Statement::parse(&text));
        }

        #[test]
        fn strings_pass_untouched(inside in "[a-z `*.(){}]{0,20}") {
            let statement = format!("RETURN '{inside}'");
            prop_assert_eq!(text(&statement), statement);
        }
    }
}
