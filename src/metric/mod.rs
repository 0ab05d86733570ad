//! What can be measured of a conversation: one folder a metric. Pure.
//!
//! Invariants: a metric never calls a model: it asks [`Question`]s, the runner carries them, and then it scores the
//! [`Judgement`] as a function that can be run again on what is stored. A metric knows no job: what it needs of one comes
//! as plain data in a [`MetricInput`].

mod input;
pub mod tasks;
pub mod timing;

pub use input::{InputTask, MetricInput};
pub use tasks::Tasks;
pub use timing::Timing;

use crate::evidence::{Judgement, Question};
use crate::score::Dimension;

/// Something that can be measured of one conversation.
pub trait Metric: Send + Sync {
    /// Its name: that of its main dimension, and of its questions and judgements.
    fn name(&self) -> &'static str;

    /// What a judge has to decide before it can score; nothing for most.
    fn questions(&self, input: &MetricInput) -> Vec<Question>;

    /// Whether a judge's raw reply is usable.
    ///
    /// # Errors
    /// A sentence that names all that is wrong with it and can be sent back to the judge.
    fn read(&self, input: &MetricInput, raw: &str) -> Result<(), String>;

    /// What the conversation is worth; `judgement` is the one that answers this metric's question, if there was one. The
    /// same dimensions come in the same order, whatever happened.
    fn score(&self, input: &MetricInput, judgement: Option<&Judgement>) -> Vec<Dimension>;
}

/// All metrics, in the order in which their dimensions are shown.
pub fn all() -> [&'static dyn Metric; 2] {
    [&Timing, &Tasks]
}

/// The metric of this name: the one that a question or a judgement belongs to.
pub fn named(name: &str) -> Option<&'static dyn Metric> {
    all().into_iter().find(|metric| metric.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_find_their_metric_by_name() {
        let input = input::example(3);
        for metric in all() {
            assert!(named(metric.name()).is_some_and(|found| found.name() == metric.name()));
            for question in metric.questions(&input) {
                assert_eq!(question.metric, metric.name());
            }
        }
        assert!(named("assertions").is_none());
    }

    #[test]
    fn the_dimensions_are_those_of_the_formula() {
        let input = input::example(1);
        let dimensions: Vec<_> = all().iter().flat_map(|metric| metric.score(&input, None)).collect();
        let weights: Vec<_> =
            dimensions.iter().map(|dimension| (dimension.name.as_str(), dimension.weight.get())).collect();
        assert_eq!(weights, [("timing", 1.0), ("tasks", 2.0), ("tone", 0.0)]);
    }
}
