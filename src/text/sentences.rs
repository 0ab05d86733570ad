//! A text as its sentences, as the Punkt splitter of NLTK finds them in English. Punkt learnt its abbreviations from a corpus;
//! here they are a list, so that only what follows an abbreviation, an initial or three dots may be split differently.

/// Characters that may follow a sentence's last sign.
const CLOSING: [char; 11] = ['"', '\'', ')', ']', '}', '”', '’', '」', '』', '*', '_'];
/// Signs that are never part of a word.
const SIGNS: [char; 14] = [')', '"', ';', '}', ']', '*', ':', '@', '\'', '(', '{', '[', '!', '?'];

/// Abbreviations that end with a full stop, without it.
const ABBREVIATIONS: &[&str] = &[
    "a.m", "adm", "al", "approx", "apr", "assn", "aug", "ave", "bldg", "blvd", "bros", "ca", "capt", "cf", "cmdr",
    "co", "col", "corp", "dec", "dept", "dr", "e.g", "est", "etc", "ext", "feb", "fig", "figs", "ft", "gen", "gov",
    "hon", "i.e", "inc", "jan", "jr", "lt", "ltd", "maj", "messrs", "mr", "mrs", "ms", "mt", "nov", "oct", "p.m",
    "ph.d", "pp", "prof", "rd", "rep", "rev", "sen", "sep", "sept", "sgt", "sr", "st", "ste", "tel", "u.k", "u.n",
    "u.s", "vol", "vs",
];
/// Words that begin a sentence where they are capitalised after an abbreviation.
const STARTERS: &[&str] = &[
    "a", "an", "and", "at", "but", "for", "he", "her", "his", "how", "however", "i", "if", "in", "it", "its", "my",
    "on", "our", "please", "she", "so", "the", "their", "then", "there", "these", "they", "this", "those", "we",
    "what", "when", "where", "while", "who", "why", "you", "your",
];

/// The text's sentences in order, without white space around them. No sentence is empty.
pub fn sentences(text: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let mut from = 0;
    let mut words = words(text).peekable();
    while let Some((start, word)) = words.next() {
        if words.peek().is_none_or(|(_, next)| is_last(word, next)) {
            let end = start + word.len();
            all.push(text[from..end].trim());
            from = end;
        }
    }
    all
}

/// The text's lines that are not empty: the sentences of a summary that has one in each.
pub fn lines(text: &str) -> Vec<&str> {
    text.split('\n').filter(|line| !line.is_empty()).collect()
}

/// The text's runs of other characters than white space. What ends a sentence in Chinese and Japanese ends a run too.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let rest = &text[from..];
        let start = from + (rest.len() - rest.trim_start().len());
        let word = text[start..].split(char::is_whitespace).next().filter(|it| !it.is_empty())?;
        let word = match word.find(is_full_width_end) {
            Some(at) => {
                let run = word[at..].find(|c| !is_full_width_end(c) && !CLOSING.contains(&c));
                run.map_or(word, |length| &word[..at + length])
            }
            None => word,
        };
        from = start + word.len();
        Some((start, word))
    })
}

fn is_full_width_end(c: char) -> bool {
    matches!(c, '。' | '！' | '？')
}

/// Whether a word is the last of its sentence, before the next one.
fn is_last(word: &str, next: &str) -> bool {
    let word = word.trim_end_matches(CLOSING);
    if word.ends_with(|c| matches!(c, '?' | '!') || is_full_width_end(c)) {
        return true;
    }
    let Some(before) = word.strip_suffix('.') else { return false };
    let begins_with = |is: fn(char) -> bool| next.chars().next().is_some_and(is);
    let is_starter = || {
        let word = next.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_lowercase();
        begins_with(char::is_uppercase) && STARTERS.contains(&word.as_str())
    };
    if before.ends_with('.') {
        return is_starter();
    }
    let word = before.rsplit(|c| SIGNS.contains(&c) || c == ',').next().unwrap_or_default().to_lowercase();
    let goes_on = || begins_with(char::is_lowercase) || begins_with(|c| matches!(c, ';' | ':' | ',' | '.' | '!' | '?'));
    let mut letters = word.chars();
    match (letters.next(), letters.next()) {
        (None, _) => true,
        // An initial.
        (Some(c), None) if c.is_alphabetic() => !goes_on() && (!begins_with(char::is_uppercase) || is_starter()),
        _ if is_number(&word) => !goes_on(),
        _ if is_abbreviation(&word) => is_starter(),
        _ => true,
    }
}

