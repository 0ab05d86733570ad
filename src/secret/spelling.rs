//! How a secret is written where somebody else has written it: as it is, as the numbers of its bytes (`dead`, `de:ad`, `0xde, 0xad`, `[222, 173]`, `\336\255`), or as Base64. Escapes are not spelled
//! out here: they are decoded before a text is searched (see [`super::decoding`]).

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::decoding::Decoded;
use super::folding::folded_secret;
use super::naming::is_worth_hiding;

/// The most nested layers of escaping that are decoded, such as `%2525`.
pub(super) const MAX_ESCAPE_LAYERS: usize = 6;

/// Fewer bytes would be found anywhere.
const LEAST_DECODED: usize = 4;

/// Fewer numbers would be found by chance.
pub(super) const LEAST_OF_NUMBERS: usize = 6;

/// All spellings of a secret.
#[derive(Debug, Default)]
pub(super) struct Spellings {
    /// Spellings of the secret alone.
    pub(super) exact: Vec<Vec<u8>>,
    /// Its part of a Base64 text that can hold more; whatever stands beside it in that text is blotted out with it.
    pub(super) within_base64: Vec<Vec<u8>>,
    /// Its folded forms (see [`super::folding`]), and its bytes as numbers.
    pub(super) folded: Vec<Vec<u8>>,
    /// The same of its parts of Base64 texts, and of Base64 of Base64.
    pub(super) folded_base64: Vec<Vec<u8>>,
}

impl Spellings {
    pub(super) fn new(secret: &str) -> Spellings {
        let mut forms = vec![secret.as_bytes().to_vec()];
        // What looks like an escape in the secret itself is decoded together with those around it.
        while let (true, Some(decoded)) =
            (forms.len() < MAX_ESCAPE_LAYERS, forms.last().and_then(|form| Decoded::decode(form)))
        {
            if decoded.bytes.len() < LEAST_DECODED {
                break;
            }
            forms.push(decoded.bytes);
        }
        let mut spellings =
            Spellings { folded: folded_secret(secret.as_bytes()).into_iter().collect(), ..Spellings::default() };
        let once: Vec<Vec<u8>> = (0..3).flat_map(|before| base64_part(secret.as_bytes(), before)).collect();
        let twice = once.iter().flat_map(|once| (0..3).flat_map(|before| base64_part(once, before)));
        spellings.folded_base64 = once.iter().cloned().chain(twice).filter_map(|part| folded_secret(&part)).collect();
        // Of a longer one the folded form is found in any letter case.
        if spellings.folded.is_empty() {
            let in_other_case = [secret.to_uppercase(), secret.to_lowercase()].into_iter();
            spellings.exact.extend(in_other_case.filter(|other| is_worth_hiding(other)).map(String::into_bytes));
        }
        for form in forms {
            spellings.within_base64.extend((0..3).flat_map(|before| base64_part(&form, before)));
            // In a form a plus is a space.
            spellings.exact.push(form.iter().map(|byte| if *byte == b' ' { b'+' } else { *byte }).collect());
            spellings.folded.extend(numbers(&form));
            spellings.exact.push(form);
        }
        for some in
            [&mut spellings.exact, &mut spellings.within_base64, &mut spellings.folded, &mut spellings.folded_base64]
        {
            some.sort_unstable();
            some.dedup();
        }
        spellings
    }
}

/// The bytes as numbers, without what separates them: in hex digits, these with `0x`, decimal, and octal.
fn numbers(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let written: [fn(&u8) -> String; 4] =
        [|byte| format!("{byte:02x}"), |byte| format!("0x{byte:02x}"), u8::to_string, |byte| format!("{byte:03o}")];
    let enough = bytes.len() >= LEAST_OF_NUMBERS;
    written
        .into_iter()
        .filter(move |_| enough)
        .map(|written| bytes.iter().map(written).collect::<String>().into_bytes())
}

/// The parts of a Base64 text that are certain where the secret follows on `before` bytes, modulo 3: in both alphabets.
/// Of a short secret too little is certain for that.
fn base64_part(secret: &[u8], before: usize) -> Vec<Vec<u8>> {
    const LEAST: usize = 6;
    let encoded = STANDARD_NO_PAD.encode([&[0; 3][..before], secret].concat());
    let first = [0, 2, 3][before];
    let unsure = usize::from(!(before + secret.len()).is_multiple_of(3));
    let Some(sure) = encoded.get(first..encoded.len() - unsure).filter(|sure| sure.len() >= LEAST) else {
        return Vec::new();
    };
    vec![sure.as_bytes().to_vec(), sure.replace('+', "-").replace('/', "_").into_bytes()]
}
