//! Texts in quotes.

use serde_json::Value;

use super::JsonError;
use super::notes::Deviation;
use super::reader::{Reader, read};

impl Reader<'_> {
    /// Reads a text from its opening quote to its closing one.
    pub(super) fn string(&mut self) -> Result<String, JsonError> {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            let rest = &self.text[self.at..];
            let Some(stop) = rest.bytes().position(|byte| matches!(byte, b'"' | b'\\' | 0..b' ')) else {
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
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
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
    let Value::String(text) = &value else { return value };
    match serde_json::from_str(text) {
        Ok(inner) => inner,
        Err(_) if has_lone_surrogate(text) => read(text).map_or(value, |it| it.root.to_json()),
        Err(_) => value,
    }
}
