//! Whether what a query returned before the conversation can be taken away from what it returns after it.

use crate::cypher::{Span, Statement};
use crate::evidence::{Table, Value};

/// Functions whose result is the sum of what they give for parts of the data.
const ADDITIVE: &str = "COUNT SUM COLLECT SIZE";
/// Functions of all rows, or of a list, whose result for a part of the data can't be derived from the result for all of
/// it.
const MIXING: &str = "MAX MIN AVG STDEV STDEVP PERCENTILECONT PERCENTILEDISC REDUCE HEAD LAST";

/// Functions of all rows.
const AGGREGATIONS: &str = "COUNT SUM COLLECT MAX MIN AVG STDEV STDEVP PERCENTILECONT PERCENTILEDISC";

/// Whether a query's new rows, or the difference of its counts and lists, are what it would return without what was there
/// before. `max(t.from)`, `toString(count(t))`, `LIMIT 1` and `WITH count(t) AS c WHERE c = 1` mix both.
pub fn can_be_kept_apart(cypher: &str, before: &Table, after: &Table) -> bool {
    let s = Statement::parse(cypher);
    let is_cut = (0..s.len()).any(|at| s.keyword(at, "SKIP LIMIT CALL DISTINCT") && s.begins(at));
    if is_cut || s.has_union() {
        return false;
    }
    // What earlier projections named: sums, and what mixes the rows in another way.
    let (mut sums, mut mixed): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    let mut from = 0;
    for projection in &s.projections {
        let start = std::mem::replace(&mut from, projection.end)..projection.at;
        if start.into_iter().any(|at| is_mixing(&s, at, &sums, &mixed)) {
            return false;
        }
        let (mut new_sums, mut new_mixed) = (Vec::new(), Vec::new());
        for (column, item) in projection.items.iter().enumerate() {
            let expression = s.expression(item);
            let is_sum = is_sum(&s, expression.clone(), &sums, &mixed);
            let mixes = |at| is_mixing(&s, at, &sums, &mixed) || is_pattern(&s, at);
            let is_mixed = !is_sum && expression.into_iter().any(mixes);
            if projection.returns && (is_mixed || is_sum && !can_be_subtracted(before, after, column)) {
                return false;
            }
            let names = s.alias(item).map(|at| s.at(at));
            new_sums.extend(names.filter(|_| is_sum));
            new_mixed.extend(names.filter(|_| is_mixed));
        }
        (sums, mixed) = (new_sums, new_mixed);
        let last = projection.items.last().map_or(projection.at, |item| item.end);
        if (last..projection.end).any(|at| is_mixing(&s, at, &sums, &mixed)) {
            return false;
        }
    }
    true
}

/// A query that counts what the functions of another one read: `MATCH (t:Train) RETURN CASE WHEN count(t) = 1 THEN …` says
/// the same with two trains as with none. `None` where what was there can be taken away, or nothing is counted.
pub fn counts(cypher: &str) -> Option<String> {
    let (s, nothing) = (Statement::parse(cypher), Table { columns: Vec::new(), rows: Vec::new() });
    if s.has_union() || can_be_kept_apart(cypher, &nothing, &nothing) {
        return None;
    }
    let projections = s.projections.iter().map(|projection| (projection.at, projection.at..projection.end));
    // `MATCH (u:User) WHERE COUNT { (u)-->(:Train) } = 1`: of all users, and not only of those.
    let condition =
        (0..s.len()).find(|at| s.keyword(*at, "WHERE") && s.begins(*at) && s.open(*at).is_none()).map(|at| {
            let end = s.projections.iter().map(|projection| projection.at).find(|end| *end > at);
            (at, at..end.unwrap_or(s.len()))
        });
    condition.into_iter().chain(projections).find_map(|(at, span)| {
        let counts: Vec<String> = span.filter_map(|at| count_of(&s, at)).collect();
        let before = &cypher[..s.tokens[at].at];
        (!counts.is_empty()).then(|| format!("{before}RETURN {}", counts.join(", ")))
    })
}

