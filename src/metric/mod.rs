//! The metrics: one folder each, pure. In comes a [`MetricInput`] with the judges' [`Judgement`]s; out come the
//! questions to the judges, and a [`Dimension`] with its score.
//!
//! Invariants: a metric never calls a model: it renders [`Question`]s, the runner carries them, and then it scores the
//! [`Judgement`]s as a function that can be run again on what is stored. A metric knows no job: what it needs of one comes
//! as plain data in a [`MetricInput`]. Two metrics that ask the same question (by its id) share its judgement.

mod config;
mod criterion;
pub mod document;
mod entry;
pub mod figures;
mod input;
pub mod json;
pub mod json_schema;
pub mod measured;
mod per_turn;
mod reply;
mod reply_error;
pub mod rouge;
mod rubric;
pub mod selection;
mod table;
pub mod tasks;
pub mod timing;
pub mod trajectory;
pub mod unavailable;
pub mod wording;

pub use config::Weights;
pub use entry::MetricEntry;
pub use input::{ExpectedTurn, InputTask, JudgeInput, MetricInput};
pub use reply_error::{EntryError, RatingError, ReplyError};
pub use rubric::Rubric;
pub use table::{MetricConfig, MetricKind};
pub use tasks::{Tasks, Tone};
pub use timing::TimingMetric;
pub use trajectory::TrajectoryMetric;

use reply::ReplyMetric;
use unavailable::UnavailableMetric;

use crate::evidence::{Judgement, Question};
use crate::prompt::{PromptError, Templates};
use crate::score::Dimension;

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

    /// The dimension's score of the conversation, by all judgements that there are.
    fn score(&self, input: &MetricInput<'_>, judgements: &[Judgement]) -> Dimension;
}

/// The metric of an entry; `None` for assertions, which need more than a [`MetricInput`].
pub fn metric(entry: &MetricEntry, weights: &Weights) -> Option<Box<dyn Metric>> {
    let weight = entry.weight(weights);
    Some(match &entry.metric {
        MetricConfig::Timing(_) => Box::new(TimingMetric { weight }),
        MetricConfig::Tasks(_) => Box::new(Tasks { weight }),
        MetricConfig::Tone(_) => Box::new(Tone { weight }),
        MetricConfig::Assertions(_) => return None,
        MetricConfig::Trajectory(check) => Box::new(TrajectoryMetric { weight, check: (**check).clone() }),
        MetricConfig::Rouge(options) => Box::new(ReplyMetric { weight, measure: (**options).clone() }),
        MetricConfig::Text(options) => Box::new(ReplyMetric { weight, measure: (**options).clone() }),
        MetricConfig::Keywords(options) => Box::new(ReplyMetric { weight, measure: (**options).clone() }),
        MetricConfig::Json(options) => Box::new(ReplyMetric { weight, measure: (**options).clone() }),
        MetricConfig::Unavailable(options) => Box::new(UnavailableMetric { weight, why: options.why.clone() }),
        MetricConfig::Xml(options) => Box::new(ReplyMetric { weight, measure: *options.as_ref() }),
    })
}

/// What is wrong with the options of a metric, and at which key of them; `None` where nothing is.
pub fn options_problem(metric: &MetricConfig) -> Option<(String, String)> {
    let whole = |checked: Result<(), measured::MeasureProblem>| Some((String::new(), checked.err()?.to_string()));
    match metric {
        MetricConfig::Trajectory(check) => {
            let error = trajectory::TrajectoryMatcher::new(check.config()).err()?;
            Some((error.place.clone(), error.to_string()))
        }
        MetricConfig::Rouge(options) => whole(options.check()),
        MetricConfig::Text(options) => whole(options.check()),
        MetricConfig::Keywords(options) => whole(options.check()),
        MetricConfig::Json(options) => whole(options.check()),
        MetricConfig::Timing(_)
        | MetricConfig::Tasks(_)
        | MetricConfig::Tone(_)
        | MetricConfig::Assertions(_)
        | MetricConfig::Xml(_)
        | MetricConfig::Unavailable(_) => None,
    }
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
