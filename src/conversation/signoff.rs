//! The phrase with which the persona ends a conversation.

/// The message without the sign-off phrase; `None` if it does not have the phrase. Case is ignored, in all scripts, and so is
/// the number of spaces or line breaks.
///
/// Text before the phrase is kept. Text after it is kept if it has a letter or a digit: a full stop or an emoji is part of the
/// sign-off.
pub(super) fn without_signoff(message: &str, phrase: &str) -> Option<String> {
    if can_not_match(message, phrase) {
        return None;
    }
    let phrase: Vec<char> = folded(phrase.trim()).into_iter().map(|letter| letter.character).collect();
    let (start, end) = find(&folded(message), &phrase)?;
    let (mut before, mut after) = (&message[..start], &message[end..]);
    while let Some((opening, closing)) = before.chars().next_back().zip(after.chars().next()) {
        if !PAIRS.contains(&(opening, closing)) {
            break;
        }
        before = &before[..before.len() - opening.len_utf8()];
        after = &after[closing.len_utf8()..];
    }
    // The phrase may be repeated.
    let rest = without_signoff(after, &phrase.iter().collect::<String>());
    let after = rest.as_deref().unwrap_or(after);
    let before = if before.chars().all(is_decoration) { "" } else { before.trim() };
    let after = match after.chars().any(char::is_alphanumeric) {
        true => after.trim_start_matches([' ', '\n', '\t', '\r', '.', ',', '!', '?', ';', ':']).trim_end(),
        false => "",
    };
    let space = if before.is_empty() || after.is_empty() { "" } else { " " };
    Some(format!("{before}{space}{after}"))
}

/// Where the phrase first stands in a message, by bytes, without the marks around it.
pub(super) fn found(message: &str, phrase: &str) -> Option<(usize, usize)> {
    if can_not_match(message, phrase) {
        return None;
    }
    let phrase: Vec<char> = folded(phrase.trim()).into_iter().map(|letter| letter.character).collect();
    find(&folded(message), &phrase)
}

/// A quick check that rules out nearly every message: in ASCII, it lacks a word of the phrase.
fn can_not_match(message: &str, phrase: &str) -> bool {
    let has =
        |word: &str| message.as_bytes().windows(word.len()).any(|part| part.eq_ignore_ascii_case(word.as_bytes()));
    let is_empty = || phrase.split_whitespace().next().is_none();
    let lacks = || message.is_ascii() && phrase.is_ascii() && !phrase.split_whitespace().rev().all(has);
    is_empty() || lacks()
}

/// The pairs of marks that people put around a phrase.
const PAIRS: [(char, char); 9] =
    [('"', '"'), ('\'', '\''), ('*', '*'), ('_', '_'), ('(', ')'), ('“', '”'), ('„', '“'), ('‘', '’'), ('«', '»')];

fn is_decoration(character: char) -> bool {
    character.is_whitespace() || character.is_ascii_punctuation() || "“”„‘’«»–—…".contains(character)
}

struct Letter {
    character: char,
    start: usize,
    end: usize,
}

/// The letters with case folded and runs of white space made one space, each with its place in the text.
fn folded(text: &str) -> Vec<Letter> {
    let mut letters: Vec<Letter> = Vec::new();
    for (start, character) in text.char_indices() {
        let end = start + character.len_utf8();
        if character.is_whitespace() {
            match letters.last_mut() {
                Some(last) if last.character == ' ' => last.end = end,
                _ => letters.push(Letter { character: ' ', start, end }),
            }
        } else {
            // By way of the capitals, so that ß is ss and ς is σ.
            let lower = character.to_uppercase().flat_map(char::to_lowercase);
            letters.extend(lower.map(|character| Letter { character, start, end }));
        }
    }
    letters
}

fn find(letters: &[Letter], phrase: &[char]) -> Option<(usize, usize)> {
    if phrase.is_empty() {
        return None;
    }
    letters.windows(phrase.len()).find_map(|window| {
        let same = window.iter().map(|letter| letter.character).eq(phrase.iter().copied());
        same.then(|| (window[0].start, window[window.len() - 1].end))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PHRASE: &str = "So Long, and Thanks for All the Fish";

    fn cut(message: &str) -> Option<String> {
        without_signoff(message, PHRASE)
    }

    #[test]
    fn the_text_around_it_is_kept() {
        for (message, kept) in [
            ("So Long, and Thanks for All the Fish", ""),
            ("so long, and thanks for all the fish!", ""),
            ("\"SO LONG, AND THANKS FOR ALL THE FISH.\"", ""),
            ("**So long, and thanks for all the fish** 👋", ""),
            ("Great, thanks! So long, and thanks for all the fish.", "Great, thanks!"),
            ("👍 So long, and thanks for all the fish.", "👍"),
            ("Thanks.\n\nSo long,\n and  thanks for all the fish", "Thanks."),
            ("So long, and thanks for all the fish! PS: I live in Bern.", "PS: I live in Bern."),
            ("It is 7. (So long, and thanks for all the fish) Use 24 hours.", "It is 7. Use 24 hours."),
            ("A. So long, and thanks for all the fish. So long, and thanks for all the fish!", "A."),
        ] {
            assert_eq!(cut(message).as_deref(), Some(kept), "{message}");
        }
    }

    #[test]
    fn other_words_are_no_signoff() {
        for message in ["", "So long", "so long and thanks for all the fish", "Thanks for all the fish"] {
            assert_eq!(cut(message), None, "{message}");
        }
        assert_eq!(without_signoff("anything", ""), None);
        assert_eq!(without_signoff("anything", "  "), None);
    }

    #[test]
    fn case_is_ignored_in_all_scripts() {
        assert_eq!(without_signoff("Danke. TSCHÜSS", "Tschüß").as_deref(), Some("Danke."));
        assert_eq!(without_signoff("ΑΝΤΊΟ ΣΑΣ", "αντίο σας").as_deref(), Some(""));
        assert_eq!(without_signoff("ok, ДО СВИДАНИЯ!", "до свидания").as_deref(), Some("ok,"));
        assert_eq!(without_signoff("谢谢。再见", "再见").as_deref(), Some("谢谢。"));
        assert_eq!(without_signoff("İİ bye", "BYE").as_deref(), Some("İİ"));
    }

    proptest! {
        #[test]
        fn no_word_is_lost(before in "[a-z]{1,5}( [a-z]{1,5}){0,3}", after in "([a-z]{1,5} ){0,3}") {
            let kept = cut(&format!("{before} {PHRASE}. {after}")).unwrap();
            let expected: Vec<&str> = before.split_whitespace().chain(after.split_whitespace()).collect();
            prop_assert_eq!(kept.split_whitespace().collect::<Vec<_>>(), expected);
        }

        #[test]
        fn any_text_is_read(message in ".*", phrase in ".{0,5}") {
            let _ = without_signoff(&message, &phrase);
        }
    }
}