/// How many values the function at this token reads: an aggregation, a subquery or a comprehension of patterns.
fn count_of(s: &Statement<'_>, at: usize) -> Option<String> {
    let inside = || Some(at + 2..s.close(at + 1)?);
    if s.keyword(at, AGGREGATIONS) && s.is(at + 1, "(") {
        let argument = s.list(inside()?).swap_remove(0);
        return Some(format!("count({})", s.text(&argument)));
    }
    if s.keyword(at, "COUNT EXISTS") && s.is(at + 1, "{") {
        return Some(format!("sum(COUNT {{ {} }})", s.text(&inside()?)));
    }
    let list = s.open(at).filter(|_| is_pattern(s, at) && s.is(at, "|"))?;
    Some(format!("sum(size({}))", s.text(&(list..s.close(list)? + 1))))
}

/// Counts and lists of one row; of several groups, rows can't be matched.
fn can_be_subtracted(before: &Table, after: &Table, column: usize) -> bool {
    let is_countable = |row: &Vec<Value>| matches!(row.get(column), Some(Value::Int(_) | Value::List(_)));
    after.rows.is_empty()
        || [before, after].iter().all(|table| table.rows.len() <= 1 && table.rows.iter().all(is_countable))
}

/// `count(t)`, `2 * size(list)`, `COUNT { … }`, or the name of such.
fn is_sum(s: &Statement<'_>, mut span: Span, sums: &[&str], mixed: &[&str]) -> bool {
    let is_number = |at: usize| s.at(at).chars().all(|c| c.is_ascii_digit());
    if span.len() > 2 && s.is(span.start + 1, "*") && is_number(span.start) {
        span.start += 2;
    } else if span.len() > 2 && s.is(span.end - 2, "*") && is_number(span.end - 1) {
        span.end -= 2;
    }
    if span.len() == 1 {
        return sums.contains(&s.at(span.start));
    }
    let is_call = s.keyword(span.start, ADDITIVE) && s.symbol(span.start + 1, "({");
    let mixes =
        |at: usize| s.keyword(at, MIXING) && s.is(at + 1, "(") || s.keyword(at, "CASE") || mixed.contains(&s.at(at));
    is_call && s.close(span.start + 1) == Some(span.end - 1) && !(span.start + 2..span.end).any(mixes)
}

/// Whether a token brings rows together: a function of all of them, or the name of such.
fn is_mixing(s: &Statement<'_>, at: usize, sums: &[&str], mixed: &[&str]) -> bool {
    let is_call = s.symbol(at + 1, "({") && (s.keyword(at, ADDITIVE) || s.keyword(at, MIXING));
    // `t.count` is a property.
    let is_name = !s.is(at.wrapping_sub(1), ".") && (sums.contains(&s.at(at)) || mixed.contains(&s.at(at)));
    is_call || is_name
}

