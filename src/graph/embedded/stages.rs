//! Sorting and grouping, in stages that the engine does right.
//!
//! The engine sorts by what it has at hand, and in silence not at all when a sort key is neither a column nor computed
//! from the row before it (`UNWIND [2, 1] AS x RETURN x AS y ORDER BY x`). In a last RETURN that groups, it loses the
//! properties of the nodes that it groups by. Both go right when each step is a WITH of its own:
//!
//! ```text
//! RETURN e AS a, count(*) AS n ORDER BY n + 1 DESC LIMIT 3
//! WITH e AS a, count(*) AS n  WITH a, n, n + 1 AS _anon_s0 ORDER BY _anon_s0 DESC LIMIT 3  RETURN a, n
//! ```

use super::{names, scope};
use crate::graph::cypher::{Kind, Token, closing, significant};

const AGGREGATES: [&str; 10] =
    ["count", "sum", "avg", "min", "max", "collect", "stdev", "stdevp", "percentiledisc", "percentilecont"];

/// The words that begin a clause, and so end a projection.
const CLAUSES: [&str; 16] = [
    "MATCH", "OPTIONAL", "UNWIND", "CREATE", "MERGE", "SET", "DELETE", "DETACH", "REMOVE", "CALL", "WITH", "RETURN",
    "UNION", "WHERE", "SKIP", "LIMIT",
];

/// Whether this token calls an aggregating function.
pub(super) fn aggregates(tokens: &[Token<'_>], at: usize) -> bool {
    tokens[at].kind == Kind::Word
        && AGGREGATES.contains(&tokens[at].text.to_ascii_lowercase().as_str())
        && tokens.get(at + 1).is_some_and(|next| next.is("("))
}

/// Writes every projection that sorts or groups in stages.
pub(super) fn stages(statement: &str) -> String {
    let tokens = significant(statement);
    let mut text = String::with_capacity(statement.len());
    let (mut at, mut written) = (0, 0);
    while at < tokens.len() {
        let projection = Projection::read(&tokens, at);
        match projection.as_ref().and_then(|projection| Some((projection.staged(statement)?, projection.end))) {
            Some((staged, end)) => {
                text.push_str(&statement[written..tokens[at].at]);
                text.push_str(&staged);
                written = tokens.get(end).map_or(statement.len(), |next| next.at);
                at = end;
            }
            None => at = past(&tokens, at),
        }
    }
    text.push_str(&statement[written..]);
    text
}

/// The next token that is in no bracket of its own.
pub(super) fn past(tokens: &[Token<'_>], at: usize) -> usize {
    let opens = tokens[at].kind == Kind::Symbol && matches!(tokens[at].text, "(" | "[" | "{");
    match closing(tokens, at) {
        Some(close) if opens => close + 1,
        _ => case_end(tokens, at).map_or(at + 1, |end| end + 1),
    }
}

/// Where the CASE that begins here ends.
fn case_end(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    let is_key = |at: usize| !begins(tokens, at) || tokens.get(at + 1).is_some_and(|next| next.is(":"));
    if !tokens[at].is_word("CASE") || is_key(at) {
        return None;
    }
    let mut open = 0;
    (at..tokens.len()).find(|at| {
        if tokens[*at].is_word("CASE") && !is_key(*at) {
            open += 1;
        } else if tokens[*at].is_word("END") && !is_key(*at) {
            open -= 1;
        }
        open == 0
    })
}

/// A WITH or a RETURN with all that belongs to it.
pub(super) struct Projection<'t, 'a> {
    pub(super) returns: bool,
    pub(super) distinct: bool,
    pub(super) items: Vec<&'t [Token<'a>]>,
    pub(super) sorts: Vec<&'t [Token<'a>]>,
    /// SKIP and LIMIT.
    cut: &'t [Token<'a>],
    /// WHERE and its condition.
    pub(super) filter: &'t [Token<'a>],
    /// The first token after it.
    pub(super) end: usize,
}

