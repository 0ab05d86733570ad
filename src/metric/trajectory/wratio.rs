//! WRatio, the weighted similarity of two texts that fuzzywuzzy and RapidFuzz compute, from 0 to 100.

use std::collections::{BTreeMap, BTreeSet};

/// Longer texts are compared by their beginnings: the time grows with the product of both lengths.
const LONGEST: usize = 2_000;

/// How similar two texts are, from 0 to 100: letters and digits count, not case, punctuation or the order of words.
pub fn wratio(a: &str, b: &str) -> f64 {
    let (a, b) = (processed(a), processed(b));
    let (short, long) = (a.len().min(b.len()) as f64, a.len().max(b.len()) as f64);
    if short == 0.0 {
        return 0.0;
    }
    const WORDS: f64 = 0.95;
    let whole = ratio(&a, &b);
    if long / short < 1.5 {
        return whole.max(token_ratio(&a, &b) * WORDS);
    }
    let part = if long / short <= 8.0 { 0.9 } else { 0.6 };
    whole.max(partial_ratio(&a, &b) * part).max(partial_token_ratio(&a, &b) * WORDS * part)
}

/// Letters and digits in lower case, everything else as spaces.
fn processed(text: &str) -> Vec<char> {
    let spaced: String = text.chars().take(LONGEST).map(|c| if c.is_alphanumeric() { c } else { ' ' }).collect();
    spaced.trim().to_lowercase().chars().collect()
}

/// Twice the common subsequence over both lengths, in percent.
fn ratio(a: &[char], b: &[char]) -> f64 {
    percent(common(a, b), a.len() + b.len())
}

fn percent(common: usize, total: usize) -> f64 {
    if total == 0 {
        return 100.0;
    }
    let distance = (total - 2 * common) as f64;
    (1.0 - distance / total as f64) * 100.0
}

/// The length of the longest common subsequence; a word of bits for each 64 characters.
fn common(a: &[char], b: &[char]) -> usize {
    CharacterPlaces::new(a).common(b)
}

/// Where each character stands in a text, as bits.
struct CharacterPlaces {
    length: usize,
    places: BTreeMap<char, Vec<u64>>,
}

impl CharacterPlaces {
    fn new(text: &[char]) -> CharacterPlaces {
        let words = text.len().div_ceil(64);
        let mut places: BTreeMap<char, Vec<u64>> = BTreeMap::new();
        for (at, c) in text.iter().enumerate() {
            places.entry(*c).or_insert_with(|| vec![0; words])[at / 64] |= 1 << (at % 64);
        }
        CharacterPlaces { length: text.len(), places }
    }

    fn common(&self, other: &[char]) -> usize {
        let words = self.length.div_ceil(64);
        let mut state = vec![u64::MAX; words];
        for c in other {
            let Some(places) = self.places.get(c) else { continue };
            let mut carry = false;
            for (bits, place) in state.iter_mut().zip(places) {
                let both = *bits & place;
                let (sum, over) = bits.overflowing_add(both);
                let (sum, over_again) = sum.overflowing_add(u64::from(carry));
                carry = over || over_again;
                *bits = sum | (*bits - both);
            }
        }
        let bits = |(word, bits): (usize, &u64)| {
            let used = (self.length - word * 64).min(64);
            let mask = if used == 64 { u64::MAX } else { (1 << used) - 1 };
            (!bits & mask).count_ones() as usize
        };
        state.iter().enumerate().map(bits).sum()
    }
}

/// The best ratio of the shorter text with a part of the longer one.
fn partial_ratio(a: &[char], b: &[char]) -> f64 {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if short.is_empty() {
        return if long.is_empty() { 100.0 } else { 0.0 };
    }
    let best = best_window(short, long);
    if short.len() == long.len() { best.max(best_window(long, short)) } else { best }
}

fn best_window(short: &[char], long: &[char]) -> f64 {
    let pattern = CharacterPlaces::new(short);
    let mut best: f64 = 0.0;
    let mut consider = |window: &[char]| best = best.max(percent(pattern.common(window), short.len() + window.len()));
    (1..short.len()).for_each(|end| consider(&long[..end]));
    long.windows(short.len()).for_each(&mut consider);
    (long.len() - short.len() + 1..long.len()).for_each(|start| consider(&long[start..]));
    best
}

