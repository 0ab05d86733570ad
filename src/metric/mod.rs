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
pub mod pairwise;
mod parts;
mod pattern;
mod per_turn;
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
pub use reply_error::{EntryError, RatingError, ReplyError};
pub use rubric::{Rubric, RubricConfig, SameId};
pub use table::{MetricConfig, MetricKind};
pub use tasks::{Tasks, Tone};
pub use timing::TimingMetric;
pub use trajectory::TrajectoryMetric;
pub use vote::{Vote, combine_panel};

use elicitation::ElicitationMetric;
use judged::JudgedMetric;
use measured::Unusable;
use pairwise::PairwiseMetric;
use per_turn::single_part;
use reply::{ReplyMeasure, ReplyMetric};
use scripted::ScriptedMetric;
use state::StateMetric;
use template::TemplateMetric;
use trajectory::{Expectation, ExpectationProblem, ExpectedCall};
use unavailable::UnavailableMetric;

use crate::evidence::{Judgement, Question, ReplyToken, ScoreAlternative};
use crate::prompt::{PromptError, Templates};
use crate::score::{Component, Dimension, Item, weighted_mean};
use crate::script::{ExpressionProblem, METRIC};

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
    let weight = entry.weight(weights);
    Some(match &entry.metric {
        MetricConfig::Timing(_) => Box::new(TimingMetric { weight }),
        MetricConfig::Elicitation(_) => Box::new(ElicitationMetric { weight }),
        MetricConfig::Tasks(_) => Box::new(Tasks { weight }),
        MetricConfig::Tone(_) => Box::new(Tone { weight }),
        MetricConfig::Assertions(_) => return None,
        MetricConfig::Trajectory(check) => Box::new(TrajectoryMetric { weight, check: (**check).clone() }),
        MetricConfig::Rouge(options) => Box::new(ReplyMetric { weight, measure: (**options).clone() }),
        MetricConfig::Text(options) => Box::new(ReplyMetric { weight, measure: (**options).clone() }),
        MetricConfig::Keywords(options) => Box::new(ReplyMetric { weight, measure: (**options).clone() }),
        MetricConfig::Json(options) => Box::new(ReplyMetric { weight, measure: (**options).clone() }),
        MetricConfig::Reply(options) => Box::new(ReplyMetric { weight, measure: (**options).clone() }),
        MetricConfig::State(options) => Box::new(StateMetric { weight, options: (**options).clone() }),
        MetricConfig::Rhai(script) => Box::new(ScriptedMetric { weight, script: (**script).clone() }),
        MetricConfig::Unavailable(options) => Box::new(UnavailableMetric { weight, why: options.why.clone() }),
        MetricConfig::Rubric(options) => {
            let measure = RubricConfig { label: entry.label().to_owned(), ..(**options).clone() };
            Box::new(JudgedMetric { weight, measure })
        }
        MetricConfig::Geval(options) => Box::new(JudgedMetric { weight, measure: (**options).clone() }),
        MetricConfig::TurnRelevancy(options) => Box::new(JudgedMetric { weight, measure: (**options).clone() }),
        MetricConfig::RoleAdherence(options) => Box::new(JudgedMetric { weight, measure: (**options).clone() }),
        MetricConfig::Completeness(options) => Box::new(JudgedMetric { weight, measure: (**options).clone() }),
        MetricConfig::Hallucination(options) => Box::new(JudgedMetric { weight, measure: (**options).clone() }),
        MetricConfig::FinalResponse(options) => Box::new(JudgedMetric { weight, measure: (**options).clone() }),
        MetricConfig::Pairwise(options) => Box::new(PairwiseMetric { weight, config: (**options).clone() }),
        MetricConfig::SimulatedUser(options) => Box::new(JudgedMetric { weight, measure: (**options).clone() }),
        MetricConfig::Template(options) => {
            Box::new(TemplateMetric { weight, config: (**options).clone(), label: entry.label().to_owned() })
        }
        MetricConfig::Xml(options) => Box::new(ReplyMetric { weight, measure: *options.as_ref() }),
    })
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

/// The parts of an expectation with which this metric can compare nothing: a pattern that is none, a text that is no JSON.
pub fn expectation_problems(metric: &MetricConfig, expected: &Expectation) -> Vec<ExpectationProblem> {
    let problem = |call, place, Unusable { why, help }| {
        let (message, help) = (why, Some(help.to_owned()));
        ExpectationProblem { call, place, message, script: None, help }
    };
    let reply = |found: Option<Unusable>| found.map(|it| problem(None, "reply".to_owned(), it)).into_iter().collect();
    match metric {
        MetricConfig::Text(options) => reply(options.unusable(expected)),
        MetricConfig::Json(options) => reply(options.unusable(expected)),
        MetricConfig::Reply(options) => reply(options.unusable(expected)),
        MetricConfig::Trajectory(check) => {
            let Ok(matcher) = check.matcher(expected) else { return Vec::new() };
            let calls = expected.calls.iter().flatten().enumerate();
            let of_call = |(at, call): (usize, &ExpectedCall)| {
                let found = matcher.unusable(call).into_iter();
                found.map(move |(place, it)| problem(Some(at), place, it))
            };
            calls.flat_map(of_call).collect()
        }
        _ => Vec::new(),
    }
}

