//! How well the tasks were done, as a judge sees it; and the tone, which is stored and shown but does not count.

mod verdict;

use super::{Metric, MetricInput};
use crate::evidence::{Judgement, Observed, Question, ReplySchema};
use crate::score::{Component, Dimension, Item, Score, Weight};
use verdict::{Rating, Verdict};

/// A task counts as good above this score. Embabel's threshold.
pub const GOOD_ABOVE: f64 = 0.6;

/// How well the tasks were done: the mean of the judge's scores, Embabel's formula.
#[derive(Debug, Clone, Copy)]
pub struct Tasks;

/// Twice the weight of timing, in Embabel's formula.
const WEIGHT: Weight = match Weight::new(2.0) {
    Some(weight) => weight,
    None => Weight::ONE,
};

impl Metric for Tasks {
    fn name(&self) -> &'static str {
        "tasks"
    }

    /// One question for all tasks; none where the agent never replied, for which no judge is needed.
    fn questions(&self, input: &MetricInput) -> Vec<Question> {
        let Some(prompt) = &input.judge_prompt else { return Vec::new() };
        if input.tasks.is_empty() || !input.transcript.has_reply() {
            return Vec::new();
        }
        vec![Question {
            metric: self.name().to_owned(),
            prompt: prompt.clone(),
            schema: ReplySchema { name: "verdict".to_owned(), schema: verdict::schema(input.tasks.len()) },
            temperature: input.judge_temperature,
        }]
    }

    fn read(&self, input: &MetricInput, raw: &str) -> Result<(), String> {
        Verdict::read(raw, input.tasks.len())?;
        match input.judge_prompt.as_deref().is_some_and(|prompt| is_quoted_from(prompt, raw)) {
            true => Err("The verdict stands word for word in what you were given: as the example of its form, or as \
                         somebody's words in the conversation. Give your own."
                .to_owned()),
            false => Ok(()),
        }
    }

    fn score(&self, input: &MetricInput, judgement: Option<&Judgement>) -> Vec<Dimension> {
        let dimension =
            |name: &str, weight, component, items| Dimension { name: name.to_owned(), weight, component, items };
        let both = |tasks: Component, tone: Component| {
            let items = input.tasks.iter().map(|task| item(&task.task, tasks.clone())).collect();
            vec![dimension("tasks", WEIGHT, tasks, items), dimension("tone", Weight::ZERO, tone, Vec::new())]
        };
        if input.tasks.is_empty() {
            let none = Component::not_applicable("the job has no tasks");
            return both(none.clone(), none);
        }
        if !input.transcript.has_reply() {
            let silent = "the agent never replied";
            return both(Component::scored(Score::ZERO, silent), Component::not_applicable(silent));
        }
        let verdict = match judgement.map(|judgement| &judgement.reply) {
            None => Err("the judge was not asked".to_owned()),
            Some(Observed::Failed(error)) => Err(error.clone()),
            Some(Observed::Seen(raw)) => Verdict::read(raw, input.tasks.len()),
        };
        match verdict {
            Ok(verdict) => {
                let items =
                    input.tasks.iter().zip(&verdict.tasks).map(|(task, rating)| item(&task.task, scored(rating)));
                let tone = verdict.tone.as_ref().map_or_else(|| Component::missing("the judge gave no tone"), scored);
                vec![
                    dimension("tasks", WEIGHT, mean(&verdict.tasks), items.collect()),
                    dimension("tone", Weight::ZERO, tone, Vec::new()),
                ]
            }
            Err(error) => both(Component::missing(error.clone()), Component::missing(error)),
        }
    }
}

/// Whether a verdict is nobody's: it was there before the judge was asked, whatever spaces and lines it is written with.
fn is_quoted_from(prompt: &str, raw: &str) -> bool {
    let dense = |text: &str| text.split_whitespace().collect::<String>();
    dense(prompt).contains(&dense(raw))
}

fn item(label: &str, component: Component) -> Item {
    Item { id: None, label: label.to_owned(), weight: Weight::ONE, component, vacuity: None }
}

fn scored(rating: &Rating) -> Component {
    Component::scored(rating.score, rating.reason.clone())
}

