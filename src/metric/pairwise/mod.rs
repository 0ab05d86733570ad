//! Which of two conversations serves the user better, asked in both orders: judges favour the one that they read first, or last.

mod letters;
mod verdict;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::judged::{JudgeOptions, NO_JUDGE, SPREAD, reasons, spread, stood_before};
use super::options::{JudgeUse, MetricOptions, OptionsProblem};
use super::{ExpectedTurn, Metric, MetricInput, ReplyError};
use crate::evidence::{Judgement, Observed, Question, QuestionTo};
use crate::prompt::{PairView, PromptError, Templates};
use crate::score::{Component, Dimension, Score, Weight};
pub use letters::letter_alternatives;
use verdict::Preference;

/// `pairwise`: whether the conversation is better than another one: that of the `reference` agent, or the one that
/// `expected.reply` of the lines makes. 1 where it is better, 0 where the other is, 0.5 where neither is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(title = "pairwise metric")]
pub struct PairwiseConfig {
    /// By what one is better than the other.
    #[schemars(regex(pattern = r"\S"))]
    pub criteria: String,
    /// How judges are asked. `strict` is trpc-agent-go's verifier: each turn is asked about once, the agent's reply first, and both
    /// replies are graded with letters that are weighted by their probabilities.
    pub judging: JudgeOptions,
}

impl Default for PairwiseConfig {
    fn default() -> PairwiseConfig {
        let criteria = "The assistant helps the user get what they want, politely and directly.".to_owned();
        PairwiseConfig { criteria, judging: JudgeOptions::default() }
    }
}

/// The most characters of a reason that a judge is asked for.
const MAX_REASON: u32 = 800;

/// Which conversation the judge reads first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    AgentFirst,
    OtherFirst,
}

impl MetricOptions for PairwiseConfig {
    fn metric(&self, weight: Weight, _label: &str) -> Option<Box<dyn Metric>> {
        Some(Box::new(PairwiseMetric { weight, config: self.clone() }))
    }

    fn judge_use() -> JudgeUse {
        JudgeUse::ByTemplate
    }

    fn options_problem(&self) -> Option<OptionsProblem> {
        if self.criteria.trim().is_empty() {
            let message = "pairwise needs `criteria`: by what one conversation is better than the other";
            return Some(OptionsProblem::new("criteria", message));
        }
        let message = "pairwise takes no `unknown`: whatever is no verdict is missing";
        self.judging.unknown.is_some().then(|| OptionsProblem::new("judging", message))
    }
}

impl Order {
    const BOTH: [Order; 2] = [Order::AgentFirst, Order::OtherFirst];
}

/// The messages of a conversation: who wrote each, and its text.
type Messages<'a> = Vec<(&'static str, &'a str)>;

/// Most replies of one order can't be used: why each of them can't.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", reasons(.0))]
struct UnusableOrder(Vec<String>);

/// The usable replies of one order.
struct OrderScore {
    /// The mean of their scores.
    mean: f64,
    /// The last one's reason.
    reason: String,
    /// Whether they disagree.
    differs: bool,
}

/// The part before the turn in the id of a question for letters.
const LETTERS_OF: &str = "letters@";

/// One turn beside another reply to the same message.
struct ComparedTurn<'a> {
    turn: u32,
    /// The agent's; `None` where it did not reply.
    own: Option<Messages<'a>>,
    other: Messages<'a>,
}

/// The metric.
pub(super) struct PairwiseMetric {
    pub(super) weight: Weight,
    pub(super) config: PairwiseConfig,
}

impl PairwiseMetric {
    /// The beginning of its questions' ids: the same for the same options.
    fn prefix(&self) -> String {
        let digest = Sha256::digest(serde_json::to_string(&self.config).unwrap_or_default());
        let short: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        format!("pairwise-{short}-")
    }

    fn id(&self, order: Order) -> String {
        let first = if order == Order::AgentFirst { "agentFirst" } else { "otherFirst" };
        format!("{}{first}", self.prefix())
    }

