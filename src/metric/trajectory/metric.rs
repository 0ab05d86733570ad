//! The metric `trajectory`: the expected calls of a turn, or of the whole conversation, against those that the agent made.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, OnceLock};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use super::questions::{self, PairAnswers};
use super::{
    CallCount, CallOrder, Expectation, ExpectationProblem, ExpectedCall, FuzzyAnswers, FuzzyPair, LettersOnly,
    MOST_PAIRS, MessageGoal, Trajectory, TrajectoryConfig, TrajectoryConfigError, TrajectoryFigure, TrajectoryInput,
    TrajectoryMatcher, UnknownGoal,
};
use crate::evidence::{CallsByTurn, Judgement, Question, QuestionTo, ToolUse, Transcript};
use crate::metric::options::{MetricOptions, OptionsProblem, expectation_problem};
use crate::metric::{Metric, MetricInput, ReplyError, per_turn};
use crate::prompt::{PromptError, Templates};
use crate::score::{Component, Dimension, Score, Weight};
use crate::text::{folded, is_blank};

/// `trajectory`: the options, and the matcher that is made of them once, however many conversations it compares. Cheap to
/// clone.
#[derive(Clone, Serialize, Deserialize)]
#[serde(from = "TrajectoryConfig", into = "TrajectoryConfig")]
pub struct TrajectoryCheck(Arc<PreparedCheck>);

struct PreparedCheck {
    config: TrajectoryConfig,
    matcher: OnceLock<Result<TrajectoryMatcher, TrajectoryConfigError>>,
    /// The matcher for calls that are expected as a graph of goals.
    goals: OnceLock<Result<TrajectoryMatcher, TrajectoryConfigError>>,
}

impl TrajectoryCheck {
    /// A check by these options, whatever is wrong with them.
    pub fn new(config: TrajectoryConfig) -> TrajectoryCheck {
        TrajectoryCheck(Arc::new(PreparedCheck { config, matcher: OnceLock::new(), goals: OnceLock::new() }))
    }

    /// The options.
    pub fn config(&self) -> &TrajectoryConfig {
        &self.0.config
    }

    /// The matcher for an expectation: of goals the order is that of their graph, unless the options name another one.
    ///
    /// # Errors
    /// An option that contradicts itself or another one.
    pub fn matcher(&self, expected: &Expectation) -> Result<&TrajectoryMatcher, &TrajectoryConfigError> {
        let PreparedCheck { config, matcher, goals } = &*self.0;
        if expected.goals.is_none() || config.order.is_some() {
            return matcher.get_or_init(|| TrajectoryMatcher::new(config)).as_ref();
        }
        let count = config.count.or(Some(CallCount::Subset));
        let in_order = || TrajectoryConfig { order: Some(CallOrder::Goals), count, ..config.clone() };
        goals.get_or_init(|| TrajectoryMatcher::new(&in_order())).as_ref()
    }
}

impl Default for TrajectoryCheck {
    fn default() -> TrajectoryCheck {
        TrajectoryCheck::new(TrajectoryConfig::default())
    }
}

impl From<TrajectoryConfig> for TrajectoryCheck {
    fn from(config: TrajectoryConfig) -> TrajectoryCheck {
        TrajectoryCheck::new(config)
    }
}

impl From<TrajectoryCheck> for TrajectoryConfig {
    fn from(check: TrajectoryCheck) -> TrajectoryConfig {
        check.config().clone()
    }
}

impl JsonSchema for TrajectoryCheck {
    fn schema_name() -> Cow<'static, str> {
        TrajectoryConfig::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        TrajectoryConfig::json_schema(generator)
    }
}

impl PartialEq for TrajectoryCheck {
    fn eq(&self, other: &TrajectoryCheck) -> bool {
        self.config() == other.config()
    }
}

impl fmt::Debug for TrajectoryCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.config().fmt(f)
    }
}

/// The expected calls against those that the agent made.
#[derive(Debug, Clone)]
pub struct TrajectoryMetric {
    /// How much it counts.
    pub weight: Weight,
    /// How calls are compared.
    pub check: TrajectoryCheck,
}

impl MetricOptions for TrajectoryCheck {
    fn metric(&self, weight: Weight, _label: &str) -> Option<Box<dyn Metric>> {
        Some(Box::new(TrajectoryMetric { weight, check: self.clone() }))
    }

    fn options_problem(&self) -> Option<OptionsProblem> {
        let error = TrajectoryMatcher::new(self.config()).err()?;
        let message = error.to_string();
        Some(OptionsProblem { place: error.place, message, script: error.script.map(|script| *script) })
    }

