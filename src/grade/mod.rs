//! From evidence and judgements to a scorecard. Pure: an old run can be graded again without agent or judge. In come a
//! job's case, a trial's evidence and the judgements; out go the questions for the judge, and a [`Scorecard`].

mod asked;
mod idle;
mod leftover;
mod open_ended;
mod outcome;
mod redelivered;
mod review;
mod since;
mod usable;
mod vacuous;
mod verified;

use std::borrow::Cow;

use crate::assertion::AssertionCheck;
use crate::clock::Clock;
use crate::evidence::{
    Ending, Evidence, Judgement, Observed, Question, QuestionTo, ToolUse, Transcript, Turn, TurnContext,
};
use crate::job::{Assertion, Case, Job, Line, TimingOn, User};
use crate::metric::trajectory::{Expectation, ExpectedCall};
use crate::metric::{
    self, ExpectedTurn, InputTask, JudgeInput, MetricConfig, MetricEntry, MetricInput, MetricKind, UserInput,
};
use crate::prompt::{PromptError, Templates};
use crate::score::{
    Component, Dimension, Item, OtherScore, Score, Scorecard, Weight, composite, penalty, weighted_mean,
};

pub use asked::{ReproduceError, fill_in_prompts, reproduce};
pub use idle::vacuity_of_case;
pub use outcome::{NOT_ASKED, outcome};
pub use review::review;
pub use usable::{unusable, unusable_on_nothing, why_unusable};
pub use vacuous::{doubt, in_silence, is_in_doubt};

/// The input of a trial's metrics.
pub fn metric_input<'a>(job: &'a Job, case: &'a Case, evidence: &'a Evidence, clock: Clock) -> MetricInput<'a> {
    let tasks = case.tasks.iter().map(|task| InputTask {
        kind: task.kind.as_str(),
        task: &task.task,
        acceptance_criteria: &task.acceptance_criteria,
    });
    MetricInput {
        tasks: tasks.collect(),
        facts: &case.facts,
        fact_uses: evidence.fact_uses.as_deref(),
        condition: evidence.condition,
        transcript: &evidence.transcript,
        state: evidence.object_context.as_ref(),
        expected: case.expected.as_deref(),
        lines: match (&evidence.reference, case.reference) {
            (Some(transcript), Some(_)) => turns_of_reference(transcript),
            _ => expected_turns(job, case),
        },
        is_of_reference: evidence.reference.is_some() && case.reference.is_some(),
        agent_ended_it: evidence.agent_ended_it(),
        user: UserInput {
            is_simulated: case.user.is_persona(),
            plan: case.plan.as_deref(),
            traits: traits_of_user(case),
            opening: &case.opening.0,
            tool_calls: &evidence.user_tool_calls,
        },
        judge: JudgeInput {
            prompt: &job.judge.prompt,
            temperature: job.judge.temperature,
            samples: job.judge.samples,
            needs_evidence: job.judge.evidence == Some(true),
            is_there: job.has_judge(),
            has_embeddings: job.judge.embeddings.is_some(),
        },
        context: context(case, &evidence.transcript),
        times_first_token: job.timing.on == TimingOn::FirstToken,
        aspirational_average_ms: job.aspirational_average_ms,
        clock,
        is_brief: false,
    }
}

/// The texts for judges: those of the case, and what a recording tells that the agent had before it, each once.
fn context<'a>(case: &'a Case, transcript: &'a Transcript) -> Vec<(&'a str, &'a str)> {
    let mut texts: Vec<(&str, &str)> = case.context.iter().map(|text| (&*text.name, &*text.text)).collect();
    for TurnContext { name, text } in transcript.turns.iter().flat_map(|turn| &turn.context) {
        let text = (name.as_str(), text.as_str());
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts
}

/// The traits of the user, the way of writing included.
fn traits_of_user(case: &Case) -> Cow<'_, [String]> {
    match &case.persona {
        None => Cow::Borrowed(&case.traits),
        Some(_) => {
            let style = case.user_style().map(|style| format!("style: {style}"));
            Cow::Owned(style.into_iter().chain(case.user_traits()).collect())
        }
    }
}

/// The lines with expectations. The first line is the first turn, or the one after the opening.
fn expected_turns<'a>(job: &Job, case: &'a Case) -> Vec<ExpectedTurn<'a>> {
    let User::Lines(lines) = &case.user else { return Vec::new() };
    let opening = job.opening_turns(case);
    let turn = |(line, number): (&'a Line, u32)| {
        let expected = line.expected.as_deref()?;
        Some(ExpectedTurn { turn: number + opening, say: &line.say, expected: Cow::Borrowed(expected) })
    };
    lines.iter().zip(1..).filter_map(turn).collect()
}

/// The user's messages with the numbers of their turns, as far as the case says them: its opening, and its lines.
pub fn script<'a>(job: &Job, case: &'a Case) -> Vec<(u32, &'a str)> {
    let lines = if let User::Lines(lines) = &case.user { lines.as_slice() } else { &[] };
    let opening = (1..).zip(case.opening.0.iter().map(String::as_str));
    opening.chain((job.opening_turns(case) + 1..).zip(lines.iter().map(|line| line.say.as_str()))).collect()
}

