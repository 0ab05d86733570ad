//! A JSON text as serde writes its value: without white space, and without escapes that are not needed.

use std::ops::Range;

/// Brackets within brackets, at most; serde reads no more than 128.
const DEEPEST: usize = 100;

/// The most keys of an object whose keys are compared with each other.
const MOST_KEYS: usize = 24;

/// The most digits of a whole number, so that it is kept as one.
const MOST_DIGITS: usize = 15;

/// The text of the value as it is written; `None` where it may be no JSON, where a key comes twice, and where a number or a character
/// is not certain to be written as it stands there.
pub(super) fn compacted(text: &str) -> Option<String> {
    let mut compactor = Compactor { text, at: 0, written: String::with_capacity(text.len()), depth: 0 };
    compactor.skip();
    compactor.value()?;
    compactor.skip();
    (compactor.at == text.len()).then_some(compactor.written)
}

struct Compactor<'a> {
    text: &'a str,
    at: usize,
    written: String,
    depth: usize,
}

impl Compactor<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\t' | b'\r')) {
            self.at += 1;
        }
    }

    /// Takes this byte, behind white space.
    fn take(&mut self, byte: u8) -> bool {
        self.skip();
        let is_there = self.peek() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    fn value(&mut self) -> Option<()> {
        match self.peek()? {
            b'"' => self.string(),
            b'{' => self.nested('}', Compactor::object),
            b'[' => self.nested(']', Compactor::list),
            b't' => self.word("true"),
            b'f' => self.word("false"),
            b'n' => self.word("null"),
            _ => self.number(),
        }
    }

    fn word(&mut self, word: &str) -> Option<()> {
        if !self.text[self.at..].starts_with(word) {
            return None;
        }
        self.at += word.len();
        self.written.push_str(word);
        Some(())
    }

    fn nested(&mut self, closing: char, inner: fn(&mut Self) -> Option<()>) -> Option<()> {
        if self.depth == DEEPEST {
            return None;
        }
        self.written.push(char::from(self.peek()?));
        (self.at, self.depth) = (self.at + 1, self.depth + 1);
        self.skip();
        if !self.take(closing as u8) {
            inner(self)?;
        }
        self.written.push(closing);
        self.depth -= 1;
        Some(())
    }

    fn list(&mut self) -> Option<()> {
        loop {
            self.skip();
            self.value()?;
            if self.take(b']') {
                return Some(());
            }
            self.comma()?;
        }
    }

    fn object(&mut self) -> Option<()> {
        let mut keys: Vec<Range<usize>> = Vec::with_capacity(4);
        loop {
            self.skip();
            if self.peek() != Some(b'"') {
                return None;
            }
            let start = self.written.len();
            self.string()?;
            let key = start..self.written.len();
            let is_known = keys.iter().any(|known| self.written[known.clone()] == self.written[key.clone()]);
            if is_known || keys.len() == MOST_KEYS || !self.take(b':') {
                return None;
            }
            keys.push(key);
            self.written.push(':');
            self.skip();
            self.value()?;
            if self.take(b'}') {
                return Some(());
            }
            self.comma()?;
        }
    }

    fn comma(&mut self) -> Option<()> {
        if !self.take(b',') {
            return None;
        }
        self.written.push(',');
        Some(())
    }

    fn string(&mut self) -> Option<()> {
        let start = self.at;
        self.at += 1;
        let mut written = start;
        loop {
            match self.peek()? {
                b'"' => {
                    self.at += 1;
                    self.written.push_str(&self.text[written..self.at]);
                    return Some(());
                }
                b'\\' => match self.text.as_bytes().get(self.at + 1)? {
                    b'"' | b'\\' | b'n' | b't' | b'r' | b'b' | b'f' => self.at += 2,
                    b'/' => {
                        self.written.push_str(&self.text[written..self.at]);
                        (self.at, written) = (self.at + 2, self.at + 1);
                    }
                    b'u' => {
                        self.written.push_str(&self.text[written..self.at]);
                        let character = self.character()?;
                        self.written.push(character);
                        written = self.at;
                    }
                    _ => return None,
                },
                0..b' ' => return None,
                _ => self.at += 1,
            }
        }
    }

    /// The character of `\uXXXX`, or of two of them, where it is written as it is.
    fn character(&mut self) -> Option<char> {
        let high = self.unit()?;
        let code = match high {
            0xd800..0xdc00 => {
                let low = self.unit().filter(|low| (0xdc00..0xe000).contains(low))?;
                0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)
            }
            _ => high,
        };
        char::from_u32(code).filter(|it| *it >= ' ' && !matches!(it, '"' | '\\'))
    }

    fn unit(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at..self.at + 6)?.strip_prefix("\\u")?;
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        self.at += 6;
        u32::from_str_radix(digits, 16).ok()
    }

    fn number(&mut self) -> Option<()> {
        let start = self.at;
        let is_part = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E');
        let length = self.text.as_bytes()[start..].iter().take_while(|byte| is_part(byte)).count();
        let written = &self.text[start..start + length];
        let digits = written.strip_prefix('-').unwrap_or(written);
        let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && (1..=MOST_DIGITS).contains(&digits.len());
        let is_canonical = !digits.starts_with('0') || written == "0";
        if !(is_plain && is_canonical || is_short_fraction(written)) {
            return None;
        }
        self.at += length;
        self.written.push_str(written);
        Some(())
    }
}

/// Whether a number with a fraction is written as it stands there, with all its digits.
fn is_short_fraction(written: &str) -> bool {
    let is_short = written.len() <= MOST_DIGITS && written.contains('.');
    is_short && serde_json::from_str::<serde_json::Number>(written).is_ok_and(|it| it.to_string() == written)
}
