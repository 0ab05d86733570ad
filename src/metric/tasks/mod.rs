//! How well the tasks were done, and how the agent spoke, as a judge sees it: one question for both.

mod verdict;

use super::judged::{EvidenceRule, SPREAD, Shown, spread};
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
                let rated = |at: usize| rated(verdicts.iter().map(|verdict| verdict.tasks[at].as_ref()));
                let ratings: Vec<Component> = (0..input.tasks.len()).map(rated).collect();
                (self.of_items(&labelled(ratings.clone())), ratings)
            }
            Err(NoVerdict::Silent) => all(Component::scored(Score::ZERO, SILENT)),
            Err(NoVerdict::NoTasks) => all(Component::not_applicable("the job has no tasks")),
            Err(NoVerdict::Missing(error)) => all(Component::missing(error)),
        };
        Dimension {
            items: labelled(ratings),
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
        match read(input, question, raw)?.tone {
            // It is shown where it can be.
            _ if self.weight == Weight::ZERO => Ok(()),
            None => Err(ReplyError::NoTone),
            Some(tone) => tone.map(drop).map_err(|UnusableRating(problem)| ReplyError::InPart(vec![problem])),
        }
    }

    fn score(&self, input: &MetricInput<'_>, judgements: &[Judgement]) -> Dimension {
        let none = Err(UnusableRating("the judge gave no tone".to_owned()));
        let component = match verdicts(input, judgements) {
            Ok(verdicts) => rated(verdicts.iter().map(|verdict| verdict.tone.as_ref().unwrap_or(&none).as_ref())),
            Err(NoVerdict::Silent) => Component::not_applicable(SILENT),
            Err(NoVerdict::NoTasks) => Component::not_applicable("the job has no tasks"),
            Err(NoVerdict::Missing(error)) => Component::missing(error),
        };
        Dimension {
            good_above: Some(Score::clamped(GOOD_ABOVE)),
            ..Dimension::new(self.name(), self.weight, component)
        }
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
        needs_quotes: input.judge.needs_evidence,
        transcript: input.transcript,
    };
    let rendered = templates.judge_prompt(input.judge.prompt, &view)?;
    let needs_evidence = input.judge.needs_evidence;
    let samples = input.judge.samples.max(1);
    let question = |sample| Question {
        id: QUESTION.to_owned(),
        metric: metric.to_owned(),
        judge: None,
        sample,
        samples,
        prompt: rendered.prompt.clone(),
        schema: verdict::reply_schema(input.tasks.len(), needs_evidence),
        temperature: input.judge.temperature,
        to: QuestionTo::Judge,
        cuts: rendered.cuts.clone(),
    };
    Ok((1..=samples).map(question).collect())
}

/// A verdict whose evidence was looked at: each rating, or why it can't be used.
struct CheckedVerdict {
    tasks: Vec<Result<Rating, UnusableRating>>,
    tone: Option<Result<Rating, UnusableRating>>,
}

/// A rating can't be used: a sentence that can be sent back to the judge.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
struct UnusableRating(String);

impl CheckedVerdict {
    fn new(verdict: JudgeVerdict, shown: Option<&Shown>) -> CheckedVerdict {
        let checked = |(name, rating): (String, Rating)| {
            let problem = shown.and_then(|shown| shown.problem_of(&name, &rating.citations, rating.score));
            problem.map_or(Ok(rating), |problem| Err(UnusableRating(problem)))
        };
        let numbered = |(rating, number): (Rating, usize)| checked((format!("task {number}"), rating));
        CheckedVerdict {
            tasks: verdict.tasks.into_iter().zip(1..).map(numbered).collect(),
            tone: verdict.tone.map(|tone| checked(("`tone`".to_owned(), tone))),
        }
    }
}

/// The judge that is no model.
const SCRIPTED: &str = "scripted";

/// The verdict with what is said of good marks for which nothing of the agent is quoted. Rules quote as they are made to.
fn marked(mut verdict: CheckedVerdict, judge: &str, shown: Option<&Shown>) -> CheckedVerdict {
    let Some(shown) = shown.filter(|_| judge != SCRIPTED) else { return verdict };
    for rating in verdict.tasks.iter_mut().flatten() {
        if rating.score.get() > GOOD_ABOVE && !shown.quotes_agent(&rating.citations) {
            rating.reason += Component::UNSUPPORTED;
        }
    }
    verdict
}

/// The texts that the judge was shown, where its verdicts must quote them.
fn shown(input: &MetricInput<'_>) -> Option<Shown> {
    input.judge.needs_evidence.then(|| Shown::new(input, EvidenceRule::Any, &[]))
}

