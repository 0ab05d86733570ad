//! Sorting and grouping, in stages that the engine does right.
//!
//! The engine sorts by the columns at hand, and in silence not at all when a sort key is neither a column nor computed
//! from the row before it (`UNWIND [2, 1] AS x RETURN x AS y ORDER BY x`). In a last RETURN that groups, it loses the
//! properties of the nodes that it groups by. Both go right when each step is a WITH of its own:
//!
//! ```text
//! RETURN e AS a, count(*) AS n ORDER BY n + 1 DESC LIMIT 3
//! WITH e AS a, count(*) AS n  WITH a, n, n + 1 AS _anon_s0 ORDER BY _anon_s0 DESC LIMIT 3  RETURN a, n
//! ```

use super::{names, scope};
use crate::cypher::{Projection, Span, Statement, TokenKind};

const AGGREGATES: &str = "count sum avg min max collect stdev stdevp percentiledisc percentilecont";

/// Whether an aggregating function is called among these tokens.
pub(super) fn has_aggregate(s: &Statement<'_>, span: &Span) -> bool {
    span.clone().any(|at| s.keyword(at, AGGREGATES) && s.is(at + 1, "("))
}

/// Whether an item aggregates, so that the others are the grouping keys.
pub(super) fn groups(s: &Statement<'_>, projection: &Projection) -> bool {
    projection.items.iter().any(|item| has_aggregate(s, item))
}

/// Writes every projection that sorts or groups in stages.
pub(super) fn stages(s: &Statement<'_>) -> String {
    let mut text = String::with_capacity(s.text.len());
    let mut written = 0;
    for projection in &s.projections {
        if let Some(staged) = staged(s, projection) {
            text.push_str(&s.text[written..s.tokens[projection.at].at]);
            text.push_str(&staged);
            written = s.tokens.get(projection.end).map_or(s.text.len(), |next| next.at);
        }
    }
    text.push_str(&s.text[written..]);
    text
}

/// The stages, or nothing when one stage does.
fn staged(s: &Statement<'_>, projection: &Projection) -> Option<String> {
    let Projection { returns, distinct, items, sorts, .. } = projection;
    let groups = groups(s, projection);
    let keys = items.iter().any(|item| !has_aggregate(s, item));
    if sorts.is_empty() && !(*returns && (groups && keys || *distinct)) {
        return None;
    }
    let inner: Vec<String> =
        items.iter().enumerate().map(|(at, item)| inner(s, *returns, at, item)).collect::<Option<_>>()?;
    let expressions: Vec<Span> = items.iter().map(|item| s.expression(item)).collect();
    let written = |item: &Span| s.alias(item).map(|alias| alias..alias + 1);
    let mut first: Vec<String> =
        expressions.iter().zip(&inner).map(|(item, alias)| format!("{} AS {alias}", s.text(item))).collect();
    let (mut second, mut order) = (Vec::new(), Vec::new());
    let mut names: Vec<(Span, String)> =
        items.iter().zip(&inner).filter_map(|(item, inner)| Some((written(item)?, inner.clone()))).collect();
    let settled = groups || *distinct;
    if settled {
        names.extend(expressions.iter().cloned().zip(inner.iter().cloned()));
    }
    for (at, sort) in sorts.iter().enumerate() {
        let (sort, direction) = directed(s, sort);
        let key = format!("_anon_s{at}");
        let named = |name: &str| names.iter().any(|(written, _)| written.len() == 1 && s.at(written.start) == name);
        let after = scope::uses(s, &sort).any(|at| named(s.at(at)));
        let before = scope::uses(s, &sort).any(|at| !named(s.at(at)));
        if settled || after && !before {
            second.push(format!("{} AS {key}", by_alias(s, &sort, &names)));
        } else {
            // Both sides of the projection are in sight here: the row before it, and its columns as their expressions.
            let inside: Vec<(Span, String)> = (items.iter().zip(&expressions))
                .filter(|_| after)
                .filter_map(|(item, expression)| Some((written(item)?, format!("({})", s.text(expression)))))
                .collect();
            first.push(format!("{} AS {key}", by_alias(s, &sort, &inside)));
            second.push(key.clone());
        }
        order.push(format!("{key} {direction}"));
    }
    let distinct = if *distinct { "DISTINCT " } else { "" };
    let mut staged = format!("WITH {distinct}{} ", first.join(", "));
    let cut = s.text(&projection.cut);
    if !order.is_empty() {
        let (all, second, order) = (inner.join(", "), second.join(", "), order.join(", "));
        staged.push_str(&format!("WITH {all}, {second} ORDER BY {order} {cut} "));
    }
    // Each column is under the alias that was asked for, also where the engine takes it for nothing else.
    let last = items.iter().zip(&inner).map(|(item, inner)| match s.alias(item).map(|alias| s.at(alias)) {
        Some(alias) if item.len() > 2 && alias != inner => format!("{inner} AS {alias}"),
        _ => inner.clone(),
    });
    staged.push_str(&format!("{} {} ", if *returns { "RETURN" } else { "WITH" }, last.collect::<Vec<_>>().join(", ")));
    staged.push_str(if order.is_empty() { cut } else { "" });
    staged.push_str(s.text(&projection.filter));
    staged.push(' ');
    Some(staged)
}

