//! Text from elsewhere: which of its characters can't be shown as they are.

/// Whether a character could steer a terminal, turn the reading order round, break a line or hide itself: control
/// characters, Unicode's bidirectional controls, separators, zero-widths, fillers and tags.
pub fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c,
            // Soft hyphen, grapheme joiner, Arabic letter mark, Mongolian selectors and vowel separator.
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180b}'..='\u{180f}'
            // Hangul fillers and Khmer inherent vowels: letters that show nothing.
            | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{17b4}' | '\u{17b5}'
            // Zero-widths and marks, separators of lines and paragraphs, embeddings, joiners, isolates.
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            // Annotations, beams of music, and the tag block with what is reserved beside it.
            | '\u{fff9}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// The text with each of those characters spelled out, line breaks and tabs too.
pub fn visible(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut visible, c| {
        if is_unsafe(c) {
            visible.extend(c.escape_unicode())
        } else {
            visible.push(c)
        }
        visible
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_or_steers_is_spelled_out_and_words_of_all_languages_stay() {
        let hidden = "\u{1b}\u{9b}\u{7f}\r\n\u{ad}\u{34f}\u{61c}\u{115f}\u{1160}\u{180e}\u{200b}\u{200d}\u{2028}\u{2029}\u{202e}\u{2060}\
                      \u{2066}\u{206a}\u{3164}\u{feff}\u{ffa0}\u{e0001}\u{e0041}\u{e007f}";
        for c in hidden.chars() {
            assert_eq!(visible(&c.to_string()), c.escape_unicode().to_string(), "{:x}", u32::from(c));
        }
        for words in ["naïve café", "提醒", "한국어", "עברית", "ภาษาไทย", "ខ្មែរ", "❤\u{fe0f}", "e\u{301}"]
        {
            assert_eq!(visible(words), words);
        }
    }
}
