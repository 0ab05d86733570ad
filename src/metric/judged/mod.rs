//! What the metrics of judges have in common: a question about items, the judges' verdicts on them, and the score.
//!
//! Invariants: an item whose verdict nobody can use is missing, never 0; a verdict rests on words that stand in what the judge
//! was shown, or on turns that it read whole; samples that disagree are shown as such.

mod blocks;
mod options;
mod panel;
mod quotes;
mod reply;
mod scale;
mod units;

pub use blocks::{Block, blocks, validity};
pub use options::{JudgeOptions, UnknownVerdict};
pub use scale::{Scale, Support, Verdict};
pub use units::{units, windows};

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::{Metric, MetricInput, ReplyError};
use crate::evidence::{Condition, Judgement, Question, QuestionTo, Transcript, Turn};
use crate::prompt::{PromptError, QuestionView, Templates, ViewItem};
use crate::score::{Component, Dimension, Item, Score, Weight, weighted_mean};
use quotes::Shown;
use reply::read_verdicts;

/// Why nothing is judged where rules stand in for the judge.
pub(super) const NO_JUDGE: &str = "no model judges: the rules of `scripted` know only tasks and tone";

/// Something that a judge decides on.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeItem {
    /// Its id, unique among those of its question.
    pub id: String,
    /// What is to be decided.
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

/// What a question is about.
#[derive(Debug, Clone, PartialEq)]
pub enum JudgeItems {
    /// These.
    Given(Vec<JudgeItem>),
    /// Those that the judge finds.
    Found,
    /// Nothing: nobody is asked, and this is the score.
    Nothing(Component),
}

/// The turns in which the agent answered the user.
pub(super) fn replies(transcript: &Transcript) -> Vec<&Turn> {
    transcript.turns.iter().filter(|turn| !turn.is_greeting() && turn.agent.is_some()).collect()
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

    /// What it decides on.
    fn items(&self, input: &MetricInput<'_>) -> JudgeItems;

    /// How judges are asked.
    fn judging(&self) -> &JudgeOptions;

    /// The score where the judge finds no items, or no verdict on them is left.
    fn of_nothing(&self) -> Component {
        Component::missing("no verdict can be used")
    }

    /// Below this score the judge is asked a second time, and the second verdict counts.
    fn second_below(&self) -> Option<Score> {
        None
    }
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
            return Err(Component::scored(Score::ZERO, "the agent never replied"));
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
        let Ok(items) = self.items(input) else { return Ok(Vec::new()) };
        let options = serde_json::to_value(&self.measure).unwrap_or_default();
        fn view(item: &JudgeItem) -> ViewItem<'_> {
            ViewItem { id: &item.id, text: &item.text, turn: item.turn }
        }
        let scale = self.measure.scale();
        let rendered = templates.question(
            M::TEMPLATE,
            &QuestionView {
                items: &items.iter().map(view).collect::<Vec<_>>(),
                scale: scale.as_str(),
                finds_items: items.is_empty(),
                needs_quotes: self.measure.judging().needs_evidence(),
                options: &options,
                facts: input.facts,
                user_knew_facts: input.condition == Condition::WithFacts,
                context: &input.context,
                transcript: input.transcript,
            },
        )?;
        let schema = reply::reply_schema(scale, &items);
        let question = |sample| Question {
            id: self.question_id(),
            metric: M::NAME.to_owned(),
            sample,
            prompt: rendered.prompt.clone(),
            schema: schema.clone(),
            temperature: input.judge.temperature,
            to: QuestionTo::Judge,
            cuts: rendered.cuts.clone(),
        };
        let least = if self.measure.second_below().is_some() { 2 } else { 1 };
        Ok((1..=self.measure.judging().samples(input).max(least)).map(question).collect())
    }

    fn reads(&self, question: &Question) -> bool {
        question.id == self.question_id()
    }

    fn read(&self, input: &MetricInput<'_>, _question: &Question, raw: &str) -> Result<(), ReplyError> {
        let items = self.items(input).unwrap_or_default();
        let verdicts = read_verdicts(raw, self.measure.scale(), &items, self.measure.judging())?;
        if !self.measure.judging().needs_evidence() {
            return Ok(());
        }
        let shown = Shown::new(input, self.measure.scale());
        let problems: Vec<String> = verdicts.iter().filter_map(|verdict| shown.problem(verdict)).collect();
        if problems.is_empty() { Ok(()) } else { Err(ReplyError::Evidence(problems)) }
    }

    fn score(&self, input: &MetricInput<'_>, judgements: &[Judgement]) -> Dimension {
        let items = match self.items(input) {
            Ok(items) => items,
            Err(component) => return Dimension::new(M::NAME, self.weight, component),
        };
        let id = self.question_id();
        let own: Vec<&Judgement> = judgements.iter().filter(|judgement| judgement.question == id).collect();
        let options = self.measure.judging();
        let shown = options.needs_evidence().then(|| Shown::new(input, self.measure.scale()));
        let check = |verdict: Verdict| match shown.as_ref().and_then(|shown| shown.problem(&verdict)) {
            Some(problem) => Verdict { decision: Err(problem), ..verdict },
            None => verdict,
        };
        let read = |raw: &str| -> Result<Vec<Verdict>, ReplyError> {
            let verdicts = read_verdicts(raw, self.measure.scale(), &items, options)?;
            Ok(verdicts.into_iter().map(check).collect())
        };
        let samples = panel::samples(&own, read);
        let items = match items.is_empty() {
            true => match samples.found() {
                Ok(found) if found.is_empty() => {
                    return Dimension::new(M::NAME, self.weight, self.measure.of_nothing());
                }
                Ok(found) => found,
                Err(why) => return Dimension::new(M::NAME, self.weight, Component::missing(why)),
            },
            false => items,
        };
        let scored: Vec<Item> = items
            .iter()
            .map(|item| samples.item(item, (self.measure.scale(), self.measure.second_below()), options))
            .collect();
        let component = self.mean(&scored);
        Dimension { items: scored, ..Dimension::new(M::NAME, self.weight, component) }
    }
}

impl<M: JudgeMeasure> JudgedMetric<M> {
    /// The mean of the items; what the original leaves out of its mean is left out in its dialect.
    fn mean(&self, items: &[Item]) -> Component {
        let is_left_out = |item: &&Item| !(self.measure.judging().strict && item.component.is_missing());
        let counted: Vec<&Item> = items.iter().filter(is_left_out).collect();
        if let ([only], false) = (items, counted.is_empty()) {
            return only.component.clone();
        }
        let parts = counted.iter().map(|item| (item.weight, item.label.as_str(), &item.component));
        match weighted_mean(parts) {
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
