//! Cuts messages into sentences and words.

/// The sentences of a message, with their closing marks.
pub(super) fn sentences(message: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in message.lines() {
        let mut sentence: Vec<&str> = Vec::new();
        for word in line.split_whitespace() {
            sentence.push(word);
            let title = matches!(word, "Dr." | "Mr." | "Mrs." | "Ms." | "St." | "a.m." | "p.m.");
            if word.ends_with(['.', '!', '?', '…']) && !title {
                found.push(std::mem::take(&mut sentence).join(" "));
            }
        }
        if !sentence.is_empty() {
            found.push(sentence.join(" "));
        }
    }
    found
}

/// The words without marks around them; what is within a word stays (`9:30`, `o'clock`, `a@b.org`, `Europe/Lisbon`).
pub(super) fn bare_words(sentence: &str) -> Vec<&str> {
    sentence
        .split_whitespace()
        .map(|word| {
            word.trim_end_matches(['.', ',', '!', '?', ';', ':', '"', '”', ')', '…'])
                .trim_start_matches(['"', '“', '('])
        })
        .filter(|word| !word.is_empty())
        .collect()
}

/// The text with its first letter in upper case.
pub(super) fn upper_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
