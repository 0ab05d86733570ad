//! A line of a journal: an entry as JSON, with its number and its checksum as the last two fields.
//!
//! `{"kind":…,"n":17,"crc":"89abcdef"}`: the checksum is the CRC-32 of the line without these two fields.

use std::io::Write;

use super::checksum::crc32;

const NUMBER: &str = ",\"n\":";
const CHECKSUM: &str = ",\"crc\":\"";

/// The longest ending: a comma and both fields, the number with 20 digits.
const LONGEST: usize = 48;

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
///
/// # Errors
/// What is wrong with it, in a sentence.
pub(super) fn check(line: &[u8]) -> Result<u64, String> {
    let Some((open, number, sum)) = parse(line) else {
        return Err("it has no number and no checksum at its end".to_owned());
    };
    if checksum(open) == sum { Ok(number) } else { Err("it was altered: its checksum is another one".to_owned()) }
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
    fn a_line_without_an_end_is_reported_and_one_with_another_end_is_the_same() {
        assert_eq!(check(b"{}\n").unwrap_err(), "it has no number and no checksum at its end");
        let crlf = [line(7).trim_ascii_end(), b"\r\n"].concat();
        assert_eq!(check(&crlf), Ok(7));
    }
}
