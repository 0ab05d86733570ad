//! How well the tasks were done, and how the agent spoke, as a judge sees it: one question for both.

mod verdict;

use super::{Metric, MetricInput, ReplyError};
use crate::evidence::{Condition, Judgement, Observed, Question, QuestionTo};
use crate::prompt::{JudgeView, JudgedTask, PromptError, Templates};
use crate::score::{Component, Dimension, Item, Score, Weight, weighted_mean};
use crate::text::DenseText;
use verdict::{JudgeVerdict, Rating};

/// A task counts as good above this score. Embabel's threshold.
pub const GOOD_ABOVE: f64 = 0.6;

/// The id of its question.
const QUESTION: &str = "tasks";

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
        read(input, question, raw)
    }

    fn score(&self, input: &MetricInput<'_>, judgements: &[Judgement]) -> Dimension {
        let all = |component: Component| (component.clone(), vec![component; input.tasks.len()]);
        let (component, ratings) = match verdict(input, judgements) {
            Ok(verdict) => (
                mean(&verdict.tasks.iter().map(|task| task.score).collect::<Vec<_>>()),
                verdict.tasks.iter().map(scored).collect(),
            ),
            Err(NoVerdict::Silent) => all(Component::scored(Score::ZERO, SILENT)),
            Err(NoVerdict::NoTasks) => all(Component::not_applicable("the job has no tasks")),
            Err(NoVerdict::Missing(error)) => all(Component::missing(error)),
        };
        let items = input.tasks.iter().zip(ratings).map(|(task, component)| item(task.task, component));
        Dimension {
            items: items.collect(),
            good_above: Some(Score::clamped(GOOD_ABOVE)),
            ..Dimension::new(self.name(), self.weight, component)
        }
    }

    fn of_items(&self, items: &[Item]) -> Component {
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
        read(input, question, raw)?;
        match JudgeVerdict::read(raw, input.tasks.len())?.tone {
            None if self.weight > Weight::ZERO => Err(ReplyError::NoTone),
            _ => Ok(()),
        }
    }

    fn score(&self, input: &MetricInput<'_>, judgements: &[Judgement]) -> Dimension {
        let component = match verdict(input, judgements) {
            Ok(verdict) => verdict.tone.as_ref().map_or_else(|| Component::missing("the judge gave no tone"), scored),
            Err(NoVerdict::Silent) => Component::not_applicable(SILENT),
            Err(NoVerdict::NoTasks) => Component::not_applicable("the job has no tasks"),
            Err(NoVerdict::Missing(error)) => Component::missing(error),
        };
        Dimension::new(self.name(), self.weight, component)
    }
}

const SILENT: &str = "the agent never replied";

/// One question for all tasks; none where the agent never replied, for which no judge is needed.
fn question(metric: &str, input: &MetricInput<'_>, templates: &Templates) -> Result<Vec<Question>, PromptError> {
    if input.tasks.is_empty() || !input.transcript.has_reply() {
        return Ok(Vec::new());
    }
    let judged = input.tasks.iter().map(|task| JudgedTask {
        kind: task.kind,
        task: task.task,
        criteria: task.acceptance_criteria,
    });
    let view = JudgeView {
        tasks: &judged.collect::<Vec<_>>(),
        facts: input.facts,
        user_knew_facts: input.condition == Condition::WithFacts,
        transcript: input.transcript,
    };
    let rendered = templates.judge_prompt(input.judge.prompt, &view)?;
    let question = |sample| Question {
        id: QUESTION.to_owned(),
        metric: metric.to_owned(),
        judge: None,
        sample,
        prompt: rendered.prompt.clone(),
        schema: verdict::reply_schema(input.tasks.len()),
        temperature: input.judge.temperature,
        to: QuestionTo::Judge,
        cuts: rendered.cuts.clone(),
    };
    Ok((1..=input.judge.samples.max(1)).map(question).collect())
}

fn read(input: &MetricInput<'_>, question: &Question, raw: &str) -> Result<(), ReplyError> {
    JudgeVerdict::read(raw, input.tasks.len())?;
    match is_quoted_from(&question.prompt, raw) {
        true => Err(ReplyError::Quoted),
        false => Ok(()),
    }
}

