//! The stem of an English word, by Porter's algorithm with NLTK's extensions: the one that Google's `rouge_score` uses.

/// Words that the rules would spoil, with their stems.
const IRREGULAR: [(&str, &str); 16] = [
    ("sky", "sky"),
    ("skies", "sky"),
    ("dying", "die"),
    ("lying", "lie"),
    ("tying", "tie"),
    ("news", "news"),
    ("innings", "inning"),
    ("inning", "inning"),
    ("outings", "outing"),
    ("outing", "outing"),
    ("cannings", "canning"),
    ("canning", "canning"),
    ("howe", "howe"),
    ("proceed", "proceed"),
    ("exceed", "exceed"),
    ("succeed", "succeed"),
];

/// The stem of a word. Words with other than ASCII characters are left as they are.
pub fn stem(word: &str) -> String {
    if !word.is_ascii() {
        return word.to_owned();
    }
    let word = word.to_ascii_lowercase();
    if let Some((_, stem)) = IRREGULAR.iter().find(|(irregular, _)| *irregular == word) {
        return (*stem).to_owned();
    }
    if word.len() <= 2 {
        return word;
    }
    [plurals, past_and_gerund, final_y, double_suffixes, suffixes, last_suffix, final_e, final_l]
        .iter()
        .fold(word, |word, step| step(word))
}

/// A suffix and what takes its place.
type SuffixRule = (&'static str, &'static str);

/// Applies the first rule whose suffix the word has, if what is before the suffix allows it; no other is tried.
fn replace(word: String, rules: &[SuffixRule], allows: impl Fn(&str, SuffixRule) -> bool) -> String {
    for rule in rules {
        if let Some(before) = word.strip_suffix(rule.0) {
            return if allows(before, *rule) { format!("{before}{}", rule.1) } else { word };
        }
    }
    word
}

/// Step 1a.
fn plurals(word: String) -> String {
    if word.len() == 4 && word.ends_with("ies") {
        return word[..3].to_owned();
    }
    replace(word, &[("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", "")], |_, _| true)
}

/// Step 1b.
fn past_and_gerund(word: String) -> String {
    if let Some(before) = word.strip_suffix("ied") {
        return format!("{before}{}", if word.len() == 4 { "ie" } else { "i" });
    }
    if let Some(before) = word.strip_suffix("eed") {
        return if measure(before) > 0 { format!("{before}ee") } else { word };
    }
    let before = ["ed", "ing"].iter().find_map(|suffix| word.strip_suffix(suffix).filter(|it| has_vowel(it)));
    let Some(before) = before else { return word };
    for (suffix, replacement) in [("at", "ate"), ("bl", "ble"), ("iz", "ize")] {
        if let Some(stem) = before.strip_suffix(suffix) {
            return format!("{stem}{replacement}");
        }
    }
    if ends_with_double_consonant(before) {
        let keeps = before.ends_with(['l', 's', 'z']);
        return before[..before.len() - usize::from(!keeps)].to_owned();
    }
    let is_short = measure(before) == 1 && ends_with_short_syllable(before);
    format!("{before}{}", if is_short { "e" } else { "" })
}

/// Step 1c.
fn final_y(word: String) -> String {
    replace(word, &[("y", "i")], |before, _| before.len() > 1 && is_consonants(before).last() == Some(&true))
}

/// Step 2.
fn double_suffixes(word: String) -> String {
    let word = match word.strip_suffix("alli") {
        Some(before) if measure(before) > 0 => format!("{before}al"),
        _ => word,
    };
    const RULES: [SuffixRule; 22] = [
        ("ational", "ate"),
        ("tional", "tion"),
        ("enci", "ence"),
        ("anci", "ance"),
        ("izer", "ize"),
        ("bli", "ble"),
        ("alli", "al"),
        ("entli", "ent"),
        ("eli", "e"),
        ("ousli", "ous"),
        ("ization", "ize"),
        ("ation", "ate"),
        ("ator", "ate"),
        ("alism", "al"),
        ("iveness", "ive"),
        ("fulness", "ful"),
        ("ousness", "ous"),
        ("aliti", "al"),
        ("iviti", "ive"),
        ("biliti", "ble"),
        ("fulli", "ful"),
        ("logi", "log"),
    ];
    replace(word, &RULES, |before, (suffix, _)| match suffix {
        // The `l` counts too.
        "logi" => measure(&format!("{before}l")) > 0,
        _ => measure(before) > 0,
    })
}

