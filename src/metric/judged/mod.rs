//! What the metrics of judges have in common: a question about items, the judges' verdicts on them, and the score.
//!
//! Invariants: an item whose verdict nobody can use is missing, never 0; a verdict rests on words that stand in what the judge
//! was shown, or on turns that it read whole; samples that disagree are shown as such.

mod alternatives;
mod blocks;
mod citations;
mod options;
mod quotes;
mod reply;
mod samples;
mod scale;
#[cfg(test)]
mod tests;
mod units;

pub use alternatives::score_alternatives;
pub use blocks::{Block, blocks, validity};
pub use citations::Citations;
pub(super) use citations::citations_schema;
pub(super) use options::said_before;
pub use options::{JudgeOptions, UnknownVerdict};
pub use scale::{DecisionError, Scale, Support, Verdict, VerdictError};
pub use units::{units, windows};

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::tasks::GOOD_ABOVE;
use super::{Metric, MetricInput, ReplyError, Vote};
use crate::evidence::{Condition, Judgement, Question, QuestionTo, ReplySchema, ScoreAlternative, Transcript, Turn};
use crate::prompt::{PromptError, QuestionView, Templates, ViewItem};
use crate::score::{Component, Dimension, Item, Score, Weight, majority, weighted_mean};
use crate::text::DenseText;
pub(super) use quotes::{Shown, is_quoted_from};
use reply::read_verdicts;
use samples::Samples;
pub(super) use samples::{SPREAD, few, reasons, spread};

/// How many problems of one reply are named.
const MOST_PROBLEMS: usize = 3;

/// Why nothing is judged where rules stand in for the judge.
pub(super) const NO_JUDGE: &str = "no model judges: the rules of `scripted` know only tasks and tone";

/// Something that a judge decides on.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeItem {
    /// Its id, unique among those of its question.
    pub id: String,
    /// The item to decide.
    pub text: String,
    /// The turn that it is about, where it is about one.
    pub turn: Option<u32>,
    /// How much it counts among the others.
    pub weight: Weight,
}

impl JudgeItem {
    /// An item that counts as much as any other.
    pub fn new(id: impl Into<String>, text: impl Into<String>, turn: Option<u32>) -> JudgeItem {
        JudgeItem { id: id.into(), text: text.into(), turn, weight: Weight::ONE }
    }
}

/// The subject of a question.
#[derive(Debug, Clone, PartialEq)]
pub enum JudgeItems {
    /// These.
    Given(Vec<JudgeItem>),
    /// Those that the judge finds.
    Found,
    /// Nothing: nobody is asked, and this is the score.
    Nothing(Component),
}

/// The words on which a metric's verdicts may rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EvidenceRule {
    /// Whatever the judge was shown.
    Any,
    /// Not the agent's: neither its replies nor what it wrote into the calls of tools.
    NotTheAgents,
    /// The reply that the verdict is about.
    TheReply,
    /// What certain tools returned in the turn that the verdict is about.
    Retrieved,
}

/// The turns in which the user spoke; in other systems' dialects those that the agent answered.
pub(super) fn exchanges(transcript: &Transcript, is_strict: bool) -> Vec<&Turn> {
    let is_one = |turn: &&Turn| !turn.is_greeting() && (turn.agent.is_some() || !is_strict);
    transcript.turns.iter().filter(is_one).collect()
}

/// The score of a turn to which the agent gave no reply, for which no judge is needed; `None` of one that it answered.
pub(super) fn unanswered(input: &MetricInput<'_>, turn: Option<u32>) -> Option<Component> {
    let turn = turn?;
    match input.transcript.turns.iter().find(|known| known.number == turn) {
        Some(known) if known.agent.is_some() => None,
        None if !input.agent_ended_it => Some(Component::missing(format!("turn {turn} was not held"))),
        _ => Some(Component::scored(Score::ZERO, format!("the agent gave no reply in turn {turn}"))),
    }
}

/// Whether a reply, or one of its verdicts, is nobody's: it stood in the prompt before the judge was asked, whatever spaces and lines
/// it is written with.
pub(super) fn stood_before(prompt: &str, raw: &str) -> bool {
    let prompt = DenseText::new(prompt);
    let verdicts = |reply: Value| reply.get("verdicts").and_then(Value::as_array).cloned().unwrap_or_default();
    prompt.contains(raw)
        || serde_json::from_str(raw)
            .is_ok_and(|reply| verdicts(reply).iter().any(|it| prompt.contains(&it.to_string())))
}

/// A metric of judges: what it asks, and by which scale.
pub(super) trait JudgeMeasure: Serialize + Send + Sync {
    /// The metric's name.
    const NAME: &'static str;
    /// The template of its question.
    const TEMPLATE: &'static str;

