//! What a fact is about, and whether a question asks for it.

use super::perspective::first_person;
use super::sentence::{unclosed, upper_first};
use super::words::{Bag, Word, content_words};

/// A fact, cut into what it is about and what it says of that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fact {
    /// As it was written.
    pub(super) text: String,
    /// The content words of what it is about; empty when the fact is about the user as such.
    pub(super) subject: Vec<Word>,
    /// What it says of that.
    pub(super) said: String,
    /// The content words of what it says.
    pub(super) value: Vec<Word>,
}

impl Fact {
    pub(super) fn read(text: &str) -> Fact {
        let text = unclosed(text).to_owned();
        let cut = [" is ", " are ", " was ", " were "]
            .iter()
            .filter_map(|verb| text.find(verb).map(|at| (at, at + verb.len())))
            .min();
        let (subject, value) = cut.map_or(("", text.as_str()), |(end, start)| (&text[..end], &text[start..]));
        Fact { subject: content_words(subject), value: content_words(value), said: value.to_owned(), text }
    }

    /// How well it answers a question, 0 to 1; from [`FITS`] on it is given.
    pub(super) fn fit(&self, question: &Bag) -> f64 {
        if self.subject.is_empty() {
            // `The user lives in …`: the verb is what it is about.
            let verb = self.value.first().map_or(0.0, |verb| f64::from(u8::from(question.has(&verb.stem))));
            return question.coverage(&self.value).max(verb * 0.9);
        }
        question.coverage(&self.subject)
    }

    /// As the user says it.
    pub(super) fn spoken(&self) -> String {
        format!("{}.", upper_first(&first_person(&self.text)))
    }
}

/// How well a fact must fit a question to be given.
pub(super) const FITS: f64 = 0.51;

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(fact: &str, question: &str) -> bool {
        Fact::read(fact).fit(&Bag::of(question)) >= FITS
    }

    #[test]
    fn a_fact_is_given_to_who_asks_for_its_subject() {
        assert!(fits("The user's shoesize is 43", "Which shoe size do you need?"));
        assert!(fits("The user's car is a red van", "What kind of car do you drive?"));
        assert!(fits("The user speaks Welsh", "Which language do you speak?"));
        assert!(fits("The user prefers oat milk", "Which milk would you prefer?"));
    }

    #[test]
    fn a_fact_is_kept_from_who_asks_for_something_else() {
        assert!(!fits("The user's shoesize is 43", "Which colour do you like?"));
        assert!(!fits("The neighbour's cat is called Tom", "What is the neighbour called?"));
        assert!(!fits("The user's shoesize is 43", "Shall I order 43 of them?"));
    }

    #[test]
    fn a_fact_is_spoken_in_the_first_person() {
        assert_eq!(Fact::read("The user's shoesize is 43.").spoken(), "My shoesize is 43.");
        assert_eq!(Fact::read("The user has two cats").spoken(), "I have two cats.");
    }
}
