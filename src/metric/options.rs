//! The options of a metric in a job file, and all that the rest of the program asks of them.

use super::measured::{MeasureProblem, Unusable};
use super::trajectory::{Expectation, ExpectationProblem};
use super::{JudgedMetric, Metric, ReplyMetric};
use crate::metric::judged::JudgeMeasure;
use crate::metric::reply::ReplyMeasure;
use crate::score::Weight;
use crate::script::ExpressionProblem;

/// Whether a judge is asked for a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JudgeUse {
    /// It is computed without one.
    NotAsked,
    /// A judge is asked, by a template of the job.
    ByJob,
    /// A judge is asked, by one of the templates of `prompts/judge`.
    ByTemplate,
}

/// A problem of the options of a metric.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionsProblem {
    /// The key within the options; empty for all of them.
    pub place: String,
    /// The problem, in a sentence.
    pub message: String,
    /// The problem of the script at this key, with its place in it.
    pub script: Option<ExpressionProblem>,
}

impl OptionsProblem {
    /// A problem of one key, or of all options where the key is empty.
    pub(super) fn new(place: &str, message: impl Into<String>) -> OptionsProblem {
        OptionsProblem { place: place.to_owned(), message: message.into(), script: None }
    }

    /// The problem of options of which a check fails as a whole.
    pub(super) fn of_check(checked: Result<(), MeasureProblem>) -> Option<OptionsProblem> {
        Some(OptionsProblem::new("", checked.err()?.to_string()))
    }
}

/// The options of a metric. Each row of the table of metrics names a type of options.
pub trait MetricOptions {
    /// The metric with these options; `label` is its name in reports. `None` for one that is computed elsewhere, as assertions are.
    fn metric(&self, weight: Weight, label: &str) -> Option<Box<dyn Metric>>;

    /// Whether a judge is asked for it.
    fn judge_use() -> JudgeUse
    where
        Self: Sized,
    {
        JudgeUse::NotAsked
    }

    /// The problem of these options; `None` where there is none.
    fn options_problem(&self) -> Option<OptionsProblem> {
        None
    }

    /// The parts of an expectation with which nothing can be compared: a pattern that is none, a text that is no JSON.
    fn expectation_problems(&self, _expected: &Expectation) -> Vec<ExpectationProblem> {
        Vec::new()
    }

    /// Why it looks at the agent's state after the conversation; `None` where it does not. `is_expected` tells whether a case
    /// expects one.
    fn state_use(&self, _is_expected: bool) -> Option<&'static str> {
        None
    }

    /// Whether it looks at the agent's tool calls.
    fn looks_at_calls(&self) -> bool {
        false
    }
}

/// The metric of a measure of replies.
pub(super) fn reply_metric<M: ReplyMeasure + Clone + 'static>(measure: &M, weight: Weight) -> Option<Box<dyn Metric>> {
    Some(Box::new(ReplyMetric { weight, measure: measure.clone() }))
}

/// The metric of a measure of judges.
pub(super) fn judged_metric<M: JudgeMeasure + Clone + 'static>(measure: &M, weight: Weight) -> Option<Box<dyn Metric>> {
    Some(Box::new(JudgedMetric { weight, measure: measure.clone() }))
}

/// The problem of an expected reply with which a measure can compare nothing.
pub(super) fn reply_problems(found: Option<Unusable>) -> Vec<ExpectationProblem> {
    found.map(|it| expectation_problem(None, "reply".to_owned(), it)).into_iter().collect()
}

/// The problem of a part of an expectation; `call` is the number of its call, where it is one of a call.
pub(super) fn expectation_problem(call: Option<usize>, place: String, unusable: Unusable) -> ExpectationProblem {
    let Unusable { why, help } = unusable;
    ExpectationProblem { call, place, message: why, script: None, help: Some(help.to_owned()) }
}