    /// The agent's conversation and the other one; else the score that needs no judge.
    fn pair<'a>(&self, input: &'a MetricInput<'_>) -> Result<(Messages<'a>, Messages<'a>), Component> {
        // A message that the reference agent did not answer is part of its conversation.
        let is_one = |line: &&ExpectedTurn| input.is_of_reference || line.expected.reply.is_some();
        let lines: Vec<&ExpectedTurn> = input.lines.iter().filter(is_one).collect();
        if lines.is_empty() {
            let why = "there is no other conversation: the case has no `reference`, and no line an `expected.reply`";
            return Err(Component::not_applicable(why));
        }
        if lines.iter().all(|line| line.expected.reply.is_none()) {
            return Err(Component::missing("the reference agent never replied"));
        }
        if !input.judge.is_there {
            return Err(Component::missing(NO_JUDGE));
        }
        if !input.transcript.has_reply() {
            return Err(Component::scored(Score::ZERO, "the agent never replied"));
        }
        let mut other = Messages::new();
        for line in &lines {
            other.push(("user", line.say));
            other.extend(line.expected.reply.as_deref().map(|reply| ("assistant", reply)));
        }
        // Exchanges of which nothing is expected would be compared with nothing.
        let is_compared = |turn: u32| input.is_of_reference || lines.iter().any(|line| line.turn == turn);
        let mut own = Messages::new();
        for turn in input.transcript.turns.iter().filter(|turn| is_compared(turn.number)) {
            own.extend((!turn.is_greeting()).then_some(("user", turn.user.as_str())));
            own.extend(turn.agent.as_deref().map(|reply| ("assistant", reply)));
        }
        Ok((own, other))
    }

    /// The turns of which another reply is known: the agent's exchange, and the one with that reply.
    fn exchanges<'a>(&self, input: &'a MetricInput<'_>) -> Result<Vec<ComparedTurn<'a>>, Component> {
        let one = |line: &'a ExpectedTurn| {
            let expected = line.expected.reply.as_deref()?;
            let turn = input.transcript.turns.iter().find(|turn| turn.number == line.turn);
            let own =
                turn.and_then(|turn| Some(vec![("user", turn.user.as_str()), ("assistant", turn.agent.as_deref()?)]));
            Some(ComparedTurn { turn: line.turn, own, other: vec![("user", line.say), ("assistant", expected)] })
        };
        let all: Vec<ComparedTurn<'_>> = input.lines.iter().filter_map(one).collect();
        match (all.is_empty(), input.judge.is_there) {
            (true, _) => Err(Component::not_applicable("no reply is expected of a turn")),
            (false, false) => Err(Component::missing(NO_JUDGE)),
            (false, true) => Ok(all),
        }
    }

    fn letters_id(&self, turn: u32) -> String {
        format!("{}{LETTERS_OF}{turn}", self.prefix())
    }

    /// The mean of the turns, each graded with letters.
    fn by_letters(&self, input: &MetricInput<'_>, judgements: &[Judgement]) -> Component {
        let exchanges = match self.exchanges(input) {
            Ok(exchanges) => exchanges,
            Err(component) => return component,
        };
        let (mut scores, mut shown, mut is_unstable) = (Vec::new(), Vec::new(), false);
        for ComparedTurn { turn, own, .. } in &exchanges {
            let id = self.letters_id(*turn);
            let of_turn: Vec<&Judgement> = judgements.iter().filter(|judgement| judgement.question == id).collect();
            let score = match own {
                None => Ok((0.0, false)),
                Some(_) => letters::score_samples(&of_turn, self.config.judging.sample_from),
            };
            match score {
                Ok((score, differs)) => {
                    is_unstable |= differs;
                    shown.push(format!("{score:.2} for turn {turn}"));
                    scores.push(score);
                }
                Err(error) => return Component::missing(format!("turn {turn}: {error}")),
            }
        }
        let mean = scores.iter().sum::<f64>() / scores.len() as f64;
        let note = if is_unstable { " (unstable: the samples differ)" } else { "" };
        Component::scored(Score::clamped(mean), format!("{}{note}", shown.join(", "))).unstable_if(is_unstable)
    }

    /// How often the agent's conversation is better by the usable replies of one order, 0 to 1.
    fn score_order(
        &self,
        order: Order,
        judgements: &[Judgement],
        first: &Messages<'_>,
        second: &Messages<'_>,
    ) -> Result<OrderScore, UnusableOrder> {
        let id = self.id(order);
        let own: Vec<&Judgement> = judgements.iter().filter(|judgement| judgement.question == id).collect();
        let (mut scores, mut reason, mut why) = (Vec::new(), String::new(), Vec::new());
        for judgement in &own {
            let read = match &judgement.reply {
                Observed::Failed(error) => Err(error.clone()),
                Observed::Seen(raw) => verdict::read(raw, first, second).map_err(|error| error.to_string()),
            };
            match read {
                Ok(read) => {
                    scores.push(match (read.better, order) {
                        (Preference::Equal, _) => 0.5,
                        (Preference::First, Order::AgentFirst) | (Preference::Second, Order::OtherFirst) => 1.0,
                        _ => 0.0,
                    });
                    reason = read.reason;
                }
                Err(error) => why.push(error),
            }
        }
        if own.is_empty() {
            why.push("the judge was not asked".to_owned());
        }
        match scores.len() * 2 > own.len() {
            true => Ok(OrderScore {
                mean: scores.iter().sum::<f64>() / scores.len() as f64,
                reason,
                differs: spread(&scores) > SPREAD,
            }),
            false => Err(UnusableOrder(why)),
        }
    }
}

