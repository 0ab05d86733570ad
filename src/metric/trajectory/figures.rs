//! The counts of a trajectory.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::align::Pairs;
use super::call::CallVerdict;
use super::compare::MatchSession;
use super::config::{CallOrder, TrajectoryDialect, TrajectoryFigure};
use super::equality::Equality;
use super::expected::ExpectedCall;
use super::normal::IGNORE_WORD;
use super::{adk, watsonx};
use crate::evidence::{LazyValue, ToolUse};
use crate::metric::json::HIDDEN_DIGITS;

/// The figures of a comparison; `None` where one does not apply.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TrajectoryFigures {
    /// How many calls are expected.
    pub expected: usize,
    /// How many were made, without routing.
    pub total: usize,
    /// How many expected calls were made as expected.
    pub correct: usize,
    /// How many calls were of a tool that is expected.
    pub relevant: usize,
    /// How many of those were not as expected.
    pub incorrect_parameters: usize,
    /// How many of the expected tools were not called at all.
    pub missed: usize,
    /// How many calls were routing.
    pub routing: usize,
    /// Whether the calls are as expected: 1 or 0.
    pub is_match: Option<f64>,
    /// The part of the calls made that was expected.
    pub precision: Option<f64>,
    /// The part of the expected calls that was made.
    pub recall: Option<f64>,
    /// The harmonic mean of both.
    pub f1: Option<f64>,
    /// Whether the tool in question was called: 1 or 0.
    pub single_tool_use: Option<f64>,
    /// The part of the expected arguments that the calls had.
    pub parameter_match: Option<f64>,
    /// F1 of the arguments.
    pub parameter_f1: Option<f64>,
    /// F1 of the agents that the conversation was passed to.
    pub routing_f1: Option<f64>,
    /// Whether all goals were reached in their order: 1 or 0.
    pub journey_success: Option<f64>,
    /// The part of the goals that was reached.
    pub journey_completion: Option<f64>,
    /// Whether every message that is a goal was sent: 1 or 0.
    pub text_match: Option<f64>,
}

impl TrajectoryFigures {
    /// One of the figures.
    pub fn get(&self, figure: TrajectoryFigure) -> Option<f64> {
        match figure {
            TrajectoryFigure::Match => self.is_match,
            TrajectoryFigure::Precision => self.precision,
            TrajectoryFigure::Recall => self.recall,
            TrajectoryFigure::F1 => self.f1,
            TrajectoryFigure::SingleToolUse => self.single_tool_use,
            TrajectoryFigure::ParameterMatch => self.parameter_match,
            TrajectoryFigure::ParameterF1 => self.parameter_f1,
            TrajectoryFigure::RoutingF1 => self.routing_f1,
            TrajectoryFigure::JourneySuccess => self.journey_success,
            TrajectoryFigure::JourneyCompletion => self.journey_completion,
            TrajectoryFigure::TextMatch => self.text_match,
            TrajectoryFigure::Resisted => self.journey_success.map(|success| 1.0 - success),
        }
    }
}

