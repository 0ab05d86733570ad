//! Whether a metric that passes says anything of the agent: others that pay no heed to their user are scored in its place, some
//! that do nothing and some that do what nobody asked for.

use serde_json::{Value, json};

use super::{GradeInput, expected_turns, finished, metric_input, script};
use crate::clock::Clock;
use crate::evidence::{Condition, Event, Evidence, ObjectContext, Observed, Transcript, TrialId, Turn};
use crate::job::{Case, Job, User};
use crate::metric::trajectory::TrajectoryFigure;
use crate::metric::{self, MetricConfig, MetricEntry, MetricInput, MetricKind};
use crate::score::{Component, Dimension, Score, Scorecard, Vacuity, Weight};

/// An agent that pays no heed to its user.
#[derive(Clone, Copy)]
struct StandInAgent {
    says: Says,
    /// Whether it calls a tool of its own, and leaves a state of its own.
    acts: bool,
}

/// Its replies.
#[derive(Clone, Copy)]
enum Says {
    Echo,
    Word(&'static str),
    /// So many digits, with a space after each.
    Digits(usize),
}

impl Says {
    fn reply(self, user: &str) -> String {
        match self {
            Says::Echo => user.to_owned(),
            Says::Word(word) => word.to_owned(),
            Says::Digits(count) => "7 ".repeat(count),
        }
    }
}

/// Those that do nothing.
const IDLE: [StandInAgent; 2] =
    [StandInAgent { says: Says::Word("Done!"), acts: false }, StandInAgent { says: Says::Echo, acts: false }];

/// Those that do what nobody asked for: a short reply in letters, and a long one without any.
const ERRATIC: [StandInAgent; 2] =
    [StandInAgent { says: Says::Word("x"), acts: true }, StandInAgent { says: Says::Digits(10_000), acts: true }];

impl StandInAgent {
    /// The same conversation with it.
    fn transcript(self, held: &Transcript) -> Transcript {
        let turn = |turn: &Turn| Turn {
            agent: Some(self.says.reply(&turn.user)),
            events: if self.acts {
                vec![Event::call("unasked", json!({"unasked": 7}), Value::Null)]
            } else {
                Vec::new()
            },
            latency_ms: turn.latency_ms,
            first_token_ms: turn.first_token_ms,
            ..Turn::begun(turn.number, turn.user.clone())
        };
        Transcript { turns: held.turns.iter().map(turn).collect() }
    }

    fn state(self, case: &Case) -> Observed<ObjectContext> {
        let context = if self.acts { json!({"unasked": 7}) } else { Value::Object(case.session.state.clone()) };
        Observed::Seen(ObjectContext { context, ..ObjectContext::default() })
    }

    /// What a metric gives it.
    fn dimension(self, entry: &MetricEntry, replaced: ReplacedAgent<'_>) -> Option<Dimension> {
        let metric = metric::metric(entry, &replaced.job.weights)?;
        let (transcript, state) = (self.transcript(replaced.input.transcript), self.state(replaced.case));
        let state = replaced.input.state.map(|_| &state);
        let input = MetricInput {
            transcript: &transcript,
            state,
            fact_uses: None,
            agent_ended_it: false,
            is_brief: true,
            ..replaced.input.clone()
        };
        Some(finished(entry, metric.score(&input, &[])))
    }
}

/// The conversation in which the agent is replaced.
#[derive(Clone, Copy)]
struct ReplacedAgent<'a> {
    job: &'a Job,
    case: &'a Case,
    input: &'a MetricInput<'a>,
}

/// Why a metric that passes may say nothing of the agent; `None` where it does, or that is another's matter, as of assertions.
pub(super) fn vacuity(
    entry: &MetricEntry,
    trial: GradeInput<'_>,
    input: &MetricInput<'_>,
    dimension: &Dimension,
) -> Option<Vacuity> {
    if input.agent_ended_it || !looks_alone(entry) {
        return None;
    }
    doubt(entry, ReplacedAgent { job: trial.job, case: trial.case, input }, dimension)
}