/// The turns of the reference agent.
fn turns_of_reference(transcript: &Transcript) -> Vec<ExpectedTurn<'_>> {
    fn expected(turn: &Turn, uses: Vec<ToolUse>) -> ExpectedTurn<'_> {
        let call = |used: ToolUse| ExpectedCall { result: used.result, ..ExpectedCall::new(used.tool, used.args) };
        let calls = Some(uses.into_iter().map(call).collect());
        let expected = Expectation { calls, reply: turn.agent.clone(), ..Expectation::default() };
        ExpectedTurn { turn: turn.number, say: &turn.user, expected: Cow::Owned(expected) }
    }
    let turns = transcript.turns.iter().zip(transcript.tool_uses_by_turn());
    turns.filter(|(turn, _)| !turn.is_greeting()).map(|(turn, uses)| expected(turn, uses)).collect()
}

/// The questions to the judge about a trial, each once.
///
/// # Errors
/// A template that can't be rendered.
pub fn questions(job: &Job, input: &MetricInput<'_>, templates: &Templates) -> Result<Vec<Question>, PromptError> {
    let mut questions: Vec<Question> = Vec::new();
    let mut pairs = 0;
    for metric in metric::metrics(&job.metrics, &job.weights) {
        // A metric that reads another one's question has the same question.
        if questions.iter().any(|known| known.metric != metric.name() && metric.reads(known)) {
            continue;
        }
        for question in metric.questions(input, templates)? {
            if !questions.iter().any(|known| known.key() == question.key()) {
                // Several metrics together ask no more about texts than one.
                let is_about_pair = metric::trajectory::is_about_pair(&question);
                pairs += usize::from(is_about_pair);
                if !is_about_pair || pairs <= metric::trajectory::MOST_PAIRS {
                    questions.push(question);
                }
            }
        }
    }
    let seats = job.judge.model.seats();
    Ok(if seats.is_empty() { questions } else { questions.into_iter().flat_map(|it| asked_of(it, &seats)).collect() })
}

/// A question to each judge of a panel.
fn asked_of(question: Question, seats: &[String]) -> Vec<Question> {
    if question.to != QuestionTo::Judge {
        return vec![question];
    }
    seats.iter().map(|seat| Question { judge: Some(seat.clone()), ..question.clone() }).collect()
}

/// Whether a judge's raw reply can be used by every metric that asks this.
///
/// # Errors
/// The first metric's error, which can be sent back to the judge.
pub fn read_reply(
    job: &Job,
    input: &MetricInput<'_>,
    question: &Question,
    raw: &str,
) -> Result<(), metric::ReplyError> {
    let metrics = metric::metrics(&job.metrics, &job.weights);
    metrics.iter().filter(|metric| metric.reads(question)).try_for_each(|metric| metric.read(input, question, raw))
}

/// One trial to be graded.
#[derive(Debug, Clone, Copy)]
pub struct GradeInput<'a> {
    /// The job.
    pub job: &'a Job,
    /// The job's case that the trial is of.
    pub case: &'a Case,
    /// The trial's evidence.
    pub evidence: &'a Evidence,
    /// Stops assertions that would take for ever.
    pub clock: Clock,
}

