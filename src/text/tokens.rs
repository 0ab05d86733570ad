//! A text as its words.

use std::borrow::Cow;
use std::sync::LazyLock;

use icu_normalizer::{ComposingNormalizer, ComposingNormalizerBorrowed};
use icu_properties::props::{GeneralCategory, GeneralCategoryGroup};
use icu_properties::{CodePointMapData, CodePointMapDataBorrowed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::stem::stem;

/// How a text is divided into words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Tokenizer {
    /// Words of all languages; each character of Chinese, Japanese and Korean, and each cluster of Thai, Lao, Khmer and
    /// Burmese is one.
    #[default]
    Unicode,
    /// The letters a to z and digits, as in Google's `rouge_score`: text in other scripts has no words.
    Classic,
    /// As `unicode`, letter for letter as ADK has it: the dot of a Turkish capital I stays with its i.
    Adk,
    /// Whatever stands between white space, as it is written.
    Whitespace,
}

/// Words of at most so many characters are never reduced to a stem.
const SHORT: usize = 3;

/// The text's words in order, English ones reduced to their stems if asked for.
pub fn tokens(text: &str, tokenizer: Tokenizer, stems: bool) -> Vec<String> {
    let mut tokens = match tokenizer {
        Tokenizer::Unicode if text.is_ascii() => classic(&text.to_ascii_lowercase()),
        Tokenizer::Unicode => unicode(&without_dots(&NFKC.normalize(text))),
        Tokenizer::Adk => unicode(&NFKC.normalize(text)),
        Tokenizer::Classic => classic(&text.to_lowercase()),
        Tokenizer::Whitespace => text.split_whitespace().map(str::to_owned).collect(),
    };
    if stems {
        for token in tokens.iter_mut().filter(|it| it.len() > SHORT && it.is_ascii()) {
            *token = stem(token);
        }
    }
    tokens
}

fn classic(lower: &str) -> Vec<String> {
    let is_separator = |c: char| !matches!(c, 'a'..='z' | '0'..='9');
    lower.split(is_separator).filter(|it| !it.is_empty()).map(str::to_owned).collect()
}

/// ADK's tokenizer, since google-adk 2.13, of a text in the one form of its characters.
fn unicode(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut token = String::new();
    for c in text.to_lowercase().chars() {
        let kind = CharacterRole::from_char(c);
        if kind != CharacterRole::InWord && !token.is_empty() {
            tokens.push(std::mem::take(&mut token));
        }
        match kind {
            CharacterRole::Alone => tokens.push(c.to_string()),
            CharacterRole::InWord | CharacterRole::Begins => token.push(c),
            CharacterRole::Between => {}
        }
    }
    tokens.extend((!token.is_empty()).then_some(token));
    tokens
}

/// The text in the one form of characters that can be written in several: full-width letters are plain ones.
pub fn in_one_form(text: &str) -> Cow<'_, str> {
    if text.is_ascii() { Cow::Borrowed(text) } else { NFKC.normalize(text) }
}

/// The text in lower case and in the one form of characters that can be written in several.
pub fn folded(text: &str) -> String {
    match text.is_ascii() {
        true => text.to_ascii_lowercase(),
        false => case_folded(&NFKC.normalize(text)),
    }
}

/// The text in lower case, letter by letter, as Go does it: wherever a sigma stands, and without the dot of a Turkish I.
pub fn lowered(text: &str) -> String {
    let lower = |c: char| match c {
        'İ' => 'i',
        c => c.to_lowercase().next().unwrap_or(c),
    };
    text.chars().map(lower).collect()
}

/// The text without case: the sigma at the end of a word is one like any other, and so is an i with the dot of a Turkish capital.
pub fn case_folded(text: &str) -> String {
    match text.is_ascii() {
        true => text.to_ascii_lowercase(),
        false => without_dots(&lowered(text).replace('ς', "σ")),
    }
}

/// The text without the dot of a Turkish capital I, which some programs leave behind the i when they write it in lower case.
pub fn without_dots(text: &str) -> String {
    text.replace('İ', "I").replace("I\u{307}", "I").replace("i\u{307}", "i")
}

/// A text whose decimal digits are written as 0 to 9, whatever their script.
pub fn with_ascii_digits(text: &str) -> String {
    let is_digit = |c: char| CATEGORIES.get(c) == GeneralCategory::DecimalNumber;
    // Unicode has the ten digits of a script one after the other; of the mathematical ones several tens.
    let value = |c: char| {
        let before = (1..60).take_while(|by| char::from_u32(u32::from(c) - by).is_some_and(is_digit)).count();
        char::from_digit((before % 10) as u32, 10).unwrap_or(c)
    };
    text.chars().map(|c| if !c.is_ascii() && is_digit(c) { value(c) } else { c }).collect()
}

/// Whether a character belongs to a word: a letter, a digit, or a mark on one.
pub fn is_of_word(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric();
    }
    let category = CATEGORIES.get(c);
    [GeneralCategoryGroup::Letter, GeneralCategoryGroup::Number, GeneralCategoryGroup::Mark]
        .iter()
        .any(|group| group.contains(category))
}

/// Whether a script is written without spaces between words, so that its characters are words of their own.
pub fn is_unspaced(c: char) -> bool {
    CharacterRole::from_char(c) == CharacterRole::Alone || is_of_clusters(c)
}

static NFKC: LazyLock<ComposingNormalizerBorrowed<'static>> =
    LazyLock::new(|| const { ComposingNormalizer::new_nfkc() });
static CATEGORIES: LazyLock<CodePointMapDataBorrowed<'static, GeneralCategory>> =
    LazyLock::new(|| const { CodePointMapData::<GeneralCategory>::new() });

