//! A statement, parsed once: its tokens, which brackets belong together, and its projections.

use std::ops::Range;

use super::Projection;
use super::token::{Token, TokenKind, significant};

/// Some tokens of a statement, by their places.
pub type Span = Range<usize>;

/// The keywords that begin a clause, and so end a projection.
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
    /// The keyword of the clause that each token is in.
    clause: Vec<Option<usize>>,
    /// Every WITH and RETURN that is in no bracket.
    pub projections: Vec<Projection>,
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
        let clause = Vec::with_capacity(tokens.len());
        let mut statement = Statement { text, tokens, open, close, clause, projections: Vec::new() };
        statement.close_cases();
        let mut clause = None;
        for at in 0..statement.tokens.len() {
            statement.clause.push(clause);
            clause = if statement.is_clause(at) { Some(at) } else { clause };
        }
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
            if self.keyword(at, "CASE") {
                cases.push(at);
            } else if self.keyword(at, "END")
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
    pub fn kind(&self, at: usize) -> Option<TokenKind> {
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
    pub fn keyword(&self, at: usize, keywords: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.keyword(keywords))
    }

    /// Whether a token can be a name, plain or in backticks.
    pub fn named(&self, at: usize) -> bool {
        matches!(self.kind(at), Some(TokenKind::Word | TokenKind::Backtick))
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

    /// The keyword of the clause, `WHERE` and `ORDER BY` included, that begins last before a token.
    pub fn clause(&self, at: usize) -> Option<usize> {
        self.clause.get(at).copied().flatten()
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
        (0..self.len()).any(|at| self.keyword(at, "UNION") && self.begins(at) && self.open(at).is_none())
    }

    /// Whether it computes from its parameters alone: it has no clause, subquery or pattern that looks at a graph.
    pub fn reads_no_graph(&self) -> bool {
        let computes = |at: usize| {
            let is_clause = self.keyword(at, "MATCH CALL MERGE CREATE") && self.begins(at);
            let is_subquery = self.keyword(at, "COUNT COLLECT EXISTS") && self.is(at + 1, "{");
            let is_arrow = self.is(at, "-") && (self.symbol(at + 1, "-[>") || self.is(at.wrapping_sub(1), "<"));
            !is_clause && !is_subquery && !is_arrow
        };
        self.keyword(0, "RETURN WITH UNWIND") && (0..self.len()).all(computes)
    }

    /// Whether a keyword begins its clause here: not `n.with`, `:WITH`, `AS with`, `STARTS WITH`.
    pub fn begins(&self, at: usize) -> bool {
        let before = at.wrapping_sub(1);
        !self.symbol(before, ".:|") && !self.keyword(before, "AS STARTS ENDS")
    }

    /// Where the part of a clause that starts here ends: at the next clause, ORDER BY or semicolon that is in no bracket.
    pub fn part_end(&self, from: usize) -> usize {
        let mut at = from;
        while at < self.tokens.len() {
            if self.is_clause(at) || self.symbol(at, ")]};") {
                return at;
            }
            at = self.past(at);
        }
        self.tokens.len()
    }

    fn is_clause(&self, at: usize) -> bool {
        (self.keyword(at, CLAUSES) || self.sorts(at)) && self.begins(at)
    }

    pub(super) fn sorts(&self, at: usize) -> bool {
        self.keyword(at, "ORDER") && self.keyword(at + 1, "BY")
    }

    /// The labels and relationship types that patterns and predicates name; `true` for types.
    pub fn labels_and_types(&self) -> Vec<(&'a str, bool)> {
        let (mut found, mut at) = (Vec::new(), 0);
        while at < self.len() {
            let open = self.open(at).unwrap_or(usize::MAX);
            let is_type = self.is(open, "[") && self.is(open.wrapping_sub(1), "-");
            let begins = self.is(at, ":") && !self.is(open, "{");
            at += 1;
            while begins && self.named(at) {
                found.push((self.at(at).trim_matches('`'), is_type));
                at += 1;
                // `:A:B`, `:A|B`, `:R|:S`
                if !self.symbol(at, ":|&") {
                    break;
                }
                at += if self.is(at + 1, ":") { 2 } else { 1 };
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn brackets_and_cases_close_where_they_should() {
        let s = Statement::parse("RETURN f(a, [b, {c: ')'}]) + CASE x WHEN 1 THEN n.end END AS end, (d");
        assert_eq!(s.close(2).map(|at| s.at(at + 1)), Some("+"));
        let case = (0..s.len()).find(|at| s.keyword(*at, "CASE")).unwrap();
        assert_eq!(s.close(case).map(|at| s.at(at + 2)), Some("end"));
        assert_eq!(s.close(s.len() - 2), None, "never closed");
        let b = (0..s.len()).find(|at| s.at(*at) == "b").unwrap();
        assert_eq!(s.open(b).map(|at| s.at(at)), Some("["));
        assert_eq!((s.at(99), s.is(usize::MAX, "("), s.past(99)), ("", false, 100));
    }

    #[test]
    fn a_statement_without_a_pattern_reads_no_graph() {
        for text in [
            "RETURN 1",
            "RETURN $user = 'match' AS match",
            "UNWIND [1, 2 - 1] AS x WITH x WHERE x > -1 RETURN count(x)",
        ] {
            assert!(Statement::parse(text).reads_no_graph(), "{text}");
        }
        for text in [
            "MATCH (n) RETURN 1",
            "WITH 1 AS x OPTIONAL MATCH (n) RETURN n",
            "RETURN COUNT { (:A) }",
            "RETURN EXISTS { MATCH (n) }",
            "RETURN size([(:A)-->(b) | b])",
            "RETURN exists((:A)<--())",
            "RETURN exists((:A)-[:X]-())",
            "CALL db.labels() YIELD label RETURN label",
            "SHOW INDEXES",
        ] {
            assert!(!Statement::parse(text).reads_no_graph(), "{text}");
        }
    }

    #[test]
    fn each_token_knows_its_clause() {
        let s = Statement::parse("MATCH (a) WHERE a.set STARTS WITH 'b' RETURN a.x AS with ORDER BY a.x SKIP 1");
        let clauses: Vec<&str> = (0..s.len()).map(|at| s.clause(at).map_or("", |clause| s.at(clause))).collect();
        let mut changes = clauses.clone();
        changes.dedup();
        assert_eq!(changes, ["", "MATCH", "WHERE", "RETURN", "ORDER", "SKIP"]);
        assert_eq!((clauses[1], s.clause(99)), ("MATCH", None));
    }

    #[test]
    fn labels_and_types_are_found_where_they_are_named() {
        let names = |text: &'static str| Statement::parse(text).labels_and_types();
        assert_eq!(
            names("MATCH (a:A:`B`)-[r:R|S|:T {x: b}]->(:C|D {k: v}) WHERE a:E AND NOT a.x = 'y:z' RETURN {m: a}"),
            [
                ("A", false),
                ("B", false),
                ("R", true),
                ("S", true),
                ("T", true),
                ("C", false),
                ("D", false),
                ("E", false)
            ]
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(RETURN |WITH |CASE |END |ORDER BY |UNION |[a-z_$ ;:`'*.,|&0-9\\[\\]{}()=-]){0,25}") {
            let statement = Statement::parse(&text);
            statement.labels_and_types();
            for at in 0..statement.len() {
                statement.projection(at);
                prop_assert!(statement.past(at) > at);
            }
        }
    }
}
