//! Texts in quotes.

use std::borrow::Cow;

use serde_json::Value;

use super::JsonError;
use super::notes::Deviation;
use super::reader::{Reader, read};
use crate::evidence::LazyValue;

impl<'a> Reader<'a> {
    /// Reads a text from its opening quote to its closing one.
    pub(super) fn string(&mut self) -> Result<Cow<'a, str>, JsonError> {
        let (whole, start) = (self.text, self.at);
        self.at += 1;
        let plain = plain_length(&whole.as_bytes()[self.at..]);
        if let Some(end) = plain.map(|length| self.at + length).filter(|end| whole.as_bytes()[*end] == b'"') {
            let text = &whole[self.at..end];
            self.at = end + 1;
            return Ok(Cow::Borrowed(text));
        }
        let mut text = String::with_capacity(plain.unwrap_or_default() + 64);
        loop {
            let rest = &self.text[self.at..];
            let Some(stop) = plain_length(rest.as_bytes()) else {
                let end = self.text[start..].find('\n').map_or(self.text.len(), |length| start + length);
                return Err(self.error_at(
                    start,
                    end,
                    "this text is not closed",
                    Some("is its closing quote missing?"),
                ));
            };
            text.push_str(&rest[..stop]);
            self.at += stop;
            // Quotes and line breaks of JSON within a text are most of its escapes.
            if let Some(plain) = whole.as_bytes().get(self.at..self.at + 2).and_then(short_escape) {
                text.push(plain);
                self.at += 2;
                continue;
            }
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Cow::Owned(text));
                }
                Some(b'\\') => text.push(self.escape()?),
                _ => {
                    self.deviations.add(Deviation::LineBreak, self.at, self.at + 1);
                    text.push_str(&self.text[self.at..=self.at]);
                    self.at += 1;
                }
            }
        }
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        let start = self.at;
        let wrong = |reader: &Self, end: usize| {
            let end = (start..=end.min(reader.text.len())).rev().find(|&at| reader.text.is_char_boundary(at));
            let help = "a backslash itself is written `\\\\`";
            reader.error_at(start, end.unwrap_or(start), "JSON knows no such escape", Some(help))
        };
        let character = match self.text.as_bytes().get(start + 1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let Some(high) = self.unit(start) else { return Err(wrong(self, start + 6)) };
                self.at = start + 6;
                let low = self.unit(self.at).filter(|low| (0xdc00..0xe000).contains(low));
                let decoded = match (high, low) {
                    (0xd800..0xdc00, Some(low)) => {
                        self.at += 6;
                        char::from_u32(0x10000 + ((u32::from(high) - 0xd800) << 10) + (u32::from(low) - 0xdc00))
                    }
                    _ => char::from_u32(u32::from(high)),
                };
                if decoded.is_none() {
                    self.deviations.add(Deviation::LoneSurrogate, start, self.at);
                }
                return Ok(decoded.unwrap_or('\u{fffd}'));
            }
            _ => return Err(wrong(self, start + 2)),
        };
        self.at = start + 2;
        Ok(character)
    }

    /// The code unit of the `\uXXXX` at this byte.
    fn unit(&self, at: usize) -> Option<u16> {
        let digits = self.text.get(at..at + 6)?.strip_prefix("\\u")?;
        digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
    }
}

/// How many bytes stand before the end of a text, an escape or a control character; `None` where there is none of these.
fn plain_length(bytes: &[u8]) -> Option<usize> {
    const ENDS: [bool; 256] = {
        let mut ends = [false; 256];
        let mut byte = 0;
        while byte < 256 {
            ends[byte] = byte < b' ' as usize || byte == b'"' as usize || byte == b'\\' as usize;
            byte += 1;
        }
        ends
    };
    bytes.iter().position(|byte| ENDS[usize::from(*byte)])
}

/// The character of an escape of one letter; `None` for every other one, and for what is none.
fn short_escape(bytes: &[u8]) -> Option<char> {
    match bytes {
        [b'\\', b'"'] => Some('"'),
        [b'\\', b'\\'] => Some('\\'),
        [b'\\', b'/'] => Some('/'),
        [b'\\', b'n'] => Some('\n'),
        [b'\\', b't'] => Some('\t'),
        [b'\\', b'r'] => Some('\r'),
        _ => None,
    }
}

/// Whether JSON has half a character, which serde refuses.
pub(in crate::dataset) fn has_lone_surrogate(json: &str) -> bool {
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        rest = &rest[at..];
        let unit = |text: &str| u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok();
        let length = match unit(rest) {
            Some(0xd800..0xdc00) if matches!(rest.get(6..).and_then(unit), Some(0xdc00..0xe000)) => 12,
            Some(0xd800..0xe000) => return true,
            Some(_) => 6,
            None => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
        };
        rest = &rest[length..];
    }
    false
}

/// JSON that stands in a text; other text as it is. The reader of the file has reported unpaired surrogates in it.
pub(in crate::dataset) fn json_within(value: Value) -> Value {
    match &value {
        Value::String(text) => inner(text).unwrap_or(value),
        _ => value,
    }
}

/// The JSON that a text is, or else the text.
pub(in crate::dataset) fn json_of(text: &str) -> LazyValue {
    LazyValue::from_text(text).unwrap_or_else(|| json_within(text.into()).into())
}

fn inner(text: &str) -> Option<Value> {
    match serde_json::from_str(text) {
        Ok(inner) => Some(inner),
        Err(_) if has_lone_surrogate(text) => read(text).ok().map(|it| it.root.to_json()),
        Err(_) => None,
    }
}