/// Why there is no verdict.
enum NoVerdict {
    /// The agent never replied.
    Silent,
    /// There is nothing to judge.
    NoTasks,
    /// The judge gave none.
    Missing(String),
}

fn verdict(input: &MetricInput<'_>, judgements: &[Judgement]) -> Result<JudgeVerdict, NoVerdict> {
    if input.tasks.is_empty() {
        return Err(NoVerdict::NoTasks);
    }
    if !input.transcript.has_reply() {
        return Err(NoVerdict::Silent);
    }
    let (mut read, mut why) = (Vec::new(), Vec::new());
    for judgement in judgements.iter().filter(|judgement| judgement.question == QUESTION) {
        match &judgement.reply {
            Observed::Failed(error) => why.push(error.clone()),
            Observed::Seen(raw) => match JudgeVerdict::read(raw, input.tasks.len()) {
                Ok(verdict) => read.push(verdict),
                Err(error) => why.push(error.to_string()),
            },
        }
    }
    match (read.len(), why.as_slice()) {
        (0, []) => Err(NoVerdict::Missing("the judge was not asked".to_owned())),
        (0, [why, ..]) => Err(NoVerdict::Missing(why.clone())),
        // Those that can't be used may have judged otherwise.
        (usable, why) if usable <= why.len() => {
            let asked = usable + why.len();
            Err(NoVerdict::Missing(format!("only {usable} of {asked} verdicts can be used: {}", why[0])))
        }
        _ => Ok(JudgeVerdict::mean(read)),
    }
}

/// Whether a verdict is nobody's: it was there before the judge was asked, whatever spaces and lines it is written with.
fn is_quoted_from(prompt: &str, raw: &str) -> bool {
    DenseText::new(prompt).contains(raw)
}

fn item(label: &str, component: Component) -> Item {
    Item::new(label, component)
}

fn scored(rating: &Rating) -> Component {
    Component::scored(rating.score, rating.reason.clone())
}