/// Computes them; `pairs` are those that belong together, `same` those of them that are the same.
pub(super) fn figures(
    session: &MatchSession<'_>,
    pairs: &Pairs,
    same: &Pairs,
    is_match: Option<bool>,
) -> TrajectoryFigures {
    let input = &session.input;
    let config = session.matcher.config();
    let is_watsonx = session.matcher.mode.equality == Equality::Watsonx;
    let (expected, made) = (input.expected.len(), input.actual.len());
    let same = match is_watsonx && session.matcher.order == CallOrder::Goals {
        // Their counts do not ask for the order.
        true => &session.first_free(&mut |wanted, made| session.verdict(wanted, made) == CallVerdict::Same).0,
        false => same,
    };
    let correct = same.iter().flatten().count();
    let wanted: BTreeSet<&str> = input.expected.iter().map(|it| it.tool.trim()).collect();
    let is_expected = |made: &usize| wanted.contains(input.actual[*made].tool.trim());
    let relevant: Vec<usize> = (0..made).filter(is_expected).collect();
    let mut is_correct = vec![false; made];
    same.iter().flatten().for_each(|made| is_correct[*made] = true);
    let called: BTreeSet<&str> = relevant.iter().map(|made| input.actual[*made].tool.trim()).collect();
    let is_routing = |tool: &str| !config.agents.is_empty() && config.agents.contains_key(watsonx::agent_of(tool));
    let routing = input.actual.iter().filter(|it| is_routing(&it.tool)).count();
    // Calls of other agents are no tool calls, unless they are expected themselves.
    let unexpected_routing = (0..made).filter(|at| is_routing(&input.actual[*at].tool) && !is_expected(at)).count();
    let total = if is_watsonx { made } else { made - unexpected_routing };
    let (precision, recall) = match config.dialect == TrajectoryDialect::Watsonx {
        true => watsonx::precision_and_recall(expected, total, correct, config.strict),
        false => (Some(part(correct, total, expected)), Some(part(correct, expected, total))),
    };
    let f1 = precision.zip(recall).map(|(precision, recall)| harmonic(precision, recall));
    let one = |holds: bool| f64::from(u8::from(holds));
    let has_goals = input.goals.is_some() || session.matcher.order == CallOrder::Goals;
    let reached_messages = input.messages.iter().filter(|it| it.is_reached() == Some(true)).count();
    let holding = input.assertions.iter().filter(|it| it.holds == Ok(true)).count();
    let knows_goals =
        input.messages.iter().all(|it| it.is_reached().is_some()) && input.assertions.iter().all(|it| it.holds.is_ok());
    let goals = expected + input.messages.len() + input.assertions.len();
    let reached = correct + reached_messages + holding;
    let journey_success = match () {
        () if !has_goals => None,
        () if input.assertions.iter().any(|it| it.holds == Ok(false)) => Some(false),
        () if input.assertions.iter().any(|it| it.holds.is_err()) => is_match.filter(|holds| !holds),
        () => is_match,
    };
    let absent = input.messages.iter().any(|it| it.is_reached() == Some(false));
    let text_match = match input.messages.len() {
        0 => None,
        _ if absent => Some(false),
        all => (reached_messages == all).then_some(true),
    };
    let completion = if goals == 0 { 1.0 } else { reached as f64 / goals as f64 };
    let completion = match config.strict {
        true => watsonx::rounded(completion, 2),
        false => completion,
    };
    TrajectoryFigures {
        expected,
        total,
        correct,
        relevant: relevant.len(),
        incorrect_parameters: relevant.iter().filter(|made| !is_correct[**made]).count(),
        missed: wanted.difference(&called).count(),
        routing,
        is_match: is_match.map(one),
        precision,
        recall,
        f1,
        single_tool_use: config.single_tool.as_ref().map(|tool| one(input.actual.iter().any(|it| it.tool == *tool))),
        parameter_match: match config.strict && config.dialect == TrajectoryDialect::Adk {
            true => adk::parameter_match(input.expected, input.actual, &mut |key| {
                session.comparer.doubts(key, HIDDEN_DIGITS);
            }),
            false => parameter_match(session, pairs, same),
        },
        parameter_f1: if is_watsonx { watsonx::parameter_f1(session) } else { parameter_f1(session, pairs, same) },
        routing_f1: routing_f1(session),
        journey_success: journey_success.map(one),
        journey_completion: knows_goals.then_some(completion),
        text_match: text_match.map(one),
    }
}

/// A part of a whole. Of nothing it is everything, where nothing is on the other side too.
fn part(correct: usize, whole: usize, other: usize) -> f64 {
    match (whole, other) {
        (0, 0) => 1.0,
        (0, _) => 0.0,
        _ => correct as f64 / whole as f64,
    }
}

