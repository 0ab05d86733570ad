//! A fact about the user, and whether a question asks for it.

use super::speech::fact_in_first_person;
use super::words::{WordSet, content_words};

/// A fact, cut at its verb: `The user's shoe size` is `43`.
pub(super) struct Fact {
    text: String,
    /// The content words of its subject; empty if it is about the user as such (`The user prefers tea`).
    pub(super) subject: Vec<String>,
    pub(super) value: String,
}

impl Fact {
    pub(super) fn new(text: &str) -> Fact {
        let text = text.trim().trim_end_matches('.').to_owned();
        let cut = text.split_once(" is ").or_else(|| text.split_once(" are "));
        let (subject, value) = cut.map_or(("", text.as_str()), |(subject, value)| (subject, value));
        Fact { subject: content_words(subject), value: value.to_owned(), text }
    }

    /// Whether the question names all that the fact is about, or any word of a fact about the user as such.
    pub(super) fn is_asked_for_by(&self, question: &str) -> bool {
        let question = WordSet::new(question);
        match self.subject.is_empty() {
            true => content_words(&self.value).iter().any(|word| question.has(word)),
            false => question.has_all(&self.subject),
        }
    }

    /// The fact in the first person.
    pub(super) fn in_first_person(&self) -> String {
        fact_in_first_person(&self.text)
    }
}

#[cfg(test)]
mod tests;
