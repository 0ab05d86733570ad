//! How well the agent dealt with the tasks: the judge's scores, one a task, and the tone, which counts for nothing.

mod verdict;

use super::{Case, Metric};
use crate::evidence::{Judgement, Observed, Question};
use crate::score::{Component, Dimension, Item, Score, Weight, weighted_mean};
use verdict::Verdict;

/// The judge's scores of the tasks.
pub struct Tasks;

/// How much the tasks count: Embabel's weight.
const WEIGHT: Weight = match Weight::new(2.0) {
    Some(weight) => weight,
    None => Weight::ONE,
};

impl Metric for Tasks {
    fn name(&self) -> &'static str {
        "tasks"
    }

    /// One question for all tasks; none about an agent that never said a word.
    fn questions(&self, case: &Case) -> Vec<Question> {
        let prompt = case.judge_prompt.clone().filter(|_| case.transcript.has_reply());
        prompt
            .map(|prompt| Question {
                metric: self.name().to_owned(),
                prompt,
                schema: verdict::schema(),
                temperature: case.judge_temperature,
            })
            .into_iter()
            .collect()
    }

    fn read(&self, case: &Case, raw: &str) -> Result<(), String> {
        Verdict::read(raw, case.tasks.len()).map(drop)
    }

    fn score(&self, case: &Case, judgement: Option<&Judgement>) -> Vec<Dimension> {
        let verdict = match judgement.map(|judgement| &judgement.reply) {
            _ if !case.transcript.has_reply() => {
                return vec![tasks(case, |_| Component::scored(Score::ZERO, "the agent never replied"))];
            }
            None => Err("the judge was not asked".to_owned()),
            Some(Observed::Failed(error)) => Err(error.clone()),
            Some(Observed::Seen(raw)) => Verdict::read(raw, case.tasks.len()),
        };
        match verdict {
            Err(error) => vec![tasks(case, |_| Component::missing(error.clone()))],
            Ok(verdict) => vec![tasks(case, |index| verdict.tasks[index].component()), tone(verdict.tone.component())],
        }
    }
}

fn tasks(case: &Case, component: impl Fn(usize) -> Component) -> Dimension {
    let items: Vec<Item> = case
        .tasks
        .iter()
        .enumerate()
        .map(|(index, task)| Item { label: task.task.clone(), weight: Weight::ONE, component: component(index) })
        .collect();
    let missing = items.iter().find(|item| item.component.is_missing());
    let component = match missing {
        // Every task is missing for the same reason: it is said once.
        Some(item) => item.component.clone(),
        None => match weighted_mean(items.iter().map(|item| (item.weight, item.label.as_str(), &item.component))) {
            Component::Scored { score, .. } => Component::scored(score, "mean of the judge's scores"),
            other => other,
        },
    };
    Dimension { name: "tasks".to_owned(), weight: WEIGHT, component, items }
}

fn tone(component: Component) -> Dimension {
    Dimension { name: "tone".to_owned(), weight: Weight::ZERO, component, items: Vec::new() }
}

#[cfg(test)]
mod tests;
