//! JSON for people's files: what could steer a terminal is escaped while it is written.

use std::io::{self, Write};
use std::str;

use super::format::terminal_json;

/// Writes JSON on, with escapes for control characters and invisible direction marks.
pub(super) struct Escaped<W> {
    to: W,
    /// The beginning of a character that is not whole yet.
    rest: Vec<u8>,
}

impl<W: Write> Escaped<W> {
    pub(super) fn new(to: W) -> Escaped<W> {
        Escaped { to, rest: Vec::new() }
    }
}

impl<W: Write> Write for Escaped<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.rest.is_empty() && bytes.is_ascii() {
            self.to.write_all(bytes)?;
            return Ok(bytes.len());
        }
        self.rest.extend_from_slice(bytes);
        let whole = match str::from_utf8(&self.rest) {
            Ok(text) => text.len(),
            Err(error) => error.valid_up_to(),
        };
        let text: String = String::from_utf8_lossy(&self.rest[..whole]).into_owned();
        self.rest.drain(..whole);
        self.to.write_all(terminal_json(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_escaped_however_it_is_cut() {
        let json = "{\"a\": \"Grüße 👋 \u{9b}2J\u{202e}ab\u{2066}\"}\n";
        let escaped = "{\"a\": \"Grüße 👋 \\u009b2J\\u202eab\\u2066\"}\n";
        for size in 1..json.len() {
            let mut written = Vec::new();
            let mut to = Escaped::new(&mut written);
            json.as_bytes().chunks(size).for_each(|part| to.write_all(part).unwrap());
            to.flush().unwrap();
            assert_eq!(String::from_utf8(written).unwrap(), escaped, "{size}");
        }
    }
}
