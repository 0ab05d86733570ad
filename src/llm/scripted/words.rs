//! Compares texts by their content words: simple stemming, and compounds that are written in one or in two.

use std::collections::HashSet;

/// One content word of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// As it stands there, in lower case.
    pub(super) surface: String,
    /// Without its ending.
    pub(super) stem: String,
}

/// The content words of a text, in order, repeated ones too.
pub(super) fn content_words(text: &str) -> Vec<Word> {
    tokens(text)
        .into_iter()
        .filter(|token| !STOP_WORDS.contains(&token.as_str()))
        .map(|surface| Word { stem: stem(&surface), surface })
        .collect()
}

/// What a text can be asked for: its words and those that two neighbours make together.
#[derive(Debug, Clone, Default)]
pub(super) struct Bag {
    stems: HashSet<String>,
    joined: HashSet<String>,
}

impl Bag {
    pub(super) fn of(text: &str) -> Bag {
        let tokens = tokens(text);
        Bag {
            stems: tokens.iter().map(|token| stem(token)).collect(),
            joined: tokens.windows(2).map(|pair| stem(&pair.concat())).collect(),
        }
    }

    pub(super) fn has(&self, stem: &str) -> bool {
        self.stems.contains(stem) || self.joined.contains(stem)
    }

    /// Which of the words are there, themselves or within a compound with a neighbour.
    pub(super) fn covered(&self, words: &[Word]) -> Vec<bool> {
        let mut covered: Vec<bool> = words.iter().map(|word| self.has(&word.stem)).collect();
        for (at, pair) in words.windows(2).enumerate() {
            if self.stems.contains(&stem(&format!("{}{}", pair[0].surface, pair[1].surface))) {
                covered[at] = true;
                covered[at + 1] = true;
            }
        }
        covered
    }

    /// The share of the words that are there, 0 to 1; 0 for no words.
    pub(super) fn coverage(&self, words: &[Word]) -> f64 {
        let covered = self.covered(words).into_iter().filter(|covered| *covered).count();
        if words.is_empty() { 0.0 } else { covered as f64 / words.len() as f64 }
    }
}

fn tokens(text: &str) -> Vec<String> {
    let text = text.to_lowercase().replace('’', "'").replace("'s ", " ").replace("n't", "nt").replace('\'', "");
    text.split(|c: char| !c.is_alphanumeric() && c != ':')
        .map(|token| token.trim_matches(':'))
        .flat_map(|token| if is_clock(token) { vec![clock(token)] } else { token.split(':').collect() })
        .filter(|token| !token.is_empty())
        .map(str::to_owned)
        .collect()
}

fn is_clock(token: &str) -> bool {
    token.contains(':') && token.bytes().all(|byte| byte.is_ascii_digit() || byte == b':')
}

/// `09:30` is `9:30`.
fn clock(token: &str) -> &str {
    token.strip_prefix('0').filter(|rest| !rest.starts_with(':')).unwrap_or(token)
}

/// The word without a common English ending: `painted`, `painting`, `paints` and `paint` become one.
fn stem(word: &str) -> String {
    let long_enough = |rest: &&str| rest.chars().count() >= 3;
    let base = if let Some(rest) = word.strip_suffix("ies").filter(long_enough) {
        return format!("{rest}y");
    } else {
        ["ing", "ed", "ly", "es", "s"].iter().find_map(|ending| {
            let rest = word.strip_suffix(ending).filter(long_enough)?;
            (!(*ending == "s" && rest.ends_with('s'))).then_some(rest)
        })
    };
    let base = base.unwrap_or(word);
    let mut chars: Vec<char> = base.chars().collect();
    let doubled = chars.len() > 3 && base.len() < word.len() && chars[chars.len() - 1] == chars[chars.len() - 2];
    if doubled && !matches!(chars[chars.len() - 1], 's' | 'e' | 'o') {
        chars.pop();
    }
    if chars.len() > 3 && chars.last() == Some(&'e') {
        chars.pop();
    }
    chars.into_iter().collect()
}

/// Words that say nothing of what a sentence is about.
const STOP_WORDS: &[&str] = &[
    "a",
    "an",
    "the",
    "this",
    "that",
    "these",
    "those",
    "it",
    "its",
    "i",
    "me",
    "my",
    "mine",
    "you",
    "your",
    "yours",
    "he",
    "him",
    "his",
    "she",
    "her",
    "they",
    "them",
    "their",
    "we",
    "us",
    "our",
    "s",
    "t",
    "d",
    "ll",
    "m",
    "re",
    "ve",
    "is",
    "are",
    "was",
    "were",
    "be",
    "been",
    "being",
    "am",
    "im",
    "id",
    "do",
    "does",
    "did",
    "has",
    "have",
    "had",
    "can",
    "could",
    "will",
    "would",
    "shall",
    "should",
    "may",
    "might",
    "must",
    "of",
    "in",
    "on",
    "at",
    "to",
    "for",
    "from",
    "by",
    "with",
    "as",
    "about",
    "into",
    "than",
    "then",
    "so",
    "and",
    "or",
    "but",
    "not",
    "no",
    "nor",
    "if",
    "whether",
    "which",
    "what",
    "who",
    "whom",
    "whose",
    "when",
    "where",
    "why",
    "how",
    "there",
    "here",
    "any",
    "some",
    "both",
    "also",
    "only",
    "just",
    "please",
    "thanks",
    "thank",
    "user",
    "users",
    "assistant",
    "agent",
    "chatbot",
    "one",
    "other",
    "under",
    "after",
    "before",
    "while",
    "until",
    "out",
    "up",
    "too",
    "very",
    "ask",
    "asks",
    "asked",
    "tell",
    "tells",
    "told",
    "know",
    "knows",
    "let",
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn endings_do_not_matter() {
        for family in [
            &["paint", "paints", "painted", "painting"][..],
            &["bake", "bakes", "baked", "baking"],
            &["plan", "plans", "planned", "planning"],
            &["berry", "berries"],
            &["glass", "glasses"],
        ] {
            let stems: HashSet<String> = family.iter().map(|word| stem(word)).collect();
            assert_eq!(stems.len(), 1, "{family:?} became {stems:?}");
        }
    }

    #[test]
    fn a_compound_may_be_written_in_one_or_in_two() {
        assert_eq!(Bag::of("Which shoe size do you wear?").coverage(&content_words("shoesize")), 1.0);
        assert_eq!(Bag::of("What's your shoesize?").coverage(&content_words("the shoe size")), 1.0);
        assert_eq!(Bag::of("Which hat size?").coverage(&content_words("shoe size")), 0.5);
    }

    #[test]
    fn a_time_of_day_is_one_word() {
        let surfaces: Vec<String> =
            content_words("By 09:30, or 0:15: a:b").into_iter().map(|word| word.surface).collect();
        assert_eq!(surfaces, ["9:30", "0:15", "b"]);
        assert!(Bag::of("At 9:30.").has("9:30"));
    }

    #[test]
    fn words_without_content_are_left_out() {
        assert_eq!(content_words("Would you please do that for me?"), []);
        assert_eq!(Bag::of("anything").coverage(&[]), 0.0);
    }

    proptest! {
        #[test]
        fn a_text_covers_itself(text in "[A-Za-z0-9 ,.'’éß-]{0,60}") {
            let words = content_words(&text);
            prop_assert!(words.is_empty() || Bag::of(&text).coverage(&words) == 1.0);
        }
    }
}