impl<'t, 'a> Projection<'t, 'a> {
    pub(super) fn read(tokens: &'t [Token<'a>], at: usize) -> Option<Projection<'t, 'a>> {
        let returns = tokens[at].is_word("RETURN");
        if !returns && !tokens[at].is_word("WITH") || !begins(tokens, at) {
            return None;
        }
        let distinct = tokens.get(at + 1).is_some_and(|next| next.is_word("DISTINCT"));
        let first = at + 1 + usize::from(distinct);
        let order = part_end(tokens, first);
        let items = list(&tokens[first..order]);
        let (mut next, mut sorts) = (order, Vec::new());
        if sorts_here(tokens, next) {
            let end = part_end(tokens, next + 2);
            sorts = list(&tokens[next + 2..end]);
            next = end;
        }
        let cut = next;
        while tokens.get(next).is_some_and(|token| token.is_word("SKIP") || token.is_word("LIMIT")) {
            next = part_end(tokens, next + 1);
        }
        let filter = next;
        if !returns && tokens.get(next).is_some_and(|token| token.is_word("WHERE")) {
            next = part_end(tokens, next + 1);
        }
        Some(Projection {
            returns,
            distinct,
            items,
            sorts,
            cut: &tokens[cut..filter],
            filter: &tokens[filter..next],
            end: next,
        })
    }

    /// Whether an item aggregates, so that the others are what rows are grouped by.
    pub(super) fn groups(&self) -> bool {
        self.items.iter().any(|item| has_aggregate(item))
    }

    /// The stages, or nothing when one stage does.
    fn staged(&self, statement: &str) -> Option<String> {
        let text = |tokens: &[Token<'a>]| match (tokens.first(), tokens.last()) {
            (Some(first), Some(last)) => statement[first.at..last.end()].to_owned(),
            _ => String::new(),
        };
        let groups = self.groups();
        let keys = self.items.iter().any(|item| !has_aggregate(item));
        if self.sorts.is_empty() && !(self.returns && (groups && keys || self.distinct)) {
            return None;
        }
        let items = self.items.iter().enumerate().map(|(at, item)| self.item(at, item)).collect::<Option<Vec<_>>>()?;
        let aliases: Vec<&str> = items.iter().map(|(_, alias)| alias.as_str()).collect();
        let mut first: Vec<String> = items.iter().map(|(item, alias)| format!("{} AS {alias}", text(item))).collect();
        let (mut second, mut order) = (Vec::new(), Vec::new());
        let mut names: Vec<(&[Token<'a>], &str)> =
            self.items.iter().zip(&aliases).filter_map(|(item, inner)| Some((written_alias(item)?, *inner))).collect();
        let settled = groups || self.distinct;
        if settled {
            names.extend(items.iter().map(|(expression, inner)| (*expression, inner.as_str())));
        }
        for (at, sort) in self.sorts.iter().enumerate() {
            let (sort, direction) = directed(sort);
            let key = format!("_anon_s{at}");
            let named = |name: &str| names.iter().any(|(written, _)| written.len() == 1 && written[0].text == name);
            let after = scope::uses(sort).any(|at| named(sort[at].text));
            let before = scope::uses(sort).any(|at| !named(sort[at].text));
            if settled || after && !before {
                second.push(format!("{} AS {key}", by_alias(statement, sort, &names)));
            } else {
                // Both sides of the projection are in sight here: the row before it, and its columns as what they are.
                let inside: Vec<(&[Token<'a>], String)> = (self.items.iter().zip(&items))
                    .filter(|_| after)
                    .filter_map(|(item, (expression, _))| {
                        Some((written_alias(item)?, format!("({})", text(expression))))
                    })
                    .collect();
                first.push(format!("{} AS {key}", by_alias(statement, sort, &inside)));
                second.push(key.clone());
            }
            order.push(format!("{key} {direction}"));
        }
        let distinct = if self.distinct { "DISTINCT " } else { "" };
        let mut staged = format!("WITH {distinct}{} ", first.join(", "));
        let all = aliases.join(", ");
        let last: Vec<String> = self.items.iter().zip(&aliases).map(|(item, alias)| renamed(item, alias)).collect();
        if !order.is_empty() {
            staged.push_str(&format!(
                "WITH {all}, {} ORDER BY {} {} ",
                second.join(", "),
                order.join(", "),
                text(self.cut)
            ));
        }
        staged.push_str(&format!("{} {} ", if self.returns { "RETURN" } else { "WITH" }, last.join(", ")));
        if order.is_empty() {
            staged.push_str(&text(self.cut));
        }
        staged.push_str(&text(self.filter));
        staged.push(' ');
        Some(staged)
    }

    /// An item's expression and its alias; none for `*` and for what is no item.
    fn item(&self, at: usize, item: &'t [Token<'a>]) -> Option<(&'t [Token<'a>], String)> {
        match item {
            [] => None,
            [expression @ .., word, alias] if !expression.is_empty() && word.is_word("AS") => {
                let usable = alias.kind == Kind::Backtick || names::is_plain(alias.text);
                Some((expression, if usable { alias.text.to_owned() } else { format!("_item_{at}") }))
            }
            [only] if only.is("*") => None,
            [only] if only.kind == Kind::Backtick || only.kind == Kind::Word && names::is_plain(only.text) => {
                Some((item, only.text.to_owned()))
            }
            _ if self.returns => Some((item, format!("_item_{at}"))),
            _ => None,
        }
    }
}

/// The alias that an item has after AS or by being nothing but a name.
pub(super) fn written_alias<'t, 'a>(item: &'t [Token<'a>]) -> Option<&'t [Token<'a>]> {
    match item {
        [.., word, _] if item.len() > 2 && word.is_word("AS") => Some(&item[item.len() - 1..]),
        [only] if matches!(only.kind, Kind::Word | Kind::Backtick) => Some(item),
        _ => None,
    }
}

