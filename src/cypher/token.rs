//! The tokens of a Cypher text.

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// White space.
    Space,
    /// `// …` or `/* … */`.
    Comment,
    /// A keyword or a plain name.
    Word,
    /// A name in backticks; a doubled backtick inside is one backtick.
    Backtick,
    /// A string in either quotes.
    Quoted,
    /// A number without its sign.
    Number,
    /// `$name`.
    Parameter,
    /// One character of anything else.
    Symbol,
}

/// A piece of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    /// Its kind.
    pub kind: TokenKind,
    /// As it is written.
    pub text: &'a str,
    /// Where it starts, in bytes.
    pub at: usize,
}

impl Token<'_> {
    /// Where it ends, in bytes.
    pub fn end(&self) -> usize {
        self.at + self.text.len()
    }

    /// Whether it is this character.
    pub fn is(&self, symbol: &str) -> bool {
        self.kind == TokenKind::Symbol && self.text == symbol
    }

    /// Whether it is one of these characters.
    pub fn symbol(&self, symbols: &str) -> bool {
        self.kind == TokenKind::Symbol && symbols.contains(self.text)
    }

    /// Whether it is one of these keywords, which spaces part, in any case.
    pub fn keyword(&self, keywords: &str) -> bool {
        self.kind == TokenKind::Word && is_one_of(self.text, keywords)
    }
}

/// All tokens of a text, with nothing left out.
pub fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::with_capacity(text.len() / 3);
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let (kind, length) = match first {
            '/' if rest.starts_with("//") => (TokenKind::Comment, rest.find('\n').unwrap_or(rest.len())),
            '/' if rest.starts_with("/*") => {
                (TokenKind::Comment, rest[2..].find("*/").map_or(rest.len(), |inside| inside + 4))
            }
            '\'' | '"' => (TokenKind::Quoted, quoted(rest, first)),
            '`' => (TokenKind::Backtick, backticks(rest)),
            '$' => parameter(rest),
            c if c.is_whitespace() => (TokenKind::Space, span(rest, char::is_whitespace)),
            c if c.is_ascii_digit() => (TokenKind::Number, number(rest)),
            c if c.is_alphabetic() || c == '_' => (TokenKind::Word, name_length(rest)),
            c => (TokenKind::Symbol, c.len_utf8()),
        };
        tokens.push(Token { kind, text: &rest[..length], at });
        at += length;
    }
    tokens
}

/// The tokens that mean something: without white space and comments.
pub fn significant(text: &str) -> Vec<Token<'_>> {
    let mut tokens = tokens(text);
    tokens.retain(|token| !matches!(token.kind, TokenKind::Space | TokenKind::Comment));
    tokens
}

/// Whether a text is one of these keywords, which spaces separate, in any case.
pub fn is_one_of(text: &str, keywords: &str) -> bool {
    keywords.split(' ').any(|keyword| keyword.eq_ignore_ascii_case(text))
}

/// A name without its backticks.
pub fn unquoted(name: &str) -> String {
    match name.strip_prefix('`').and_then(|name| name.strip_suffix('`')) {
        Some(name) => name.replace("``", "`"),
        None => name.to_owned(),
    }
}

/// Letters, digits and underscores. Nearly all names are ASCII, and every statement is read several times.
fn name_length(text: &str) -> usize {
    let ascii = text.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
    if text.as_bytes().get(ascii).is_none_or(u8::is_ascii) {
        return ascii;
    }
    ascii + span(&text[ascii..], |c| c.is_alphanumeric() || c == '_')
}

fn span(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|c| !belongs(c)).unwrap_or(text.len())
}

fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn backticks(text: &str) -> usize {
    let mut at = 1;
    loop {
        match text[at..].find('`') {
            None => return text.len(),
            Some(found) if text[at + found + 1..].starts_with('`') => at += found + 2,
            Some(found) => return at + found + 1,
        }
    }
}

fn parameter(text: &str) -> (TokenKind, usize) {
    let name = &text[1..];
    match name.chars().next() {
        Some('`') => (TokenKind::Parameter, 1 + backticks(name)),
        Some(c) if c.is_alphanumeric() || c == '_' => (TokenKind::Parameter, 1 + name_length(name)),
        _ => (TokenKind::Symbol, 1),
    }
}

fn number(text: &str) -> usize {
    let mut end = span(text, |c| c.is_ascii_alphanumeric() || c == '_');
    let fraction = &text[end..];
    if fraction.starts_with('.') && fraction[1..].starts_with(|c: char| c.is_ascii_digit()) {
        end += 1 + span(&fraction[1..], |c| c.is_ascii_alphanumeric() || c == '_');
    }
    // The sign of an exponent: `1e-3`, `2.5E+7`; but not `0x1e-3`, where the e is a digit.
    let exponent = text[..end].ends_with(['e', 'E']) && !text.starts_with("0x") && !text.starts_with("0X");
    if exponent && text[end..].starts_with(['-', '+']) && text[end + 1..].starts_with(|c: char| c.is_ascii_digit()) {
        end += 1 + span(&text[end + 1..], |c| c.is_ascii_digit() || c == '_');
    }
    end
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tokens_of(text: &str) -> Vec<(TokenKind, &str)> {
        significant(text).into_iter().map(|token| (token.kind, token.text)).collect()
    }

    proptest! {
        #[test]
        fn the_tokens_joined_are_the_text(text in "([a-zé_$ ;:`'\"\\\\/*\n0-9.e\\[\\]{}()-]|\\PC){0,60}") {
            let joined: String = tokens(&text).iter().map(|token| token.text).collect();
            prop_assert_eq!(joined, text);
        }
    }

    #[test]
    fn strings_comments_and_backticks_are_one_token_each() {
        assert_eq!(tokens_of(r"'a\'b' "), [(TokenKind::Quoted, r"'a\'b'")]);
        assert_eq!(tokens_of("`a``b`c"), [(TokenKind::Backtick, "`a``b`"), (TokenKind::Word, "c")]);
        assert_eq!(
            tokens_of("a/*'*/b//;\nc"),
            [(TokenKind::Word, "a"), (TokenKind::Word, "b"), (TokenKind::Word, "c")]
        );
        assert_eq!(tokens_of("'open"), [(TokenKind::Quoted, "'open")]);
    }

    #[test]
    fn a_range_is_two_numbers_and_two_dots() {
        let expected =
            [(TokenKind::Number, "1"), (TokenKind::Symbol, "."), (TokenKind::Symbol, "."), (TokenKind::Number, "3")];
        assert_eq!(tokens_of("1..3"), expected);
        assert_eq!(tokens_of("1.5e-3"), [(TokenKind::Number, "1.5e-3")]);
        assert_eq!(
            tokens_of("0x1e-3"),
            [(TokenKind::Number, "0x1e"), (TokenKind::Symbol, "-"), (TokenKind::Number, "3")]
        );
    }

    #[test]
    fn a_parameter_keeps_its_dollar() {
        assert_eq!(
            tokens_of("$user.x"),
            [(TokenKind::Parameter, "$user"), (TokenKind::Symbol, "."), (TokenKind::Word, "x")]
        );
        assert_eq!(tokens_of("$ "), [(TokenKind::Symbol, "$")]);
    }
}