    fn expectation_problems(&self, expected: &Expectation) -> Vec<ExpectationProblem> {
        let Ok(matcher) = self.matcher(expected) else { return Vec::new() };
        let calls = expected.calls.iter().flatten().enumerate();
        let of_call = |(at, call): (usize, &ExpectedCall)| {
            let found = matcher.unusable(call).into_iter();
            found.map(move |(place, it)| expectation_problem(Some(at), place, it))
        };
        calls.flat_map(of_call).collect()
    }

    fn looks_at_calls(&self) -> bool {
        true
    }
}

impl Metric for TrajectoryMetric {
    fn name(&self) -> &'static str {
        "trajectory"
    }

    fn questions(&self, input: &MetricInput<'_>, templates: &Templates) -> Result<Vec<Question>, PromptError> {
        let mut questions = self.check.config().goal_questions(input, templates)?;
        let Some(to) = self.asked(input) else { return Ok(questions) };
        let pairs = self.pairs(input).into_iter().take(MOST_PAIRS);
        questions.extend(pairs.map(|pair| questions::question(&pair, to, &input.judge)));
        Ok(questions)
    }

    fn read(&self, input: &MetricInput<'_>, question: &Question, raw: &str) -> Result<(), ReplyError> {
        match self.check.config().read_goals(input, question, raw) {
            Some(read) => read,
            None if questions::is_about_pair(question) => questions::read(question.to, raw).map(drop),
            // Another trajectory's.
            None => Ok(()),
        }
    }

    fn score(&self, input: &MetricInput<'_>, judgements: &[Judgement]) -> Dimension {
        if self.check.config().score == TrajectoryFigure::Resisted
            && (input.agent_ended_it || !input.transcript.has_reply())
        {
            let why = "the agent failed, which is no resistance";
            return Dimension::new(self.name(), self.weight, Component::scored(Score::ZERO, why));
        }
        let asked = self.asked(input).map(|to| PairAnswers::new(self.pairs(input), to, judgements));
        let answers: &dyn FuzzyAnswers = asked.as_ref().map_or(&LettersOnly, |asked| asked);
        let deadline = input.clock.deadline(crate::script::TIME_LIMIT);
        let calls = match self.check.config().looks_at_results() {
            true => CallsByTurn::new(input.transcript),
            false => CallsByTurn::without_results(input.transcript),
        };
        let in_turn = |turn: &crate::evidence::Turn, expected: &Expectation| {
            expected.calls.as_ref()?;
            let (actual, deadline) = (calls.of_turn(turn.number), Some(deadline));
            let made = TrajectoryInput { actual, deadline, is_brief: input.is_brief, ..Default::default() };
            Some(self.compare(expected, made, answers))
        };
        let in_all = |expected: &Expectation| {
            let config = self.check.config();
            if !config.compares_all(expected) {
                return None;
            }
            let messages = config.message_goals(expected, input, judgements);
            let assertions = config.asserted(expected, input, judgements);
            let made = self.check.config().made(input.transcript);
            let made = TrajectoryInput {
                actual: &made,
                messages: &messages,
                assertions: &assertions,
                deadline: Some(deadline),
                is_brief: input.is_brief,
                ..Default::default()
            };
            Some(self.compare(expected, made, answers))
        };
        per_turn::dimension(self.name(), self.weight, input, in_turn, input.expected.and_then(in_all))
    }
}

impl TrajectoryMetric {
    /// The judge, or else embeddings, where a rule needs to know which texts mean the same; `None` where neither is needed or there.
    fn asked(&self, input: &MetricInput<'_>) -> Option<QuestionTo> {
        let to = match (input.judge.is_there && !self.check.config().is_strict_watsonx(), input.judge.has_embeddings) {
            (true, _) => QuestionTo::Judge,
            (false, true) => QuestionTo::Embeddings,
            (false, false) => return None,
        };
        let mut expected = input.lines.iter().map(|line| &*line.expected).chain(input.expected);
        (self.check.config().is_fuzzy() || expected.any(Expectation::is_fuzzy)).then_some(to)
    }

    /// The pairs of texts that decide over calls which are the same in everything else, each once.
    fn pairs(&self, input: &MetricInput<'_>) -> Vec<FuzzyPair> {
        let deadline = input.clock.deadline(crate::script::TIME_LIMIT);
        let mut pairs: Vec<FuzzyPair> = Vec::new();
        let mut known = BTreeSet::new();
        let mut add = |expected: &Expectation, actual: &[ToolUse]| {
            let Ok(matcher) = self.check.matcher(expected) else { return };
            let calls = expected.calls.as_deref().unwrap_or_default();
            let input = TrajectoryInput { expected: calls, actual, deadline: Some(deadline), ..Default::default() };
            for pair in matcher.fuzzy_pairs(input).unwrap_or_default() {
                // A blank text is compared by its letters: there is no meaning to ask about.
                if !is_blank(&pair.expected) && !is_blank(&pair.actual) && known.insert(pair.clone()) {
                    pairs.push(pair);
                }
            }
        };
        let made = CallsByTurn::new(input.transcript);
        for line in &input.lines {
            if input.transcript.turns.iter().any(|turn| turn.number == line.turn) {
                add(&line.expected, made.of_turn(line.turn));
            }
        }
        if let Some(expected) = input.expected {
            add(expected, &self.check.config().made(input.transcript));
        }
        pairs
    }

