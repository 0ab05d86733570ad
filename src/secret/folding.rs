//! Disguised secrets: in other letter case, with spaces, dashes or invisible characters within, in pieces
//! over the items of a list, with a terminal's colours within, and as Base64 of Base64. What is searched is folded: of it and
//! of the secrets only ASCII letters and digits are compared, in lower case. So a list of its bytes as numbers is one row of
//! digits, whatever separates them.

use std::ops::Range;

/// The shortest part of a folded secret that is compared: a shorter one would be found by chance.
const LEAST: usize = 12;

/// Marks a byte in [`FOLDED`] that may begin something that is left out as a whole.
const BEGINS: u8 = 0xff;

/// The folded form of each byte; 0 for one that is left out.
const FOLDED: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let ascii = byte as u8;
        if ascii.is_ascii_alphanumeric() {
            table[byte] = ascii.to_ascii_lowercase();
        } else if matches!(ascii, b'\\' | 0x1b | 0xc2) {
            table[byte] = BEGINS;
        }
        byte += 1;
    }
    table
};

/// Hands over what stands for each byte, with its place: 0 for one that is left out, so that nothing has to branch where
/// words end. The usual escapes of JSON for white space are left out, and so are a terminal's colour codes.
fn fold(bytes: &[u8], mut each: impl FnMut(u8, usize)) {
    let mut at = 0;
    while at < bytes.len() {
        let folded = FOLDED[usize::from(bytes[at])];
        if folded == BEGINS {
            at += match bytes[at..] {
                [b'\\', b'n' | b'r' | b't', ..] => 2,
                _ => control_sequence(&bytes[at..]),
            };
        } else {
            each(folded, at);
            at += 1;
        }
    }
}

/// No control sequence is longer.
const LONGEST_SEQUENCE: usize = 2048;

/// The length of the control sequence that begins here: a colour (`ESC [ 1 ; 31 m`), a title or link (`ESC ] 8 ; ; … BEL`), a
/// choice of characters (`ESC ( B`); else 1.
pub(super) fn control_sequence(bytes: &[u8]) -> usize {
    match bytes {
        [0x1b, b'[', rest @ ..] | [0xc2, 0x9b, rest @ ..] => {
            let parameters = rest.iter().take_while(|byte| (0x20..0x40).contains(*byte)).count();
            let is_ended = rest.get(parameters).is_some_and(|byte| (0x40..0x7f).contains(byte));
            if is_ended { 2 + parameters + 1 } else { 1 }
        }
        [0x1b, b']' | b'P' | b'X' | b'^' | b'_', rest @ ..] => {
            let end = rest.iter().take(LONGEST_SEQUENCE).position(|byte| matches!(byte, 0x07 | 0x1b));
            match end.map(|end| (end, &rest[end..])) {
                Some((end, [0x07, ..])) => 2 + end + 1,
                Some((end, [0x1b, b'\\', ..])) => 2 + end + 2,
                _ => 1,
            }
        }
        [0x1b, b'(' | b')' | b'*' | b'+', _, ..] => 3,
        _ => 1,
    }
}

/// The bytes that are compared.
pub(super) fn folded(bytes: &[u8]) -> Vec<u8> {
    let (mut folded, mut length) = (vec![0; bytes.len()], 0);
    fold(bytes, |byte, _| {
        folded[length] = byte;
        length += usize::from(byte != 0);
    });
    folded.truncate(length);
    folded
}

/// The bytes that are compared of a secret; `None` where they are too few.
pub(super) fn folded_secret(secret: &[u8]) -> Option<Vec<u8>> {
    Some(folded(secret)).filter(|folded| folded.len() >= LEAST)
}

/// Where parts of the folded bytes stand in the bytes.
pub(super) fn origins(bytes: &[u8], parts: impl IntoIterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut places = Vec::new();
    fold(bytes, |byte, place| {
        if byte != 0 {
            places.push(place);
        }
    });
    parts.into_iter().map(|part| places[part.start]..places[part.end - 1] + 1).collect()
}