/// A sort key and its direction.
pub(super) fn directed<'t, 'a>(sort: &'t [Token<'a>]) -> (&'t [Token<'a>], &'a str) {
    match sort.split_last() {
        Some((last, rest)) if is_direction(last) => (rest, last.text),
        _ => (sort, ""),
    }
}

/// Whether an aggregating function is called in an expression.
pub(super) fn has_aggregate(expression: &[Token<'_>]) -> bool {
    (0..expression.len()).any(|at| aggregates(expression, at))
}

/// A column of the last stage: under the alias that was asked for, also where the engine takes it for nothing else.
fn renamed(item: &[Token<'_>], inner: &str) -> String {
    match item {
        [.., word, alias] if item.len() > 2 && word.is_word("AS") && alias.text != inner => {
            format!("{inner} AS {}", alias.text)
        }
        _ => inner.to_owned(),
    }
}

/// Whether a keyword begins its clause here: not `n.with`, `:WITH`, `AS with`, `STARTS WITH`.
fn begins(tokens: &[Token<'_>], at: usize) -> bool {
    at.checked_sub(1).map(|before| &tokens[before]).is_none_or(|before| {
        let name = before.is(".") || before.is(":") || before.is("|") || before.is_word("AS");
        !name && !before.is_word("STARTS") && !before.is_word("ENDS")
    })
}

fn sorts_here(tokens: &[Token<'_>], at: usize) -> bool {
    tokens.get(at).is_some_and(|token| token.is_word("ORDER"))
        && tokens.get(at + 1).is_some_and(|token| token.is_word("BY"))
}

/// Where the part that starts here ends: at the next clause, ORDER BY or semicolon that is in no bracket.
fn part_end(tokens: &[Token<'_>], from: usize) -> usize {
    let mut at = from;
    while at < tokens.len() {
        let clause = CLAUSES.iter().any(|word| tokens[at].is_word(word)) && begins(tokens, at);
        let closes = tokens[at].kind == Kind::Symbol && matches!(tokens[at].text, ")" | "]" | "}" | ";");
        if clause || closes || sorts_here(tokens, at) && begins(tokens, at) {
            return at;
        }
        at = past(tokens, at);
    }
    tokens.len()
}

fn list<'t, 'a>(tokens: &'t [Token<'a>]) -> Vec<&'t [Token<'a>]> {
    let (mut items, mut from, mut at) = (Vec::new(), 0, 0);
    while at < tokens.len() {
        if tokens[at].is(",") {
            items.push(&tokens[from..at]);
            from = at + 1;
        }
        at = past(tokens, at);
    }
    items.push(&tokens[from..]);
    items
}

fn is_direction(token: &Token<'_>) -> bool {
    ["ASC", "DESC", "ASCENDING", "DESCENDING"].iter().any(|word| token.is_word(word))
}

/// A sort key with every named expression in it replaced by its name; longer expressions first.
fn by_alias(statement: &str, sort: &[Token<'_>], names: &[(&[Token<'_>], impl AsRef<str>)]) -> String {
    let (mut text, mut at) = (String::new(), 0);
    while at < sort.len() {
        let length = match named(sort, at, names) {
            Some((expression, name)) => {
                text.push_str(name.as_ref());
                expression.len()
            }
            None => {
                text.push_str(sort[at].text);
                1
            }
        };
        let gap = sort.get(at + length).map_or("", |next| &statement[sort[at + length - 1].end()..next.at]);
        if !gap.is_empty() {
            text.push(' ');
        }
        at += length;
    }
    text
}

/// The longest of these expressions that stands here.
pub(super) fn named<'n, 't, 'a, N>(
    sort: &[Token<'_>],
    at: usize,
    names: &'n [(&'t [Token<'a>], N)],
) -> Option<&'n (&'t [Token<'a>], N)> {
    if at > 0 && sort[at - 1].is(".") {
        return None;
    }
    let fits = |expression: &[Token<'_>]| {
        if expression.is_empty() {
            return false;
        }
        let Some(here) = sort.get(at..at + expression.len()) else { return false };
        let next = sort.get(at + expression.len());
        let no_name = expression.len() == 1 && (next.is_some_and(|next| next.is("(")) || scope::is_key(sort, at));
        !no_name && (0..here.len()).all(|token| same(here, expression, token))
    };
    names.iter().filter(|(expression, _)| fits(expression)).max_by_key(|(expression, _)| expression.len())
}

/// The same token; the names of functions and `DISTINCT` are so in any case.
fn same(left: &[Token<'_>], right: &[Token<'_>], at: usize) -> bool {
    let any_case = left[at].is_word("DISTINCT") || left.get(at + 1).is_some_and(|next| next.is("("));
    left[at].text == right[at].text || any_case && left[at].text.eq_ignore_ascii_case(right[at].text)
}

#[cfg(test)]
mod tests;
