//! A statement, parsed once: its tokens, which brackets belong together, and its projections.

use std::ops::Range;

use super::token::{Kind, Token, significant};

/// Some tokens of a statement, by their places.
pub type Span = Range<usize>;

/// The words that begin a clause, and so end a projection.
const CLAUSES: &str =
    "MATCH OPTIONAL UNWIND CREATE MERGE SET DELETE DETACH REMOVE CALL WITH RETURN UNION WHERE SKIP LIMIT";

/// A statement. Whatever asks for a token beyond its ends gets the answer of none.
#[derive(Debug, Clone)]
pub struct Statement<'a> {
    /// As it was written.
    pub text: &'a str,
    /// Its tokens without white space and comments.
    pub tokens: Vec<Token<'a>>,
    /// The bracket that is open around each token.
    open: Vec<Option<usize>>,
    /// Where each bracket, and each CASE, closes.
    close: Vec<Option<usize>>,
    /// Every WITH and RETURN that is in no bracket.
    pub projections: Vec<Projection>,
}

/// A WITH or a RETURN with all that belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Projection {
    /// Its first token.
    pub at: usize,
    /// Whether it is a RETURN.
    pub returns: bool,
    /// Whether it is DISTINCT.
    pub distinct: bool,
    /// Its items; one empty one where there is none.
    pub items: Vec<Span>,
    /// The keys after ORDER BY, with their directions.
    pub sorts: Vec<Span>,
    /// SKIP and LIMIT.
    pub cut: Span,
    /// WHERE and its condition.
    pub filter: Span,
    /// The first token after it.
    pub end: usize,
}

impl<'a> Statement<'a> {
    /// Reads any text.
    pub fn parse(text: &'a str) -> Statement<'a> {
        let tokens = significant(text);
        let (mut open, mut close) = (vec![None; tokens.len()], vec![None; tokens.len()]);
        let mut brackets = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            if token.symbol(")]}")
                && let Some(bracket) = brackets.pop()
            {
                close[bracket] = Some(at);
            }
            open[at] = brackets.last().copied();
            if token.symbol("([{") {
                brackets.push(at);
            }
        }
        let mut statement = Statement { text, tokens, open, close, projections: Vec::new() };
        statement.close_cases();
        let mut at = 0;
        while at < statement.tokens.len() {
            let projection = statement.projection(at);
            at = projection.as_ref().map_or_else(|| statement.past(at), |projection| projection.end.max(at + 1));
            statement.projections.extend(projection);
        }
        statement
    }

    fn close_cases(&mut self) {
        let mut cases = Vec::new();
        for at in 0..self.tokens.len() {
            // A variable, a key or a label may have the name.
            if self.is(at + 1, ":") || !self.begins(at) {
                continue;
            }
            if self.word(at, "CASE") {
                cases.push(at);
            } else if self.word(at, "END")
                && let Some(case) = cases.pop()
            {
                self.close[case] = Some(at);
            }
        }
    }

