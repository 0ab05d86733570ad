//! A line of a journal: an entry as JSON, with its number and its checksum as the last two fields.
//!
//! `{"kind":…,"n":17,"crc":"89abcdef"}`: the checksum is the CRC-32 of the line without these two fields.

use std::io::Write;

use super::checksum::{crc32, crc32_after};

const NUMBER: &str = ",\"n\":";
const CHECKSUM: &str = ",\"crc\":\"";

/// The longest ending: a comma and both fields, the number with 20 digits.
const LONGEST: usize = 48;

/// The damage of a line that is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// It has no number.
    #[error("it has no number and no checksum at its end")]
    Unnumbered,
    /// Its checksum does not fit.
    #[error("it was altered: its checksum is another one")]
    Altered,
    /// Its number is lower than expected.
    #[error("it is entry {0}, which does not belong here")]
    Repeated(u64),
    /// An entry is missing before it.
    #[error("entry {0} was deleted before it")]
    OneDeleted(u64),
    /// Entries are missing before it, from the first to the last of these.
    #[error("entries {0} to {1} were deleted before it")]
    Deleted(u64, u64),
    /// A newer version wrote it: this one does not know the entry's kind.
    #[error("a newer eval-job wrote it: this one knows no entry of the kind `{0}`")]
    Newer(String),
    /// Its JSON can't be read.
    #[error("{0}")]
    Unreadable(String),
    /// It begins another run.
    #[error("another run begins there; what follows is left out")]
    AnotherRun,
}

/// Writes the last two fields: to all of an entry's JSON but its last brace.
pub(super) fn push(lines: &mut Vec<u8>, open: &[u8], number: u64, checksum: u32) {
    lines.extend_from_slice(open);
    // Writing to memory does not fail.
    let _ = writeln!(lines, "{NUMBER}{number}{CHECKSUM}{checksum:08x}\"}}");
}

/// The checksum of an entry, of whose JSON the last brace is left out.
pub(super) fn checksum(open: &[u8]) -> u32 {
    crc32(&[open, b"}"])
}

/// The number of a line, if the line is as it was written.
pub(super) fn check(line: &[u8]) -> Result<u64, Damage> {
    let (open, number, sum) = parse(line).ok_or(Damage::Unnumbered)?;
    if checksum(open) == sum { Ok(number) } else { Err(Damage::Altered) }
}

/// Checks a line as it is read, piece by piece.
#[derive(Debug, Default)]
pub(super) struct LineCheck {
    /// The checksum of all but the end.
    before: u32,
    /// Long enough for the number and the checksum.
    end: Vec<u8>,
}

impl LineCheck {
    /// Takes in the next piece.
    pub(super) fn add(&mut self, piece: &[u8]) {
        self.end.extend_from_slice(piece);
        // The break may be two bytes.
        let settled = self.end.len().saturating_sub(LONGEST + 2);
        self.before = crc32_after(self.before, &[&self.end[..settled]]);
        self.end.drain(..settled);
    }

    /// The number of the line, if it is as it was written.
    pub(super) fn finish(self) -> Result<u64, Damage> {
        let (open, number, sum) = parse(&self.end).ok_or(Damage::Unnumbered)?;
        if crc32_after(self.before, &[open, b"}"]) == sum { Ok(number) } else { Err(Damage::Altered) }
    }
}

/// Whether a line has a number and a checksum.
pub(super) fn is_numbered(line: &[u8]) -> bool {
    parse(line).is_some()
}

/// The JSON without its last brace, the number and the checksum.
fn parse(line: &[u8]) -> Option<(&[u8], u64, u32)> {
    // Also where something has converted the ends of the lines.
    let line = line.trim_ascii_end();
    let start = line.len().saturating_sub(LONGEST);
    let ending = start + memchr::memmem::rfind(&line[start..], NUMBER.as_bytes())?;
    let fields = std::str::from_utf8(&line[ending..]).ok()?;
    let (number, rest) = fields.strip_prefix(NUMBER)?.split_once(CHECKSUM)?;
    Some((&line[..ending], number.parse().ok()?, u32::from_str_radix(rest.strip_suffix("\"}")?, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(number: u64) -> Vec<u8> {
        let (mut lines, open) = (Vec::new(), br#"{"kind":"userSaid","text":"a \"n\":1 b""#);
        push(&mut lines, open, number, checksum(open));
        lines
    }

    #[test]
    fn every_altered_byte_is_found() {
        assert_eq!(check(&line(7)), Ok(7));
        serde_json::from_slice::<serde_json::Value>(&line(7)).unwrap();
        for place in 0..line(7).len() - 1 {
            for bit in 0..8 {
                let mut altered = line(7);
                altered[place] ^= 1 << bit;
                // Letters of a number in hex may have either case.
                let is_same = altered.eq_ignore_ascii_case(&line(7)) && place >= line(7).len() - 11;
                assert_eq!(check(&altered) != Ok(7), !is_same, "bit {bit} of byte {place}");
            }
        }
    }

    #[test]
    fn a_line_is_checked_in_pieces_as_it_is_whole() {
        let long = format!(r#"{{"kind":"userSaid","text":"{}""#, "a \"n\":1 b".repeat(20));
        let mut whole = Vec::new();
        push(&mut whole, long.as_bytes(), 7, checksum(long.as_bytes()));
        for size in [1, 7, 64, 1000] {
            let finished = |line: &[u8]| {
                let mut check = LineCheck::default();
                line.chunks(size).for_each(|piece| check.add(piece));
                check.finish()
            };
            assert_eq!(finished(&whole), Ok(7));
            assert_eq!(finished(&[whole.trim_ascii_end(), b"\r\n"].concat()), Ok(7));
            for place in 0..whole.len() - 1 {
                let mut altered = whole.clone();
                altered[place] ^= 1;
                assert_eq!(finished(&altered), check(&altered), "{place}");
            }
        }
    }

    #[test]
    fn a_line_without_an_end_is_reported_and_one_with_another_end_is_the_same() {
        assert_eq!(check(b"{}\n"), Err(Damage::Unnumbered));
        let crlf = [line(7).trim_ascii_end(), b"\r\n"].concat();
        assert_eq!(check(&crlf), Ok(7));
    }
}
