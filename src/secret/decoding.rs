//! Decodes escapes of JSON, addresses and HTML in any text, so that encoded secrets are compared in their plain form.
//!
//! Invariant: the place of whatever is found in the decoded bytes is known in those before.

use std::ops::Range;

use memchr::{memchr_iter, memchr3_iter};

/// Bytes with their escapes replaced by what they stand for.
pub(super) struct Decoded {
    pub(super) bytes: Vec<u8>,
    /// In their order.
    escapes: Vec<Escape>,
}

/// An escape that was replaced.
struct Escape {
    /// Where it was.
    before: Range<usize>,
    /// Where what it stands for is.
    after: Range<usize>,
}

impl Decoded {
    /// One layer less: `%253A` becomes `%3A`. `None` where nothing is encoded.
    pub(super) fn decode(bytes: &[u8]) -> Option<Decoded> {
        Decoded::at(bytes, memchr3_iter(b'%', b'&', b'\\', bytes), escape)
    }

    /// The same for the escapes of JSON alone.
    pub(super) fn decode_json(bytes: &[u8]) -> Option<Decoded> {
        Decoded::at(bytes, memchr_iter(b'\\', bytes), escape)
    }

    /// With what is found at these places replaced: `escape` says how long it is and what it stands for.
    pub(super) fn at(
        bytes: &[u8],
        places: impl Iterator<Item = usize>,
        escape: fn(&[u8]) -> Option<(usize, StandsFor)>,
    ) -> Option<Decoded> {
        let mut decoded = Decoded { bytes: Vec::new(), escapes: Vec::new() };
        let mut done = 0;
        for at in places {
            let escape = if at < done { None } else { escape(&bytes[at..]) };
            let Some((length, stands_for)) = escape else { continue };
            if decoded.escapes.is_empty() {
                decoded.bytes.reserve(bytes.len());
            }
            decoded.bytes.extend(&bytes[done..at]);
            let start = decoded.bytes.len();
            decoded.bytes.extend(stands_for.bytes());
            done = at + length;
            decoded.escapes.push(Escape { before: at..done, after: start..decoded.bytes.len() });
        }
        if decoded.escapes.is_empty() {
            return None;
        }
        decoded.bytes.extend(&bytes[done..]);
        Some(decoded)
    }

    /// Where a part of the decoded bytes stood before, with the whole of each escape that it touches.
    pub(super) fn origin(&self, part: Range<usize>) -> Range<usize> {
        let start = match self.last_until(part.start) {
            None => part.start,
            Some(escape) if part.start < escape.after.end => escape.before.start,
            Some(escape) => escape.before.end + (part.start - escape.after.end),
        };
        let end = match part.end.checked_sub(1).and_then(|last| self.last_until(last)) {
            None => part.end,
            Some(escape) => escape.before.end + part.end.saturating_sub(escape.after.end),
        };
        start..end
    }

    /// The last escape that begins at this byte or before it.
    fn last_until(&self, byte: usize) -> Option<&Escape> {
        self.escapes[..self.escapes.partition_point(|escape| escape.after.start <= byte)].last()
    }
}

/// Whether there may be an escape behind which a secret can be. The usual ones of JSON are in every text of several lines:
/// they matter only where a secret holds what they stand for. Must be cheap: of nearly every text the answer is no.
pub(super) fn may_be_encoded(bytes: &[u8], usual_ones_matter: bool) -> bool {
    memchr3_iter(b'%', b'&', b'\\', bytes).any(|at| {
        let Some(next) = bytes.get(at + 1) else { return false };
        match bytes[at] {
            b'%' => next.is_ascii_hexdigit() && bytes.get(at + 2).is_some_and(u8::is_ascii_hexdigit),
            b'&' => *next == b'#' || next.is_ascii_lowercase() && named(&bytes[at + 1..]).is_some(),
            // Of several backslashes the last one counts.
            _ => matches!(next, b'u' | b'U' | b'x' | b'/') || usual_ones_matter && b"nrtbf\"'\\".contains(next),
        }
    })
}

