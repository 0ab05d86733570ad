//! Unbound names, which the engine takes for null.
//!
//! The engine misses a variable that no clause binds in a WITH, UNWIND or MATCH after another WITH, and staged sort keys
//! stand just there. This looks only at tokens, so it errs on the side of silence: a name counts as bound when it stands
//! anywhere where one can be bound. It is never about a statement that the engine refuses.

use std::collections::HashSet;

use super::names;
use super::stages::{directed, groups, has_aggregate, named};
use crate::cypher::{Projection, Span, Statement, TokenKind, is_one_of};

/// Reserved words that can still be the name of a variable, and others that name a function before a bracket.
const FUNCTIONS: &str = "count sum avg min max collect length nodes";

/// Names that are never a variable, beside the reserved ones.
const KEYWORDS: &str = "yield call foreach load nan inf infinity";

/// The names that are bound before a clause, or may be.
type Names<'a> = HashSet<&'a str>;

/// A sentence on a name that is not bound.
struct NameProblem(String);

/// The first problem with the names of a statement.
pub(super) fn problem(s: &Statement<'_>) -> Option<String> {
    walk(s).err().map(|problem| problem.0)
}

fn walk(s: &Statement<'_>) -> Result<(), NameProblem> {
    let mut scope = Names::new();
    let mut from = 0;
    for projection in &s.projections {
        clauses(s, from..projection.at, &mut scope)?;
        project(s, projection, &mut scope)?;
        from = projection.end;
    }
    clauses(s, from..s.len(), &mut scope)
}

/// The clauses between two projections.
fn clauses<'a>(s: &Statement<'a>, span: Span, scope: &mut Names<'a>) -> Result<(), NameProblem> {
    let mut from = span.start;
    for at in span.clone().chain([span.end]) {
        let parts = at < span.end && s.open(at).is_none() && (s.keyword(at, "UNION") && s.begins(at) || s.is(at, ";"));
        if parts || at == span.end {
            scope.extend(bound(s, &(from..at)));
            all_in(s, &(from..at), scope)?;
            from = at + 1;
        }
        if parts {
            scope.clear();
        }
    }
    Ok(())
}

fn project<'a>(s: &Statement<'a>, projection: &Projection, scope: &mut Names<'a>) -> Result<(), NameProblem> {
    let star = projection.items.iter().any(|item| item.len() == 1 && s.is(item.start, "*"));
    let aliases: Names<'a> = projection.items.iter().filter_map(|item| Some(bare(s.at(s.alias(item)?)))).collect();
    let mut columns = Vec::new();
    for item in &projection.items {
        let expression = s.expression(item);
        with_own(s, &expression, scope)?;
        columns.push((expression, ()));
        columns.extend(s.alias(item).map(|alias| (alias..alias + 1, ())));
    }
    let all: Names<'a> = scope.union(&aliases).copied().collect();
    let reached = if star { &all } else { &aliases };
    for sort in &projection.sorts {
        let (sort, _) = directed(s, sort);
        if projection.distinct || groups(s, projection) {
            settled(s, &sort, &columns, reached)?;
        } else if has_aggregate(s, &sort) {
            return Err(aggregate());
        } else {
            with_own(s, &sort, &all)?;
        }
    }
    with_own(s, &projection.filter, &all)?;
    if !star {
        scope.clear();
    }
    scope.extend(aliases);
    Ok(())
}

/// After DISTINCT or grouping, a sort key is made of columns.
fn settled(s: &Statement<'_>, sort: &Span, columns: &[(Span, ())], reached: &Names<'_>) -> Result<(), NameProblem> {
    let own = bound(s, sort);
    let mut at = sort.start;
    while at < sort.end {
        if let Some((expression, ())) = named(s, sort, at, columns) {
            at += expression.len();
            continue;
        }
        let name = bare(s.at(at));
        if has_aggregate(s, &(at..at + 1)) {
            return Err(aggregate());
        }
        if is_use(s, at) && !reached.contains(name) && !own.contains(name) {
            return Err(NameProblem(format!(
                "The variable `{name}` is out of reach of an ORDER BY after DISTINCT or an aggregation. Sort by a column."
            )));
        }
        at += 1;
    }
    Ok(())
}

