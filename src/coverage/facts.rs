//! Whether a message tells a fact.

use std::collections::BTreeSet;

use crate::text::{Tokenizer, tokens};

/// English words that say nothing of a fact.
const STOP_WORDS: [&str; 60] = [
    "a", "an", "and", "are", "as", "at", "be", "been", "but", "by", "can", "did", "do", "does", "for", "from", "had",
    "has", "have", "he", "her", "his", "i", "in", "is", "it", "its", "me", "my", "name", "no", "not", "of", "on", "or",
    "our", "she", "so", "that", "the", "their", "them", "there", "they", "this", "to", "us", "user", "was", "we",
    "were", "what", "when", "which", "who", "will", "with", "you", "your", "s",
];

/// The words of a fact by which it is recognised: all but the commonest, as stems, each once.
#[derive(Debug, Clone)]
pub(super) struct FactWords(BTreeSet<String>);

impl FactWords {
    pub(super) fn new(fact: &str) -> FactWords {
        let all = stems(fact);
        let telling: BTreeSet<String> = all.iter().filter(|it| !STOP_WORDS.contains(&it.as_str())).cloned().collect();
        FactWords(if telling.is_empty() { all } else { telling })
    }

    /// Whether a message holds half of the words or more.
    pub(super) fn are_in(&self, message: &BTreeSet<String>) -> bool {
        !self.0.is_empty() && self.0.intersection(message).count() * 2 >= self.0.len()
    }
}

/// The words of a text as stems.
pub(super) fn stems(text: &str) -> BTreeSet<String> {
    tokens(text, Tokenizer::Unicode, true).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fact_is_mentioned_by_half_of_its_words() {
        let fact = FactWords::new("The user's dog is called Rex.");
        for (message, expected) in [
            ("My dog is Rex", true),
            ("Rex, that's what my dog's called!", true),
            ("I have a dog and a cat", false),
            ("the user is", false),
            ("", false),
        ] {
            assert_eq!(fact.are_in(&stems(message)), expected, "{message}");
        }
        assert!(FactWords::new("東京に住んでいる").are_in(&stems("わたしは東京に住んでいる")));
        assert!(!FactWords::new("🙂").are_in(&stems("🙂")), "it has no words");
    }
}