fn is_number(word: &str) -> bool {
    let digits = word.trim_start_matches(['-', '.', ',']);
    digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.chars().all(|c| c.is_ascii_digit() || matches!(c, ',' | '.' | '-'))
}

/// Whether it is a known abbreviation, also as the last part of a compound, or is made of single letters.
fn is_abbreviation(word: &str) -> bool {
    let last = word.rsplit('-').next().unwrap_or_default();
    let is_of_single_letters = word.contains('.')
        && word.split('.').all(|part| part.chars().count() == 1 && part.chars().all(char::is_alphabetic));
    ABBREVIATIONS.contains(&word) || ABBREVIATIONS.contains(&last) || is_of_single_letters
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sentences_are_punkts() {
        for (text, expected) in [
            ("this is a test. . new sentence.", vec!["this is a test.", ".", "new sentence."]),
            ("This. . . That", vec!["This.", ".", ".", "That"]),
            ("This..... That", vec!["This..... That"]),
            ("This... That", vec!["This... That"]),
            ("This.. . That", vec!["This.. .", "That"]),
            ("This. .. That", vec!["This.", ".. That"]),
            ("This. ,. That", vec!["This.", ",.", "That"]),
            ("This!!! That", vec!["This!!!", "That"]),
            ("This! That", vec!["This!", "That"]),
            ("1. This is R .\n2. That's all", vec!["1.", "This is R .", "2.", "That's all"]),
            ("Hello.\tThere", vec!["Hello.", "There"]),
            ("First sentence. Second Sentence.", vec!["First sentence.", "Second Sentence."]),
            (
                "Mr. Smith met Dr. J. Doe at 5 p.m. in the U.S. embassy.",
                vec!["Mr. Smith met Dr. J. Doe at 5 p.m. in the U.S. embassy."],
            ),
            ("We met at 5 p.m. The end.", vec!["We met at 5 p.m.", "The end."]),
            ("He said \"Go.\" Then he left.", vec!["He said \"Go.\"", "Then he left."]),
            ("(Is it 3.5 or 4? Nobody knows.) Well.", vec!["(Is it 3.5 or 4?", "Nobody knows.)", "Well."]),
            ("See example.com for more. bye", vec!["See example.com for more.", "bye"]),
            ("今天天气好。我们走吧！「好。」他说", vec!["今天天气好。", "我们走吧！", "「好。」", "他说"]),
            (
                "**Note.** All `assert!(x)?;` pass. Or not...",
                vec!["**Note.**", "All `assert!(x)?;` pass.", "Or not..."],
            ),
            (
                "Tools, e.g. a hammer (or a saw, etc.) help. See Fig. 4.",
                vec!["Tools, e.g. a hammer (or a saw, etc.) help.", "See Fig. 4."],
            ),
            ("no end", vec!["no end"]),
            (" \n ", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(sentences(text), expected, "{text}");
        }
    }

    #[test]
    fn lines_are_sentences_of_a_summary() {
        assert_eq!(lines("a\n\n b\r\n"), ["a", " b\r"]);
        assert!(lines("").is_empty());
    }

    proptest! {
        #[test]
        fn nothing_but_white_space_is_lost(text in "[a-zA-Z .?!\"'()\\n。」5é-]{0,60}") {
            let squeezed = |text: &str| text.split_whitespace().collect::<String>();
            let all = sentences(&text);
            prop_assert!(all.iter().all(|it| !it.is_empty() && it.trim() == *it));
            prop_assert_eq!(squeezed(&all.concat()), squeezed(&text));
        }

        #[test]
        fn any_text_can_be_split(text in "\\PC{0,60}") {
            sentences(&text);
        }
    }
}