fn mean(tasks: &[Score]) -> Component {
    let good = tasks.iter().filter(|score| score.get() > GOOD_ABOVE).count();
    let sum: f64 = tasks.iter().map(|score| score.get()).sum();
    let why = format!("{good} of {} done well (above {GOOD_ABOVE})", tasks.len());
    Component::scored(Score::clamped(sum / tasks.len() as f64), why)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::evidence::Usage;
    use crate::metric::input::Example;

    const TASKS: Tasks = Tasks { weight: Weight::ONE };
    const TONE: Tone = Tone { weight: Weight::ZERO };

    fn judgement(reply: Observed<String>) -> Judgement {
        Judgement {
            question: QUESTION.into(),
            judge: "m".into(),
            sample: 1,
            reply,
            rejected: Vec::new(),
            alternatives: Vec::new(),
            usage: Usage::default(),
            notes: Vec::new(),
        }
    }

    fn seen(reply: serde_json::Value) -> Judgement {
        judgement(Observed::Seen(reply.to_string()))
    }

    /// Tasks and tone.
    fn dimensions(example: &Example, judgement: Option<Judgement>) -> [Dimension; 2] {
        let judgements: Vec<Judgement> = judgement.into_iter().collect();
        [TASKS.score(&example.input(), &judgements), TONE.score(&example.input(), &judgements)]
    }

    fn questions(example: &Example) -> Vec<Question> {
        TASKS.questions(&example.input(), &Templates::embedded()).unwrap()
    }

    #[test]
    fn one_question_carries_prompt_and_schema() {
        let example = Example::new(2);
        let [question] = &questions(&example)[..] else { panic!() };
        assert!(question.prompt.contains("task 2"));
        assert_eq!((question.schema.clone(), question.temperature), (verdict::reply_schema(2), 0.0));
        let of_tone = TONE.questions(&example.input(), &Templates::embedded()).unwrap();
        assert_eq!(of_tone, [Question { metric: "tone".to_owned(), ..question.clone() }], "it is asked once");
    }

    #[test]
    fn a_verdict_that_was_there_before_the_judge_was_asked_is_not_the_judges() {
        let verdict = r#"{"tasks": [{"index": 1, "reason": "one or two sentences", "score": 0.0}]}"#;
        let example = Example::new(1);
        let prompt = format!("Reply like this:\n{verdict}\nThe transcript: …");
        let question = Question { prompt, ..questions(&example).remove(0) };
        for echo in [verdict.to_owned(), verdict.replace(' ', ""), verdict.replace(": ", ":\n")] {
            let problem = TASKS.read(&example.input(), &question, &echo).unwrap_err().to_string();
            assert!(problem.starts_with("The verdict stands word for word in what you were given"), "{problem}");
        }
        assert_eq!(TASKS.read(&example.input(), &question, &verdict.replace("0.0", "0.5")), Ok(()));
    }

    #[test]
    fn nobody_is_asked_where_there_is_nothing_to_judge() {
        let mut silent = Example::new(2);
        silent.transcript.turns[0].agent = None;
        assert!(questions(&silent).is_empty());
        let [tasks, tone] = dimensions(&silent, None);
        assert_eq!(tasks.component, Component::scored(Score::ZERO, "the agent never replied"));
        assert!(tasks.items.iter().all(|item| item.component.score() == Some(Score::ZERO)));
        assert_eq!(tasks.items.len(), 2);
        assert!(matches!(tone.component, Component::NotApplicable { .. }));
        assert!(questions(&Example::new(0)).is_empty());
        assert!(matches!(dimensions(&Example::new(0), None)[0].component, Component::NotApplicable { .. }));
    }

    #[test]
    fn the_score_is_the_mean_and_the_items_carry_the_reasons() {
        let reply = json!({
            "tasks": [{"index": 2, "reason": "half", "score": 0.5}, {"index": 1, "reason": "all", "score": 1}],
            "tone": {"reason": "kind", "score": 0.9},
        });
        let example = Example::new(2);
        assert_eq!(TASKS.read(&example.input(), &questions(&example)[0], &reply.to_string()), Ok(()));
        let [tasks, tone] = dimensions(&example, Some(seen(reply)));
        assert_eq!(tasks.component, Component::scored(Score::clamped(0.75), "1 of 2 done well (above 0.6)"));
        let items: Vec<_> = tasks.items.iter().map(|item| (item.label.as_str(), item.component.why())).collect();
        assert_eq!(items, [("task 1", "all"), ("task 2", "half")]);
        assert_eq!(tone.component, Component::scored(Score::clamped(0.9), "kind"));
    }

    #[test]
    fn a_score_of_exactly_the_threshold_is_not_good() {
        let reply =
            json!({"tasks": [{"index": 1, "reason": "so so", "score": 0.6}], "tone": {"reason": "ok", "score": 1}});
        let [tasks, _] = dimensions(&Example::new(1), Some(seen(reply)));
        assert!(tasks.component.why().starts_with("0 of 1"));
        assert_eq!(tasks.good_above, Score::new(0.6));
    }

    #[test]
    fn what_the_judge_did_not_say_is_missing() {
        for judgement in [
            None,
            Some(judgement(Observed::Failed("3 unusable replies".into()))),
            Some(judgement(Observed::Seen("Very good!".into()))),
        ] {
            let [tasks, tone] = dimensions(&Example::new(2), judgement);
            assert!(tasks.component.is_missing() && tone.component.is_missing());
            assert!(tasks.items.iter().all(|item| item.component.is_missing()));
        }
        let toneless = json!({"tasks": [{"index": 1, "reason": "all", "score": 1}]});
        let [tasks, tone] = dimensions(&Example::new(1), Some(seen(toneless.clone())));
        assert_eq!(tasks.component.score(), Some(Score::ONE));
        assert!(tone.component.is_missing());
        let example = Example::new(1);
        let (question, raw) = (&questions(&example)[0], toneless.to_string());
        assert_eq!(TONE.read(&example.input(), question, &raw), Ok(()), "it does not count");
        assert!(Tone { weight: Weight::ONE }.read(&example.input(), question, &raw).is_err());
    }
}
