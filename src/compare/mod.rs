//! Two sides, runs or models, compared pair by pair: conversation by conversation of the same case, condition and repetition.
//!
//! In: the trials of both sides, and what each was run by. Out: for the score, each condition and each metric a difference
//! with its interval and what it comes to: better, worse, the same, or not decided. Pure.
//!
//! Invariants: cases are what is drawn independently, so that every interval is over cases; only pairs are compared, the rest
//! is listed; sides that were not run by the same rules are not compared.

mod baseline;
mod columns;
mod divergence;
mod held;
mod judged;
mod needed;
mod scores;
#[cfg(test)]
mod tests;

use serde::Serialize;

use crate::score::UntilDecided;

pub use baseline::{BesideBaseline, beside_baseline};
pub use divergence::{Divergence, PairDivergence, PairDivergences};
pub use held::{RuleDifference, RunRules};
pub use judged::{ComparedScore, Relation, Subject};
pub use needed::{MOST_MORE, Needed};
use scores::PairedScores;
pub use scores::Scores;

/// The default of the least difference that matters.
pub const MIN_EFFECT: f64 = 0.02;

/// How often a difference is claimed at most where there is none.
pub const ALPHA: f64 = 0.05;

/// Under what rules sides are compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ComparisonRules {
    /// The least difference that matters, above 0 and up to 1. Within it both sides are the same.
    pub min_effect: f64,
    /// Draws flips of signs and bootstraps.
    pub rng_seed: u64,
    /// How often a difference is claimed at most where there is none, above 0 and below 1: 0.05, or less for each of several
    /// looks at a run that goes on. Intervals cover at 1 less this.
    pub alpha: f64,
}

impl ComparisonRules {
    /// Whether it is one of several looks at a run that goes on.
    pub(crate) fn is_look(&self) -> bool {
        self.alpha < ALPHA
    }

    /// The rules for each interim analysis of a run that adds repetitions until its models differ; the usual ones without.
    pub fn for_run(until: Option<&UntilDecided>, rng_seed: u64) -> ComparisonRules {
        let usual = ComparisonRules { rng_seed, ..ComparisonRules::default() };
        until.map_or(usual, |until| ComparisonRules { min_effect: until.min_effect, alpha: until.alpha(), ..usual })
    }
}

impl Default for ComparisonRules {
    fn default() -> ComparisonRules {
        ComparisonRules { min_effect: MIN_EFFECT, rng_seed: 0, alpha: ALPHA }
    }
}

/// A run that was judged again, by the job of the one that it is compared with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Bridge {
    /// The run that was judged again: the older one.
    pub run: String,
    /// The run by whose job it was.
    pub by: String,
    /// The judge, where one was asked or had answered before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<String>,
    /// How many conversations it was asked about now.
    pub asked: usize,
    /// How many of its conversations have no score by that job: their evidence does not say it.
    pub without_score: usize,
    /// Why the judge was not asked about all of them, where a limit was reached or it refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// The file of the new verdict beside the run, where something was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
}

/// A side of a comparison.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Side {
    /// The run's id.
    pub run: String,
    /// The agent's model.
    pub model: String,
}

/// A side beside the first one.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// The side that it is compared with.
    pub first: Side,
    /// The compared parts.
    pub second: Side,
    /// How many cases both sides have.
    pub cases: u32,
    /// How many conversations have a counterpart, both with a score.
    pub pairs: u32,
    /// The score first, then its conditions, then the metrics in the order of the first side.
    pub scores: Vec<ComparedScore>,
    /// Where the conversations of the pairs part, where what was said was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub divergence: Option<Divergence>,
    /// The conversations left out of it.
    pub left_out: Excluded,
}

/// The conversations that are not compared.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Excluded {
    /// The cases that only the first side has.
    pub only_first: Vec<String>,
    /// The cases that only the second side has.
    pub only_second: Vec<String>,
    /// How many conversations of shared cases have no counterpart.
    pub unpaired: u32,
    /// How many pairs have a score on the second side only.
    pub first_lacks_score: u32,
    /// How many pairs have a score on the first side only.
    pub second_lacks_score: u32,
    /// How many pairs have a score on neither side.
    pub both_lack_score: u32,
}

impl Excluded {
    /// Whether everything is compared.
    pub fn is_empty(&self) -> bool {
        *self == Excluded::default()
    }
}

impl Comparison {
    /// The relation of the scores; inconclusive where there is none.
    pub fn relation(&self) -> Relation {
        self.scores.first().map_or(Relation::Inconclusive, |score| score.relation)
    }
}

/// A side with its scores.
pub type ScoredSide<'a> = (&'a Side, &'a Scores);

/// The second side of each pair beside its first one. All pairs are judged as one family.
pub fn compare(pairs: &[[ScoredSide<'_>; 2]], rules: ComparisonRules) -> Vec<Comparison> {
    let sides: Vec<PairedScores<'_>> =
        pairs.iter().map(|[(_, one), (_, other)]| PairedScores::new(one, other)).collect();
    let mut comparisons: Vec<Comparison> =
        pairs.iter().zip(&sides).map(|(pair, sides)| beside(*pair, sides, rules)).collect();
    judged::assign_relations(&mut comparisons, &sides, rules);
    comparisons
}

fn beside(pair: [ScoredSide<'_>; 2], sides: &PairedScores<'_>, rules: ComparisonRules) -> Comparison {
    let [(first, scores), (second, others)] = pair;
    let scored = |subject: &Subject| judged::compared(subject, sides, rules);
    let compared: Vec<ComparedScore> = scores.subjects(others).iter().filter_map(scored).collect();
    Comparison {
        first: first.clone(),
        second: second.clone(),
        cases: scores.shared_cases(others),
        pairs: compared.first().map_or(0, |score| score.pairs),
        scores: compared,
        divergence: divergence::divergence(sides),
        left_out: sides.left_out(),
    }
}
