//! A trial as other systems see a case: metrics that pass, fail or were not evaluated, of the whole conversation and of each
//! turn.

use std::collections::BTreeMap;

use serde_json::Value;

use super::names::{CaseName, ResultNames};
use crate::evidence::{ExpectationReview, ToolUse, Turn, TurnExpectation};
use crate::record::{Overview, TrialRecord};
use crate::score::{Component, Dimension, Item, Outcome, Score};

/// How a metric or a case came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Passed,
    Failed,
    /// Unknown: it is never passed.
    NotEvaluated,
    /// It has a score, and nothing is asked of it.
    Informs,
}

/// The result of one metric.
#[derive(Debug)]
pub(super) struct MetricResult<'a> {
    pub(super) name: &'a str,
    pub(super) threshold: Option<Score>,
    pub(super) score: Option<Score>,
    pub(super) status: Status,
    pub(super) why: String,
    /// Its parts.
    pub(super) items: Vec<&'a Item>,
}

/// One turn, beside what was expected of it.
#[derive(Debug)]
pub(super) struct TurnResult<'a> {
    pub(super) turn: Turn,
    pub(super) calls: Vec<ToolUse>,
    pub(super) expected: Option<&'a TurnExpectation>,
    pub(super) metrics: Vec<MetricResult<'a>>,
}

/// A trial.
#[derive(Debug)]
pub(super) struct CaseResult<'a> {
    pub(super) trial: &'a TrialRecord,
    pub(super) review: &'a ExpectationReview,
    pub(super) name: CaseName,
    pub(super) status: Status,
    /// Why it was not evaluated, or what the agent's failure was.
    pub(super) error: Option<String>,
    pub(super) metrics: Vec<MetricResult<'a>>,
    pub(super) turns: Vec<TurnResult<'a>>,
    /// The criteria of its metrics, by their names, as ADK writes them.
    pub(super) criteria: &'a BTreeMap<String, Value>,
}

/// No criterion is known.
static NO_CRITERIA: BTreeMap<String, Value> = BTreeMap::new();

/// The name of a trial's figure, beside those of the metrics.
const COMPOSITE: &str = "composite";

impl<'a> CaseResult<'a> {
    /// A trial of a run.
    pub(super) fn new(
        run: &Overview,
        trial: &'a TrialRecord,
        review: &'a ExpectationReview,
        names: &ResultNames,
    ) -> CaseResult<'a> {
        let counts = trial.outcome.as_ref().is_some_and(Outcome::counts);
        let dimensions = trial.scorecard.iter().filter(|_| counts).flat_map(|card| &card.dimensions);
        // Nothing is asked of what the case does not use.
        let applies = |dimension: &&Dimension| !matches!(dimension.component, Component::NotApplicable { .. });
        let mut metrics: Vec<MetricResult<'_>> = dimensions.clone().filter(applies).map(metric).collect();
        let gate = run.summary.provenance.min_score;
        if gate.is_some() || metrics.iter().all(|metric| metric.threshold.is_none()) {
            metrics.push(composite(trial, gate));
        }
        let why_not = trial.why_no_score();
        let agent_failed = match &trial.outcome {
            Some(Outcome::AgentFailed { error }) => Some(error.clone()),
            _ => None,
        };
        let any = |status: Status| metrics.iter().any(|metric| metric.status == status && metric.threshold.is_some());
        let status = match () {
            () if agent_failed.is_some() || (counts && any(Status::Failed)) => Status::Failed,
            () if !counts || why_not.is_some() || metrics.iter().any(is_missing) => Status::NotEvaluated,
            () => Status::Passed,
        };
        let turns = turns(trial, review, dimensions.collect());
        CaseResult {
            trial,
            review,
            name: names.case_name(run, &trial.trial),
            status,
            error: agent_failed.or(why_not),
            metrics,
            turns,
            criteria: &NO_CRITERIA,
        }
    }

    /// The same with the criteria of its metrics.
    pub(super) fn with_criteria(self, criteria: &'a BTreeMap<String, Value>) -> CaseResult<'a> {
        CaseResult { criteria, ..self }
    }

    /// Whether anything was said, or should have been: where the agent, the graph or a judge could not even be reached, nothing
    /// was.
    pub(super) fn was_held(&self) -> bool {
        self.status != Status::NotEvaluated || !self.turns.is_empty()
    }

    /// The agent's session; empty where none was opened.
    pub(super) fn session(&self) -> &str {
        self.trial.evidence.as_ref().map_or("", |evidence| &evidence.session_id)
    }

    /// The user of the session.
    pub(super) fn user(&self) -> &str {
        self.trial.evidence.as_ref().map_or("", |evidence| &evidence.user)
    }
}