    /// How the judge decides.
    fn scale(&self) -> Scale {
        Scale::YesNo
    }

    /// What its verdicts may rest on.
    fn evidence(&self) -> EvidenceRule {
        EvidenceRule::Any
    }

    /// The tools whose results are evidence where only what was retrieved is.
    fn retrieving_tools(&self) -> &[String] {
        &[]
    }

    /// What it decides on.
    fn items(&self, input: &MetricInput<'_>) -> JudgeItems;

    /// How judges are asked.
    fn judging(&self) -> &JudgeOptions;

    /// What its question shows beside the conversation, as `options`.
    fn shown(&self, _input: &MetricInput<'_>) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// The score of an item for which no judge is needed; `None` of one that a judge decides on.
    fn known(&self, input: &MetricInput<'_>, item: &JudgeItem) -> Option<Component> {
        unanswered(input, item.turn).filter(|_| !self.judging().strict)
    }

    /// What it comes to where the agent never replied.
    fn of_silence(&self) -> Component {
        Component::scored(Score::ZERO, "the agent never replied")
    }

    /// Changes what the verdicts on the items came to, where one says something of another.
    fn settle(&self, _items: &mut Vec<Item>) {}

    /// The score where the judge finds no items, or no verdict on them is left.
    fn of_nothing(&self) -> Component {
        Component::missing("no verdict can be used")
    }

    /// Whether a score is the mean of all that the judge could have given, by their probabilities.
    fn is_weighted(&self) -> bool {
        false
    }

    /// What one conversation's items come to.
    fn mean_of(&self, items: &[&Item]) -> Component {
        weighted_mean(items.iter().map(|item| (item.weight, item.label.as_str(), &item.component)))
    }

    /// Below this score the judge is asked a second time, and the second verdict counts.
    fn second_below(&self) -> Option<Score> {
        None
    }
}

/// The item that a verdict is on, where items were given.
fn item_of<'i>(verdict: &Verdict, items: &'i [JudgeItem]) -> Option<&'i JudgeItem> {
    items.iter().find(|item| item.id == verdict.id)
}

/// A metric of judges.
pub(super) struct JudgedMetric<M> {
    pub(super) weight: Weight,
    pub(super) measure: M,
}

impl<M: JudgeMeasure> JudgedMetric<M> {
    /// The id of its question: the same for the same metric with the same options.
    fn question_id(&self) -> String {
        let options = serde_json::to_string(&self.measure).unwrap_or_default();
        let digest = Sha256::digest(options.as_bytes());
        let short: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        format!("{}-{short}", M::NAME)
    }

    /// Whether a judge is asked about an item: it is about the conversation, or about a turn that the agent answered.
    fn is_asked(&self, input: &MetricInput<'_>, item: &JudgeItem) -> bool {
        self.measure.known(input, item).is_none()
    }

    /// What there is to ask about; else the score that needs no judge.
    fn items(&self, input: &MetricInput<'_>) -> Result<Vec<JudgeItem>, Component> {
        if !input.judge.is_there {
            return Err(Component::missing(NO_JUDGE));
        }
        // No original has a score of no turns.
        if input.transcript.turns.is_empty() && self.measure.judging().strict {
            return Err(Component::missing("there are no turns"));
        }
        if !input.transcript.has_reply() {
            return Err(self.measure.of_silence());
        }
        match self.measure.items(input) {
            JudgeItems::Given(items) if items.is_empty() => Err(Component::not_applicable("there is nothing to judge")),
            JudgeItems::Given(items) => Ok(items),
            JudgeItems::Found => Ok(Vec::new()),
            JudgeItems::Nothing(component) => Err(component),
        }
    }
}

impl<M: JudgeMeasure> Metric for JudgedMetric<M> {
    fn name(&self) -> &'static str {
        M::NAME
    }

    fn questions(&self, input: &MetricInput<'_>, templates: &Templates) -> Result<Vec<Question>, PromptError> {
        self.of_part(input, |input| self.questions_of(input, templates))
    }

    fn reads(&self, question: &Question) -> bool {
        question.id == self.question_id()
    }

    fn read(&self, input: &MetricInput<'_>, question: &Question, raw: &str) -> Result<(), ReplyError> {
        if stood_before(&question.prompt, raw) {
            return Err(ReplyError::Quoted);
        }
        self.of_part(input, |input| self.read_by(input, raw))
    }

    fn score(&self, input: &MetricInput<'_>, judgements: &[Judgement]) -> Dimension {
        self.of_part(input, |input| self.score_of(input, judgements))
    }

    fn vote(&self) -> Vote {
        match self.measure.scale() {
            Scale::YesNo | Scale::Support => Vote::Majority(Score::clamped(0.5)),
            Scale::Ten => Vote::Mean,
        }
    }

    fn of_items(&self, items: &[Item]) -> Component {
        self.mean(items)
    }
}

