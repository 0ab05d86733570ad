//! What Neo4j says in one way and the engine only in another: rewritten, where both mean exactly the same.
//!
//! | Neo4j | the engine |
//! |---|---|
//! | `` `name` `` that needs no backticks | `name` (it takes `` `a` `` and `a` for two names) |
//! | `-[*]-`, `-[*2..]-` | with an upper bound (it stops at 50 hops without a word) |
//! | `elementId(x)` | `toString(id(x))` |
//! | `n:A\|B` in a predicate | `(n:A OR n:B)` ([`labels`](super::labels)) |
//! | `1_000` | `1000` |
//! | `CALL { WITH a DELETE a } IN TRANSACTIONS` at the end | `DELETE a` |
//! | `timestamp()`, `randomUUID()`, `isEmpty(x)`, `lower(x)`, `upper(x)`, `ceiling(x)` | the same in its functions |
//! | `round(x)` | ties up, also below zero (it rounds them away from zero) |
//! | `toString(x)` | a time keeps its seconds when they are zero (it leaves them out) |
//! | `COUNT { (a)-->(b) WHERE … }` | `size([(a)-->(b) WHERE … \| 1])` |
//! | `n {.name, key: value}`, `n {.*}` | a map literal, null for a null |

mod braces;
mod functions;

use super::{names, stages::stages};
use crate::graph::cypher::{Kind, Token, closing, tokens};

/// The most hops that the engine can count.
const ENDLESS: &str = "4294967295";

/// A statement for the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bridged {
    /// Its text.
    pub(super) text: String,
    /// The same before it was staged: clause by clause what the user wrote.
    pub(super) words: String,
}

/// Writes a statement in the engine's words.
pub(super) fn bridge(statement: &str) -> Bridged {
    let tokens = tokens(statement);
    let mut bridge = Bridge { text: String::with_capacity(statement.len()) };
    bridge.write(&tokens);
    Bridged { text: stages(&bridge.text), words: bridge.text }
}

struct Bridge {
    text: String,
}