/// The problem of the options of a metric; `None` where there is none.
pub fn options_problem(metric: &MetricConfig) -> Option<OptionsProblem> {
    let whole = |checked: Result<(), measured::MeasureProblem>| {
        Some(OptionsProblem { place: String::new(), message: checked.err()?.to_string(), script: None })
    };
    let needs = |place: &str, message: &str| {
        Some(OptionsProblem { place: place.to_owned(), message: message.to_owned(), script: None })
    };
    match metric {
        MetricConfig::Trajectory(check) => {
            let error = trajectory::TrajectoryMatcher::new(check.config()).err()?;
            let message = error.to_string();
            Some(OptionsProblem { place: error.place, message, script: error.script.map(|script| *script) })
        }
        MetricConfig::Rouge(options) => whole(options.check()),
        MetricConfig::Text(options) => whole(options.check()),
        MetricConfig::Keywords(options) => whole(options.check()),
        MetricConfig::Json(options) => whole(options.check()),
        MetricConfig::Reply(options) => whole(options.check()),
        MetricConfig::State(options) => whole(options.rules().map(drop)),
        MetricConfig::Rhai(script) => {
            let problem = script.problem(&METRIC)?.clone();
            Some(OptionsProblem { place: String::new(), message: problem.to_string(), script: Some(problem) })
        }
        MetricConfig::Geval(options) if options.criteria.trim().is_empty() && options.steps.is_empty() => {
            needs("criteria", "geval needs `criteria`, what is scored, or `steps`, how")
        }
        MetricConfig::Geval(options) if options.generate_steps && !options.steps.is_empty() => {
            needs("generateSteps", "the steps of this geval metric are given: leave out `generateSteps`, or `steps`")
        }
        MetricConfig::Geval(options) if options.generate_steps && options.criteria.trim().is_empty() => {
            needs("criteria", "geval needs `criteria`, by which the judge writes the steps")
        }
        MetricConfig::Pairwise(options) if options.criteria.trim().is_empty() => {
            needs("criteria", "pairwise needs `criteria`: by what one conversation is better than the other")
        }
        MetricConfig::Pairwise(options) if options.judging.unknown.is_some() => {
            needs("judging", "pairwise takes no `unknown`: whatever is no verdict is missing")
        }
        MetricConfig::RoleAdherence(options) if options.role.trim().is_empty() => {
            needs("role", "roleAdherence needs `role`: who the agent is and what it is there for")
        }
        MetricConfig::Template(options) => {
            let (key, message) = options.problem()?;
            needs(key, &message)
        }
        MetricConfig::Rubric(options) => {
            let mut ids: Vec<&str> = options.rubrics.iter().map(|rubric| rubric.id.as_str()).collect();
            ids.sort_unstable();
            let twice = ids.windows(2).find(|pair| pair[0] == pair[1])?;
            needs("rubrics", &format!("two rubrics have the id `{}`", twice[0]))
        }
        MetricConfig::Geval(_)
        | MetricConfig::TurnRelevancy(_)
        | MetricConfig::RoleAdherence(_)
        | MetricConfig::SimulatedUser(_)
        | MetricConfig::Completeness(_)
        | MetricConfig::Hallucination(_)
        | MetricConfig::FinalResponse(_)
        | MetricConfig::Pairwise(_)
        | MetricConfig::Timing(_)
        | MetricConfig::Elicitation(_)
        | MetricConfig::Tasks(_)
        | MetricConfig::Tone(_)
        | MetricConfig::Assertions(_)
        | MetricConfig::Xml(_)
        | MetricConfig::Unavailable(_) => None,
    }
}

/// Why a metric looks at the agent's state after the conversation; `None` where it does not. `expected` tells whether a case
/// expects one.
pub fn state_use(metric: &MetricConfig, is_expected: bool) -> Option<&'static str> {
    match metric {
        MetricConfig::State(_) if is_expected => Some("the metric state compares `expected.state`"),
        MetricConfig::Rhai(script) if scripted::looks_at_state(script) => {
            Some("the script of a metric looks at `state`")
        }
        _ => None,
    }
}

/// Whether a metric looks at the agent's tool calls.
pub fn looks_at_calls(metric: &MetricConfig) -> bool {
    match metric {
        MetricConfig::Trajectory(_) => true,
        MetricConfig::Rhai(script) => scripted::looks_at_calls(script),
        _ => false,
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
