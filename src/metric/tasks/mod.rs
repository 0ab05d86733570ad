//! How well the tasks were done, and how the agent spoke, as a judge sees it: one question for both.

mod checked;
mod question;
#[cfg(test)]
mod tests;
mod verdict;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::options::{JudgeUse, MetricOptions};
use super::table::NoOptions;
use super::{Metric, MetricInput, ReplyError};
use crate::evidence::{Judgement, Question};
use crate::prompt::{PromptError, Templates};
use crate::score::{Component, Dimension, Item, Score, Weight, weighted_mean};
use checked::{MissingVerdict, UnusableRating, read, verdicts};
use question::question;
use verdict::JudgeVerdict;

/// A task counts as good above this score. Embabel's threshold.
pub const GOOD_ABOVE: f64 = 0.6;

/// The id of its question.
const QUESTION: &str = "tasks";

/// The options of `tasks`: none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct TasksConfig(NoOptions);

impl MetricOptions for TasksConfig {
    fn metric(&self, weight: Weight, _label: &str) -> Option<Box<dyn Metric>> {
        Some(Box::new(Tasks { weight }))
    }

    fn judge_use() -> JudgeUse {
        JudgeUse::ByJob
    }
}

/// The options of `tone`: none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ToneConfig(NoOptions);

impl MetricOptions for ToneConfig {
    fn metric(&self, weight: Weight, _label: &str) -> Option<Box<dyn Metric>> {
        Some(Box::new(Tone { weight }))
    }

    fn judge_use() -> JudgeUse {
        JudgeUse::ByJob
    }
}

/// How well the tasks were done: the mean of the judge's scores, Embabel's formula.
#[derive(Debug, Clone, Copy)]
pub struct Tasks {
    /// How much it counts.
    pub weight: Weight,
}

/// How the agent spoke.
#[derive(Debug, Clone, Copy)]
pub struct Tone {
    /// How much it counts; Embabel's formula leaves it out.
    pub weight: Weight,
}

impl Metric for Tasks {
    fn name(&self) -> &'static str {
        "tasks"
    }

    fn questions(&self, input: &MetricInput<'_>, templates: &Templates) -> Result<Vec<Question>, PromptError> {
        question(self.name(), input, templates)
    }

    fn reads(&self, question: &Question) -> bool {
        question.id == QUESTION
    }

    fn read(&self, input: &MetricInput<'_>, question: &Question, raw: &str) -> Result<(), ReplyError> {
        let verdict = read(input, question, raw)?;
        let problems = verdict.tasks.into_iter().filter_map(Result::err);
        let problems: Vec<String> = problems.map(|UnusableRating(problem)| problem).collect();
        if problems.is_empty() { Ok(()) } else { Err(ReplyError::InPart(problems)) }
    }

    fn score(&self, input: &MetricInput<'_>, judgements: &[Judgement]) -> Dimension {
        let all = |component: Component| (component.clone(), vec![component; input.tasks.len()]);
        let labelled = |components: Vec<Component>| -> Vec<Item> {
            input.tasks.iter().zip(components).map(|(task, component)| Item::new(task.task, component)).collect()
        };
        let (component, ratings) = match verdicts(input, judgements) {
            Ok(verdicts) => {
                let rated = |at: usize| verdicts.score(|verdict| verdict.tasks[at].as_ref());
                let ratings: Vec<Component> = (0..input.tasks.len()).map(rated).collect();
                (self.score_items(&labelled(ratings.clone())), ratings)
            }
            Err(MissingVerdict::Silent) => all(Component::scored(Score::ZERO, SILENT)),
            Err(MissingVerdict::NoTasks) => all(Component::not_applicable("the job has no tasks")),
            Err(MissingVerdict::Missing(error)) => all(Component::missing(error)),
        };
        Dimension {
            items: labelled(ratings),
            good_above: Some(Score::clamped(GOOD_ABOVE)),
            ..Dimension::new(self.name(), self.weight, component)
        }
    }

    fn score_items(&self, items: &[Item]) -> Component {
        match items.iter().map(|item| item.component.score()).collect::<Option<Vec<Score>>>() {
            Some(scores) => mean(&scores),
            None => weighted_mean(items.iter().map(|item| (item.weight, item.label.as_str(), &item.component))),
        }
    }
}

impl Metric for Tone {
    fn name(&self) -> &'static str {
        "tone"
    }

    fn questions(&self, input: &MetricInput<'_>, templates: &Templates) -> Result<Vec<Question>, PromptError> {
        question(self.name(), input, templates)
    }

    fn reads(&self, question: &Question) -> bool {
        question.id == QUESTION
    }

    fn read(&self, input: &MetricInput<'_>, question: &Question, raw: &str) -> Result<(), ReplyError> {
        // It is shown where it can be: what it rests on is looked at in grading.
        if self.weight == Weight::ZERO {
            return JudgeVerdict::read(raw, input.tasks.len()).map(drop);
        }
        match read(input, question, raw)?.tone {
            None => Err(ReplyError::NoTone),
            Some(tone) => tone.map(drop).map_err(|UnusableRating(problem)| ReplyError::InPart(vec![problem])),
        }
    }

    fn score(&self, input: &MetricInput<'_>, judgements: &[Judgement]) -> Dimension {
        let none = Err(UnusableRating("the judge gave no tone".to_owned()));
        let component = match verdicts(input, judgements) {
            Ok(verdicts) => verdicts.score(|verdict| verdict.tone.as_ref().unwrap_or(&none).as_ref()),
            Err(MissingVerdict::Silent) => Component::not_applicable(SILENT),
            Err(MissingVerdict::NoTasks) => Component::not_applicable("the job has no tasks"),
            Err(MissingVerdict::Missing(error)) => Component::missing(error),
        };
        Dimension {
            good_above: Some(Score::clamped(GOOD_ABOVE)),
            ..Dimension::new(self.name(), self.weight, component)
        }
    }
}

const SILENT: &str = "the agent never replied";

fn mean(tasks: &[Score]) -> Component {
    let good = tasks.iter().filter(|score| score.get() > GOOD_ABOVE).count();
    let sum: f64 = tasks.iter().map(|score| score.get()).sum();
    let why = format!("{good} of {} done well (above {GOOD_ABOVE})", tasks.len());
    Component::scored(Score::clamped(sum / tasks.len() as f64), why)
}
