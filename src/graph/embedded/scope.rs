//! Names that mean nothing where they stand, which the engine takes for null.
//!
//! The engine misses a variable that no clause binds in a WITH, UNWIND or MATCH after another WITH, and staged sort keys
//! stand just there. This looks only at words, so it errs on the side of silence: a name counts as bound when it stands
//! anywhere where one can be bound. It is never about a statement that the engine refuses.

use std::collections::HashSet;

use super::names;
use super::stages::{Projection, directed, has_aggregate, named, past, written_alias};
use crate::graph::cypher::{Kind, Token, significant};

/// Reserved words that can still be the name of a variable, and others that name a function before a bracket.
const FUNCTIONS: [&str; 8] = ["count", "sum", "avg", "min", "max", "collect", "length", "nodes"];

/// Words that are never a variable, beside the reserved ones.
const KEYWORDS: [&str; 7] = ["yield", "call", "foreach", "load", "nan", "inf", "infinity"];

/// What is wrong with the names of a statement, in a sentence.
pub(super) fn complaint(statement: &str) -> Option<String> {
    walk(&significant(statement)).err()
}

/// The names that are bound before a clause, or may be.
type Names<'a> = HashSet<&'a str>;

fn walk(tokens: &[Token<'_>]) -> Result<(), String> {
    let mut scope = Names::new();
    let (mut from, mut at) = (0, 0);
    while at < tokens.len() {
        if tokens[at].is_word("UNION") || tokens[at].is(";") {
            enter(&tokens[from..at], &mut scope)?;
            scope.clear();
            from = at + 1;
        }
        match Projection::read(tokens, at) {
            Some(projection) => {
                enter(&tokens[from..at], &mut scope)?;
                project(&projection, &mut scope)?;
                (at, from) = (projection.end.max(at + 1), projection.end);
            }
            None => at = past(tokens, at),
        }
    }
    enter(&tokens[from.min(tokens.len())..], &mut scope)
}

/// The clauses between two projections.
fn enter<'a>(clauses: &[Token<'a>], scope: &mut Names<'a>) -> Result<(), String> {
    scope.extend(bound(clauses));
    all_in(clauses, scope)
}

fn project<'a>(projection: &Projection<'_, 'a>, scope: &mut Names<'a>) -> Result<(), String> {
    let star = projection.items.iter().any(|item| matches!(item, [only] if only.is("*")));
    let aliases: Names<'a> =
        projection.items.iter().filter_map(|item| Some(bare(written_alias(item)?[0].text))).collect();
    let mut columns = Vec::new();
    for item in &projection.items {
        let expression = match item {
            [expression @ .., word, _] if word.is_word("AS") => expression,
            _ => item,
        };
        with_own(expression, scope)?;
        columns.push((expression, ()));
        columns.extend(written_alias(item).map(|alias| (alias, ())));
    }
    let all: Names<'a> = scope.union(&aliases).copied().collect();
    let reached = if star { &all } else { &aliases };
    for sort in &projection.sorts {
        let (sort, _) = directed(sort);
        if projection.groups() || projection.distinct {
            settled(sort, &columns, reached)?;
        } else if has_aggregate(sort) {
            return Err(aggregate());
        } else {
            with_own(sort, &all)?;
        }
    }
    with_own(projection.filter, &all)?;
    if !star {
        scope.clear();
    }
    scope.extend(aliases);
    Ok(())
}