fn aggregate() -> NameProblem {
    NameProblem("An aggregation in ORDER BY must be a column too. Add it to the RETURN or WITH before it.".to_owned())
}

/// Whether every name of an expression is bound around it or inside it.
fn with_own(s: &Statement<'_>, span: &Span, scope: &Names<'_>) -> Result<(), NameProblem> {
    let own = bound(s, span);
    all_in(s, span, &scope.union(&own).copied().collect())
}

fn all_in(s: &Statement<'_>, span: &Span, scope: &Names<'_>) -> Result<(), NameProblem> {
    match uses(s, span).map(|at| bare(s.at(at))).find(|name| !scope.contains(name)) {
        Some(name) => Err(NameProblem(format!("The variable `{name}` is not defined here."))),
        None => Ok(()),
    }
}

fn bare(name: &str) -> &str {
    name.trim_matches('`')
}

fn is_name(s: &Statement<'_>, at: usize) -> bool {
    let name = s.at(at);
    match s.kind(at) {
        Some(TokenKind::Backtick) => true,
        Some(TokenKind::Word) => is_one_of(name, FUNCTIONS) || !names::is_reserved(name) && !is_one_of(name, KEYWORDS),
        _ => false,
    }
}

/// `{name: …`.
pub(super) fn is_key(s: &Statement<'_>, at: usize) -> bool {
    s.is(at + 1, ":") && s.symbol(at.wrapping_sub(1), "{,") && s.open(at).is_some_and(|open| s.is(open, "{"))
}

/// The places where a variable is read, or bound.
pub(super) fn uses(s: &Statement<'_>, span: &Span) -> impl Iterator<Item = usize> {
    span.clone().filter(|at| is_use(s, *at))
}

fn is_use(s: &Statement<'_>, at: usize) -> bool {
    let before = at.wrapping_sub(1);
    let is_label = s.is(before, ":") && !(at > 1 && is_key(s, at - 2));
    let is_property = s.is(before, ".") && !s.is(at.wrapping_sub(2), ".");
    let elsewhere = is_label || is_property || s.is(before, "|") || s.keyword(before, "AS");
    is_name(s, at) && !elsewhere && !is_key(s, at) && !is_call(s, at)
}

/// `name(` or `space.name(`, and `COUNT {`.
fn is_call(s: &Statement<'_>, mut at: usize) -> bool {
    if s.keyword(at, "COUNT COLLECT") && s.is(at + 1, "{") {
        return true;
    }
    while s.is(at + 1, ".") && is_name(s, at + 2) {
        at += 2;
    }
    s.is(at + 1, "(")
}

/// The names that stand where one can be bound.
fn bound<'a>(s: &Statement<'a>, span: &Span) -> Names<'a> {
    let yields = span.clone().find(|at| s.keyword(*at, "YIELD")).unwrap_or(span.end);
    let binds = |at: usize| {
        if at == span.start {
            return s.is(at + 1, "=");
        }
        let before = at - 1;
        let called = s.is(before, "(")
            && before > span.start
            && s.kind(before - 1) == Some(TokenKind::Word)
            && (is_name(s, before - 1) || s.keyword(before - 1, "exists"));
        s.keyword(before, "AS")
            || s.is(before, "[")
            || s.is(before, "(") && !called
            || s.keyword(at + 1, "IN")
            || s.is(at + 1, "=") && (s.symbol(before, ",{") || s.kind(before) == Some(TokenKind::Word))
            || at > yields
    };
    span.clone().filter(|at| is_name(s, *at) && binds(*at)).map(|at| bare(s.at(at))).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn problem(text: &str) -> Option<String> {
        super::problem(&Statement::parse(text))
    }

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
            let complaint = problem(statement);
            assert!(complaint.as_ref().is_some_and(|message| message.contains(name)), "{statement}: {complaint:?}");
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
            assert_eq!(problem(statement), None, "{statement}");
        }
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_walk(text in "(RETURN |WITH |ORDER BY |UNION |DISTINCT |AS |IN |count\\(|[a-z_$ ;:`'*.,|0-9\\[\\]{}()=-]){0,20}") {
            problem(&text);
        }
    }
}
