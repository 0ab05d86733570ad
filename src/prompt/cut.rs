//! Texts that are too long for a judge, cut by rule: the beginning and the end are kept, and what is left out is said.

/// The most characters of one text.
pub const MOST: usize = 24_000;
/// The most characters of all texts of a question together.
const MOST_OF_ALL: usize = 400_000;

/// Cuts the texts of one question.
#[derive(Debug, Default)]
pub struct Cut {
    shown: usize,
    sentences: Vec<String>,
}

impl Cut {
    /// A text as the judge sees it; `what` names it in the note.
    pub fn text(&mut self, text: &str, what: impl FnOnce() -> String) -> String {
        let room = MOST.min(MOST_OF_ALL.saturating_sub(self.shown)).max(200);
        // Bytes are at least as many as characters.
        let length = if text.len() <= room { text.len() } else { text.chars().count() };
        if length <= room {
            self.shown += length;
            return text.to_owned();
        }
        self.shown += room;
        let (head, tail) = (room * 2 / 3, room - room * 2 / 3);
        let left_out = length - head - tail;
        self.sentences.push(format!("a long text was cut: {left_out} characters of {} were left out", what()));
        let at = |place: usize| text.char_indices().nth(place).map_or(text.len(), |(at, _)| at);
        format!("{}\n[… {left_out} characters left out …]\n{}", &text[..at(head)], &text[at(length - tail)..])
    }

    /// How many texts were cut.
    pub fn count(&self) -> usize {
        self.sentences.len()
    }

    /// The parts left out, a sentence each.
    pub fn into_sentences(self) -> Vec<String> {
        self.sentences
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_and_the_end_are_kept_and_what_is_left_out_is_reported() {
        let mut cut = Cut::default();
        assert_eq!(cut.text("short", || "x".to_owned()), "short");
        let long = format!("begin{}end", "é".repeat(200_000));
        let text = cut.text(&long, || "a message of turn 3 (agent)".to_owned());
        assert!(text.starts_with("begin") && text.ends_with("end"), "{text}");
        assert!(text.chars().count() < 24_100);
        assert!(text.contains("\n[… 176008 characters left out …]\n"), "{text}");
        assert_eq!(
            cut.into_sentences(),
            ["a long text was cut: 176008 characters of a message of turn 3 (agent) were left out"]
        );
    }

    #[test]
    fn all_texts_together_have_their_limit() {
        let mut cut = Cut::default();
        let text = "x".repeat(20_000);
        let shown: usize = (0..100).map(|_| cut.text(&text, || "it".to_owned()).len()).sum();
        assert!(shown < MOST_OF_ALL + 100 * 300, "{shown}");
        assert!(cut.into_sentences().len() >= 79);
    }
}