    /// How many tokens it has.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// A token's kind.
    pub fn kind(&self, at: usize) -> Option<Kind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    /// A token's text.
    pub fn at(&self, at: usize) -> &'a str {
        self.tokens.get(at).map_or("", |token| token.text)
    }

    /// Whether a token is this symbol.
    pub fn is(&self, at: usize, symbol: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(symbol))
    }

    /// Whether a token is one of these symbols.
    pub fn symbol(&self, at: usize, symbols: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.symbol(symbols))
    }

    /// Whether a token is one of these keywords, which spaces part.
    pub fn word(&self, at: usize, words: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.word(words))
    }

    /// Whether a token can be a name, plain or in backticks.
    pub fn named(&self, at: usize) -> bool {
        matches!(self.kind(at), Some(Kind::Word | Kind::Backtick))
    }

    /// The text from the first of these tokens to the last.
    pub fn text(&self, span: &Span) -> &'a str {
        match self.tokens.get(span.clone()) {
            Some([first, .., last]) => &self.text[first.at..last.end()],
            Some([only]) => only.text,
            _ => "",
        }
    }

    /// The text from this token to the end.
    pub fn rest(&self, at: usize) -> &'a str {
        self.tokens.get(at).map_or("", |token| &self.text[token.at..])
    }

    /// The space and the comments before a token.
    pub fn gap(&self, at: usize) -> &'a str {
        let from = at.checked_sub(1).map_or(0, |before| self.tokens[before].end());
        &self.text[from..self.tokens.get(at).map_or(self.text.len(), |token| token.at)]
    }

    /// The bracket that is open around a token.
    pub fn open(&self, at: usize) -> Option<usize> {
        self.open.get(at).copied().flatten()
    }

    /// Where the bracket, or the CASE, that opens here closes.
    pub fn close(&self, at: usize) -> Option<usize> {
        self.close.get(at).copied().flatten()
    }

    /// The next token that is in no bracket and no CASE of its own.
    pub fn past(&self, at: usize) -> usize {
        self.close(at).unwrap_or(at) + 1
    }

    /// The pieces between commas that stand in no bracket.
    pub fn list(&self, span: Span) -> Vec<Span> {
        let (mut items, mut from, mut at) = (Vec::new(), span.start, span.start);
        while at < span.end {
            if self.is(at, ",") {
                items.push(from..at);
                from = at + 1;
            }
            at = self.past(at);
        }
        items.push(from..span.end.max(from));
        items
    }

    /// Whether results are put together by UNION.
    pub fn has_union(&self) -> bool {
        (0..self.len()).any(|at| self.word(at, "UNION") && self.begins(at) && self.open(at).is_none())
    }

    /// Whether a keyword begins its clause here: not `n.with`, `:WITH`, `AS with`, `STARTS WITH`.
    pub fn begins(&self, at: usize) -> bool {
        let before = at.wrapping_sub(1);
        !self.symbol(before, ".:|") && !self.word(before, "AS STARTS ENDS")
    }

    /// Where the part of a clause that starts here ends: at the next clause, ORDER BY or semicolon that is in no bracket.
    pub fn part_end(&self, from: usize) -> usize {
        let mut at = from;
        while at < self.tokens.len() {
            let clause = self.word(at, CLAUSES) || self.sorts(at);
            if clause && self.begins(at) || self.symbol(at, ")]};") {
                return at;
            }
            at = self.past(at);
        }
        self.tokens.len()
    }

    fn sorts(&self, at: usize) -> bool {
        self.word(at, "ORDER") && self.word(at + 1, "BY")
    }

    /// The WITH or RETURN that begins at this token.
    pub fn projection(&self, at: usize) -> Option<Projection> {
        if !self.word(at, "WITH RETURN") || !self.begins(at) {
            return None;
        }
        let returns = self.word(at, "RETURN");
        let distinct = self.word(at + 1, "DISTINCT");
        let first = at + 1 + usize::from(distinct);
        let mut end = self.part_end(first);
        let items = self.list(first..end);
        let mut sorts = Vec::new();
        if self.sorts(end) {
            let from = end + 2;
            end = self.part_end(from);
            sorts = self.list(from..end);
        }
        let cut = end;
        while self.word(end, "SKIP LIMIT") {
            end = self.part_end(end + 1);
        }
        let filter = end;
        if !returns && self.word(end, "WHERE") {
            end = self.part_end(end + 1);
        }
        Some(Projection { at, returns, distinct, items, sorts, cut: cut..filter, filter: filter..end, end })
    }

    /// The alias that an item has after AS or by being nothing but a name.
    pub fn alias(&self, item: &Span) -> Option<usize> {
        let last = item.end.checked_sub(1)?;
        let written = item.len() > 2 && self.word(last - 1, "AS");
        (written || item.len() == 1 && self.named(last)).then_some(last)
    }

    /// An item without its AS and alias.
    pub fn expression(&self, item: &Span) -> Span {
        match item.len() > 2 && self.word(item.end - 2, "AS") {
            true => item.start..item.end - 2,
            false => item.clone(),
        }
    }
}
