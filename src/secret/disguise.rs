//! Characters that are other than they look: invisible ones, what steers a terminal, and letters and digits that are drawn like
//! those of ASCII. Texts are also searched without them.

use super::decoding::{Decoded, StandsFor};
use super::folding::control_sequence;

/// The bytes without what is invisible, and with ASCII for what looks like it. `None` where nothing of it is there.
pub(super) fn undisguised(bytes: &[u8]) -> Option<Decoded> {
    // Nearly every text is of ASCII alone, or of letters that are what they look like.
    if bytes.is_ascii() && !bytes.contains(&0x1b) {
        return None;
    }
    let begins = |byte: &u8| matches!(byte, 0x1b | 0xc2 | 0xcc | 0xcd | 0xd8 | 0xe1..=0xe3 | 0xef | 0xf0 | 0xf3);
    let places = bytes.iter().enumerate().filter(|(_, byte)| begins(byte)).map(|(at, _)| at);
    Decoded::at(bytes, places, disguised)
}

/// An escape at the start of some bytes: its length, and the bytes that it stands for.
fn disguised(bytes: &[u8]) -> Option<(usize, StandsFor)> {
    let length = control_sequence(bytes);
    if length > 1 {
        return Some((length, StandsFor::Nothing));
    }
    let length = match bytes.first()? {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return None,
    };
    let character = std::str::from_utf8(bytes.get(..length)?).ok()?.chars().next()?;
    if is_invisible(character) {
        return Some((length, StandsFor::Nothing));
    }
    Some((length, StandsFor::Byte(drawn_like(u32::from(character))?)))
}

/// Controls, joiners, selectors, fillers, tags, and marks that are drawn over the letter before them.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{80}'..='\u{9f}' | '\u{ad}' | '\u{300}'..='\u{36f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// The ASCII character that one of full width, or of mathematics in bold, italics, script and so on, is drawn like.
fn drawn_like(code: u32) -> Option<u8> {
    let from = |first: u8, offset: u32| u8::try_from(offset).ok().map(|offset| first + offset);
    match code {
        0xff01..=0xff5e => from(b'!', code - 0xff01),
        0x1d400..=0x1d6a3 => match (code - 0x1d400) % 52 {
            letter @ 0..26 => from(b'A', letter),
            letter => from(b'a', letter - 26),
        },
        0x1d7ce..=0x1d7ff => from(b'0', (code - 0x1d7ce) % 10),
        _ => None,
    }
}
