//! Texts in quotes.

use super::JsonError;
use super::notes::Deviation;
use super::reader::Reader;

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
