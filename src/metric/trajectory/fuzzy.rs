//! Texts that may mean the same: which pairs are put to others, and what is made of their answers.

use serde::{Deserialize, Serialize};

use super::wratio::wratio;

/// The most pairs that a judge is asked about in one trial.
pub const MOST_PAIRS: usize = 50;

/// Two texts that may mean the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FuzzyPair {
    /// The expected text.
    pub expected: String,
    /// The agent's text.
    pub actual: String,
}

/// The answer about a pair.
#[derive(Debug, Clone, PartialEq)]
pub enum FuzzyAnswer {
    /// A judge said whether they mean the same.
    Judged(bool),
    /// The cosine of their embeddings.
    Cosine(f64),
    /// Neither judge nor embeddings are available: the edit distance decides.
    Local,
    /// It should have been asked and is not known, for this reason.
    Missing(String),
}

/// Answers about pairs, from outside.
pub trait FuzzyAnswers {
    /// The answer about a pair.
    fn answer(&self, pair: &FuzzyPair) -> FuzzyAnswer;
}

impl<F: Fn(&FuzzyPair) -> FuzzyAnswer> FuzzyAnswers for F {
    fn answer(&self, pair: &FuzzyPair) -> FuzzyAnswer {
        self(pair)
    }
}

/// Answers without judge or embeddings: the edit distance decides.
#[derive(Debug, Clone, Copy, Default)]
pub struct LettersOnly;

impl FuzzyAnswers for LettersOnly {
    fn answer(&self, _pair: &FuzzyPair) -> FuzzyAnswer {
        FuzzyAnswer::Local
    }
}

/// The decision about a pair.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FuzzyDecision {
    /// Whether they are the same; `None` where it is not known.
    pub(super) same: Option<bool>,
    /// The decider and its number, for the explanation.
    pub(super) who: String,
}

/// Decides about a pair. `strict` is watsonx' own scale, on which nearly every pair of texts is the same.
pub(super) fn decide(pair: &FuzzyPair, answers: &dyn FuzzyAnswers, similarity: f64, strict: bool) -> FuzzyDecision {
    match answers.answer(pair) {
        FuzzyAnswer::Judged(same) => {
            let who = if same { "the judge: the same" } else { "the judge: not the same" };
            FuzzyDecision { same: Some(same), who: who.to_owned() }
        }
        FuzzyAnswer::Cosine(cosine) => FuzzyDecision {
            same: Some(cosine >= similarity),
            who: format!("embeddings: cosine {cosine:.2}, {similarity} needed"),
        },
        FuzzyAnswer::Local => {
            // fuzzywuzzy passes over the letters of Latin-1 beyond ASCII.
            let known =
                |text: &str| text.chars().filter(|c| !strict || !('\u{80}'..='\u{ff}').contains(c)).collect::<String>();
            let score = wratio(&known(&pair.expected), &known(&pair.actual));
            let needed = if strict { similarity } else { similarity * 100.0 };
            let same = if strict { score.round_ties_even() > needed } else { score >= needed };
            FuzzyDecision { same: Some(same), who: format!("letters: WRatio {score:.0}, {needed} needed") }
        }
        FuzzyAnswer::Missing(why) => FuzzyDecision { same: None, who: why },
    }
}
