//! Whether two texts say nearly the same.

use std::collections::BTreeMap;

use crate::text::{Tokenizer, tokens};

/// Two texts that share at least this part of their words are nearly the same.
const NEAR: f64 = 0.9;

/// A text as its words, each with how often it is there.
pub(super) struct WordBag {
    counts: BTreeMap<String, usize>,
    total: usize,
}

impl WordBag {
    pub(super) fn new(text: &str) -> WordBag {
        let words = tokens(text, Tokenizer::Unicode, true);
        let total = words.len();
        let mut counts = BTreeMap::new();
        words.into_iter().for_each(|word| *counts.entry(word).or_default() += 1);
        WordBag { counts, total }
    }

    /// Whether the other one is nearly the same: Dice's coefficient of their words' stems.
    pub(super) fn is_near(&self, other: &WordBag) -> bool {
        let shared = |(word, count): (&String, &usize)| other.counts.get(word).map_or(0, |there| *count.min(there));
        let shared: usize = self.counts.iter().map(shared).sum();
        2.0 * shared as f64 >= NEAR * (self.total + other.total) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_near_that_share_nearly_all_words_in_any_order_and_form() {
        let near = |one: &str, other: &str| WordBag::new(one).is_near(&WordBag::new(other));
        assert!(near("Book a train to Rome!", "book a TRAIN to rome"));
        assert!(near("Book trains to Rome", "to rome book train"));
        assert!(!near("Book a train to Rome", "Book a train to Oslo"));
        assert!(!near("Book a train", "Cancel the booking"));
        assert!(near("", ""));
    }
}