/// Whether a figure that is asked for is not there.
fn is_missing(metric: &MetricResult<'_>) -> bool {
    metric.status == Status::NotEvaluated && metric.threshold.is_some()
}

fn status_of(component: &Component, threshold: Option<Score>) -> Status {
    match (component.score(), threshold) {
        (Some(score), Some(threshold)) if score.is_below(threshold) => Status::Failed,
        (Some(_), Some(_)) => Status::Passed,
        (Some(_), None) => Status::Informs,
        (None, _) => Status::NotEvaluated,
    }
}

fn metric(dimension: &Dimension) -> MetricResult<'_> {
    let component = &dimension.component;
    MetricResult {
        name: &dimension.name,
        threshold: dimension.threshold,
        score: component.score(),
        status: status_of(component, dimension.threshold),
        why: component.why().to_owned(),
        items: dimension.items.iter().collect(),
    }
}

/// The trial's figure: it passes where no gate says otherwise.
fn composite(trial: &TrialRecord, gate: Option<Score>) -> MetricResult<'static> {
    let score = trial.score().filter(|_| trial.outcome.as_ref().is_some_and(Outcome::counts));
    let threshold = Some(gate.unwrap_or(Score::ZERO));
    let component = score.map_or_else(|| Component::missing(""), |score| Component::scored(score, ""));
    let why = trial
        .why_no_score()
        .unwrap_or_else(|| trial.scorecard.as_ref().map(|card| card.composite.why().to_owned()).unwrap_or_default());
    MetricResult { name: COMPOSITE, threshold, score, status: status_of(&component, threshold), why, items: Vec::new() }
}

/// The turn that a part of a dimension is about.
fn turn_of(item: &Item) -> Option<u32> {
    // Records of earlier versions say it in the label alone.
    item.turn.or_else(|| item.label.strip_prefix("turn ")?.split_once(" · ")?.0.parse().ok())
}

fn turns<'a>(
    trial: &'a TrialRecord,
    review: &'a ExpectationReview,
    dimensions: Vec<&'a Dimension>,
) -> Vec<TurnResult<'a>> {
    let Some(evidence) = &trial.evidence else { return Vec::new() };
    let mut turns = evidence.transcript.turns.clone();
    if let Some(said) = &trial.pending {
        let number = turns.last().map_or(1, |turn| turn.number + 1);
        turns.push(Turn::begun(number, said.clone()));
    }
    // A result may come in a later turn than its call.
    let mut uses = evidence.transcript.tool_uses().into_iter();
    let of_turn = |turn: Turn| {
        let calls: Vec<ToolUse> = uses.by_ref().take(turn.call_count()).collect();
        let metrics = dimensions.iter().flat_map(|dimension| {
            let items = dimension.items.iter().filter(|item| turn_of(item) == Some(turn.number));
            items.map(|item| MetricResult {
                name: &dimension.name,
                threshold: dimension.threshold,
                score: item.component.score(),
                status: status_of(&item.component, dimension.threshold),
                why: item.component.why().to_owned(),
                items: Vec::new(),
            })
        });
        let metrics = metrics.collect();
        let expected = review.turns.iter().find(|expected| expected.turn == turn.number);
        TurnResult { calls, expected, metrics, turn }
    };
    turns.into_iter().map(of_turn).collect()
}

/// A value as an object, which some systems ask for: another one stands at this key.
pub(super) fn object(value: &Value, key: &str) -> Value {
    match value {
        Value::Object(_) => value.clone(),
        Value::Null => Value::Object(serde_json::Map::new()),
        other => serde_json::json!({ key: other }),
    }
}

/// A call's id: its own, or one by its place.
pub(super) fn call_id(call: &ToolUse, turn: u32, place: usize) -> String {
    call.id.clone().unwrap_or_else(|| format!("call-{turn}-{}", place + 1))
}

/// A time in seconds since 1970.
pub(super) fn epoch(at: chrono::DateTime<chrono::Utc>) -> f64 {
    at.timestamp_micros() as f64 / 1e6
}