fn read(input: &MetricInput<'_>, question: &Question, raw: &str) -> Result<CheckedVerdict, ReplyError> {
    let verdict = JudgeVerdict::read(raw, input.tasks.len())?;
    match is_quoted_from(&question.prompt, raw) {
        true => Err(ReplyError::Quoted),
        false => Ok(CheckedVerdict::new(verdict, shown(input).as_ref())),
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

/// The verdicts of all samples. A majority of them can be read.
fn verdicts(input: &MetricInput<'_>, judgements: &[Judgement]) -> Result<Vec<CheckedVerdict>, NoVerdict> {
    if input.tasks.is_empty() {
        return Err(NoVerdict::NoTasks);
    }
    if !input.transcript.has_reply() {
        return Err(NoVerdict::Silent);
    }
    let shown = shown(input);
    let (mut read, mut why) = (Vec::new(), Vec::new());
    for judgement in judgements.iter().filter(|judgement| judgement.question == QUESTION) {
        match &judgement.reply {
            Observed::Failed(error) => why.push(error.clone()),
            Observed::Seen(raw) => match JudgeVerdict::read(raw, input.tasks.len()) {
                Ok(verdict) => {
                    let verdict = CheckedVerdict::new(verdict, shown.as_ref());
                    read.push(marked(verdict, &judgement.judge, shown.as_ref()));
                }
                Err(error) => why.push(error.to_string()),
            },
        }
    }
    match (read.len(), why.as_slice()) {
        (0, []) => Err(NoVerdict::Missing("the judge was not asked".to_owned())),
        (usable, why) => match enough(usable, why) {
            Ok(()) => Ok(read),
            Err(error) => Err(NoVerdict::Missing(error.to_string())),
        },
    }
}

/// Fewer than a majority of the verdicts can be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum NoMajority {
    /// None of them: why the first one can't.
    #[error("{0}")]
    Nothing(String),
    /// Some of them.
    #[error("only {usable} of {all} verdicts can be used: {first}")]
    TooFew { usable: usize, all: usize, first: String },
}

/// Whether a majority can be used: those that can't may have judged otherwise.
fn enough<S: ToString>(usable: usize, why: &[S]) -> Result<(), NoMajority> {
    match (usable, why) {
        (0, [why, ..]) => Err(NoMajority::Nothing(why.to_string())),
        (usable, [first, ..]) if usable <= why.len() => {
            Err(NoMajority::TooFew { usable, all: usable + why.len(), first: first.to_string() })
        }
        _ => Ok(()),
    }
}

/// The score by all samples of one rating.
fn rated<'r>(samples: impl Iterator<Item = Result<&'r Rating, &'r UnusableRating>>) -> Component {
    let (mut usable, mut why) = (Vec::new(), Vec::new());
    samples.for_each(|sample| match sample {
        Ok(rating) => usable.push(rating),
        Err(problem) => why.push(problem),
    });
    match enough(usable.len(), &why) {
        Ok(()) => {
            let rating = Rating::mean(&usable);
            let scores: Vec<f64> = usable.iter().map(|rating| rating.score.get()).collect();
            Component::scored(rating.score, rating.reason).unstable_if(spread(&scores) > SPREAD)
        }
        Err(error) => Component::missing(error.to_string()),
    }
}

/// Whether a verdict is nobody's: it was there before the judge was asked, whatever spaces and lines it is written with.
fn is_quoted_from(prompt: &str, raw: &str) -> bool {
    DenseText::new(prompt).contains(raw)
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
            is_cached: false,
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
        assert_eq!((question.schema.clone(), question.temperature), (verdict::reply_schema(2, false), 0.0));
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
    fn a_verdict_rests_on_what_was_said_where_it_must() {
        let example = Example::new(2);
        let mut input = example.input();
        input.judge.needs_evidence = true;
        let question = TASKS.questions(&input, &Templates::embedded()).unwrap().remove(0);
        assert!(question.prompt.contains("`turnsRead`") && !questions(&example)[0].prompt.contains("turnsRead"));
        let reply = |first: &str, tone: &str| {
            let entry = |index: usize, quote: &str| json!({"index": index, "reason": "so", "quotes": [{"turn": 1, "text": quote}], "turnsRead": [], "score": 1});
            let absent = json!({"index": 2, "reason": "so", "quotes": [], "turnsRead": [1], "score": 0});
            json!({"tasks": [entry(1, first), absent], "tone": entry(1, tone)}).to_string()
        };
        let dimensions = |raw: &str| {
            let judgements = [judgement(Observed::Seen(raw.to_owned()))];
            [TASKS.score(&input, &judgements), TONE.score(&input, &judgements)]
        };
        assert_eq!(TASKS.read(&input, &question, &reply("Hello", "Hello")), Ok(()));
        assert_eq!(dimensions(&reply("Hello", "Hello"))[0].component.score(), Score::new(0.5));

        let is_unsupported = |quote: &str| dimensions(&reply(quote, "Hello"))[0].items[0].component.is_unsupported();
        assert!(!is_unsupported("Hello") && is_unsupported("Hi"), "of the agent, of the user");

        let made_up = reply("I booked it", "You fool");
        let problem = "The verdict on task 1 quotes \"I booked it\", which does not stand in turn 1.";
        assert_eq!(TASKS.read(&input, &question, &made_up), Err(ReplyError::InPart(vec![problem.to_owned()])));
        assert_eq!(TONE.read(&input, &question, &made_up), Ok(()), "it does not count");
        assert!(Tone { weight: Weight::ONE }.read(&input, &question, &made_up).is_err());
        let [tasks, tone] = dimensions(&made_up);
        assert_eq!(tasks.items[0].component, Component::missing(problem));
        assert_eq!(tasks.items[1].component.score(), Some(Score::ZERO));
        assert!(tasks.component.is_missing() && tone.component.is_missing());
        // A judge that names nothing at all.
        let bare =
            json!({"tasks": [{"index": 1, "reason": "so", "score": 1}, {"index": 2, "reason": "so", "score": 1}]});
        assert!(TASKS.read(&input, &question, &bare.to_string()).is_err());
        assert!(dimensions(&bare.to_string())[0].component.is_missing());
        // Of three samples two can be used.
        let good = || judgement(Observed::Seen(reply("Hello", "Hello")));
        let three = [good(), judgement(Observed::Seen(made_up)), good()];
        assert_eq!(TASKS.score(&input, &three).items[0].component.score(), Some(Score::ONE));
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
