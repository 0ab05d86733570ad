//! Label expressions in predicates (`n:A|B`, `n:!A`, `n:A&(B|C)`), written as the conditions that they are.

use super::names;
use crate::graph::cypher::{Kind, Token};

/// The words and symbols after which an expression goes on.
const BEFORE: [&str; 15] = [
    "WHERE", "AND", "OR", "XOR", "NOT", "RETURN", "WITH", "WHEN", "THEN", "ELSE", "CASE", "BY", "DISTINCT", "IN",
    "UNWIND",
];

/// The condition that begins at this token, and the token after it; `None` where the engine reads it as it is.
pub(super) fn predicate(tokens: &[Token<'_>], at: usize) -> Option<(String, usize)> {
    let variable = tokens[at];
    let named = matches!(variable.kind, Kind::Word | Kind::Backtick) && !names::is_reserved(variable.text);
    let colon = next(tokens, at)?;
    if !named || !tokens[colon].is(":") || !is_expression(tokens, at) {
        return None;
    }
    let bars = !opening(tokens, at).is_some_and(|open| tokens[open].is("["));
    let mut reader = Reader { tokens, at: colon, variable: variable.text, more: false, bars };
    let condition = reader.any()?;
    reader.more.then(|| (format!("({condition})"), reader.at + 1))
}

struct Reader<'t, 'a> {
    tokens: &'t [Token<'a>],
    /// The last token that belongs to it.
    at: usize,
    variable: &'a str,
    /// Whether it has more than names and colons, which the engine knows.
    more: bool,
    /// Whether `|` belongs to it: in a list it begins what the list is made of.
    bars: bool,
}

impl Reader<'_, '_> {
    fn follows(&mut self, symbol: &str) -> bool {
        let found = next(self.tokens, self.at).filter(|at| self.tokens[*at].is(symbol));
        self.at = found.unwrap_or(self.at);
        found.is_some()
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
        self.at = next(self.tokens, self.at)?;
        let label = self.tokens[self.at];
        matches!(label.kind, Kind::Word | Kind::Backtick).then(|| format!("{}:{}", self.variable, label.text))
    }
}

/// Whether an expression stands here, and no pattern or map.
fn is_expression(tokens: &[Token<'_>], at: usize) -> bool {
    let Some(before) = previous(tokens, at) else { return false };
    let token = tokens[before];
    if token.is("(") {
        // `WHERE (n:A|B)`, but not `MATCH (n:A|B)` or `WHERE (n:A|B)-->()`.
        let after = crate::graph::cypher::closing(tokens, before).and_then(|close| next(tokens, close));
        let goes_on = after.is_some_and(|after| tokens[after].is("-") || tokens[after].is("<"));
        return !goes_on && previous(tokens, before).is_some_and(|outer| continues(tokens, outer));
    }
    continues(tokens, before)
}

/// Whether an expression goes on after this token.
fn continues(tokens: &[Token<'_>], at: usize) -> bool {
    let token = tokens[at];
    if token.is(",") || token.is("(") {
        // Between the items of a projection or the arguments of a function, but not between the parts of a pattern.
        let clause = tokens[..at].iter().rev().find(|token| {
            ["MATCH", "CREATE", "MERGE", "WHERE", "RETURN", "WITH", "BY", "SET", "REMOVE", "DELETE"]
                .iter()
                .any(|word| token.is_word(word))
        });
        return clause.is_some_and(|clause| ["WHERE", "RETURN", "WITH", "BY"].iter().any(|word| clause.is_word(word)));
    }
    token.is("=") || BEFORE.iter().any(|word| token.is_word(word))
}

/// The bracket that is open around a token.
fn opening(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (before, token) in tokens[..at].iter().enumerate().rev() {
        match token.text {
            _ if token.kind != Kind::Symbol => {}
            ")" | "]" | "}" => depth += 1,
            "(" | "[" | "{" if depth == 0 => return Some(before),
            "(" | "[" | "{" => depth -= 1,
            _ => {}
        }
    }
    None
}

fn next(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    (at + 1..tokens.len()).find(|at| !matches!(tokens[*at].kind, Kind::Space | Kind::Comment))
}

fn previous(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    (0..at).rev().find(|at| !matches!(tokens[*at].kind, Kind::Space | Kind::Comment))
}
