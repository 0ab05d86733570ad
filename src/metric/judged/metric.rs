//! The [`Metric`] that every [`JudgeMeasure`] is: its question, and how replies to it are read.

use sha2::{Digest, Sha256};

use super::reply::{self, read_verdicts};
use super::{ItemVerdict, JudgeItem, JudgeItems, JudgeMeasure, NO_JUDGE, Scale, Shown, stood_before};
use crate::evidence::{Condition, Judgement, Question, QuestionTo, ReplySchema};
use crate::metric::{Metric, MetricInput, ReplyError, Vote};
use crate::prompt::{PromptError, QuestionView, Templates, ViewItem};
use crate::score::{Component, Dimension, Item, Score, Weight};

/// The item that a verdict is on, where items were given.
pub(super) fn item_of<'i>(verdict: &ItemVerdict, items: &'i [JudgeItem]) -> Option<&'i JudgeItem> {
    items.iter().find(|item| item.id == verdict.id)
}

fn view_items(items: &[JudgeItem]) -> Vec<ViewItem<'_>> {
    items.iter().map(|item| ViewItem { id: &item.id, text: &item.text, turn: item.turn }).collect()
}

/// A metric of judges.
pub(in crate::metric) struct JudgedMetric<M> {
    pub(in crate::metric) weight: Weight,
    pub(in crate::metric) measure: M,
}

impl<M: JudgeMeasure> JudgedMetric<M> {
    /// The evidence that the judge was shown with a question about these items.
    pub(super) fn shown(&self, input: &MetricInput<'_>, items: &[JudgeItem]) -> Shown {
        let (items, options) = (view_items(items), self.measure.template_options(input));
        let cut = self.view(input, &items, &options).cut_turns();
        let shown = Shown::new(input, self.measure.evidence(), self.measure.retrieving_tools(), cut);
        if self.measure.by_message() { shown.by_message(input) } else { shown }
    }

    /// The id of its question: the same for the same metric with the same options.
    pub(in crate::metric) fn question_id(&self) -> String {
        let options = serde_json::to_string(&self.measure).unwrap_or_default();
        let digest = Sha256::digest(options.as_bytes());
        let short: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        format!("{}-{short}", M::NAME)
    }

    /// Whether a judge is asked about an item: it is about the conversation, or about a turn that the agent answered.
    pub(super) fn is_asked(&self, input: &MetricInput<'_>, item: &JudgeItem) -> bool {
        self.measure.score_without_judge(input, item).is_none()
    }

    /// The items to ask about, or the score where no judge is needed.
    pub(super) fn items(&self, input: &MetricInput<'_>) -> Result<Vec<JudgeItem>, Component> {
        if !input.judge.is_there {
            return Err(Component::missing(NO_JUDGE));
        }
        // No original has a score of no turns.
        if input.transcript.turns.is_empty() && self.measure.judging().strict {
            return Err(Component::missing("there are no turns"));
        }
        if !input.transcript.has_reply() {
            return Err(self.measure.score_of_silence());
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
        self.with_judged_part(input, |input| self.questions_of(input, templates))
    }

    fn reads(&self, question: &Question) -> bool {
        question.id == self.question_id()
    }

    fn read(&self, input: &MetricInput<'_>, question: &Question, raw: &str) -> Result<(), ReplyError> {
        if stood_before(&question.prompt, raw) {
            return Err(ReplyError::Quoted);
        }
        self.with_judged_part(input, |input| self.read_by(input, raw))
    }

    fn score(&self, input: &MetricInput<'_>, judgements: &[Judgement]) -> Dimension {
        self.with_judged_part(input, |input| self.score_of(input, judgements))
    }

    fn vote(&self) -> Vote {
        match self.measure.scale() {
            _ if self.measure.finds_items() => Vote::Mean,
            Scale::YesNo | Scale::Support => Vote::Majority(Score::clamped(0.5)),
            Scale::Ten => Vote::Mean,
        }
    }

    fn score_items(&self, items: &[Item]) -> Component {
        self.mean(items)
    }
}

impl<M: JudgeMeasure> JudgedMetric<M> {
    /// Calls a function with the judged part of the conversation.
    fn with_judged_part<T>(&self, input: &MetricInput<'_>, then: impl FnOnce(&MetricInput<'_>) -> T) -> T {
        match self.measure.judging().judged_part(input.transcript, self.measure.by_message()) {
            Some(transcript) => then(&MetricInput { transcript: &transcript, ..input.clone() }),
            None => then(input),
        }
    }

    /// The view of the conversation that the judge is shown with these items.
    fn view<'v>(
        &self,
        input: &'v MetricInput<'_>,
        items: &'v [ViewItem<'v>],
        options: &'v serde_json::Value,
    ) -> QuestionView<'v> {
        QuestionView {
            items,
            scale: self.measure.scale().as_str(),
            finds_items: items.is_empty().then_some(reply::MOST_FOUND),
            needs_quotes: self.measure.judging().needs_evidence(),
            options,
            facts: input.facts,
            user_knew_facts: input.condition == Condition::WithFacts,
            context: &input.context,
            transcript: input.transcript,
            user_tools: input.user.tool_calls,
            by_message: self.measure.by_message(),
        }
    }

    fn questions_of(&self, input: &MetricInput<'_>, templates: &Templates) -> Result<Vec<Question>, PromptError> {
        let Ok(mut items) = self.items(input) else { return Ok(Vec::new()) };
        let is_found = items.is_empty();
        items.retain(|item| self.is_asked(input, item));
        if items.is_empty() && !is_found {
            return Ok(Vec::new());
        }
        let options = self.measure.template_options(input);
        let view = view_items(&items);
        let rendered = templates.question(M::TEMPLATE, &self.view(input, &view, &options))?;
        let schema = ReplySchema {
            wants_alternatives: self.measure.is_weighted() && items.len() == 1,
            ..reply::reply_schema(self.measure.scale(), &items)
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

    /// The verdicts of a reply, and what is wrong with others.
    pub(super) fn verdicts(
        &self,
        input: &MetricInput<'_>,
        raw: &str,
        items: &[JudgeItem],
    ) -> Result<(Vec<ItemVerdict>, Vec<String>), ReplyError> {
        let judging = self.measure.judging();
        let (verdicts, problems) = read_verdicts(raw, self.measure.scale(), items, judging)?;
        // A user with tasks wanted something: a judge that found nothing is asked again.
        let must_find = self.measure.finds_items() && !judging.strict && !input.tasks.is_empty();
        if must_find && items.is_empty() && verdicts.is_empty() && problems.is_empty() {
            return Err(ReplyError::NothingFound);
        }
        Ok((verdicts, problems))
    }

    fn read_by(&self, input: &MetricInput<'_>, raw: &str) -> Result<(), ReplyError> {
        let mut items = self.items(input).unwrap_or_default();
        items.retain(|item| self.is_asked(input, item));
        let (verdicts, mut problems) = self.verdicts(input, raw, &items)?;
        if self.measure.judging().needs_evidence() {
            let shown = self.shown(input, &items);
            problems.extend(verdicts.iter().filter_map(|verdict| shown.problem(verdict, item_of(verdict, &items))));
        }
        if problems.is_empty() { Ok(()) } else { Err(ReplyError::InPart(reply::problems_of(problems))) }
    }
}