/// An item's alias in the stages; none for `*` and for a text that is no item.
fn inner(s: &Statement<'_>, returns: bool, at: usize, item: &Span) -> Option<String> {
    let usable = |alias: &usize| s.kind(*alias) == Some(TokenKind::Backtick) || names::is_plain(s.at(*alias));
    match s.alias(item).filter(usable) {
        Some(alias) => Some(s.at(alias).to_owned()),
        None if item.is_empty() || item.len() == 1 && s.is(item.start, "*") => None,
        None => (returns || s.expression(item) != *item).then(|| format!("_item_{at}")),
    }
}

/// A sort key and its direction.
pub(super) fn directed<'a>(s: &Statement<'a>, sort: &Span) -> (Span, &'a str) {
    match sort.end.checked_sub(1) {
        Some(last) if s.keyword(last, "ASC DESC ASCENDING DESCENDING") => (sort.start..last, s.at(last)),
        _ => (sort.clone(), ""),
    }
}

/// A sort key with every named expression in it replaced by its name; longer expressions first.
fn by_alias(s: &Statement<'_>, sort: &Span, names: &[(Span, String)]) -> String {
    let (mut text, mut at) = (String::new(), sort.start);
    while at < sort.end {
        if at > sort.start && !s.gap(at).is_empty() {
            text.push(' ');
        }
        match named(s, sort, at, names) {
            Some((expression, name)) => {
                text.push_str(name);
                at += expression.len();
            }
            None => {
                text.push_str(s.at(at));
                at += 1;
            }
        }
    }
    text
}

/// The longest of these expressions that stands here.
pub(super) fn named<'n, N>(s: &Statement<'_>, sort: &Span, at: usize, names: &'n [(Span, N)]) -> Option<&'n (Span, N)> {
    if at > sort.start && s.is(at - 1, ".") {
        return None;
    }
    let fits = |expression: &Span| {
        let no_name = expression.len() == 1 && (s.is(at + 1, "(") || scope::is_key(s, at));
        let whole = !expression.is_empty() && at + expression.len() <= sort.end;
        whole && !no_name && expression.clone().enumerate().all(|(place, other)| same(s, at + place, other))
    };
    names.iter().filter(|(expression, _)| fits(expression)).max_by_key(|(expression, _)| expression.len())
}

/// The same token; the names of functions and `DISTINCT` are so in any case.
fn same(s: &Statement<'_>, one: usize, other: usize) -> bool {
    let any_case = s.keyword(one, "DISTINCT") || s.is(one + 1, "(");
    s.at(one) == s.at(other) || any_case && s.at(one).eq_ignore_ascii_case(s.at(other))
}

#[cfg(test)]
mod tests;
