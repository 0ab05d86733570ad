//! The tokens of a script: enough for Rhai and for the Kotlin that people bring along.

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LexemeKind {
    /// A name, a keyword or a number.
    Word,
    /// Text in double or single quotes.
    Quoted,
    /// Text in backticks, with `${…}` in it.
    Template,
    /// Anything else.
    Sign,
}

/// A piece of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lexeme<'a> {
    pub(crate) kind: LexemeKind,
    /// As it is written.
    pub(crate) text: &'a str,
    /// Where it begins, in bytes.
    pub(crate) start: usize,
}

impl Lexeme<'_> {
    /// Where it ends, in bytes.
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// Whether it is this sign.
    pub(crate) fn is(&self, sign: &str) -> bool {
        self.kind == LexemeKind::Sign && self.text == sign
    }

    /// Whether it opens a bracket.
    pub(crate) fn opens(&self) -> bool {
        ["(", "[", "{", "#{"].iter().any(|sign| self.is(sign))
    }

    /// Whether it closes a bracket.
    pub(crate) fn closes(&self) -> bool {
        [")", "]", "}"].iter().any(|sign| self.is(sign))
    }
}

/// Signs of several characters, the longest first.
const SIGNS: [&str; 20] = [
    "===", "!==", "..=", "..<", "&&", "||", "==", "!=", "<=", ">=", "->", "=>", "?.", "?:", "??", "!!", "..", "::",
    "#{", "?[",
];

/// The tokens of a script; comments and spaces are left out.
pub(crate) fn tokens(script: &str) -> Vec<Lexeme<'_>> {
    let mut tokens = Vec::new();
    let mut start = 0;
    while let Some(first) = script[start..].chars().next() {
        let rest = &script[start..];
        let (kind, length) = match first {
            _ if rest.starts_with("//") => (None, rest.find('\n').unwrap_or(rest.len())),
            _ if rest.starts_with("/*") => (None, comment(rest)),
            '"' | '\'' => (Some(LexemeKind::Quoted), quoted(rest, first)),
            '`' => (Some(LexemeKind::Template), template(rest)),
            _ if first.is_whitespace() => (None, first.len_utf8()),
            _ if first.is_alphanumeric() || first == '_' => {
                let end = rest.find(|inner: char| !inner.is_alphanumeric() && inner != '_');
                (Some(LexemeKind::Word), end.unwrap_or(rest.len()))
            }
            _ => {
                let long = SIGNS.iter().find(|sign| rest.starts_with(**sign));
                (Some(LexemeKind::Sign), long.map_or(first.len_utf8(), |sign| sign.len()))
            }
        };
        if let Some(kind) = kind {
            tokens.push(Lexeme { kind, text: &rest[..length], start });
        }
        start += length;
    }
    tokens
}

/// The place of the bracket that closes the one at `open`.
pub(crate) fn closing(tokens: &[Lexeme<'_>], open: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (place, token) in tokens.iter().enumerate().skip(open) {
        if token.opens() {
            depth += 1;
        } else if token.closes() {
            depth = depth.checked_sub(1)?;
            if depth == 0 {
                return Some(place);
            }
        }
    }
    None
}

/// Rhai's comments nest.
fn comment(rest: &str) -> usize {
    let (mut depth, mut place) = (0usize, 0);
    while place < rest.len() {
        if rest[place..].starts_with("/*") {
            depth += 1;
            place += 2;
        } else if rest[place..].starts_with("*/") {
            depth -= 1;
            place += 2;
            if depth == 0 {
                return place;
            }
        } else {
            place += rest[place..].chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (place, character) in rest.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if character == quote => return place + 1,
            _ => {}
        }
    }
    rest.len()
}

/// A template ends at the first backtick outside its `${…}`.
fn template(rest: &str) -> usize {
    let mut depth = 0usize;
    let mut before = ' ';
    for (place, character) in rest.char_indices().skip(1) {
        match character {
            '{' if before == '$' || depth > 0 => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            '`' if depth == 0 => return place + 1,
            _ => {}
        }
        before = character;
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_strings_and_signs_are_distinguished() {
        let texts = |script| tokens(script).iter().map(|token| token.text).collect::<Vec<_>>();
        assert_eq!(
            texts("a.b(|it| it.c == \"x \\\" }\")"),
            ["a", ".", "b", "(", "|", "it", "|", "it", ".", "c", "==", "\"x \\\" }\"", ")"]
        );
        assert_eq!(texts("a // b\n/* c /* d */ e */ f"), ["a", "f"]);
        assert_eq!(texts("`x ${a + `b`} }` !== y"), ["`x ${a + `b`} }`", "!==", "y"]);
    }

    proptest! {
        #[test]
        fn any_text_is_cut_without_loss(text in "([a-z(){}\\[\\]\"'`$|/*é!=]|\\s)*") {
            let tokens = tokens(&text);
            for pair in tokens.windows(2) {
                prop_assert!(pair[0].end() <= pair[1].start);
            }
            for token in tokens {
                prop_assert_eq!(&text[token.start..token.end()], token.text);
            }
        }
    }
}