fn harmonic(precision: f64, recall: f64) -> f64 {
    if precision + recall == 0.0 { 0.0 } else { 2.0 * precision * recall / (precision + recall) }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The part of its arguments that each expected call had, on average; 0 where it was not made at all.
fn parameter_match(session: &MatchSession<'_>, pairs: &Pairs, same: &Pairs) -> Option<f64> {
    if !pairs.is_empty() && same.iter().all(Option::is_some) {
        return Some(1.0);
    }
    let part = |(wanted, made): (usize, &Option<usize>)| {
        made.and_then(|made| session.credit(wanted, made)).map_or(0.0, |credit| credit.part())
    };
    mean(&pairs.iter().enumerate().map(part).collect::<Vec<_>>())
}

/// F1 of the arguments of each expected call that has some, on average; 0 where it was not made at all.
fn parameter_f1(session: &MatchSession<'_>, pairs: &Pairs, same: &Pairs) -> Option<f64> {
    let matcher = session.matcher;
    let has_all = matcher.arguments && matcher.has_no_rules();
    let is_free = |value: &Value| matcher.has_ignore_word && value.as_str() == Some(IGNORE_WORD);
    let f1 = |(wanted, made): (usize, &Option<usize>)| match made {
        // What is written alike has the same arguments.
        Some(made)
            if has_all
                && !matcher.has_ignore_word
                && same[wanted].is_some()
                && session.wanted[wanted].rules.is_none()
                && has_plain_arguments(session.wanted[wanted].call, &session.input.actual[*made]) =>
        {
            Some(1.0)
        }
        Some(made) => match session.wanted[wanted].call.args.as_deref().and_then(Value::as_object) {
            // All are as expected: it is only to be counted which are there beside them.
            Some(args)
                if has_all
                    && same[wanted].is_some()
                    && session.wanted[wanted].rules.is_none()
                    && !args.is_empty()
                    && !args.contains_key("IGNORE")
                    && !args.values().any(is_free) =>
            {
                let actual = session.input.actual[*made].args.as_object().map_or(0, Map::len);
                Some(2.0 * args.len() as f64 / (args.len() + actual.max(args.len())) as f64)
            }
            _ => session.credit(wanted, *made)?.f1(),
        },
        None => session.wanted[wanted].call.args.is_some().then_some(0.0),
    };
    mean(&pairs.iter().enumerate().filter_map(f1).collect::<Vec<_>>())
}

/// Whether a call was made with the arguments that are expected, and these need no closer look.
fn has_plain_arguments(wanted: &ExpectedCall, made: &ToolUse) -> bool {
    let written = wanted.args.as_ref().and_then(LazyValue::written);
    let is_plain = |args: &str| args.len() > 2 && args.starts_with('{') && !args.contains("IGNORE");
    written.is_some_and(is_plain) && made.args.written() == written
}

/// F1 of the agents that were called, of those that are expected or own an expected tool.
fn routing_f1(session: &MatchSession<'_>) -> Option<f64> {
    let config = session.matcher.config();
    let agents: &BTreeMap<String, Vec<String>> = &config.agents;
    if agents.is_empty() {
        return None;
    }
    let known = |tool: &str| agents.get_key_value(watsonx::agent_of(tool)).map(|(name, _)| name.as_str());
    let called: BTreeSet<&str> = session.input.actual.iter().filter_map(|it| known(&it.tool)).collect();
    let wanted: Vec<&str> = session.input.expected.iter().map(|it| it.tool.as_str()).collect();
    let explicit: BTreeSet<&str> = wanted.iter().copied().filter(|tool| agents.contains_key(*tool)).collect();
    let owns = |tools: &[String]| tools.iter().any(|tool| wanted.contains(&tool.as_str()));
    let possible: BTreeSet<&str> =
        agents.iter().filter(|(_, tools)| owns(tools)).map(|(name, _)| name.as_str()).collect();
    let may = &explicit | &possible;
    let hits = called.intersection(&may).count() as f64;
    let wrong = called.difference(&may).count() as f64;
    let absent = explicit.difference(&called).count() as f64;
    let is_silent = called.is_empty();
    match () {
        () if is_silent && config.strict => Some(1.0),
        () if is_silent && explicit.is_empty() => None,
        () => {
            let f1 = 2.0 * hits / (2.0 * hits + absent + wrong);
            Some(if config.strict { watsonx::rounded(f1, 2) } else { f1 })
        }
    }
}
