//! Kotlin's ranges: they take their end in, and Rhai's `..` leaves it out.

use super::RhaiWriter;
use crate::script::tokens::{Lexeme, LexemeKind, closing};

/// The message on a range that Rhai would read otherwise.
pub(crate) const RANGE: &str = "Kotlin's `..` takes its end in, Rhai's leaves it out";

const OTHERS: &str = "Kotlin's ranges are not Rhai's";

impl RhaiWriter<'_> {
    /// A range in Rhai's spelling, and the place of the first token after it.
    pub(crate) fn range(&mut self, place: usize, from: usize) -> Option<(Option<String>, usize)> {
        let token = self.tokens[place];
        if token.is("..") && self.is_tested(place, from) {
            self.note(RANGE, token.start);
            let (start, (end, _)) = (self.operand_before(place, from), self.operand_after(place));
            self.open_range.get_or_insert_with(|| format!("range({start}, {end})"));
            return Some((Some("..=".to_owned()), place + 1));
        }
        let name = |ahead: usize| {
            let token = self.tokens.get(place + ahead)?;
            matches!(token.kind, LexemeKind::Word | LexemeKind::Quoted).then_some(token.text)
        };
        let start = name(0)?;
        let sign = *self.tokens.get(place + 1)?;
        let is_open = sign.is("..<") || name(1) == Some("until");
        if is_open || name(1) == Some("downTo") {
            let (end, next) = self.operand_after(place + 1);
            let is_whole = place == from || !self.tokens[place - 1].is(".") && !self.tokens[place - 1].is("?.");
            let rhai = match (is_open, is_whole) {
                (true, true) => format!("range({start}, {end})"),
                (true, false) => format!("{start}..={end} - 1"),
                // What stands before the first name belongs to it, and can't be moved.
                (false, true) => format!("{end}..={start}"),
                (false, false) => return None,
            };
            self.note(OTHERS, sign.start);
            return Some((Some(rhai), next));
        }
        match (name(1), name(2), Some(sign)) {
            (None, Some(end), Some(dots)) if dots.is("..") && name(3) == Some("contains") => {
                let stop = (place + 4..self.tokens.len()).find(|stop| {
                    let token = self.tokens[*stop];
                    token.closes() || ["&&", "||", ";", ","].iter().any(|sign| token.is(sign))
                });
                let stop = stop.unwrap_or(self.tokens.len());
                let (first, last) = (self.tokens.get(place + 4)?, self.tokens.get(stop - 1)?);
                let operand = self.script.get(first.start..last.end()).filter(|_| !first.is("("))?;
                let rhai = format!("{operand} in {start}..={end}");
                self.note("`contains` is called with a dot", self.tokens[place + 3].start);
                Some((Some(rhai), stop))
            }
            _ => None,
        }
    }

    /// The operand before an operator: a number, or names with their dots.
    fn operand_before(&self, place: usize, from: usize) -> String {
        let belongs = |token: &&Lexeme<'_>| {
            token.kind == LexemeKind::Word && token.text != "in" || token.is(".") || token.is("-")
        };
        let count = self.tokens[from..place].iter().rev().take_while(belongs).count();
        self.between(place - count, place).unwrap_or("start").to_owned()
    }

    /// The operand after an operator, and the first token after it.
    fn operand_after(&self, place: usize) -> (String, usize) {
        let belongs = |token: &&Lexeme<'_>| token.kind == LexemeKind::Word || token.is(".") || token.is("-");
        let next = place + 1 + self.tokens[place + 1..].iter().take_while(belongs).count();
        let is_infix =
            |at: &usize| self.tokens[*at].kind == LexemeKind::Word && self.tokens[*at - 1].kind == LexemeKind::Word;
        let next = (place + 2..next).find(is_infix).unwrap_or(next);
        (self.between(place + 1, next).unwrap_or("end").to_owned(), next)
    }

    fn between(&self, first: usize, end: usize) -> Option<&str> {
        let (first, last) = (self.tokens.get(first)?, self.tokens.get(end.checked_sub(1)?)?);
        self.script.get(first.start..last.end()).filter(|text| !text.is_empty())
    }

    /// Whether what stands here is what something is looked for in: `x in …`, `(…).contains(x)`, and no loop.
    fn is_tested(&self, place: usize, from: usize) -> bool {
        let mut depth = 0usize;
        for before in (from..place).rev() {
            let token = self.tokens[before];
            match token.text {
                _ if token.closes() => depth += 1,
                _ if token.is("(") && depth == 0 && self.is_asked(before, from) => return true,
                _ if token.is("(") && depth == 0 => {}
                _ if token.opens() && depth == 0 => return false,
                _ if token.opens() => depth -= 1,
                _ if depth > 0 => {}
                "in" if token.kind == LexemeKind::Word => return !self.is_loop(before, from),
                "=" if token.kind == LexemeKind::Sign => return self.is_looked_into_later(before),
                ";" | "&&" | "||" | "," | "=>" | "|" if token.kind == LexemeKind::Sign => return false,
                _ => {}
            }
        }
        false
    }

    /// `(…).contains(x)`: no call's brackets, and behind them a question.
    fn is_asked(&self, open: usize, from: usize) -> bool {
        let is_call = open > from && self.tokens[open - 1].kind == LexemeKind::Word;
        let Some(close) = closing(self.tokens, open).filter(|_| !is_call) else { return false };
        let asks = |token: &Lexeme<'_>| {
            ["contains", "any", "all", "none", "count", "toList", "first", "last"].contains(&token.text)
        };
        self.tokens.get(close + 1).is_some_and(|dot| dot.is(".")) && self.tokens.get(close + 2).is_some_and(asks)
    }

    /// `let r = …; x in r`, or `r.contains(x)`.
    fn is_looked_into_later(&self, equals: usize) -> bool {
        let Some(name) = equals.checked_sub(1).map(|name| self.tokens[name]) else { return false };
        let later = &self.tokens[equals..];
        name.kind == LexemeKind::Word
            && later.windows(3).any(|three| {
                let follows = three[0].text == "in" && three[1].text == name.text;
                follows || three[0].text == name.text && three[1].is(".") && three[2].text == "contains"
            })
            || name.kind == LexemeKind::Word
                && later.len() > 1
                && later[later.len() - 2].text == "in"
                && later[later.len() - 1].text == name.text
    }

    /// Whether this `in` is that of a loop: `for x in …`, `for (x, i) in …`.
    fn is_loop(&self, place: usize, from: usize) -> bool {
        let is_name =
            |token: &Lexeme<'_>| token.kind == LexemeKind::Word || ["(", ")", ","].iter().any(|sign| token.is(sign));
        let mut before = self.tokens[from..place].iter().rev().take_while(|token| is_name(token)).take(6);
        before.any(|token| token.text == "for")
    }
}