/// Whether it is computed of the conversation alone, without a judge, and is about what the agent must do. That an attack is resisted
/// can only show in what the agent does not do.
fn looks_alone(entry: &MetricEntry) -> bool {
    match &entry.metric {
        MetricConfig::Timing(_) | MetricConfig::Assertions(_) | MetricConfig::Unavailable(_) => false,
        MetricConfig::Trajectory(check) => check.config().score != TrajectoryFigure::Resisted,
        _ => !entry.kind().asks_judge(),
    }
}

fn doubt(entry: &MetricEntry, replaced: ReplacedAgent<'_>, dimension: &Dimension) -> Option<Vacuity> {
    let score = dimension.component.score().filter(|score| dimension.pass_line().is_met(*score))?.get();
    let of = |agent: StandInAgent| Some(agent.dimension(entry, replaced)?.component.score()?.get());
    if !IDLE.iter().all(|agent| of(*agent).is_some_and(|other| other >= score - Score::HAIR)) {
        return None;
    }
    let is_same = |agent: &StandInAgent| of(*agent).is_some_and(|other| (other - score).abs() <= Score::HAIR);
    Some(if ERRATIC.iter().all(is_same) { Vacuity::Vacuous } else { Vacuity::Idle })
}

/// Why no figure of a case can say anything of the agent, as far as that is known before its conversations. `None` where one can, or
/// where nothing is measured.
pub fn vacuity_of_case(job: &Job, case: &Case, clock: Clock) -> Option<Vacuity> {
    let decides = |entry: &&MetricEntry| entry.weight(&job.weights) > Weight::ZERO || entry.threshold.is_some();
    let decisive = || job.metrics.iter().filter(decides);
    let asks = |entry: &MetricEntry| match entry.kind() {
        // It is about the user.
        MetricKind::SimulatedUser => false,
        MetricKind::Tasks | MetricKind::Tone => !case.tasks.is_empty(),
        kind => kind.asks_judge(),
    };
    let has_assertions = !case.assertions.is_empty() && decisive().any(|it| it.kind() == MetricKind::Assertions);
    if has_assertions || case.reference.is_some() || decisive().any(asks) {
        return None;
    }
    let condition = case.conditions.first().copied().unwrap_or(Condition::WithoutFacts);
    let id = TrialId { number: 1, case: case.id.clone(), model: String::new(), condition, repeat: 1 };
    let mut turns: Vec<Turn> =
        script(job, case).into_iter().map(|(turn, say)| Turn::begun(turn, say.to_owned())).collect();
    if !matches!(case.user, User::Lines(_)) {
        turns.push(Turn::begun(turns.len() as u32 + 1, "Hello".to_owned()));
    }
    turns.iter_mut().for_each(|turn| turn.latency_ms = Some(0.0));
    let transcript = Transcript { turns };
    let state = case.session.state.clone();
    let object_context = ObjectContext { context: Value::Object(state), ..ObjectContext::default() };
    let evidence = Evidence {
        transcript: IDLE[0].transcript(&transcript),
        object_context: Some(Observed::Seen(object_context)),
        ..Evidence::new(String::new(), String::new(), &id)
    };
    let input = MetricInput { lines: expected_turns(job, case), ..metric_input(job, case, &evidence, clock) };
    let dimension = |entry: &MetricEntry| {
        let dimension = finished(entry, metric::metric(entry, &job.weights)?.score(&input, &[]));
        let vacuity =
            looks_alone(entry).then(|| doubt(entry, ReplacedAgent { job, case, input: &input }, &dimension)).flatten();
        Some(Dimension { vacuity, ..dimension })
    };
    let dimensions: Vec<Dimension> =
        decisive().filter(|it| it.kind() != MetricKind::Assertions).filter_map(dimension).collect();
    let composite = Component::scored(Score::ONE, "an agent that does nothing");
    Scorecard { dimensions, failure_count: 0, penalty: 0.0, composite }.vacuity()
}

#[cfg(test)]
mod tests;
