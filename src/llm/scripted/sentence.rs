//! Cuts text into sentences.

/// The sentences of a text with their closing marks. A mark ends a sentence only where a space follows, so `9.30` and
/// `a@b.org` stay whole; so do one-letter and title abbreviations.
pub(super) fn sentences(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in text.lines() {
        let mut sentence = String::new();
        for word in line.split_whitespace() {
            if !sentence.is_empty() {
                sentence.push(' ');
            }
            sentence.push_str(word);
            if closes(word) {
                found.push(std::mem::take(&mut sentence));
            }
        }
        if !sentence.is_empty() {
            found.push(sentence);
        }
    }
    found
}

fn closes(word: &str) -> bool {
    let bare = word.trim_end_matches(['"', '\'', ')', '”', '’', '*']);
    match bare.strip_suffix('.') {
        Some(before) => {
            let letters = before.trim_start_matches(|c: char| !c.is_alphanumeric());
            letters.chars().count() > 1 && !TITLES.contains(&letters.to_lowercase().as_str())
        }
        None => bare.ends_with(['?', '!', '…']),
    }
}

const TITLES: &[&str] = &["dr", "mr", "mrs", "ms", "st", "prof", "e.g", "i.e", "a.m", "p.m", "vs", "no"];

/// The sentence without its closing marks.
pub(super) fn unclosed(sentence: &str) -> &str {
    sentence.trim().trim_end_matches(['.', '?', '!', '…', ' '])
}

/// The text with its first letter in upper case.
pub(super) fn upper_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// The text with its first letter in lower case, unless its first word is `I` or has capitals elsewhere.
pub(super) fn lower_first(text: &str) -> String {
    let word = text.split_whitespace().next().unwrap_or_default();
    if word == "I" || word.starts_with("I'") || word.chars().skip(1).any(char::is_uppercase) {
        return text.to_owned();
    }
    let mut chars = text.chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_within_words_and_titles_end_nothing() {
        assert_eq!(
            sentences("Dr. Who came at 9.30. Was he late? \"No!\" he said\nFine"),
            ["Dr. Who came at 9.30.", "Was he late?", "\"No!\"", "he said", "Fine"]
        );
        assert_eq!(sentences(" \n "), Vec::<String>::new());
    }

    #[test]
    fn first_letters_change_case_where_that_is_english() {
        assert_eq!(upper_first("über alles"), "Über alles");
        assert_eq!(lower_first("Paint it"), "paint it");
        assert_eq!(lower_first("I paint"), "I paint");
        assert_eq!(lower_first("USB sticks"), "USB sticks");
    }
}
