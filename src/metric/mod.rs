//! The metrics: one folder each, pure. In comes a [`MetricInput`] with the judges' [`Judgement`]s; out come the
//! questions to the judges, and a [`Dimension`] with its score.
//!
//! Invariants: a metric never calls a model: it renders [`Question`]s, the runner carries them, and then it scores the
//! [`Judgement`]s as a function that can be run again on what is stored. A metric knows no job: what it needs of one comes
//! as plain data in a [`MetricInput`]. Two metrics that ask the same question (by its id) share its judgement.

pub mod completeness;
mod config;
mod criterion;
pub mod document;
mod elicitation;
mod entry;
pub mod final_response;
pub mod geval;
pub mod hallucination;
mod input;
pub mod json;
pub mod json_schema;
pub mod judged;
pub mod measured;
mod options;
pub mod pairwise;
mod parts;
mod pattern;
mod per_turn;
mod re2;
mod reply;
mod reply_error;
pub mod role_adherence;
pub mod simulated_user;
pub mod rouge;
pub mod rubric;
mod scripted;
pub mod selection;
pub mod state;
mod table;
pub mod template;
pub mod tasks;
pub mod timing;
pub mod trajectory;
pub mod turn_relevancy;
pub mod unavailable;
mod vote;
pub mod wording;

pub use crate::evidence::figures;
pub use config::Weights;
pub use entry::MetricEntry;
pub use input::{ExpectedTurn, InputTask, JudgeInput, MetricInput, UserInput};
pub use options::{JudgeUse, MetricOptions, OptionsProblem};
pub use reply_error::{EntryError, RatingError, ReplyError};
pub use rubric::{Rubric, RubricConfig, SameId};
pub use table::{MetricConfig, MetricKind};
pub use tasks::{Tasks, Tone};
pub use timing::TimingMetric;
pub use trajectory::TrajectoryMetric;
pub use vote::{Vote, combine_panel};

use judged::JudgedMetric;
use per_turn::single_part;
use reply::ReplyMetric;
use trajectory::{Expectation, ExpectationProblem};

use crate::evidence::{Judgement, Question, ReplyToken, ScoreAlternative};
use crate::prompt::{PromptError, Templates};
use crate::score::{Component, Dimension, Item, weighted_mean};

/// The other scores that the judge could have given, with their probabilities by the reply's tokens; none where its model does not
/// return log probabilities.
pub fn alternatives_of(metric: &str, tokens: &[ReplyToken]) -> Vec<ScoreAlternative> {
    match metric {
        "pairwise" => pairwise::letter_alternatives(tokens),
        _ => judged::score_alternatives(tokens),
    }
}

/// Something that can be measured of one conversation.
pub trait Metric: Send + Sync {
    /// Its name: that of its dimension, and the one by which its questions name it.
    fn name(&self) -> &'static str;

    /// The questions that judges must answer before it can score; none for most metrics.
    ///
    /// # Errors
    /// A template that can't be rendered.
    fn questions(&self, _input: &MetricInput<'_>, _templates: &Templates) -> Result<Vec<Question>, PromptError> {
        Ok(Vec::new())
    }

    /// Whether it reads the replies to this question.
    fn reads(&self, question: &Question) -> bool {
        question.metric == self.name()
    }

    /// Whether a judge's raw reply to a question that it reads is usable.
    ///
    /// # Errors
    /// All that is wrong with it.
    fn read(&self, _input: &MetricInput<'_>, _question: &Question, _raw: &str) -> Result<(), ReplyError> {
        Err(ReplyError::NotAsked(self.name()))
    }

    /// The dimension's score of the conversation, by all judgements of one judge.
    fn score(&self, input: &MetricInput<'_>, judgements: &[Judgement]) -> Dimension;

    /// How the judges of a panel come to one score.
    fn vote(&self) -> Vote {
        Vote::Mean
    }

    /// The score of its parts, where each has a score of the whole panel.
    fn score_items(&self, items: &[Item]) -> Component {
        weighted_mean(items.iter().map(|item| (item.weight, item.label.as_str(), &item.component)))
    }
}

/// The metric of an entry; `None` for assertions, which need more than a [`MetricInput`].
pub fn metric(entry: &MetricEntry, weights: &Weights) -> Option<Box<dyn Metric>> {
    entry.metric.options().metric(entry.weight(weights), entry.label())
}

/// The parts of an expectation with which this metric can compare nothing: a pattern that is none, a text that is no JSON.
pub fn expectation_problems(metric: &MetricConfig, expected: &Expectation) -> Vec<ExpectationProblem> {
    metric.options().expectation_problems(expected)
}

/// The problem of the options of a metric; `None` where there is none.
pub fn options_problem(metric: &MetricConfig) -> Option<OptionsProblem> {
    metric.options().options_problem()
}

/// Why a metric looks at the agent's state after the conversation; `None` where it does not. `is_expected` tells whether a case
/// expects one.
pub fn state_use(metric: &MetricConfig, is_expected: bool) -> Option<&'static str> {
    metric.options().state_use(is_expected)
}

/// Whether a metric looks at the agent's tool calls.
pub fn looks_at_calls(metric: &MetricConfig) -> bool {
    metric.options().looks_at_calls()
}

/// The metrics of these entries, in their order.
pub fn metrics(entries: &[MetricEntry], weights: &Weights) -> Vec<Box<dyn Metric>> {
    entries.iter().filter_map(|entry| metric(entry, weights)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_name_a_metric_of_the_job() {
        let example = input::Example::new(3);
        let metrics = metrics(&MetricEntry::defaults(), &Weights::default());
        for metric in &metrics {
            for question in metric.questions(&example.input(), &Templates::embedded()).unwrap() {
                assert!(metrics.iter().any(|other| other.name() == question.metric));
            }
        }
    }

    #[test]
    fn the_weights_are_embabels() {
        let example = input::Example::new(1);
        let metrics = metrics(&MetricEntry::defaults(), &Weights::default());
        let dimensions: Vec<_> = metrics.iter().map(|metric| metric.score(&example.input(), &[])).collect();
        let weights: Vec<_> = dimensions.iter().map(|it| (it.name.as_str(), it.weight.get())).collect();
        assert_eq!(weights, [("timing", 1.0), ("tasks", 2.0), ("tone", 0.0)]);
    }
}