/// After DISTINCT or grouping, a sort key is made of columns.
fn settled<'a>(sort: &[Token<'a>], columns: &[(&[Token<'a>], ())], reached: &Names<'a>) -> Result<(), String> {
    let own = bound(sort);
    let mut at = 0;
    while at < sort.len() {
        if let Some((expression, ())) = named(sort, at, columns) {
            at += expression.len();
            continue;
        }
        let name = bare(sort[at].text);
        if has_aggregate(&sort[at..(at + 2).min(sort.len())]) {
            return Err(aggregate());
        }
        if uses(sort).any(|used| used == at) && !reached.contains(name) && !own.contains(name) {
            return Err(format!(
                "The variable `{name}` is out of reach of an ORDER BY after DISTINCT or an aggregation. Sort by a column."
            ));
        }
        at += 1;
    }
    Ok(())
}

fn aggregate() -> String {
    "An aggregation in ORDER BY must be a column too. Add it to the RETURN or WITH before it.".to_owned()
}

/// Whether every name of an expression is bound around it or inside it.
fn with_own(expression: &[Token<'_>], scope: &Names<'_>) -> Result<(), String> {
    let own = bound(expression);
    all_in(expression, &scope.union(&own).copied().collect())
}

fn all_in(tokens: &[Token<'_>], scope: &Names<'_>) -> Result<(), String> {
    match uses(tokens).map(|at| bare(tokens[at].text)).find(|name| !scope.contains(name)) {
        Some(name) => Err(format!("The variable `{name}` is not defined here.")),
        None => Ok(()),
    }
}

fn bare(name: &str) -> &str {
    name.trim_matches('`')
}

fn is_name(token: &Token<'_>) -> bool {
    let word = token.text.to_ascii_lowercase();
    match token.kind {
        Kind::Backtick => true,
        Kind::Word => {
            FUNCTIONS.contains(&word.as_str()) || !names::is_reserved(&word) && !KEYWORDS.contains(&word.as_str())
        }
        _ => false,
    }
}

/// `{name: …`.
pub(super) fn is_key(tokens: &[Token<'_>], at: usize) -> bool {
    tokens.get(at + 1).is_some_and(|next| next.is(":"))
        && at > 0
        && (tokens[at - 1].is("{") || tokens[at - 1].is(","))
        && inside(tokens, at).is_some_and(|open| tokens[open].is("{"))
}

/// The bracket that is open around a token.
fn inside(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    let mut depth = 0usize;
    (0..at).rev().find(|before| match tokens[*before].text {
        _ if tokens[*before].kind != Kind::Symbol => false,
        ")" | "]" | "}" => {
            depth += 1;
            false
        }
        "(" | "[" | "{" if depth == 0 => true,
        "(" | "[" | "{" => {
            depth -= 1;
            false
        }
        _ => false,
    })
}

/// Where a variable is read, or bound.
pub(super) fn uses<'t>(tokens: &'t [Token<'_>]) -> impl Iterator<Item = usize> + 't {
    (0..tokens.len()).filter(|at| {
        let before = at.checked_sub(1).map(|before| &tokens[before]);
        let elsewhere = before.is_some_and(|before| {
            let label = before.is(":") && !at.checked_sub(2).is_some_and(|key| is_key(tokens, key));
            label || before.is(".") && !is_range(tokens, at - 1) || before.is("|") || before.is_word("AS")
        });
        is_name(&tokens[*at]) && !elsewhere && !is_key(tokens, *at) && !is_call(tokens, *at)
    })
}

/// `..`, of which this is the second dot.
fn is_range(tokens: &[Token<'_>], dot: usize) -> bool {
    dot > 0 && tokens[dot - 1].is(".")
}

/// `name(` or `space.name(`, and `COUNT {`.
fn is_call(tokens: &[Token<'_>], mut at: usize) -> bool {
    let subquery = tokens[at].is_word("COUNT") || tokens[at].is_word("COLLECT");
    if subquery && tokens.get(at + 1).is_some_and(|next| next.is("{")) {
        return true;
    }
    while tokens.get(at + 1).is_some_and(|next| next.is(".")) && tokens.get(at + 2).is_some_and(is_name) {
        at += 2;
    }
    tokens.get(at + 1).is_some_and(|next| next.is("("))
}

/// The names that stand where one can be bound.
fn bound<'a>(tokens: &[Token<'a>]) -> Names<'a> {
    let yields = tokens.iter().position(|token| token.is_word("YIELD")).unwrap_or(tokens.len());
    let binds = |at: usize| {
        let next = |symbol: &str| tokens.get(at + 1).is_some_and(|next| next.is(symbol));
        let Some(before) = at.checked_sub(1).map(|before| &tokens[before]) else { return next("=") };
        let called = before.is("(") && at > 1 && {
            let function = tokens[at - 2].text.to_ascii_lowercase();
            tokens[at - 2].kind == Kind::Word
                && (is_name(&tokens[at - 2]) || FUNCTIONS.contains(&function.as_str()) || function == "exists")
        };
        let path = before.is(",") || before.is("{") || before.kind == Kind::Word;
        before.is_word("AS")
            || before.is("[")
            || before.is("(") && !called
            || tokens.get(at + 1).is_some_and(|next| next.is_word("IN"))
            || next("=") && path
            || at > yields
    };
    (0..tokens.len()).filter(|at| is_name(&tokens[*at]) && binds(*at)).map(|at| bare(tokens[at].text)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_that_nothing_binds_are_found() {
        for (statement, name) in [
            ("WITH 1 AS a, 2 AS b WITH a WITH a, b AS c RETURN c", "`b`"),
            ("WITH 1 AS a WITH c.x AS x RETURN x", "`c`"),
            ("WITH 1 AS a WITH a, toUpper(c) AS x RETURN x", "`c`"),
            ("WITH 1 AS a WITH {c: 1, d: c} AS x RETURN x", "`c`"),
            ("WITH 1 AS a UNWIND range(1, c) AS x RETURN x", "`c`"),
            ("WITH 1 AS a, 2 AS c WITH a OPTIONAL MATCH (n) WHERE n.x = c RETURN n", "`c`"),
            ("WITH 1 AS a WITH a MERGE (n {x: c}) RETURN n", "`c`"),
            ("MATCH (a), (b) WITH a WITH a ORDER BY b RETURN a", "`b`"),
            ("MATCH (a) RETURN DISTINCT a.x AS x ORDER BY a.y", "`a`"),
            ("MATCH (a) RETURN a.x AS x, count(*) AS n ORDER BY n, a.y", "`a`"),
            ("MATCH (a) RETURN a.x AS x ORDER BY max(a.y)", "aggregation"),
            ("MATCH (a) RETURN a.x AS x, sum(a.y) AS s ORDER BY count(*)", "aggregation"),
            ("RETURN 1 AS x UNION WITH x AS y RETURN y AS x", "`x`"),
        ] {
            let complaint = complaint(statement);
            assert!(complaint.as_ref().is_some_and(|words| words.contains(name)), "{statement}: {complaint:?}");
        }
    }

    #[test]
    fn names_that_may_be_bound_are_left_alone() {
        for statement in [
            "WITH 1 AS a, 2 AS b WITH a ORDER BY b RETURN a",
            "WITH 1 AS a, 2 AS b WITH a WHERE b = 2 RETURN a",
            "MATCH p = (a)-[r:R*1..2]->(b {x: 1}) WITH *, length(p) AS l ORDER BY l, a.x RETURN a, r, b",
            "MATCH (a) WITH a, [x IN a.xs WHERE x > 1 | x + 1] AS xs WHERE any(x IN xs WHERE x = a.y) RETURN xs",
            "MATCH (a) WITH a, [(a)-[r]->(b) WHERE b:B | r.x] AS l, [q = (a)-->() | length(q)] AS m RETURN l, m",
            "MATCH (a) WHERE EXISTS { MATCH (a)-->(c) WHERE c.x = 1 } WITH a RETURN a {.x, y: a.y}, a:A AS is",
            "UNWIND $rows AS row MERGE (n:N {id: row.id}) ON CREATE SET n += row SET n:M WITH n RETURN count(n) AS count",
            "WITH datetime() AS now, duration.between(date('2020-01-01'), date()) AS d WITH now.year AS y, d RETURN y, d",
            "WITH 1 AS count, 2 AS sum WITH count, sum ORDER BY sum, count RETURN count + sum AS `a b` ORDER BY `a b`",
            "MATCH (a) RETURN a.x AS x, COUNT(*) AS n ORDER BY count(*), a.x, toUpper(x)",
            "MATCH (a) RETURN DISTINCT a ORDER BY a.x",
            "MATCH (a) WITH DISTINCT * ORDER BY a.x RETURN a",
            "CALL db.labels() YIELD label, other WITH label, other RETURN label",
            "WITH [1, 2] AS l, 1 AS i WITH l[i..i] AS x, CASE i WHEN 1 THEN NULL ELSE true END AS y RETURN x, y",
            "MATCH (`a`) WITH a AS `b` RETURN b",
            "MATCH (a) WITH a, COUNT { (a)-[:R]->(:Q) } AS n RETURN n",
        ] {
            assert_eq!(complaint(statement), None, "{statement}");
        }
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_walk(text in "(RETURN |WITH |ORDER BY |UNION |DISTINCT |AS |IN |count\\(|[a-z_$ ;:`'*.,|0-9\\[\\]{}()=-]){0,20}") {
            complaint(&text);
        }
    }
}
