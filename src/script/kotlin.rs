//! Kotlin's spellings in Rhai's: for the hint that comes with a script that Embabel's runner would take.

mod ranges;
mod texts;

use super::tokens::{Lexeme, LexemeKind, closing, tokens};

pub(crate) use ranges::RANGE;
pub(crate) use texts::{FILLED_IN, RAW};

/// A script in Rhai's spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Translation {
    /// The script in Rhai.
    pub(crate) rhai: String,
    /// The first Kotlin construct, in a sentence.
    pub(crate) found: &'static str,
    /// Where, in bytes.
    pub(crate) at: usize,
    /// The first range that would be read as another one, with its end left out, in Rhai: `range(1, 6)`.
    pub(crate) open_range: Option<String>,
}

impl Translation {
    /// Line and column of what was found, from 1.
    pub(crate) fn position(&self, script: &str) -> (usize, usize) {
        let before = &script[..self.at];
        let line_start = before.rfind('\n').map_or(0, |place| place + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }
}

/// The script in Rhai's spelling; `None` if nothing in it looks like Kotlin.
pub(crate) fn translate(script: &str) -> Option<Translation> {
    let tokens = tokens(script);
    let mut writer = RhaiWriter { script, tokens: &tokens, found: None, open_range: None };
    let rhai = writer.span(0, tokens.len(), 0, script.len());
    let RhaiWriter { found, open_range, .. } = writer;
    found.map(|(found, at)| Translation { rhai, found, at, open_range })
}

/// Keywords that a block follows.
const HEADS: [&str; 5] = ["if", "for", "while", "until", "switch"];

struct RhaiWriter<'a> {
    script: &'a str,
    tokens: &'a [Lexeme<'a>],
    found: Option<(&'static str, usize)>,
    open_range: Option<String>,
}

