//! What an assistant's reply asks of the user.

use super::sentence::sentences;

/// A sentence that wants an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Question {
    pub(super) text: String,
    /// Whether `yes` would answer it.
    pub(super) yes_or_no: bool,
}

/// The questions of a reply, and requests to be told something; not the mere politeness of `Anything else?`.
pub(super) fn questions(reply: &str) -> Vec<Question> {
    sentences(reply)
        .into_iter()
        .filter_map(|text| {
            let lower = text.to_lowercase().replace('’', "'");
            let asks = lower.trim_end_matches(['"', ')', '*', ' ']).ends_with('?')
                || REQUESTS.iter().any(|request| lower.contains(request));
            let yes_or_no =
                YES_OR_NO.iter().any(|start| lower.starts_with(start) || lower.contains(&format!(", {start}")));
            (asks && !is_polite(&lower)).then_some(Question { text, yes_or_no })
        })
        .collect()
}

fn is_polite(lower: &str) -> bool {
    POLITE.iter().any(|phrase| lower.contains(phrase))
}

const REQUESTS: &[&str] =
    &["please tell me", "please give me", "let me know", "i need to know", "i need your", "i'd need"];

const POLITE: &[&str] = &[
    "else",
    "help you",
    "be of help",
    "i help",
    "assist you",
    "i do for you",
    "would you like to do",
    "do you need today",
    "how are you",
    "get started",
    "on your mind",
    "any questions",
    "any other",
    "sounds good",
    "you're welcome",
];

const YES_OR_NO: &[&str] = &[
    "shall i",
    "should i",
    "do you want me",
    "would you like me",
    "is that right",
    "is that correct",
    "is that ok",
    "is this right",
    "is this correct",
    "are you sure",
    "may i",
    "can i",
    "correct?",
    "right?",
    "ok?",
    "okay?",
    "ready",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(reply: &str) -> Vec<String> {
        questions(reply).into_iter().map(|question| question.text).collect()
    }

    #[test]
    fn questions_and_requests_are_found() {
        assert_eq!(asked("Sure. Which colour? It takes a day."), ["Which colour?"]);
        assert_eq!(asked("Please tell me the colour."), ["Please tell me the colour."]);
        assert_eq!(asked("Which colour (of these)?"), ["Which colour (of these)?"]);
    }

    #[test]
    fn politeness_wants_no_answer() {
        for polite in ["Done. Anything else?", "How can I help you?", "Let me know if you need anything else."] {
            assert_eq!(asked(polite), Vec::<String>::new());
        }
    }

    #[test]
    fn yes_is_an_answer_to_some() {
        assert!(questions("Shall I paint it?")[0].yes_or_no);
        assert!(questions("All of it, is that right?")[0].yes_or_no);
        assert!(!questions("Which one?")[0].yes_or_no);
    }
}