/// Whether a token is of an `EXISTS` or of a comprehension: one that is returned is of old and new rows, while one in a
/// `WHERE` only leaves rows out.
fn is_pattern(s: &Statement<'_>, at: usize) -> bool {
    let in_list = |open: usize| s.is(open, "[") && !s.is(open.wrapping_sub(1), "-");
    s.keyword(at, "EXISTS") && s.symbol(at + 1, "({") || s.is(at, "|") && s.open(at).is_some_and(in_list)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(value: Value) -> Table {
        Table { columns: vec!["x".to_owned()], rows: vec![vec![value]] }
    }

    fn is_apart(cypher: &str, value: Value) -> bool {
        can_be_kept_apart(cypher, &table(value.clone()), &table(value))
    }

    #[test]
    fn rows_counts_and_lists_can_be_kept_apart() {
        for cypher in [
            "MATCH (t:Train) RETURN t.from",
            "MATCH (t:Train) WHERE t.limit = 1 AND EXISTS { (t)--() } RETURN t.from ORDER BY t.from",
            "MATCH (t:Train) RETURN count(t)",
            "MATCH (t:Train) RETURN count(t) * 2 AS twice",
            "MATCH (t:Train) RETURN size(collect(t.from))",
            "MATCH (t:Train) WITH count(t) AS c RETURN c",
            "MATCH (t:Train) WITH count(t) AS c, 1 AS one RETURN 2 * c",
            "RETURN COUNT { (:User)-[:BOOKED]->(:Train) }",
            "RETURN size([(:User)-[:BOOKED]->(t:Train) | t])",
            "MATCH (c:Count) RETURN c.count",
        ] {
            assert!(is_apart(cypher, Value::Int(1)), "{cypher}");
        }
    }

    #[test]
    fn what_a_query_reads_is_counted_where_its_result_does_not_tell() {
        for (cypher, expected) in [
            ("MATCH (t:Train) RETURN CASE WHEN count(t) = 1 THEN 1 END", Some("MATCH (t:Train) RETURN count(t)")),
            (
                "MATCH (t:Train) WITH count(DISTINCT t) AS c WHERE c = 1 RETURN c",
                Some("MATCH (t:Train) RETURN count(DISTINCT t)"),
            ),
            ("MATCH (t) RETURN percentileDisc(t.x, 0.5), max(t.y)", Some("MATCH (t) RETURN count(t.x), count(t.y)")),
            ("RETURN CASE WHEN COUNT { (:A)-->() } = 1 THEN 1 END", Some("RETURN sum(COUNT { (:A)-->() })")),
            ("MATCH (u:U) RETURN size([(u)-->(t) | t]) IN [1]", Some("MATCH (u:U) RETURN sum(size([(u)-->(t) | t]))")),
            (
                "MATCH (u:U) WHERE COUNT { (u)-->(:Train) } = 1 RETURN u.id",
                Some("MATCH (u:U) RETURN sum(COUNT { (u)-->(:Train) })"),
            ),
            ("MATCH (t:Train) RETURN count(t)", None),
            ("MATCH (t:Train) RETURN t.from LIMIT 1", None),
        ] {
            assert_eq!(counts(cypher).as_deref(), expected, "{cypher}");
        }
    }

    #[test]
    fn what_mixes_old_and_new_can_not() {
        for cypher in [
            "MATCH (t:Train) RETURN max(t.price)",
            "MATCH (t:Train) RETURN t.from ORDER BY t.from DESC LIMIT 1",
            "MATCH (t:Train) WITH t ORDER BY t.from DESC LIMIT 1 RETURN t.from",
            "MATCH (t:Train) RETURN CASE WHEN count(t) = 1 THEN 'ok' ELSE 'no' END",
            "MATCH (t:Train) RETURN CASE WHEN count(t) = 1 THEN 1 ELSE 0 END",
            "MATCH (t:Train) WITH count(t) AS c WHERE c = 1 RETURN c",
            "MATCH (t:Train) WITH count(t) AS c RETURN toString(c)",
            "MATCH (t:Train) WITH max(t.from) AS m RETURN m",
            "MATCH (t:Train) WITH collect(t.from) AS l RETURN l[0]",
            "MATCH (t:Train) RETURN toString(count(t))",
            "MATCH (t:Train) RETURN count(t) + 1",
            "MATCH (t:Train) RETURN count(DISTINCT t.from)",
            "MATCH (u:User) WHERE COUNT { (u)-->(:Train) } = 1 RETURN u.id",
            "RETURN head([(:User)-->(t:Train) | t.from])",
            "RETURN EXISTS { (t:Train) }",
            "MATCH (u:User) RETURN [(u)-->(t:Train) | t.from][0]",
        ] {
            assert!(!is_apart(cypher, Value::Int(1)), "{cypher}");
        }
        let counts = "MATCH (t:Train) RETURN sum(t.price)";
        assert!(is_apart(counts, Value::Int(1)) && !is_apart(counts, Value::Float(1.5)), "a number that is not exact");
    }
}