/// The bytes without an escape or a colour that was cut off at their end: `&#10`, `%4`.
pub(super) fn without_half_escape(bytes: &[u8]) -> &[u8] {
    let near = bytes.len().saturating_sub(10);
    let Some(at) = bytes[near..].iter().rposition(|byte| b"%&\\\x1b".contains(byte)) else { return bytes };
    let is_half = bytes[near + at + 1..].iter().all(|byte| byte.is_ascii_alphanumeric() || b"#{[;".contains(byte));
    if is_half { &bytes[..near + at] } else { bytes }
}

/// The meaning of an escape: nothing at all, a byte, or a character.
pub(super) enum StandsFor {
    Nothing,
    Byte(u8),
    Character(char, [u8; 4]),
}

impl StandsFor {
    fn character(character: char) -> StandsFor {
        let mut bytes = [0; 4];
        character.encode_utf8(&mut bytes);
        StandsFor::Character(character, bytes)
    }

    fn bytes(&self) -> &[u8] {
        match self {
            StandsFor::Nothing => &[],
            StandsFor::Byte(byte) => std::slice::from_ref(byte),
            StandsFor::Character(character, bytes) => &bytes[..character.len_utf8()],
        }
    }
}

/// The escape at the start of some bytes: its length, and what it stands for.
fn escape(bytes: &[u8]) -> Option<(usize, StandsFor)> {
    match bytes {
        [b'%', rest @ ..] => Some((3, StandsFor::Byte(u8::try_from(hex(rest, 2)?).ok()?))),
        [b'&', b'#', rest @ ..] => {
            let (digits, radix, before) = match rest {
                [b'x' | b'X', digits @ ..] => (digits, 16, 3),
                digits => (digits, 10, 2),
            };
            let length = digits.iter().take(8).take_while(|byte| char::from(**byte).is_digit(radix)).count();
            let number = u32::from_str_radix(std::str::from_utf8(&digits[..length]).ok()?, radix).ok()?;
            let end = usize::from(digits.get(length) == Some(&b';'));
            Some((before + length + end, StandsFor::character(char::from_u32(number)?)))
        }
        [b'&', rest @ ..] => {
            let (name, character) = named(rest)?;
            Some((1 + name.len(), StandsFor::character(*character)))
        }
        [b'\\', kind, rest @ ..] => {
            let short = |character: char| Some((2, StandsFor::character(character)));
            match kind {
                b'n' => short('\n'),
                b'r' => short('\r'),
                b't' => short('\t'),
                b'b' => short('\u{8}'),
                b'f' => short('\u{c}'),
                b'"' | b'\'' | b'/' | b'\\' => short(char::from(*kind)),
                b'x' => Some((4, StandsFor::Byte(u8::try_from(hex(rest, 2)?).ok()?))),
                b'U' => Some((10, StandsFor::character(char::from_u32(hex(rest, 8)?)?))),
                b'u' => unicode(rest),
                _ => None,
            }
        }
        _ => None,
    }
}

/// `\u00e9`, `\ud83d\ude00`, `\u{e9}`, without the first two bytes.
fn unicode(rest: &[u8]) -> Option<(usize, StandsFor)> {
    if let [b'{', digits @ ..] = rest {
        let length = digits.iter().take(7).position(|byte| *byte == b'}')?;
        return Some((length + 4, StandsFor::character(char::from_u32(hex(digits, length)?)?)));
    }
    let unit = hex(rest, 4)?;
    match char::from_u32(unit) {
        Some(character) => Some((6, StandsFor::character(character))),
        None => {
            let second = hex(rest.get(4..)?.strip_prefix(b"\\u")?, 4)?;
            let units = [u16::try_from(unit).ok()?, u16::try_from(second).ok()?];
            let character = char::decode_utf16(units).next()?.ok()?;
            Some((12, StandsFor::character(character)))
        }
    }
}

/// The entities by which encoders write what may not stand as it is, and what is in keys.
const ENTITIES: [(&str, char); 16] = [
    ("amp;", '&'),
    ("lt;", '<'),
    ("gt;", '>'),
    ("quot;", '"'),
    ("apos;", '\''),
    ("sol;", '/'),
    ("bsol;", '\\'),
    ("plus;", '+'),
    ("equals;", '='),
    ("colon;", ':'),
    ("period;", '.'),
    ("lowbar;", '_'),
    ("dash;", '-'),
    ("hyphen;", '-'),
    ("commat;", '@'),
    ("excl;", '!'),
];