impl RhaiWriter<'_> {
    fn note(&mut self, found: &'static str, at: usize) {
        if self.found.is_none_or(|(_, first)| at < first) {
            self.found = Some((found, at));
        }
    }

    /// Rewrites the tokens of a range, with the text between them, which spans these bytes.
    fn span(&mut self, from: usize, to: usize, start: usize, end: usize) -> String {
        let mut text = String::new();
        let mut written = start;
        let mut place = from;
        while place < to {
            let token = self.tokens[place];
            let before = &self.script[written..token.start];
            let (rewritten, next) = self.rewrite(place, from);
            match rewritten {
                Some(rewritten) if token.is("{") => {
                    text.push_str(before.trim_end());
                    // The lambda joins the arguments that stand before it.
                    let arguments = place > from && self.tokens[place - 1].is(")");
                    match (arguments, text.strip_suffix(')').map(str::to_owned)) {
                        (true, Some(open)) if open.ends_with('(') => text = format!("{open}{rewritten})"),
                        (true, Some(open)) => text = format!("{open}, {rewritten})"),
                        _ => text.push_str(&format!("({rewritten})")),
                    }
                }
                Some(rewritten) => {
                    text.push_str(before);
                    text.push_str(&rewritten);
                }
                None => {
                    text.push_str(before);
                    text.push_str(token.text);
                }
            }
            written = self.tokens[next - 1].end();
            place = next;
        }
        text.push_str(&self.script[written..end]);
        text
    }

    /// The token's Rhai spelling, if it has another, and the place of the first token after it.
    fn rewrite(&mut self, place: usize, from: usize) -> (Option<String>, usize) {
        let token = self.tokens[place];
        let before = (place > from).then(|| self.tokens[place - 1]);
        let after_value = before.is_some_and(|token| token.kind == LexemeKind::Word || token.closes());
        if token.is("{")
            && self.takes_lambda(place, from)
            && let Some(end) = closing(self.tokens, place)
        {
            self.note("a Kotlin lambda is not Rhai", token.start);
            return (Some(self.lambda(place, end)), end + 1);
        }
        if let Some(rewritten) = self.range(place, from).or_else(|| self.text(place)) {
            return rewritten;
        }
        let next_is_call = self.tokens.get(place + 1).is_some_and(|token| token.is("("));
        let (found, rhai) = match token.text {
            "===" if token.is("===") => ("`===` is not Rhai", "=="),
            "!==" if token.is("!==") => ("`!==` is not Rhai", "!="),
            "?:" if token.is("?:") => ("Kotlin's `?:` is not Rhai", "??"),
            "!!" if token.is("!!") && after_value => ("Kotlin's `!!` is not Rhai", ""),
            "null" if token.kind == LexemeKind::Word => ("Kotlin's `null` is not Rhai", "()"),
            "val" | "var" if token.kind == LexemeKind::Word => ("Kotlin's variables are not Rhai's", "let"),
            "listOf" | "setOf" if token.kind == LexemeKind::Word && next_is_call => {
                return match closing(self.tokens, place + 1) {
                    Some(end) => {
                        self.note("Kotlin's lists are not Rhai's", token.start);
                        let (start, stop) = (self.tokens[place + 1].end(), self.tokens[end].start);
                        (Some(format!("[{}]", self.span(place + 2, end, start, stop))), end + 1)
                    }
                    None => (None, place + 1),
                };
            }
            _ => return (None, place + 1),
        };
        self.note(found, token.start);
        (Some(rhai.to_owned()), place + 1)
    }

    /// Whether a brace follows `.method` or `.method(…)`.
    fn takes_lambda(&self, place: usize, from: usize) -> bool {
        let mut name = match place.checked_sub(1) {
            Some(before) if before >= from => before,
            _ => return false,
        };
        if self.tokens[name].is(")") {
            let opening = (from..name).rev().find(|open| closing(self.tokens, *open) == Some(name));
            match opening.and_then(|open| open.checked_sub(1)) {
                Some(before) if before >= from => name = before,
                _ => return false,
            }
        }
        let dotted = name > from && (self.tokens[name - 1].is(".") || self.tokens[name - 1].is("?."));
        self.tokens[name].kind == LexemeKind::Word && dotted && !self.in_head(name, from)
    }

    /// Whether a token belongs to the head of an `if` or a loop, whose brace opens a block.
    fn in_head(&self, place: usize, from: usize) -> bool {
        let mut depth = 0usize;
        for token in self.tokens[from..place].iter().rev() {
            match token {
                _ if token.closes() => depth += 1,
                _ if token.opens() && depth == 0 => return false,
                _ if token.opens() => depth -= 1,
                _ if depth > 0 => {}
                _ if token.is(";") => return false,
                _ if HEADS.contains(&token.text) => return true,
                _ => {}
            }
        }
        false
    }

    fn lambda(&mut self, open: usize, close: usize) -> String {
        let inside = &self.tokens[open + 1..close];
        let arrow = inside.iter().take_while(|token| token.kind == LexemeKind::Word || token.is(",")).count();
        let named = arrow > 0 && inside.get(arrow).is_some_and(|token| token.is("->"));
        let (parameters, first) = match named {
            true => {
                let text = &self.script[inside[0].start..inside[arrow].start];
                (text.trim().to_owned(), open + 1 + arrow + 1)
            }
            false => ("it".to_owned(), open + 1),
        };
        let start = self.tokens[first - 1].end();
        let body = self.span(first, close, start, self.tokens[close].start);
        format!("|{parameters}| {}", body.trim())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rhai(script: &str) -> String {
        translate(script).map_or("unchanged".to_owned(), |translation| translation.rhai)
    }

    #[test]
    fn lambdas_become_closures() {
        for (kotlin, expected) in [
            (
                r#"objectContext.entities.any { it.type == "Reminder" }"#,
                r#"objectContext.entities.any(|it| it.type == "Reminder")"#,
            ),
            ("a.any{it.b}", "a.any(|it| it.b)"),
            ("a.any { r -> r.b == 1 }.not()", "a.any(|r| r.b == 1).not()"),
            ("a.all { e -> e.labels.any { it == \"}\" } }", "a.all(|e| e.labels.any(|it| it == \"}\"))"),
            ("a.fold(0) { sum, e -> sum + e }", "a.fold(0, |sum, e| sum + e)"),
            ("a.any() { it.b }", "a.any(|it| it.b)"),
            ("a?.count { it.b } == 2", "a?.count(|it| it.b) == 2"),
            ("a.filter { it.b }.size == 1 && c.none { it.d }", "a.filter(|it| it.b).size == 1 && c.none(|it| it.d)"),
        ] {
            assert_eq!(rhai(kotlin), expected);
        }
    }

    #[test]
    fn near_misses_become_rhai() {
        for (kotlin, expected) in [
            ("a === b", "a == b"),
            ("a !== null", "a != ()"),
            ("a.b!!.c", "a.b.c"),
            ("a ?: 1", "a ?? 1"),
            ("val x = 1; x == 1", "let x = 1; x == 1"),
            ("a.b in 1..6 && c", "a.b in 1..=6 && c"),
            ("a in (1..b.size)", "a in (1..=b.size)"),
            ("a in -5..5", "a in -5..=5"),
            ("a.any { it.n in 1..6 }", "a.any(|it| it.n in 1..=6)"),
            ("a in 1 until 6", "a in range(1, 6)"),
            ("a in 1 until b.c && d", "a in range(1, b.c) && d"),
            ("a in b.c until d", "a in b.c..=d - 1"),
            ("a in 6 downTo 1", "a in 1..=6"),
            ("a in 3..<7", "a in range(3, 7)"),
            ("(0..0).contains(a.b)", "(0..=0).contains(a.b)"),
            ("(1 until 6).contains(a)", "(range(1, 6)).contains(a)"),
            ("(6 downTo 1).contains(a)", "(1..=6).contains(a)"),
            ("1..6 contains a.b && c", "a.b in 1..=6 && c"),
            ("let r = 1..6; a in r", "let r = 1..=6; a in r"),
            ("val r = 1..6; r.contains(a)", "let r = 1..=6; r.contains(a)"),
            (r#"a == "x ${a.b}""#, "a == `x ${a.b}`"),
            (r#"a.any { "$it" == "x" }"#, "a.any(|it| `${it}` == \"x\")"),
            (r#""""a "b" c""" == a"#, r#""a \"b\" c" == a"#),
            ("\"\"\"a\nb\"\"\" == a", "`a\nb` == a"),
            ("a !in listOf(1)", "a !in [1]"),
            ("a in listOf(\"x\", \"y\")", "a in [\"x\", \"y\"]"),
        ] {
            assert_eq!(rhai(kotlin), expected);
        }
    }

    #[test]
    fn rhai_stays_rhai() {
        for script in [
            "objectContext.entities.any(|it| it.type == \"a { b }\")",
            "if x { 1 } else { 2 }",
            "if a.b { 1 } else { 2 }",
            "for m in a.b(c) { m.d }",
            "let m = #{a: 1}; m.a == 1",
            "!!x",
            "for i in 0..3 { i }",
            "for (r, i) in 0..n { r }",
            "a in 1..=6",
            "a in range(1, 6)",
            "(0..=3).contains(a)",
            "let r = 0..3; a.extract(r)",
            "a == \"costs $x or $5\" && b == \"\"",
            "`${a.b}` == 'x'",
            "a.extract(0..2) == b[1..2]",
            "a in b && c[0..2] == d",
            "switch a { 1..5 => true, _ => false }",
            "\"null\" == `null`",
        ] {
            assert_eq!(rhai(script), "unchanged", "{script}");
        }
    }

    #[test]
    fn the_place_is_that_of_the_brace() {
        let script = "true &&\n  a.any { it.b }";
        assert_eq!(translate(script).unwrap().position(script), (2, 9));
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "([a-z(){}\\[\\]\"'.,|/*é!=?:>-]|listOf|null|\\s)*") {
            let _ = translate(&text);
        }
    }
}