impl<M: JudgeMeasure> JudgedMetric<M> {
    /// Does something with the part of the conversation that is judged.
    fn of_part<T>(&self, input: &MetricInput<'_>, then: impl FnOnce(&MetricInput<'_>) -> T) -> T {
        match self.measure.judging().judged_part(input.transcript) {
            Some(transcript) => then(&MetricInput { transcript: &transcript, ..input.clone() }),
            None => then(input),
        }
    }

    fn questions_of(&self, input: &MetricInput<'_>, templates: &Templates) -> Result<Vec<Question>, PromptError> {
        let Ok(mut items) = self.items(input) else { return Ok(Vec::new()) };
        let finds_items = items.is_empty();
        items.retain(|item| self.is_asked(input, item));
        if items.is_empty() && !finds_items {
            return Ok(Vec::new());
        }
        let options = self.measure.shown(input);
        fn view(item: &JudgeItem) -> ViewItem<'_> {
            ViewItem { id: &item.id, text: &item.text, turn: item.turn }
        }
        let scale = self.measure.scale();
        let rendered = templates.question(
            M::TEMPLATE,
            &QuestionView {
                items: &items.iter().map(view).collect::<Vec<_>>(),
                scale: scale.as_str(),
                finds_items,
                needs_quotes: self.measure.judging().needs_evidence(),
                options: &options,
                facts: input.facts,
                user_knew_facts: input.condition == Condition::WithFacts,
                context: &input.context,
                transcript: input.transcript,
            },
        )?;
        let schema = ReplySchema {
            wants_alternatives: self.measure.is_weighted() && items.len() == 1,
            ..reply::reply_schema(scale, &items)
        };
        let least = if self.measure.second_below().is_some() { 2 } else { 1 };
        let samples = self.measure.judging().samples(input).max(least);
        let question = |sample| Question {
            id: self.question_id(),
            metric: M::NAME.to_owned(),
            judge: None,
            sample,
            samples,
            prompt: rendered.prompt.clone(),
            schema: schema.clone(),
            temperature: input.judge.temperature,
            to: QuestionTo::Judge,
            cuts: rendered.cuts.clone(),
        };
        Ok((1..=samples).map(question).collect())
    }

    fn read_by(&self, input: &MetricInput<'_>, raw: &str) -> Result<(), ReplyError> {
        let mut items = self.items(input).unwrap_or_default();
        items.retain(|item| self.is_asked(input, item));
        let (verdicts, mut problems) = read_verdicts(raw, self.measure.scale(), &items, self.measure.judging())?;
        if self.measure.judging().needs_evidence() {
            let shown = Shown::new(input, self.measure.evidence(), self.measure.retrieving_tools());
            problems.extend(verdicts.iter().filter_map(|verdict| shown.problem(verdict, item_of(verdict, &items))));
        }
        if problems.is_empty() { Ok(()) } else { Err(ReplyError::InPart(reply::problems_of(problems))) }
    }

    fn score_of(&self, input: &MetricInput<'_>, judgements: &[Judgement]) -> Dimension {
        let all = match self.items(input) {
            Ok(items) => items,
            Err(component) => return Dimension::new(M::NAME, self.weight, component),
        };
        let items: Vec<JudgeItem> = all.iter().filter(|item| self.is_asked(input, item)).cloned().collect();
        let id = self.question_id();
        let own: Vec<&Judgement> = judgements.iter().filter(|judgement| judgement.question == id).collect();
        let options = self.measure.judging();
        let shown = options
            .needs_evidence()
            .then(|| Shown::new(input, self.measure.evidence(), self.measure.retrieving_tools()));
        let check = |verdict: Verdict| {
            let problem = shown.as_ref().and_then(|shown| shown.problem(&verdict, item_of(&verdict, &items)));
            match problem {
                Some(problem) => Verdict { decision: Err(VerdictError::Evidence(problem)), ..verdict },
                None => verdict,
            }
        };
        let read = |raw: &str, alternatives: &[ScoreAlternative]| -> Result<Vec<Verdict>, ReplyError> {
            let (verdicts, _) = read_verdicts(raw, self.measure.scale(), &items, options)?;
            let alternatives = if self.measure.is_weighted() { alternatives } else { &[] };
            Ok(verdicts.into_iter().map(check).map(|verdict| weighted(verdict, alternatives)).collect())
        };
        let samples = samples::samples(&own, read);
        let how = (self.measure.scale(), self.measure.second_below());
        let (scored, component) = match all.is_empty() {
            true => self.of_found(&samples, how),
            false if options.strict && options.sample_from.is_some() => {
                let line = options.sample_from.unwrap_or(Score::ONE);
                self.of_whole_samples(&samples, (&all, input), (how, line))
            }
            false => {
                let item = |item: &JudgeItem| match self.measure.known(input, item) {
                    Some(component) => samples::item(item, component),
                    None => samples.item(item, how, options),
                };
                let mut scored: Vec<Item> = all.iter().map(item).collect();
                self.measure.settle(&mut scored);
                let component = self.mean(&scored);
                (scored, component)
            }
        };
        // Of a score from 0 to 10 hardly any is whole.
        let good_above = (self.measure.scale() == Scale::Ten).then_some(Score::clamped(GOOD_ABOVE));
        Dimension { items: scored, good_above, ..Dimension::new(M::NAME, self.weight, component) }
    }
}