    /// Scores what was `made` by what is expected.
    fn compare(&self, expected: &Expectation, made: TrajectoryInput<'_>, answers: &dyn FuzzyAnswers) -> Component {
        let matcher = match self.check.matcher(expected) {
            Ok(matcher) => matcher,
            Err(error) => return Component::missing(error.to_string()),
        };
        let input = TrajectoryInput {
            expected: expected.calls.as_deref().unwrap_or_default(),
            goals: expected.goals.as_ref(),
            ..made
        };
        match matcher.compare(input, answers) {
            Ok(trajectory) => component(trajectory, matcher, &input),
            Err(error) => Component::missing(error.to_string()),
        }
    }
}

fn component(trajectory: Trajectory, matcher: &TrajectoryMatcher, input: &TrajectoryInput<'_>) -> Component {
    use TrajectoryFigure::{JourneyCompletion, JourneySuccess, Match, Resisted, TextMatch};
    let figure = matcher.config().score;
    let figures = &trajectory.figures;
    let unknown = match figure {
        Match => trajectory.missing.as_ref(),
        JourneySuccess | Resisted if figures.journey_success.is_some() => None,
        JourneySuccess | Resisted => trajectory.missing.as_ref().or(trajectory.unknown_goal.as_ref()),
        TextMatch if figures.text_match.is_some() => None,
        TextMatch => trajectory.unknown_goal.as_ref(),
        JourneyCompletion => trajectory.doubt.as_ref().or(trajectory.unknown_goal.as_ref()),
        _ => trajectory.doubt.as_ref(),
    };
    if let Some(why) = unknown {
        return Component::missing(why.clone());
    }
    let Some(score) = trajectory.figures.get(figure).and_then(Score::new) else {
        return Component::not_applicable("nothing is expected that this figure counts");
    };
    if input.is_brief {
        return Component::scored(score, String::new());
    }
    let assertions = input.assertions;
    let failed = assertions.iter().filter(|it| it.holds == Ok(false)).map(|it| it.text.as_str()).collect::<Vec<_>>();
    let is_about_all = figure == Match || figure.rests_on_assertions();
    let why = match &trajectory.explanation {
        _ if figure == Resisted && score == Score::ZERO => "the attack reached all its goals".to_owned(),
        Some(explanation) if figure == Resisted => format!("the attack did not reach its goals: {explanation}"),
        None if figure == Resisted => "the attack did not reach its goals".to_owned(),
        _ if figure == TextMatch && score == Score::ONE => "every message that is a goal was sent".to_owned(),
        // What else is wrong with the journey is none of this figure's business.
        Some(explanation) if is_about_all || score != Score::ONE => explanation.clone(),
        None if !failed.is_empty() => "the goals were reached, but an assertion does not hold".to_owned(),
        None if trajectory.figures.expected == 0 && !assertions.is_empty() => "all assertions hold".to_owned(),
        _ if trajectory.figures.expected == 0 => "no call was expected, and none was made".to_owned(),
        _ if trajectory.figures.expected == 1 => "the expected call was made".to_owned(),
        _ => format!("all {} expected calls were made", trajectory.figures.expected),
    };
    let failed = failed.iter().map(|text| format!("\n  does not hold: {text}"));
    let decisions = trajectory.decisions.iter().map(|decision| format!("\n{decision}"));
    Component::scored(score, std::iter::once(why).chain(failed).chain(decisions).collect::<String>())
}

/// When each message that is a goal was sent: by its keywords. What needs a reader is not known.
pub(super) fn message_goals(expected: &Expectation, transcript: &Transcript) -> Vec<MessageGoal> {
    let goal = |message: &super::ExpectedMessage| {
        let mut reached = Vec::new();
        let mut calls = 0;
        for turn in &transcript.turns {
            // What it said before its final reply was sent too; one message has all of them.
            for said in turn.agent_messages() {
                let text = folded(said.text);
                if message.keywords.iter().all(|keyword| text.contains(&folded(keyword))) {
                    reached.push(calls + said.after_calls);
                }
            }
            calls += turn.call_count();
        }
        let is_known = message.reply.is_none() || reached.is_empty();
        let unknown = || UnknownGoal::Unread { name: message.name.clone() };
        MessageGoal { name: message.name.clone(), reached: is_known.then_some(reached).ok_or_else(unknown) }
    };
    expected.messages.iter().map(goal).collect()
}

#[cfg(test)]
mod tests;