/// Step 3.
fn suffixes(word: String) -> String {
    const RULES: [SuffixRule; 7] =
        [("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", "")];
    replace(word, &RULES, |before, _| measure(before) > 0)
}

/// Step 4.
fn last_suffix(word: String) -> String {
    const RULES: [SuffixRule; 19] = [
        ("al", ""),
        ("ance", ""),
        ("ence", ""),
        ("er", ""),
        ("ic", ""),
        ("able", ""),
        ("ible", ""),
        ("ant", ""),
        ("ement", ""),
        ("ment", ""),
        ("ent", ""),
        ("ion", ""),
        ("ou", ""),
        ("ism", ""),
        ("ate", ""),
        ("iti", ""),
        ("ous", ""),
        ("ive", ""),
        ("ize", ""),
    ];
    replace(word, &RULES, |before, (suffix, _)| {
        measure(before) > 1 && (suffix != "ion" || before.ends_with(['s', 't']))
    })
}

/// Step 5a.
fn final_e(word: String) -> String {
    replace(word, &[("e", "")], |before, _| match measure(before) {
        0 => false,
        1 => !ends_with_short_syllable(before),
        _ => true,
    })
}

/// Step 5b.
fn final_l(word: String) -> String {
    if word.ends_with("ll") && measure(&word[..word.len() - 1]) > 1 { word[..word.len() - 1].to_owned() } else { word }
}

/// For each letter, whether it is a consonant; a `y` is one unless it follows one.
fn is_consonants(word: &str) -> Vec<bool> {
    let mut all: Vec<bool> = Vec::with_capacity(word.len());
    for letter in word.bytes() {
        all.push(match letter {
            b'a' | b'e' | b'i' | b'o' | b'u' => false,
            b'y' => !all.last().is_some_and(|is_consonant| *is_consonant),
            _ => true,
        });
    }
    all
}

/// Porter's measure: how often a consonant follows a vowel.
fn measure(stem: &str) -> usize {
    is_consonants(stem).windows(2).filter(|pair| !pair[0] && pair[1]).count()
}

fn has_vowel(stem: &str) -> bool {
    is_consonants(stem).contains(&false)
}

fn ends_with_double_consonant(word: &str) -> bool {
    let bytes = word.as_bytes();
    bytes.len() >= 2 && bytes[bytes.len() - 1] == bytes[bytes.len() - 2] && is_consonants(word).last() == Some(&true)
}

/// Consonant, vowel, consonant other than w, x and y; or a vowel and a consonant that are all of the word.
fn ends_with_short_syllable(word: &str) -> bool {
    match is_consonants(word).as_slice() {
        [.., true, false, true] => !word.ends_with(['w', 'x', 'y']),
        [false, true] => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn stems_are_nltks() {
        for (word, expected) in [
            ("hoping", "hope"),
            ("hopping", "hop"),
            ("falling", "fall"),
            ("controlling", "control"),
            ("automatically", "automat"),
            ("geology", "geolog"),
            ("relational", "relat"),
            ("triplicate", "triplic"),
            ("hopefulness", "hope"),
            ("callousness", "callous"),
            ("electricity", "electr"),
            ("dies", "die"),
            ("died", "die"),
            ("spied", "spi"),
            ("enjoy", "enjoy"),
            ("skies", "sky"),
            ("Dying", "die"),
            ("innings", "inning"),
            ("by", "by"),
            ("naïve", "naïve"),
            ("", ""),
        ] {
            assert_eq!(stem(word), expected, "{word}");
        }
    }

    #[test]
    fn a_long_run_of_y_takes_no_longer_than_any_other_word() {
        assert_eq!(stem(&"y".repeat(200_000)).len(), 200_000);
    }

    proptest! {
        #[test]
        fn a_stem_is_ascii_and_at_most_one_letter_longer_than_the_shortened_word(word in "[a-z0-9]{0,20}") {
            let stem = stem(&word);
            prop_assert!(stem.len() <= word.len() && (stem.is_empty() == word.is_empty() || word == "s"), "{} {}", word, stem);
        }
    }
}
