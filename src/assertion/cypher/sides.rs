//! The sides of the comparisons that a query returns: `RETURN count(b) = 1 AND count(c) < 2` is true or false, and whether it
//! would be true without what was there before only its sides can tell.

use crate::cypher::{Span, Statement, is_one_of};
use crate::evidence::{Table, Value};

/// A query that returns the sides instead of the outcome of comparing them.
#[derive(Debug, Clone, PartialEq)]
pub struct Sides {
    /// The query.
    pub cypher: String,
    condition: SideCondition,
}

/// A condition on a row of sides, by the places of its columns.
#[derive(Debug, Clone, PartialEq)]
enum SideCondition {
    /// A column and the next one, compared by a sign.
    Comparison(&'static str, usize),
    /// A column that is true or false.
    Truth(usize),
    Not(Box<SideCondition>),
    All(Vec<SideCondition>),
    Any(Vec<SideCondition>),
}

/// Predicates that bind as strongly as a comparison does.
const PREDICATES: &str = "IN STARTS ENDS CONTAINS IS";

/// The sides of a query's condition; `None` where it returns anything but one condition that compares.
pub fn sides(cypher: &str) -> Option<Sides> {
    let s = Statement::parse(cypher);
    let last = s.projections.last().filter(|last| last.returns && !s.has_union())?;
    let [item] = last.items.as_slice() else { return None };
    if last.distinct || !last.sorts.is_empty() || !last.cut.is_empty() {
        return None;
    }
    let mut columns = Vec::new();
    let condition = condition(&s, s.expression(item), &mut columns)?;
    if matches!(condition, SideCondition::Truth(_)) {
        return None;
    }
    let names = ["left", "right"].into_iter().map(str::to_owned).chain((2..).map(|at| format!("side{at}")));
    let columns: Vec<String> = columns.iter().zip(names).map(|(side, name)| format!("{side} AS {name}")).collect();
    let before = &cypher[..s.tokens[last.at].at];
    Some(Sides { cypher: format!("{before}RETURN {}", columns.join(", ")), condition })
}

/// Reads a condition and adds its columns to those that are there.
fn condition(s: &Statement<'_>, mut span: Span, columns: &mut Vec<String>) -> Option<SideCondition> {
    while s.is(span.start, "(") && s.close(span.start) == Some(span.end - 1) {
        span = span.start + 1..span.end - 1;
    }
    let top = |span: &Span| {
        std::iter::successors(Some(span.start), |at| Some(s.past(*at))).take_while({
            let end = span.end;
            move |at| *at < end
        })
    };
    for (operator, joined) in
        [("OR", SideCondition::Any as fn(Vec<SideCondition>) -> SideCondition), ("AND", SideCondition::All)]
    {
        let ends: Vec<usize> = top(&span).filter(|at| s.keyword(*at, operator)).chain([span.end]).collect();
        if ends.len() > 1 {
            let starts = [span.start].into_iter().chain(ends.iter().map(|end| end + 1));
            let parts = starts.zip(&ends).map(|(start, end)| condition(s, start..*end, columns));
            return parts.collect::<Option<_>>().map(joined);
        }
    }
    if s.keyword(span.start, "NOT") {
        return condition(s, span.start + 1..span.end, columns).map(|inner| SideCondition::Not(Box::new(inner)));
    }
    if span.is_empty() || top(&span).any(|at| s.is(at, "|") || is_one_of(s.at(at), "XOR")) {
        return None;
    }
    let at = columns.len();
    if let Some(matches) = counted(s, &span) {
        columns.extend([matches, "0".to_owned()]);
        return Some(SideCondition::Comparison(">", at));
    }
    let mut signs = top(&span).filter_map(|at| Some((at, sign(s, at)?)));
    match (signs.next(), signs.next()) {
        (None, _) => {
            columns.push(s.text(&span).to_owned());
            Some(SideCondition::Truth(at))
        }
        (Some((place, sign)), None) if !top(&span).any(|at| s.keyword(at, PREDICATES)) => {
            let (left, right) = (s.text(&(span.start..place)), s.text(&(place + sign.len()..span.end)));
            // `<-1` compares with a number, `<--` is a pattern, and `=~` is no comparison.
            let is_pattern =
                left.ends_with('-') || right.starts_with(['-', '~']) && !right[1..].starts_with(char::is_numeric);
            if is_pattern {
                columns.push(s.text(&span).to_owned());
                return Some(SideCondition::Truth(at));
            }
            columns.extend([left.to_owned(), right.to_owned()]);
            (!left.is_empty() && !right.is_empty()).then_some(SideCondition::Comparison(sign, at))
        }
        _ => None,
    }
}

/// `EXISTS { (a)-->(b) }`, `exists((a)-->(b))`: how many there are, where both backends can count them.
fn counted(s: &Statement<'_>, span: &Span) -> Option<String> {
    let (open, close) = (span.start + 1, span.end.checked_sub(1)?);
    let inside = open + 1..close;
    let relates = inside.clone().any(|at| s.open(at) == Some(open) && s.is(at, "-"));
    if !s.keyword(span.start, "EXISTS") || s.close(open) != Some(close) || !relates {
        return None;
    }
    match s.at(open) {
        "{" => Some(format!("COUNT {{ {} }}", s.text(&inside))),
        _ if s.is(inside.start, "(") => Some(format!("size([{} | 1])", s.text(&inside))),
        _ => None,
    }
}

/// The sign of a comparison that begins at this token; each of its characters is a token.
fn sign(s: &Statement<'_>, at: usize) -> Option<&'static str> {
    if s.is(at, "=") && s.symbol(at.wrapping_sub(1), "<>") || s.is(at, ">") && s.is(at.wrapping_sub(1), "<") {
        // The second half of one.
        return None;
    }
    let rest = s.rest(at);
    ["<>", "<=", ">=", "=", "<", ">"].into_iter().find(|sign| rest.starts_with(sign))
}

impl Sides {
    /// The outcome of the condition without what was there before; `None` where that can't be known.
    pub(super) fn without(&self, before: &Table, after: &Table) -> Option<bool> {
        let ([old], [new]) = (before.rows.as_slice(), after.rows.as_slice()) else { return None };
        holds(&self.condition, old, new)
    }
}

fn holds(condition: &SideCondition, old: &[Value], new: &[Value]) -> Option<bool> {
    let of = |parts: &[SideCondition], decides: bool| {
        let outcomes: Vec<Option<bool>> = parts.iter().map(|part| holds(part, old, new)).collect();
        let decided = outcomes.contains(&Some(decides)).then_some(decides);
        decided.or_else(|| (!outcomes.contains(&None)).then_some(!decides))
    };
    match condition {
        SideCondition::Not(inner) => holds(inner, old, new).map(|holds| !holds),
        SideCondition::All(parts) => of(parts, false),
        SideCondition::Any(parts) => of(parts, true),
        // It has become true; any other truth may be of old.
        SideCondition::Truth(at) => match (old.get(*at)?, new.get(*at)?) {
            (Value::Bool(false), Value::Bool(true)) => Some(true),
            _ => None,
        },
        SideCondition::Comparison(sign, at) => {
            let (old, new) = (old.get(*at..at + 2)?, new.get(*at..at + 2)?);
            compared(sign, [&old[0], &old[1]], [&new[0], &new[1]])
        }
    }
}

/// Compares both sides of a condition, as far as they differ from the old ones.
fn compared(sign: &str, old: [&Value; 2], new: [&Value; 2]) -> Option<bool> {
    let [left, right] = new;
    let added = |old: &Value, new: &Value| super::added::difference(old, new);
    // The side that does not count anything is as it is.
    let (left, right) = match (old[0].is_same(left), old[1].is_same(right)) {
        (_, true) => (added(old[0], left), right.clone()),
        (true, false) => (left.clone(), added(old[1], right)),
        (false, false) => (added(old[0], left), added(old[1], right)),
    };
    let order = match (&left, &right) {
        (Value::Int(left), Value::Int(right)) => left.cmp(right),
        _ => {
            let equal = left.is_same(&right);
            return match sign {
                "=" => Some(equal),
                "<>" => Some(!equal),
                _ => None,
            };
        }
    };
    Some(match sign {
        "=" => order.is_eq(),
        "<>" => order.is_ne(),
        "<=" => order.is_le(),
        ">=" => order.is_ge(),
        "<" => order.is_lt(),
        _ => order.is_gt(),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_comparison_has_two_sides() {
        let of = |cypher: &str| sides(cypher).map(|sides| sides.cypher);
        for (cypher, expected) in [
            ("MATCH (b:B) RETURN count(b) = 1", "MATCH (b:B) RETURN count(b) AS left, 1 AS right"),
            ("MATCH (b:B) return count(b)>=1 AS ok;", "MATCH (b:B) RETURN count(b) AS left, 1 AS right"),
            (
                "MATCH (b:B {x: '='}) RETURN 2 <> size(collect(b.x))",
                "MATCH (b:B {x: '='}) RETURN 2 AS left, size(collect(b.x)) AS right",
            ),
            (
                "MATCH (b) WHERE b.x = 1 RETURN count(b) < $n",
                "MATCH (b) WHERE b.x = 1 RETURN count(b) AS left, $n AS right",
            ),
            (
                "MATCH (b) RETURN NOT (count(b) = 1 OR $x) AND EXISTS { (a)-->(c) WHERE c.x > 1 } // all of it",
                "MATCH (b) RETURN count(b) AS left, 1 AS right, $x AS side2, COUNT { (a)-->(c) WHERE c.x > 1 } AS side3, 0 AS side4",
            ),
            ("MATCH (a) RETURN exists((a)-->())", "MATCH (a) RETURN size([(a)-->() | 1]) AS left, 0 AS right"),
            ("RETURN 1 = 1 // = 2", "RETURN 1 AS left, 1 AS right"),
        ] {
            assert_eq!(of(cypher).as_deref(), Some(expected), "{cypher}");
        }
        for cypher in [
            "MATCH (b) RETURN count(b)",
            "MATCH (b) RETURN count(b) = 1, 2",
            "MATCH (b) RETURN EXISTS { (b:B) }",
            "MATCH (b) RETURN count(b) = 1 XOR true",
            "MATCH (b) RETURN count(b) IN [1] = true",
            "MATCH (a)-->(b) RETURN (a)-->(b)",
            "MATCH (b) RETURN b.x =~ 'a'",
            "RETURN 1 < 2 < 3",
            "RETURN 1 = 1 UNION RETURN 2 = 2",
            "CREATE (n)",
        ] {
            assert_eq!(of(cypher), None, "{cypher}");
        }
    }

    #[test]
    fn what_was_there_is_taken_away_from_the_side_that_counts() {
        let table = |left: i64, right: i64| Table {
            columns: vec!["left".to_owned(), "right".to_owned()],
            rows: vec![vec![Value::Int(left), Value::Int(right)]],
        };
        let one = sides("MATCH (b) RETURN count(b) = 1").unwrap();
        assert_eq!(one.without(&table(2, 1), &table(3, 1)), Some(true), "the third conversation");
        assert_eq!(one.without(&table(2, 1), &table(4, 1)), Some(false), "done twice");
        assert_eq!(one.without(&table(2, 1), &table(2, 1)), Some(false), "not done");
        let turned = sides("MATCH (b) RETURN 1 = count(b)").unwrap();
        assert_eq!(turned.without(&table(1, 2), &table(1, 3)), Some(true));
        assert_eq!(sides("MATCH (b) RETURN count(b) < 2").unwrap().without(&table(5, 2), &table(6, 2)), Some(true));
    }

    #[test]
    fn conditions_are_joined_with_what_is_known_of_each() {
        let table = |row: &[Value]| Table { columns: Vec::new(), rows: vec![row.to_vec()] };
        let without = |cypher: &str, before: &[Value], after: &[Value]| {
            sides(cypher).unwrap().without(&table(before), &table(after))
        };
        let ints = |numbers: &[i64]| numbers.iter().copied().map(Value::Int).collect::<Vec<_>>();
        let both = "MATCH (b) RETURN count(b) = 1 AND size(collect(b.x)) = 2";
        assert_eq!(without(both, &ints(&[2, 1, 3, 2]), &ints(&[3, 1, 5, 2])), Some(true));
        assert_eq!(without(both, &ints(&[2, 1, 3, 2]), &ints(&[3, 1, 4, 2])), Some(false));
        let either = "MATCH (b) RETURN NOT count(b) > 0 OR EXISTS { (b)-->(c) }";
        assert_eq!(without(either, &ints(&[1, 0, 1, 0]), &ints(&[2, 0, 1, 0])), Some(false), "both were there");
        assert_eq!(without(either, &ints(&[1, 0, 1, 0]), &ints(&[2, 0, 2, 0])), Some(true));
        let row = |count: i64, truth: bool| [Value::Int(count), Value::Int(1), Value::Bool(truth)];
        let mixed = "MATCH (b) RETURN count(b) = 1 AND 'x' IN collect(b.x)";
        assert_eq!(without(mixed, &row(4, false), &row(5, true)), Some(true));
        assert_eq!(without(mixed, &row(4, true), &row(5, true)), None, "x may be of either row");
        assert_eq!(without(mixed, &row(4, true), &row(6, true)), Some(false), "done twice, whatever the rest says");
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(RETURN |AS |[a-z ()\\[\\]{}'\"`.,=<>é\n-]){0,20}") {
            let _ = sides(&text);
        }
    }
}