impl<'a> GradeInput<'a> {
    /// The same with other evidence.
    fn with(self, evidence: &'a Evidence) -> GradeInput<'a> {
        GradeInput { evidence, ..self }
    }
}

/// Grades a trial.
pub fn grade(trial: GradeInput<'_>, judgements: &[Judgement]) -> Scorecard {
    let evidence = trial.evidence;
    let input = metric_input(trial.job, trial.case, evidence, trial.clock);
    let seats = trial.job.judge.model.seats();
    let dimension = |entry: &MetricEntry| {
        let dimension = match metric::metric(entry, &trial.job.weights) {
            Some(metric) => metric::combine_panel(&*metric, &input, &seats, judgements),
            None => assertions(trial, entry.weight(&trial.job.weights)),
        };
        let beside = entry.beside.as_deref().and_then(|other| beside(other, trial.job, &input, judgements, &dimension));
        let dimension = finished(entry, about_user(entry, dimension));
        let vacuity = idle::vacuity(entry, trial, &input, &dimension);
        redelivered::adjusted(entry, trial, Dimension { beside, vacuity, ..dimension })
    };
    let mut dimensions: Vec<Dimension> = trial.job.metrics.iter().map(dimension).collect();
    open_ended::leave_open(trial, &mut dimensions);
    if evidence.transcript.has_reply() {
        verified::note(trial.case, &mut dimensions);
    }
    // Dimensions without weight come last.
    dimensions.sort_by_key(|dimension| dimension.weight == Weight::ZERO);
    let failure_count = evidence.failure_count();
    let composite = if evidence.agent_ended_it() && !evidence.transcript.has_reply() {
        // Whatever holds of an untouched graph is not the doing of an agent that never replied.
        Component::scored(Score::ZERO, "the agent never replied")
    } else {
        composite(&dimensions, failure_count)
    };
    Scorecard { composite, penalty: penalty(failure_count), failure_count, dimensions }
}

/// The dimension as the entry names it, with its threshold.
fn finished(entry: &MetricEntry, dimension: Dimension) -> Dimension {
    // Where a threshold is given, that is the line of the parts, too; but a task is done well as Embabel counts it.
    let own_line = entry.threshold.is_none() || entry.kind() == MetricKind::Tasks;
    let good_above = dimension.good_above.filter(|_| own_line);
    let metric = entry.name.is_some().then(|| entry.kind().as_str().to_owned());
    Dimension { name: entry.label().to_owned(), metric, threshold: entry.threshold, good_above, ..dimension }
}

/// A simulated user that fails its threshold is no failure of the agent's: what the conversation says of the agent is unknown.
fn about_user(entry: &MetricEntry, dimension: Dimension) -> Dimension {
    let MetricConfig::SimulatedUser(options) = &entry.metric else { return dimension };
    match (dimension.component.score(), entry.threshold) {
        (Some(score), Some(threshold)) if score.is_below(threshold) && !options.judging.strict => {
            let (score, threshold) = (score.get(), threshold.get());
            // With as many digits as tell them apart.
            let shown = |digits: usize| format!("{score:.digits$}");
            let digits = (2..10).find(|digits| shown(*digits).parse() != Ok(threshold)).unwrap_or(10);
            let why = format!(
                "the simulated user kept to its part in {} of its messages, less than {threshold}: the conversation \
                 does not show what the agent can do",
                shown(digits)
            );
            Dimension { component: Component::missing(why), ..dimension }
        }
        _ => dimension,
    }
}

/// The score of a dimension with other options, where it is another one.
fn beside(
    other: &MetricEntry,
    job: &Job,
    input: &MetricInput<'_>,
    judgements: &[Judgement],
    dimension: &Dimension,
) -> Option<OtherScore> {
    let metric = metric::metric(other, &job.weights)?;
    let component = metric::combine_panel(&*metric, input, &job.judge.model.seats(), judgements).component;
    let is_same = match (&component, &dimension.component) {
        (Component::Scored { score, .. }, Component::Scored { score: own, .. }) => {
            (score.get() - own.get()).abs() <= Score::HAIR
        }
        (there, here) => std::mem::discriminant(there) == std::mem::discriminant(here),
    };
    (!is_same).then(|| OtherScore { name: other.label().to_owned(), component })
}

fn assertions(trial: GradeInput<'_>, weight: Weight) -> Dimension {
    let silence = vacuous::EmptyTrial::new(trial);
    let items: Vec<Item> = trial
        .case
        .assertions
        .iter()
        .map(|assertion| {
            let component = match assertion.when {
                Some(when) if when != trial.evidence.condition => {
                    Component::not_applicable(format!("only checked {}", when.label()))
                }
                _ => assert_on(assertion, trial),
            };
            let (component, vacuity) = vacuous::adjusted_component(assertion, &silence, component);
            Item {
                id: Some(assertion.id.to_string()),
                weight: assertion.weight,
                vacuity,
                ..Item::new(assertion.label(), component)
            }
        })
        .collect();
    let component = match weighted_mean(items.iter().map(|item| (item.weight, item.label.as_str(), &item.component))) {
        Component::Scored { score, .. } => Component::scored(score, holding(&items)),
        Component::NotApplicable { .. } if items.is_empty() => Component::not_applicable("the job has no assertions"),
        Component::NotApplicable { .. } => Component::not_applicable("no assertion is checked in this condition"),
        missing => missing,
    };
    Dimension { items, ..Dimension::new("assertions", weight, component) }
}

/// Whether an assertion holds on evidence that is not the trial's own; the reasons are not kept.
fn evaluate_briefly(assertion: &Assertion, trial: GradeInput<'_>) -> Component {
    assertion.check.evaluate_briefly(&assertion.id, &trial.job.name, trial.evidence, trial.clock)
}

/// Evaluates an assertion. An agent that failed and then shows no state has failed in this too.
fn assert_on(assertion: &Assertion, trial: GradeInput<'_>) -> Component {
    let component = assertion.check.evaluate(&assertion.id, &trial.job.name, trial.evidence, trial.clock);
    match (&trial.evidence.ending, &trial.evidence.object_context, &assertion.check) {
        (Ending::AgentFailed { .. }, Some(Observed::Failed(error)), AssertionCheck::Expression(_))
            if component.is_missing() =>
        {
            Component::scored(Score::ZERO, format!("the agent failed and shows no state: {error}"))
        }
        _ => component,
    }
}

fn holding(items: &[Item]) -> String {
    let checked: Vec<&Item> = items.iter().filter(|item| item.component.score().is_some()).collect();
    let hold = checked.iter().filter(|item| item.component.score() == Some(Score::ONE)).count();
    format!("{hold} of {} hold", checked.len())
}
