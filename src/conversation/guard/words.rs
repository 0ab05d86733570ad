//! Words in the form in which guards compare them: lower case, without accents, in all scripts.

use std::sync::LazyLock;

use crate::text::{folded, is_of_word};

/// The plain lower-case letters of each Latin letter up to U+024F.
static LATIN: LazyLock<Vec<String>> = LazyLock::new(|| {
    let plain = |c: char| match c {
        'ß' => "ss".to_owned(),
        'æ' | 'Æ' => "ae".to_owned(),
        'œ' | 'Œ' => "oe".to_owned(),
        'ø' | 'Ø' => "o".to_owned(),
        'ł' | 'Ł' => "l".to_owned(),
        'đ' | 'Đ' => "d".to_owned(),
        'ı' | 'İ' => "i".to_owned(),
        '\u{ad}' => String::new(),
        '\u{a0}' => " ".to_owned(),
        '´' => "'".to_owned(),
        '«' | '»' => "\"".to_owned(),
        _ => without_accents(c),
    };
    (0x80..0x250u32).filter_map(char::from_u32).map(plain).collect()
});

/// By way of the decomposed form. Only 464 characters ever come here.
fn without_accents(c: char) -> String {
    use icu_normalizer::DecomposingNormalizer;
    let lower: String = c.to_lowercase().collect();
    let parts = DecomposingNormalizer::new_nfd().normalize(&lower).into_owned();
    parts.chars().filter(|part| !('\u{300}'..='\u{36f}').contains(part)).collect()
}

/// The text in the form in which it is compared. Accents, Arabic vowel signs and typographic quotes are made plain.
pub(super) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\0'..='\u{7f}' => plain.push(c.to_ascii_lowercase()),
            '\u{80}'..='\u{24f}' => plain.push_str(&LATIN[c as usize - 0x80]),
            '\u{300}'..='\u{36f}' | '\u{64b}'..='\u{652}' | '\u{640}' | '\u{200b}'..='\u{200f}' | '\u{fe0f}' => {}
            '‘' | '’' | 'ʼ' => plain.push('\''),
            '“' | '”' | '„' | '「' | '」' | '『' | '』' => plain.push('"'),
            'أ' | 'إ' | 'آ' => plain.push('ا'),
            'ى' => plain.push('ي'),
            'ة' => plain.push('ه'),
            '٠'..='٩' => plain.push((b'0' + (c as u32 - '٠' as u32) as u8) as char),
            '०'..='९' => plain.push((b'0' + (c as u32 - '०' as u32) as u8) as char),
            '\u{2010}'..='\u{2012}' => plain.push('-'),
            '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{3000}' => plain.push(' '),
            'Ё' | 'ё' => plain.push('е'),
            '\u{400}'..='\u{4ff}' | '\u{370}'..='\u{3ff}' => plain.extend(c.to_lowercase()),
            '\u{ff01}'..='\u{ff5e}' => {
                let ascii = char::from_u32(c as u32 - 0xfee0).unwrap_or(c);
                plain.push(ascii.to_ascii_lowercase());
            }
            '\u{1e00}'..='\u{1fff}' | '\u{ff66}'..='\u{ff9d}' => plain.push_str(&folded(c.encode_utf8(&mut [0; 4]))),
            _ => plain.push(c),
        }
    }
    plain
}

/// How a script is divided into words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Script {
    Latin,
    Cyrillic,
    Han,
    Hiragana,
    Katakana,
    Hangul,
    Arabic,
    Devanagari,
    Thai,
    Greek,
    Hebrew,
    Digit,
    Other,
}

impl Script {
    pub(super) fn from_char(c: char) -> Script {
        match c {
            '0'..='9' => Script::Digit,
            'a'..='z' | 'A'..='Z' | '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => Script::Latin,
            '\u{400}'..='\u{52f}' => Script::Cyrillic,
            '\u{370}'..='\u{3ff}' => Script::Greek,
            '\u{590}'..='\u{5ff}' => Script::Hebrew,
            '\u{600}'..='\u{6ff}' | '\u{750}'..='\u{77f}' => Script::Arabic,
            '\u{900}'..='\u{97f}' => Script::Devanagari,
            '\u{e00}'..='\u{e7f}' => Script::Thai,
            '\u{3041}'..='\u{309f}' => Script::Hiragana,
            '\u{30a0}'..='\u{30ff}' => Script::Katakana,
            '\u{3400}'..='\u{9fff}' | '々' => Script::Han,
            '\u{ac00}'..='\u{d7af}' => Script::Hangul,
            _ => Script::Other,
        }
    }

    /// Whether a character is one that only Japanese has.
    pub(super) fn is_kana(c: char) -> bool {
        matches!(Script::from_char(c), Script::Hiragana | Script::Katakana)
    }

    fn is_unspaced(self) -> bool {
        matches!(self, Script::Han | Script::Hiragana | Script::Katakana | Script::Thai)
    }
}

/// A word of a plain text, by its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) script: Script,
}

