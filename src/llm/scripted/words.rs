//! Texts as words and sentences. Words are compared in lower case and without a plural `s`.

use std::collections::HashSet;

/// The words of a text that say what it is about, in order, each once.
pub(super) fn content_words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in tokens(&without_quantities(text)) {
        let is_content = !STOP_WORDS.split_whitespace().any(|stop| stop == word);
        if is_content && !words.iter().any(|earlier| singular(earlier) == singular(&word)) {
            words.push(word);
        }
    }
    words
}

/// What criteria accept, each of it enough: `a tram or a bus`. A quantity (`one or more`) is no alternative.
pub(super) fn alternatives(criteria: &str) -> Vec<String> {
    let mut all: Vec<String> = vec![String::new()];
    let text = without_quantities(criteria);
    for word in text.split_whitespace() {
        match word.eq_ignore_ascii_case("or") {
            true => all.push(String::new()),
            false => all.iter_mut().rev().take(1).for_each(|last| *last += &format!("{word} ")),
        }
    }
    all.retain(|alternative| !alternative.trim().is_empty());
    all
}

/// A text without the phrases that only say how many.
fn without_quantities(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut kept: Vec<&str> = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let begins = |phrase: &&&str| {
            let phrase: Vec<&str> = phrase.split(' ').collect();
            let here = words.get(at..at + phrase.len());
            here.is_some_and(|here| here.iter().zip(&phrase).all(|(word, of)| word.eq_ignore_ascii_case(of)))
        };
        match QUANTITIES.iter().find(begins) {
            Some(phrase) => at += phrase.split(' ').count(),
            None => {
                kept.push(words[at]);
                at += 1;
            }
        }
    }
    kept.join(" ")
}

/// The longer ones first.
const QUANTITIES: [&str; 6] = ["at least one", "one or more", "at least", "at most", "one of", "any of"];

/// The words of a text, to look others up in.
pub(super) struct WordSet(HashSet<String>);

impl WordSet {
    pub(super) fn new(text: &str) -> WordSet {
        let tokens = tokens(text);
        // `time zone` is also found as `timezone`.
        let compounds = tokens.windows(2).map(|pair| singular(&pair.concat()).to_owned());
        WordSet(tokens.iter().map(|token| singular(token).to_owned()).chain(compounds).collect())
    }

    pub(super) fn has(&self, word: &str) -> bool {
        self.0.contains(singular(word))
    }

    /// Whether all of these are there, apart or written as one; never true of no words.
    pub(super) fn has_all(&self, words: &[String]) -> bool {
        !words.is_empty() && (words.iter().all(|word| self.has(word)) || self.has(&words.concat()))
    }
}

fn tokens(text: &str) -> Vec<String> {
    let text = text.to_lowercase().replace('’', "'").replace("'s", "");
    text.split(|c: char| !c.is_alphanumeric() && !matches!(c, ':' | '\''))
        .map(|token| token.trim_matches([':', '\'']))
        .filter(|token| !token.is_empty())
        .map(str::to_owned)
        .collect()
}

fn singular(word: &str) -> &str {
    word.strip_suffix('s').filter(|rest| rest.len() > 2 && !rest.ends_with('s')).unwrap_or(word)
}

/// The sentences of a text, with their closing marks. A mark closes one only where a space follows.
pub(super) fn sentences(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut open = false;
    for word in text.split_whitespace() {
        match found.last_mut().filter(|_| open) {
            Some(sentence) => *sentence += &format!(" {word}"),
            None => found.push(word.to_owned()),
        }
        open = !word.trim_end_matches(['"', '\'', ')', '”', '*']).ends_with(['.', '?', '!', '…']);
    }
    found
}

/// Whether a sentence is a question.
pub(super) fn is_question(sentence: &str) -> bool {
    sentence.trim_end_matches(['"', '\'', ')', '”', '*']).ends_with('?')
}

/// Whether a sentence wants an answer.
pub(super) fn asks(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    is_question(sentence)
        || ["please tell me", "let me know", "i need your"].iter().any(|phrase| lower.contains(phrase))
}

/// Words that say nothing of what a sentence is about, and those by which criteria speak of an answer as such.
const STOP_WORDS: &str = "
    a an the this that these those i me my you your he him his she her hers it its we our they them their
    am is are was were be been do does did has have had will would shall should can could may might must not
    of to in on at by for from with as about into and or but if than then so there here any some both each every all
    who which what when where why how whether also only just please thank thanks
    user users assistant agent chatbot answer answers reply replies correct correctly right properly
    list lists listed named names naming given gives says said shows shown tell tells told ask asks asked know knows known
    enough most more";

#[cfg(test)]
mod tests;
