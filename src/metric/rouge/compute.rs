//! The numbers of ROUGE, exactly those of Google's `rouge_score`.

use std::collections::HashMap;

use super::{RougeConfig, RougeType};
use crate::metric::measured::{MeasureProblem, problem};
use crate::score::f1;
use crate::text::{lines, sentences, tokens};

/// Precision, recall and F1 of a reply against a reference.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RougeScore {
    /// How much of the reply is in the reference.
    pub precision: f64,
    /// How much of the reference is in the reply.
    pub recall: f64,
    /// The harmonic mean of both.
    pub f1: f64,
}

impl RougeScore {
    fn from_counts(common: usize, of_reply: usize, of_reference: usize) -> RougeScore {
        let precision = common as f64 / of_reply.max(1) as f64;
        let recall = common as f64 / of_reference.max(1) as f64;
        RougeScore { precision, recall, f1: f1(precision, recall) }
    }
}

/// How many pairs of words are compared at most: with more, a common sequence would take too long.
const PAIRS: usize = 1 << 30;

/// Scores a reply against one reference.
///
/// # Errors
/// The texts are too long for a common sequence.
pub fn rouge(config: &RougeConfig, reply: &str, reference: &str) -> Result<RougeScore, MeasureProblem> {
    let mut words = WordNumbers::default();
    let mut read = |text: &str| words.numbers(tokens(text, config.tokenizer, config.use_stemmer));
    match config.rouge_type {
        RougeType::N(n) => Ok(score_ngrams(&read(reply), &read(reference), n)),
        RougeType::L => {
            let (reply, reference) = (read(reply), read(reference));
            check_length(reply.len(), reference.len())?;
            Ok(RougeScore::from_counts(common_length(&reference, &reply), reply.len(), reference.len()))
        }
        RougeType::Lsum => {
            let split = if config.split_summaries { sentences } else { lines };
            let mut read_all = |text| split(text).into_iter().map(&mut read).collect::<Vec<_>>();
            let (reply, reference) = (read_all(reply), read_all(reference));
            check_length(reply.iter().map(Vec::len).sum(), reference.iter().map(Vec::len).sum())?;
            Ok(score_sentences(&reply, &reference))
        }
    }
}

/// Scores a reply against several references: the best F1 counts, the earlier of equal ones.
///
/// # Errors
/// There is no reference, or the texts are too long for a common sequence.
pub fn best_rouge<'a>(
    config: &RougeConfig,
    reply: &str,
    references: &[&'a str],
) -> Result<(RougeScore, &'a str), MeasureProblem> {
    let mut best: Option<(RougeScore, &str)> = None;
    for reference in references {
        let score = rouge(config, reply, reference)?;
        if best.is_none_or(|(best, _)| score.f1 > best.f1) {
            best = Some((score, reference));
        }
    }
    match best {
        Some(best) => Ok(best),
        None => problem("there is no expected reply to compare with: give `references`, or an expected reply"),
    }
}

fn check_length(of_reply: usize, of_reference: usize) -> Result<(), MeasureProblem> {
    match of_reply.saturating_mul(of_reference) > PAIRS {
        true => problem(format!(
            "texts of {of_reply} and {of_reference} words are too long for a common sequence: use rouge1 or rouge2"
        )),
        false => Ok(()),
    }
}

/// Words as numbers, which are quickly compared.
#[derive(Default)]
struct WordNumbers(HashMap<String, u32>);

impl WordNumbers {
    fn numbers(&mut self, words: Vec<String>) -> Vec<u32> {
        let mut number = |word| {
            let next = self.0.len() as u32;
            *self.0.entry(word).or_insert(next)
        };
        words.into_iter().map(&mut number).collect()
    }
}

fn score_ngrams(reply: &[u32], reference: &[u32], n: usize) -> RougeScore {
    let n = n.max(1);
    let mut counts: HashMap<&[u32], usize> = HashMap::new();
    for ngram in reference.windows(n) {
        *counts.entry(ngram).or_default() += 1;
    }
    let mut common = 0;
    for ngram in reply.windows(n) {
        // Each of the reference's is found only as often as it is there.
        if let Some(left @ 1..) = counts.get_mut(ngram) {
            *left -= 1;
            common += 1;
        }
    }
    let count = |words: &[u32]| (words.len() + 1).saturating_sub(n);
    RougeScore::from_counts(common, count(reply), count(reference))
}

/// The length of the longest common sequence.
fn common_length(a: &[u32], b: &[u32]) -> usize {
    let mut row = vec![0_u32; b.len() + 1];
    for a in a {
        let mut diagonal = 0;
        for (column, b) in b.iter().enumerate() {
            let above = row[column + 1];
            row[column + 1] = if a == b { diagonal + 1 } else { above.max(row[column]) };
            diagonal = above;
        }
    }
    row.last().copied().unwrap_or_default() as usize
}

/// For each word of the reference, whether it is in one longest common sequence. Of several, it is the one that is found from the
/// end when the reference is left first.
fn in_common(reference: &[u32], reply: &[u32]) -> Vec<bool> {
    let width = reply.len();
    // For each pair whether the sequence goes on without the reply's word: a bit, where the table itself would be large.
    let mut goes_left = vec![0_u64; (reference.len() * width).div_ceil(64)];
    let mut row = vec![0_u32; width + 1];
    for (i, a) in reference.iter().enumerate() {
        let mut diagonal = 0;
        for (j, b) in reply.iter().enumerate() {
            let above = row[j + 1];
            if row[j] > above {
                goes_left[(i * width + j) / 64] |= 1 << ((i * width + j) % 64);
            }
            row[j + 1] = if a == b { diagonal + 1 } else { above.max(row[j]) };
            diagonal = above;
        }
    }
    let mut found = vec![false; reference.len()];
    let (mut i, mut j) = (reference.len(), width);
    while i > 0 && j > 0 {
        let at = (i - 1) * width + (j - 1);
        if reference[i - 1] == reply[j - 1] {
            found[i - 1] = true;
            (i, j) = (i - 1, j - 1);
        } else if goes_left[at / 64] >> (at % 64) & 1 == 1 {
            j -= 1;
        } else {
            i -= 1;
        }
    }
    found
}

/// ROUGE-Lsum: of each sentence of the reference, the words that are in a common sequence with any sentence of the reply; a word
/// counts only as often as both texts have it.
fn score_sentences(reply: &[Vec<u32>], reference: &[Vec<u32>]) -> RougeScore {
    let counts = |sentences: &[Vec<u32>]| {
        let mut counts: HashMap<u32, usize> = HashMap::new();
        for word in sentences.iter().flatten() {
            *counts.entry(*word).or_default() += 1;
        }
        counts
    };
    let (mut left_in_reply, mut left_in_reference) = (counts(reply), counts(reference));
    let mut common = 0;
    for sentence in reference {
        let mut found = vec![false; sentence.len()];
        for other in reply {
            for (found, also) in found.iter_mut().zip(in_common(sentence, other)) {
                *found |= also;
            }
        }
        for (word, _) in sentence.iter().zip(found).filter(|(_, found)| *found) {
            let left = (left_in_reply.get_mut(word), left_in_reference.get_mut(word));
            if let (Some(in_reply @ 1..), Some(in_reference @ 1..)) = left {
                (*in_reply, *in_reference) = (*in_reply - 1, *in_reference - 1);
                common += 1;
            }
        }
    }
    let words = |sentences: &[Vec<u32>]| sentences.iter().map(Vec::len).sum();
    RougeScore::from_counts(common, words(reply), words(reference))
}