/// A score as the mean of what it could have been.
fn weighted(verdict: Verdict, alternatives: &[ScoreAlternative]) -> Verdict {
    let Ok(Some(score)) = verdict.decision else { return verdict };
    let Some(mean) = alternatives::weighted(alternatives, score.get() * 10.0) else { return verdict };
    let reason =
        format!("{} ({:.0} of 10, {mean:.2} by the probabilities of all scores)", verdict.reason, score.get() * 10.0);
    Verdict { reason, decision: Ok(Some(Score::clamped(mean / 10.0))), ..verdict }
}

impl<M: JudgeMeasure> JudgedMetric<M> {
    /// The score where whole samples vote, turn by turn: the verdicts of the first sample of the side that wins.
    fn of_whole_samples(
        &self,
        samples: &Samples,
        (all, input): (&[JudgeItem], &MetricInput<'_>),
        (how, line): ((Scale, Option<Score>), Score),
    ) -> (Vec<Item>, Component) {
        let each: Vec<Samples> = samples.each().collect();
        let item = |samples: &Samples, item: &JudgeItem| match self.measure.known(input, item) {
            Some(component) => samples::item(item, component),
            None => samples.item(item, how, self.measure.judging()),
        };
        let of_turn = |turn: &[JudgeItem]| -> Vec<Item> {
            let of_sample = |sample: &Samples| turn.iter().map(|it| item(sample, it)).collect::<Vec<Item>>();
            let scored: Vec<(Vec<Item>, Score)> = each
                .iter()
                .map(of_sample)
                .filter_map(|items| self.mean(&items).score().map(|score| (items, score)))
                .collect();
            let scores: Vec<Score> = scored.iter().map(|(_, score)| *score).collect();
            match majority(&scores, line) {
                Some(found) => scored[found.representative].0.clone(),
                None => turn.iter().map(|it| item(samples, it)).collect(),
            }
        };
        let items: Vec<Item> = all.chunk_by(|a, b| a.turn == b.turn).flat_map(of_turn).collect();
        let component = self.mean(&items);
        (items, component)
    }

    /// The score where the judge finds the items itself: each sample finds others, so each has a score of its own, and their mean
    /// counts. The items that are shown are those of the sample that is nearest to it.
    fn of_found(&self, samples: &Samples, how: (Scale, Option<Score>)) -> (Vec<Item>, Component) {
        let options = self.measure.judging();
        let score = |sample: Samples| {
            let items: Vec<Item> = sample.found().iter().map(|item| sample.item(item, how, options)).collect();
            let component = if items.is_empty() { self.measure.of_nothing() } else { self.mean(&items) };
            (items, component)
        };
        let each: Vec<(Vec<Item>, Component)> = samples.each().map(score).collect();
        samples::mean_of_samples(each, samples.unusable(), options)
    }

    /// The mean of the items; what the original leaves out of its mean is left out in its dialect.
    fn mean(&self, items: &[Item]) -> Component {
        let is_counted = |item: &&Item| !(self.measure.judging().strict && item.component.is_missing());
        let counted: Vec<&Item> = items.iter().filter(is_counted).collect();
        if let ([only], false) = (items, counted.is_empty()) {
            return only.component.clone();
        }
        match self.measure.mean_of(&counted) {
            Component::Scored { score, .. } => {
                let good = counted.iter().filter(|item| item.component.score() == Some(Score::ONE)).count();
                let of = counted.iter().filter(|item| item.component.score().is_some()).count();
                Component::scored(score, format!("{good} of {of} hold"))
            }
            _ if counted.is_empty() => self.measure.of_nothing(),
            other => other,
        }
    }
}