/// The role of a character in dividing a text into words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CharacterRole {
    /// It is a word.
    Alone,
    /// It begins a word.
    Begins,
    /// It goes on with one.
    InWord,
    /// It stands between words.
    Between,
}

impl CharacterRole {
    fn from_char(c: char) -> CharacterRole {
        match c {
            // Chinese, Japanese, Korean.
            '\u{4e00}'..='\u{9fff}' | '\u{3040}'..='\u{30ff}' | '\u{ac00}'..='\u{d7af}' => CharacterRole::Alone,
            _ if is_of_clusters(c) => match GeneralCategoryGroup::Mark.contains(CATEGORIES.get(c)) {
                true => CharacterRole::InWord,
                false => CharacterRole::Begins,
            },
            _ if is_of_word(c) => CharacterRole::InWord,
            _ => CharacterRole::Between,
        }
    }
}

/// Thai and Lao, Burmese, Khmer.
fn is_of_clusters(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn unicode_tokens(text: &str) -> Vec<String> {
        tokens(text, Tokenizer::Unicode, true)
    }

    #[test]
    fn case_is_folded_wherever_a_letter_stands() {
        assert_eq!((lowered("ΟΔΟΣ İZMİR"), lowered("ΟΔΟΣΑ")), ("οδοσ izmir".to_owned(), "οδοσα".to_owned()));
        assert_eq!(case_folded("οδος"), case_folded("ΟΔΟΣ"));
        assert_ne!(lowered("οδος"), lowered("ΟΔΟΣ"));
        assert_eq!(folded("ΟΔΟΣ"), folded("οδός").replace('ό', "ο"));
    }

    #[test]
    fn the_capital_i_of_turkish_is_an_i_however_it_was_lowered() {
        // What `"İstanbul".toLowerCase()` gives in JavaScript and Python, and the same in parts.
        for text in ["İstanbul", "İSTANBUL", "i\u{307}stanbul", "I\u{307}stanbul", "istanbul"] {
            assert_eq!((folded(text), case_folded(text)), ("istanbul".to_owned(), "istanbul".to_owned()), "{text}");
            assert_eq!(unicode_tokens(text), ["istanbul"], "{text}");
            assert_eq!(without_dots(text).to_lowercase(), "istanbul", "{text}");
        }
        assert_eq!(tokens("İstanbul", Tokenizer::Adk, true), ["i\u{307}stanbul"], "as Python lowers it");
        assert_ne!(case_folded("ısı"), case_folded("isi"), "another letter");
    }

    #[test]
    fn digits_of_all_scripts_are_digits() {
        for (text, plain) in [("１０", "10"), ("٣٫٥", "3٫5"), ("१२", "12"), ("𝟘𝟡𝟎", "090"), ("a1²", "a1²")]
        {
            assert_eq!(with_ascii_digits(text), plain, "{text}");
        }
    }

    #[test]
    fn classic_words_are_runs_of_letters_and_digits_of_english() {
        let words = |text, stems| tokens(text, Tokenizer::Classic, stems);
        assert_eq!(words("Hello, WORLD!", false), ["hello", "world"]);
        assert_eq!(words("the friends had a meeting", true), ["the", "friend", "had", "a", "meet"]);
        assert_eq!(
            words("naïve café 3.14 don't snake_case", false),
            ["na", "ve", "caf", "3", "14", "don", "t", "snake", "case"]
        );
        assert!(words("你好 Привет ไทย", false).is_empty());
        // The sign of Kelvin becomes a k in lower case.
        assert_eq!(words("273 \u{212a}", false), ["273", "k"]);
    }

    #[test]
    fn words_of_all_languages_are_found() {
        for (text, words) in [
            ("Hello, WORLD!", vec!["hello", "world"]),
            ("naïve cafés", vec!["naïve", "cafés"]),
            ("你好,世界", vec!["你", "好", "世", "界"]),
            ("カタカナ", vec!["カ", "タ", "カ", "ナ"]),
            ("한국어", vec!["한", "국", "어"]),
            ("Привет, мир", vec!["привет", "мир"]),
            ("שלום עולם", vec!["שלום", "עולם"]),
            ("हिन्दी भाषा", vec!["हिन्दी", "भाषा"]),
            ("สวัสดี", vec!["ส", "วั", "ส", "ดี"]),
            ("Ｒｕｎｎｉｎｇ ﬁne", vec!["run", "fine"]),
            ("e\u{301}cole", vec!["école"]),
            ("GPT-4o模型running", vec!["gpt", "4o", "模", "型", "run"]),
            ("…—!?", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(unicode_tokens(text), words, "{text}");
        }
    }

    #[test]
    fn whitespace_words_are_as_they_are_written() {
        assert_eq!(tokens(" A b,\n你好 ", Tokenizer::Whitespace, false), ["A", "b,", "你好"]);
    }

    proptest! {
        #[test]
        fn a_text_with_a_letter_has_a_word(text in "\\PC{0,40}") {
            let has_letter = folded(&text).chars().any(is_of_word);
            prop_assert_eq!(!unicode_tokens(&text).is_empty(), has_letter);
        }

        #[test]
        fn tokens_are_never_empty_and_ascii_text_is_the_same_in_both(text in "\\PC{0,40}", ascii in "[ -~\\n\\t]{0,60}") {
            for tokenizer in [Tokenizer::Unicode, Tokenizer::Adk, Tokenizer::Classic, Tokenizer::Whitespace] {
                prop_assert!(tokens(&text, tokenizer, true).iter().all(|it| !it.is_empty()));
            }
            prop_assert_eq!(tokens(&ascii, Tokenizer::Unicode, true), tokens(&ascii, Tokenizer::Classic, true));
        }
    }
}