fn words(text: &[char]) -> Vec<&[char]> {
    text.split(|c| c.is_whitespace()).filter(|word| !word.is_empty()).collect()
}

fn joined<'a>(words: impl IntoIterator<Item = &'a [char]>) -> Vec<char> {
    let mut joined = Vec::new();
    for word in words {
        if !joined.is_empty() {
            joined.push(' ');
        }
        joined.extend_from_slice(word);
    }
    joined
}

fn sorted(text: &[char]) -> Vec<char> {
    let mut words = words(text);
    words.sort_unstable();
    joined(words)
}

/// The words of two texts: those of both, and those of only one.
struct WordSets<'a> {
    both: BTreeSet<&'a [char]>,
    only_a: BTreeSet<&'a [char]>,
    only_b: BTreeSet<&'a [char]>,
}

impl<'a> WordSets<'a> {
    fn new(a: &'a [char], b: &'a [char]) -> WordSets<'a> {
        let (a, b): (BTreeSet<_>, BTreeSet<_>) = (words(a).into_iter().collect(), words(b).into_iter().collect());
        WordSets { both: &a & &b, only_a: &a - &b, only_b: &b - &a }
    }
}

fn token_ratio(a: &[char], b: &[char]) -> f64 {
    ratio(&sorted(a), &sorted(b)).max(token_set_ratio(a, b))
}

fn token_set_ratio(a: &[char], b: &[char]) -> f64 {
    let sets = WordSets::new(a, b);
    if sets.both.is_empty() && (sets.only_a.is_empty() || sets.only_b.is_empty()) {
        return 0.0;
    }
    if !sets.both.is_empty() && (sets.only_a.is_empty() || sets.only_b.is_empty()) {
        return 100.0;
    }
    let both = joined(sets.both.iter().copied()).len();
    let (only_a, only_b) = (joined(sets.only_a.iter().copied()), joined(sets.only_b.iter().copied()));
    let space = usize::from(both != 0);
    let (with_a, with_b) = (both + space + only_a.len(), both + space + only_b.len());
    let distance = only_a.len() + only_b.len() - 2 * common(&only_a, &only_b);
    let by_distance = |distance: usize, total: usize| 100.0 - 100.0 * distance as f64 / total as f64;
    let best = by_distance(distance, with_a + with_b);
    if both == 0 {
        return best;
    }
    best.max(by_distance(space + only_a.len(), both + with_a)).max(by_distance(space + only_b.len(), both + with_b))
}

fn partial_token_ratio(a: &[char], b: &[char]) -> f64 {
    let sets = WordSets::new(a, b);
    if !sets.both.is_empty() {
        return 100.0;
    }
    let best = partial_ratio(&sorted(a), &sorted(b));
    if words(a).len() == sets.only_a.len() && words(b).len() == sets.only_b.len() {
        return best;
    }
    best.max(partial_ratio(&joined(sets.only_a), &joined(sets.only_b)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Computed with RapidFuzz 3.14.6, `fuzz.WRatio(a, b, processor=utils.default_process)`.
    #[test]
    fn it_is_rapidfuzz_wratio() {
        for (a, b, score) in include!("wratio_samples.in") {
            let ours = wratio(a, b);
            assert!((ours - score).abs() < 1e-9, "{a:?} {b:?}: {ours}, not {score}");
        }
    }

    #[test]
    fn texts_of_any_length_are_compared_in_a_bounded_time() {
        let long = "word ".repeat(100_000);
        assert_eq!(wratio(&long, &long), 100.0);
        assert!(wratio(&long, &"other ".repeat(100_000)) < 60.0);
    }

    proptest! {
        #[test]
        fn it_is_symmetric_and_between_0_and_100(a in "[a-d ÄßЖ]{0,80}", b in "[a-d ÄßЖ]{0,80}") {
            let score = wratio(&a, &b);
            prop_assert!((0.0..=100.0).contains(&score), "{score}");
            prop_assert!((score - wratio(&b, &a)).abs() < 1e-9);
            prop_assert_eq!(wratio(&a, &a), if processed(&a).is_empty() { 0.0 } else { 100.0 });
        }
    }
}