/// The words of a plain text: runs of letters and digits; of Chinese each two neighbouring characters, of Thai each four,
/// of Japanese the same and runs of katakana. Runs of hiragana are endings and particles, and no words.
pub(super) fn words(plain: &str) -> Vec<Word> {
    let mut words = Vec::with_capacity(plain.len() / 5);
    if plain.is_ascii() {
        let mut start = 0;
        for part in plain.split(|c: char| !c.is_ascii_alphanumeric()) {
            if let Some(c) = part.chars().next() {
                words.push(Word { start, end: start + part.len(), script: Script::from_char(c) });
            }
            start += part.len() + 1;
        }
        return words;
    }
    let mut run: Option<Word> = None;
    for (at, c) in plain.char_indices() {
        let is_in = is_of_word(c);
        let script = Script::from_char(c);
        if let Some(word) = &mut run {
            let joins = !word.script.is_unspaced() && !script.is_unspaced() || script == word.script;
            if is_in && (joins || c == 'ー') {
                word.end = at + c.len_utf8();
                continue;
            }
            push_run(plain, *word, &mut words);
            run = None;
        }
        if is_in {
            run = Some(Word { start: at, end: at + c.len_utf8(), script });
        }
    }
    if let Some(word) = run {
        push_run(plain, word, &mut words);
    }
    words
}

fn push_run(plain: &str, run: Word, words: &mut Vec<Word>) {
    let size = match run.script {
        Script::Han => 2,
        Script::Thai => 4,
        Script::Hiragana => return,
        _ => return words.push(run),
    };
    let starts: Vec<usize> =
        plain[run.start..run.end].char_indices().map(|(at, _)| run.start + at).chain([run.end]).collect();
    if starts.len() <= size + 1 {
        return words.push(run);
    }
    words.extend(starts.windows(size + 1).map(|part| Word { start: part[0], end: part[size], ..run }));
}

/// Whether two plain words are the same but for their endings.
pub(super) fn is_same_stem(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    // Arabic letters begin with these bytes.
    if matches!((one.as_bytes(), other.as_bytes()), ([0xd8..=0xdb, ..], [0xd8..=0xdb, ..])) {
        let (one, other) = (without_article(one), without_article(other));
        return one == other || is_of_stem(one, other);
    }
    is_of_stem(one, other)
}

/// A bit of 128 that words of one stem have in common. Words with an Arabic article are of the stem without it, so that all Arabic
/// words have one bit.
pub(super) fn stem_bit(word: &str) -> u128 {
    let hash = match word.as_bytes() {
        [0xd8..=0xdb, ..] => 0,
        [one, two, three, ..] => u32::from_le_bytes([*one, *two, *three, 1]),
        short => short.iter().fold(2, |hash, byte| hash << 8 | u32::from(*byte)),
    };
    1 << (hash.wrapping_mul(0x9e37_79b9) >> 25)
}

fn is_of_stem(one: &str, other: &str) -> bool {
    let (bytes, others) = (one.as_bytes(), other.as_bytes());
    // By far the most pairs end here: whatever is of one stem begins with the same three letters, or with two of more bytes.
    if bytes.len() < 3 || others.len() < 3 || bytes[..3] != others[..3] {
        return false;
    }
    if one.bytes().chain(other.bytes()).any(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let shared = one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
    if shared < 2 {
        return false;
    }
    let rests = (one.chars().count() - shared, other.chars().count() - shared);
    let (less, more) = (rests.0.min(rests.1), rests.0.max(rests.1));
    match Script::from_char(one.chars().next().unwrap_or(' ')) {
        Script::Hangul => shared >= 2 && more <= 3 && less <= 2 || shared >= 3,
        Script::Han | Script::Thai | Script::Katakana => false,
        Script::Arabic | Script::Devanagari => shared >= 3 && more <= 2,
        _ => match shared {
            0..=2 => false,
            3 => less == 0 && more == 1,
            4 => less == 0 && more <= 3 || less == 1 && more == 1,
            5 => less <= 2 && more <= 4,
            // The longer one may be a compound of the shorter one.
            _ => less <= 3 && more <= 6 || less == 0,
        },
    }
}

/// The word without the Arabic article and what is written with it.
fn without_article(word: &str) -> &str {
    ["ال", "وال", "بال", "لل"]
        .iter()
        .find_map(|article| word.strip_prefix(article).filter(|rest| rest.len() > 4))
        .unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<String> {
        let plain = plain(text);
        words(&plain).iter().map(|word| plain[word.start..word.end].to_owned()).collect()
    }

    #[test]
    fn words_are_plain() {
        for (text, expected) in [
            ("Tschüß, ÉCOLE naïve!", vec!["tschuss", "ecole", "naive"]),
            ("I’m at 3pm", vec!["i", "m", "at", "3pm"]),
            ("İstanbul'da Łódź", vec!["istanbul", "da", "lodz"]),
            ("ＡＢＣ１２", vec!["abc12"]),
            ("我想订位", vec!["我想", "想订", "订位"]),
            ("名前はケーキです", vec!["名前", "ケーキ"]),
            ("Ёлка", vec!["елка"]),
            ("हिन्दी में", vec!["हिन्दी", "में"]),
            ("٣ أيام", vec!["3", "ايام"]),
        ] {
            assert_eq!(all(text), expected, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn words_of_one_stem_have_one_bit(one in "[a-cأا-دлд가-나]{1,6}", other in "[a-cأا-دлд가-나]{1,6}") {
            proptest::prop_assert!(!is_same_stem(&one, &other) || stem_bit(&one) == stem_bit(&other));
        }
    }

    #[test]
    fn endings_are_ignored() {
        for (one, other) in [
            ("allergic", "allergy"),
            ("reserve", "reservation"),
            ("open", "opening"),
            ("예약", "예약을"),
            ("книга", "книгу"),
        ] {
            assert!(is_same_stem(one, other), "{one} {other}");
        }
        for (one, other) in [("change", "channel"), ("contact", "contract"), ("4711", "4712"), ("paris", "parking")] {
            assert!(!is_same_stem(one, other), "{one} {other}");
        }
    }
}