impl PairwiseMetric {
    fn questions_for_letters(
        &self,
        input: &MetricInput<'_>,
        templates: &Templates,
    ) -> Result<Vec<Question>, PromptError> {
        let mut all = Vec::new();
        for ComparedTurn { turn, own, other } in self.exchanges(input).unwrap_or_default() {
            let Some(own) = own else { continue };
            let criteria = &self.config.criteria;
            let view = PairView { criteria, first: &own, second: &other, facts: input.facts, context: &input.context };
            let rendered = templates.verifier(&view)?;
            all.extend((1..=self.config.judging.samples(input)).map(|sample| Question {
                id: self.letters_id(turn),
                metric: self.name().to_owned(),
                judge: None,
                sample,
                samples: self.config.judging.samples(input),
                prompt: rendered.prompt.clone(),
                schema: letters::reply_schema(),
                temperature: input.judge.temperature,
                to: QuestionTo::Judge,
                cuts: rendered.cuts.clone(),
            }));
        }
        Ok(all)
    }
}

impl Metric for PairwiseMetric {
    fn name(&self) -> &'static str {
        "pairwise"
    }

    fn questions(&self, input: &MetricInput<'_>, templates: &Templates) -> Result<Vec<Question>, PromptError> {
        if self.config.judging.strict {
            return self.questions_for_letters(input, templates);
        }
        let Ok((own, other)) = self.pair(input) else { return Ok(Vec::new()) };
        let (mut all, samples) = (Vec::new(), self.config.judging.samples(input));
        for order in Order::BOTH {
            let (first, second) = if order == Order::AgentFirst { (&own, &other) } else { (&other, &own) };
            let criteria = &self.config.criteria;
            let rendered =
                templates.pair(&PairView { criteria, first, second, facts: input.facts, context: &input.context })?;
            let question = |sample| Question {
                id: self.id(order),
                metric: self.name().to_owned(),
                judge: None,
                sample,
                samples,
                prompt: rendered.prompt.clone(),
                schema: verdict::reply_schema(),
                temperature: input.judge.temperature,
                to: QuestionTo::Judge,
                cuts: rendered.cuts.clone(),
            };
            all.extend((1..=samples).map(question));
        }
        Ok(all)
    }

    fn reads(&self, question: &Question) -> bool {
        question.id.starts_with(&self.prefix())
    }

    fn read(&self, input: &MetricInput<'_>, question: &Question, raw: &str) -> Result<(), ReplyError> {
        if self.config.judging.strict {
            return letters::read(raw);
        }
        let Ok((own, other)) = self.pair(input) else { return Ok(()) };
        if stood_before(&question.prompt, raw) {
            return Err(ReplyError::Quoted);
        }
        let is_agent_first = question.id == self.id(Order::AgentFirst);
        let (first, second) = if is_agent_first { (&own, &other) } else { (&other, &own) };
        verdict::read(raw, first, second).map(drop)
    }

    fn score(&self, input: &MetricInput<'_>, judgements: &[Judgement]) -> Dimension {
        let of_pair = |(own, other): (Messages<'_>, Messages<'_>)| {
            let forth = self.score_order(Order::AgentFirst, judgements, &own, &other)?;
            let back = self.score_order(Order::OtherFirst, judgements, &other, &own)?;
            let turns = (forth.mean - back.mean).abs() > SPREAD;
            let differs = forth.differs || back.differs;
            let by_order =
                format!("{:.2} where it is read first, {:.2} where it is read second", forth.mean, back.mean);
            let note = match (turns, differs) {
                (true, false) => format!(" (unstable: {by_order})"),
                (_, true) => format!(" (unstable: the samples differ; {by_order})"),
                (false, false) => " (in both orders)".to_owned(),
            };
            let score = Score::clamped((forth.mean + back.mean) / 2.0);
            Ok(Component::scored(score, format!("{}{note}", forth.reason)).unstable_if(turns || differs))
        };
        let component = match self.pair(input) {
            _ if self.config.judging.strict => self.by_letters(input, judgements),
            Ok(pair) => of_pair(pair).unwrap_or_else(|why: UnusableOrder| Component::missing(why.to_string())),
            Err(component) => component,
        };
        Dimension::new(self.name(), self.weight, component)
    }
}

#[cfg(test)]
mod tests;