fn named(name: &[u8]) -> Option<&'static (&'static str, char)> {
    ENTITIES.iter().find(|(known, _)| name.starts_with(known.as_bytes()))
}

fn hex(bytes: &[u8], digits: usize) -> Option<u32> {
    let digits = bytes.get(..digits).filter(|digits| !digits.is_empty())?;
    digits.iter().try_fold(0, |number: u32, digit| Some(number.checked_mul(16)? + char::from(*digit).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decoded(text: &str) -> Option<String> {
        Decoded::decode(text.as_bytes()).map(|decoded| String::from_utf8_lossy(&decoded.bytes).into_owned())
    }

    #[test]
    fn one_layer_is_decoded_and_what_is_no_escape_stays() {
        for (text, plain) in [
            ("%73%6B-%C3%B6%2541", "sk-ö%41"),
            ("&#115;&#x6B;&#X2d;&#246;&amp;lt;&#65", "sk-ö&lt;A"),
            (r"\u0073\x6b\u{2D}\U000000f6\ud83d\ude00\/\n\\n", "sk-ö😀/\n\\n"),
            ("50%, 5 % 10 &amp; a&b \\", "50%, 5 % 10 & a&b \\"),
        ] {
            assert_eq!(decoded(text).as_deref(), Some(plain), "{text}");
        }
        for text in
            ["", "100%", "%zz%", "a&b;", "&#;", "&#x;", "&#1114112;", r"\u12", r"\ud800 \q", "\\", "%2", r"\u{}"]
        {
            assert_eq!(decoded(text), None, "{text}");
        }
    }

    #[test]
    fn the_place_of_a_part_is_that_of_its_escapes() {
        let text = "ab%20cd&#8364;e";
        let decoded = Decoded::decode(text.as_bytes()).unwrap();
        let euro = String::from_utf8_lossy(&decoded.bytes).find('€').unwrap();
        for (part, origin) in [(0..2, "ab"), (1..4, "b%20c"), (2..3, "%20"), (3..5, "cd"), (euro..euro + 1, "&#8364;")]
        {
            assert_eq!(&text[decoded.origin(part.clone())], origin, "{part:?}");
        }
        assert_eq!(&text[decoded.origin(euro + 2..decoded.bytes.len())], "&#8364;e");
    }

    #[test]
    fn the_usual_escapes_are_passed_over_where_no_secret_needs_them() {
        for text in [r#"{"a":"b\n\"c\" \\ 5 % of & 50%"}"#, "plain", "a & b", "a&b;"] {
            assert!(!may_be_encoded(text.as_bytes(), false), "{text}");
        }
        for text in [r"\\u0041", r"\U00000041", r"a\/b", "%2f", "&#1;", "&amp;", r"\x41"] {
            assert!(may_be_encoded(text.as_bytes(), false), "{text}");
        }
        assert!(may_be_encoded(br"a\nb", true));
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived_and_every_place_is_within_them(text in r#"([%&\\#;xu{}0-9a-f]|amp;|ö){0,40}"#) {
            if let Some(decoded) = Decoded::decode(text.as_bytes()) {
                for at in 0..decoded.bytes.len() {
                    let origin = decoded.origin(at..at + 1);
                    prop_assert!(origin.start < origin.end && origin.end <= text.len());
                }
                prop_assert_eq!(decoded.origin(0..decoded.bytes.len()), 0..text.len());
            }
        }

        #[test]
        fn json_is_read_as_its_parser_reads_it(text in "[ -$'-~ä😀\n\t\"\\\\]{0,20}") {
            let quoted = serde_json::Value::from(text.clone()).to_string();
            let inner = &quoted[1..quoted.len() - 1];
            prop_assert_eq!(decoded(inner).unwrap_or_else(|| inner.to_owned()), text);
        }
    }
}