impl Bridge {
    fn write(&mut self, tokens: &[Token<'_>]) {
        let mut at = 0;
        while at < tokens.len() {
            at = self
                .function(tokens, at)
                .or_else(|| self.count(tokens, at))
                .or_else(|| self.projection(tokens, at))
                .or_else(|| self.hops(tokens, at))
                .or_else(|| self.labels(tokens, at))
                .or_else(|| self.batches(tokens, at))
                .unwrap_or_else(|| {
                    self.text.push_str(&number(&tokens[at]).unwrap_or_else(|| plain(&tokens[at]).to_owned()));
                    at + 1
                });
        }
    }

    fn written(&mut self, tokens: &[Token<'_>]) -> String {
        let before = std::mem::take(&mut self.text);
        self.write(tokens);
        std::mem::replace(&mut self.text, before)
    }

    /// `n:A|B`.
    fn labels(&mut self, tokens: &[Token<'_>], at: usize) -> Option<usize> {
        let (condition, after) = super::labels::predicate(tokens, at)?;
        self.text.push_str(&condition);
        Some(after)
    }

    /// `*` and `*2..` in a relationship pattern: an upper bound, which the engine otherwise sets to 50.
    fn hops(&mut self, tokens: &[Token<'_>], at: usize) -> Option<usize> {
        if !tokens[at].is("*") {
            return None;
        }
        let mut rest = at;
        let mut following = || {
            rest = next(tokens, rest)?;
            Some(tokens[rest])
        };
        let ends = |token: Token<'_>| token.is("]") || token.is("{") || token.kind == Kind::Parameter;
        let first = following()?;
        let low = if ends(first) {
            // `[*]` and `[:T* {…}]`; a list never ends with an operator.
            self.text.push_str(&format!("*1..{ENDLESS}"));
            return Some(at + 1);
        } else if first.kind == Kind::Number {
            let low = first.text;
            if !following()?.is(".") {
                return None;
            }
            low
        } else if first.is(".") {
            "1"
        } else {
            return None;
        };
        if !following()?.is(".") || !ends(following()?) {
            return None;
        }
        self.text.push_str(&format!("*{low}..{ENDLESS}"));
        Some(rest)
    }
}

fn next(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    (at + 1..tokens.len()).find(|at| !matches!(tokens[*at].kind, Kind::Space | Kind::Comment))
}

fn previous<'t, 'a>(tokens: &'t [Token<'a>], at: usize) -> Option<&'t Token<'a>> {
    tokens[..at].iter().rev().find(|token| !matches!(token.kind, Kind::Space | Kind::Comment))
}

/// The pieces between commas that stand in no bracket.
fn items<'t, 'a>(tokens: &'t [Token<'a>]) -> Vec<&'t [Token<'a>]> {
    let (mut items, mut from, mut at) = (Vec::new(), 0, 0);
    while at < tokens.len() {
        if tokens[at].kind == Kind::Symbol && matches!(tokens[at].text, "(" | "[" | "{") {
            at = closing(tokens, at).unwrap_or(at);
        } else if tokens[at].is(",") {
            items.push(&tokens[from..at]);
            from = at + 1;
        }
        at += 1;
    }
    items.push(&tokens[from..]);
    items
}

/// A number without the underscores that group its digits.
fn number(token: &Token<'_>) -> Option<String> {
    let grouped = token.kind == Kind::Number && token.text.contains('_');
    let digits = |at: usize| token.text.as_bytes().get(at).is_some_and(u8::is_ascii_hexdigit);
    let between = |(at, _): (usize, &str)| at > 0 && digits(at - 1) && digits(at + 1);
    (grouped && token.text.match_indices('_').all(between)).then(|| token.text.replace('_', ""))
}

/// A token as the engine reads it: a plain name without backticks.
fn plain<'a>(token: &Token<'a>) -> &'a str {
    match token.text.strip_prefix('`').and_then(|name| name.strip_suffix('`')) {
        Some(name) if token.kind == Kind::Backtick && names::is_plain(name) => name,
        _ => token.text,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(statement: &str) -> String {
        bridge(statement).text
    }

    #[test]
    fn bridges_write_the_same_in_the_engines_words() {
        for (statement, expected) in [
            ("MATCH (`n`:`Person`) RETURN `n`.`name`, `two words`", "MATCH (n:Person) RETURN n.name, `two words`"),
            ("RETURN `match`, 'a `b`'", "RETURN `match`, 'a `b`'"),
            ("(a)-[*]->(b)", "(a)-[*1..4294967295]->(b)"),
            ("(a)-[r:T*2..]->(b)", "(a)-[r:T*2..4294967295]->(b)"),
            ("(a)-[:T* 0 .. ]-(b)", "(a)-[:T*0..4294967295]-(b)"),
            ("(a)-[:T*..]-(b)", "(a)-[:T*1..4294967295]-(b)"),
            ("(a)-[:T*..3]-(b)", "(a)-[:T*..3]-(b)"),
            ("(a)-[:T*2]-(b)-[:T*1..2]-(c)", "(a)-[:T*2]-(b)-[:T*1..2]-(c)"),
            ("RETURN [2*3], x[1*2..3]", "RETURN [2*3], x[1*2..3]"),
            ("RETURN timestamp( )", "RETURN datetime().epochMillis"),
            ("RETURN n.timestamp, lower(upper('a'))", "RETURN n.timestamp, toLower(toUpper('a'))"),
            ("RETURN elementId(n)", "RETURN toString(id(n))"),
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
            ("MATCH (a) CALL { WITH a DETACH DELETE a } IN TRANSACTIONS OF 10 ROWS", "MATCH (a) DETACH DELETE a "),
            ("MATCH (a) CALL (a) { SET a.x = 1 } IN TRANSACTIONS", "MATCH (a) SET a.x = 1 "),
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

    #[test]
    fn a_uuid_is_drawn_digit_by_digit() {
        let text = text("RETURN randomUUID()");
        assert_eq!(text.matches("rand()").count(), 31);
        assert_eq!(text.matches("'-'").count(), 4);
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_bridge(text in "([a-z_$ ;:`'\"*.,|0-9\\[\\]{}()-]|COUNT|id\\(|n \\{\\.){0,40}") {
            bridge(&text);
        }

        #[test]
        fn strings_pass_untouched(inside in "[a-z `*.(){}]{0,20}") {
            let statement = format!("RETURN '{inside}'");
            prop_assert_eq!(text(&statement), statement);
        }
    }
}