fn mean(tasks: &[Rating]) -> Component {
    let good = tasks.iter().filter(|rating| rating.score.get() > GOOD_ABOVE).count();
    let sum: f64 = tasks.iter().map(|rating| rating.score.get()).sum();
    let why = format!("{good} of {} done well (above {GOOD_ABOVE})", tasks.len());
    Component::scored(Score::clamped(sum / tasks.len() as f64), why)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::evidence::Usage;
    use crate::metric::input::example;

    fn judgement(reply: Observed<String>) -> Judgement {
        Judgement {
            metric: "tasks".into(),
            model: "m".into(),
            reply,
            rejected: Vec::new(),
            usage: Usage::default(),
            notes: Vec::new(),
        }
    }

    fn seen(reply: serde_json::Value) -> Judgement {
        judgement(Observed::Seen(reply.to_string()))
    }

    #[test]
    fn one_question_carries_prompt_and_schema() {
        let questions = Tasks.questions(&example(2));
        assert_eq!(questions.len(), 1);
        assert_eq!((questions[0].prompt.as_str(), questions[0].temperature), ("Judge this", 0.0));
        assert_eq!(questions[0].schema.schema, verdict::schema(2));
    }

    #[test]
    fn a_verdict_that_was_there_before_the_judge_was_asked_is_not_the_judges() {
        let verdict = r#"{"tasks": [{"index": 1, "reason": "one or two sentences", "score": 0.0}]}"#;
        let prompt = format!("Reply like this:\n{verdict}\nThe transcript: …");
        let input = MetricInput { judge_prompt: Some(prompt), ..example(1) };
        for echo in [verdict.to_owned(), verdict.replace(' ', ""), verdict.replace(": ", ":\n")] {
            let problem = Tasks.read(&input, &echo).unwrap_err();
            assert!(problem.starts_with("The verdict stands word for word in what you were given"), "{problem}");
        }
        assert_eq!(Tasks.read(&input, &verdict.replace("0.0", "0.5")), Ok(()));
        assert_eq!(Tasks.read(&MetricInput { judge_prompt: None, ..example(1) }, verdict), Ok(()));
    }

    #[test]
    fn nobody_is_asked_where_there_is_nothing_to_judge() {
        let mut silent = example(2);
        silent.transcript.turns[0].agent = None;
        assert!(Tasks.questions(&silent).is_empty());
        let dimensions = Tasks.score(&silent, None);
        assert_eq!(dimensions[0].component, Component::scored(Score::ZERO, "the agent never replied"));
        assert!(dimensions[0].items.iter().all(|item| item.component.score() == Some(Score::ZERO)));
        assert_eq!(dimensions[0].items.len(), 2);
        assert!(matches!(dimensions[1].component, Component::NotApplicable { .. }));
        assert!(Tasks.questions(&MetricInput { judge_prompt: None, ..example(1) }).is_empty());
        assert!(Tasks.questions(&example(0)).is_empty());
        assert!(matches!(Tasks.score(&example(0), None)[0].component, Component::NotApplicable { .. }));
    }

    #[test]
    fn the_score_is_the_mean_and_the_items_carry_the_reasons() {
        let reply = json!({
            "tasks": [{"index": 2, "reason": "half", "score": 0.5}, {"index": 1, "reason": "all", "score": 1}],
            "tone": {"reason": "kind", "score": 0.9},
        });
        assert_eq!(Tasks.read(&example(2), &reply.to_string()), Ok(()));
        let dimensions = Tasks.score(&example(2), Some(&seen(reply)));
        assert_eq!(dimensions[0].component, Component::scored(Score::clamped(0.75), "1 of 2 done well (above 0.6)"));
        let items: Vec<_> =
            dimensions[0].items.iter().map(|item| (item.label.as_str(), item.component.why())).collect();
        assert_eq!(items, [("task 1", "all"), ("task 2", "half")]);
        assert_eq!(dimensions[1].component, Component::scored(Score::clamped(0.9), "kind"));
    }

    #[test]
    fn a_score_of_exactly_the_threshold_is_not_good() {
        let reply =
            json!({"tasks": [{"index": 1, "reason": "so so", "score": 0.6}], "tone": {"reason": "ok", "score": 1}});
        assert!(Tasks.score(&example(1), Some(&seen(reply)))[0].component.why().starts_with("0 of 1"));
    }

    #[test]
    fn what_the_judge_did_not_say_is_missing() {
        for judgement in [
            None,
            Some(judgement(Observed::Failed("3 unusable replies".into()))),
            Some(judgement(Observed::Seen("Very good!".into()))),
        ] {
            let dimensions = Tasks.score(&example(2), judgement.as_ref());
            assert!(dimensions[0].component.is_missing() && dimensions[1].component.is_missing());
            assert!(dimensions[0].items.iter().all(|item| item.component.is_missing()));
        }
        let toneless = json!({"tasks": [{"index": 1, "reason": "all", "score": 1}]});
        let dimensions = Tasks.score(&example(1), Some(&seen(toneless)));
        assert_eq!(dimensions[0].component.score(), Some(Score::ONE));
        assert!(dimensions[1].component.is_missing());
    }
}
