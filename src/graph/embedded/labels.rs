//! Label expressions in predicates (`n:A|B`, `n:!A`, `n:A&(B|C)`), written as the conditions that they are.

use super::names;
use crate::cypher::Statement;

/// The keywords after which an expression begins.
const BEFORE: &str = "WHERE AND OR XOR NOT RETURN WITH WHEN THEN ELSE CASE BY DISTINCT IN UNWIND";

/// The condition that begins at this token, and the token after it; `None` where the engine reads it as it is.
pub(super) fn predicate(s: &Statement<'_>, at: usize) -> Option<(String, usize)> {
    if !s.is(at + 1, ":") || !s.named(at) || names::is_reserved(s.at(at)) || !is_expression(s, at) {
        return None;
    }
    let bars = !s.open(at).is_some_and(|open| s.is(open, "["));
    let mut reader = PredicateReader { s, at: at + 2, variable: s.at(at), more: false, bars };
    let condition = reader.any()?;
    reader.more.then(|| (format!("({condition})"), reader.at))
}

struct PredicateReader<'s, 'a> {
    s: &'s Statement<'a>,
    at: usize,
    variable: &'a str,
    /// Whether it has more than names and colons, which the engine knows.
    more: bool,
    /// Whether `|` belongs to it: in a list it begins the list's own expression.
    bars: bool,
}

impl PredicateReader<'_, '_> {
    fn follows(&mut self, symbol: &str) -> bool {
        let found = self.s.is(self.at, symbol);
        self.at += usize::from(found);
        found
    }

    fn any(&mut self) -> Option<String> {
        let mut condition = self.all()?;
        while self.bars && self.follows("|") {
            self.more = true;
            self.follows(":");
            condition = format!("{condition} OR {}", self.all()?);
        }
        Some(condition)
    }

    fn all(&mut self) -> Option<String> {
        let mut condition = self.one()?;
        loop {
            if self.follows("&") {
                self.more = true;
            } else if !self.follows(":") {
                return Some(condition);
            }
            condition = format!("{condition} AND {}", self.one()?);
        }
    }

    fn one(&mut self) -> Option<String> {
        if self.follows("!") {
            self.more = true;
            return Some(format!("(NOT {})", self.one()?));
        }
        if self.follows("(") {
            let bars = std::mem::replace(&mut self.bars, true);
            let inner = self.any()?;
            self.bars = bars;
            self.more = true;
            return self.follows(")").then(|| format!("({inner})"));
        }
        self.at += 1;
        self.s.named(self.at - 1).then(|| format!("{}:{}", self.variable, self.s.at(self.at - 1)))
    }
}

/// Whether an expression stands here, and no pattern or map.
fn is_expression(s: &Statement<'_>, at: usize) -> bool {
    let Some(before) = at.checked_sub(1) else { return false };
    if s.is(before, "(") {
        // `WHERE (n:A|B)`, but not `MATCH (n:A|B)` or `WHERE (n:A|B)-->()`.
        let goes_on = s.close(before).is_some_and(|close| s.symbol(close + 1, "-<"));
        return !goes_on && before > 0 && continues(s, before - 1);
    }
    continues(s, before)
}

/// Whether an expression goes on after this token.
fn continues(s: &Statement<'_>, at: usize) -> bool {
    if s.symbol(at, ",(") {
        // Between the items of a projection or the arguments of a function, but not between the parts of a pattern.
        return s.clause(at).is_some_and(|clause| s.keyword(clause, "WHERE RETURN WITH ORDER UNWIND CALL"));
    }
    s.is(at, "=") || s.keyword(at, BEFORE)
}
