//! The score of a judge metric by the judgements of its question.

use super::metric::item_of;
use super::samples::{self, Marking, Samples};
use super::{ItemVerdict, JudgeItem, JudgeMeasure, JudgedMetric, Scale, UnknownVerdict, VerdictError, alternatives};
use crate::evidence::{Judgement, ScoreAlternative};
use crate::metric::tasks::GOOD_ABOVE;
use crate::metric::{MetricInput, ReplyError};
use crate::score::{Component, Dimension, Item, Score, majority};

impl<M: JudgeMeasure> JudgedMetric<M> {
    pub(super) fn score_of(&self, input: &MetricInput<'_>, judgements: &[Judgement]) -> Dimension {
        let all = match self.items(input) {
            Ok(items) => items,
            Err(component) => return Dimension::new(M::NAME, self.weight, component),
        };
        let items: Vec<JudgeItem> = all.iter().filter(|item| self.is_asked(input, item)).cloned().collect();
        let id = self.question_id();
        let own: Vec<&Judgement> = judgements.iter().filter(|judgement| judgement.question == id).collect();
        let options = self.measure.judging();
        let shown = options.needs_evidence().then(|| self.shown(input, &items));
        let check = |verdict: ItemVerdict| {
            let Some(shown) = &shown else { return verdict };
            if let Some(problem) = shown.problem(&verdict, item_of(&verdict, &items)) {
                return ItemVerdict { decision: Err(VerdictError::Evidence(problem)), ..verdict };
            }
            let score = verdict.decision.clone().ok().flatten().filter(|_| self.measure.is_about_agent());
            let mark = score.map_or("", |score| shown.mark(&verdict.citations, score));
            ItemVerdict { reason: verdict.reason + mark, ..verdict }
        };
        let read = |raw: &str, alternatives: &[ScoreAlternative]| -> Result<Vec<ItemVerdict>, ReplyError> {
            let (verdicts, _) = self.verdicts(input, raw, &items)?;
            let alternatives = if self.measure.is_weighted() { alternatives } else { &[] };
            Ok(verdicts.into_iter().map(check).map(|verdict| weighted(verdict, alternatives)).collect())
        };
        let samples = samples::samples(&own, read);
        let marking = self.marking();
        let (scored, component) = match all.is_empty() {
            true => self.score_found(&samples),
            false if options.strict && options.sample_from.is_some() => {
                let line = options.sample_from.unwrap_or(Score::ONE);
                self.score_whole_samples(&samples, &all, input, line)
            }
            false => {
                let item = |item: &JudgeItem| match self.measure.score_without_judge(input, item) {
                    Some(component) => samples::item(item, component),
                    None => samples.item(item, marking, options),
                };
                let mut scored: Vec<Item> = all.iter().map(item).collect();
                let dead = self.dead_judge(input, &all, &scored);
                self.measure.settle(&mut scored, dead.is_none());
                let component = dead.unwrap_or_else(|| self.mean(&scored));
                (scored, component)
            }
        };
        // Of a score from 0 to 10 hardly any is whole.
        let good_above = (self.measure.scale() == Scale::Ten).then_some(Score::clamped(GOOD_ABOVE));
        Dimension { items: scored, good_above, ..Dimension::new(M::NAME, self.weight, component) }
    }

    fn marking(&self) -> Marking {
        Marking { scale: self.measure.scale(), second_below: self.measure.second_below() }
    }

    /// Why nothing is scored where no verdict on any of the items that were asked about can be used: an original's rules are about
    /// verdicts, and a judge that fails gives none.
    fn dead_judge(&self, input: &MetricInput<'_>, all: &[JudgeItem], scored: &[Item]) -> Option<Component> {
        let mut asked =
            all.iter().zip(scored).filter(|(item, _)| self.is_asked(input, item)).map(|(_, it)| it).peekable();
        let first = asked.peek()?.component.clone();
        asked.all(|item| item.component.is_missing()).then_some(first)
    }

    /// The score where whole samples vote, turn by turn: the verdicts of the first sample of the side that wins.
    fn score_whole_samples(
        &self,
        samples: &Samples,
        all: &[JudgeItem],
        input: &MetricInput<'_>,
        line: Score,
    ) -> (Vec<Item>, Component) {
        let (each, marking): (Vec<Samples>, Marking) = (samples.each().collect(), self.marking());
        let item = |samples: &Samples, item: &JudgeItem| match self.measure.score_without_judge(input, item) {
            Some(component) => samples::item(item, component),
            None => samples.item(item, marking, self.measure.judging()),
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
    fn score_found(&self, samples: &Samples) -> (Vec<Item>, Component) {
        let (options, marking) = (self.measure.judging(), self.marking());
        let score = |sample: Samples| {
            let items: Vec<Item> = sample.found().iter().map(|item| sample.item(item, marking, options)).collect();
            let component = if items.is_empty() { self.measure.score_of_nothing() } else { self.mean(&items) };
            (items, component)
        };
        let each: Vec<(Vec<Item>, Component)> = samples.each().map(score).collect();
        samples::mean_of_samples(each, samples.unusable(), options)
    }

    /// The mean of the items; what the original leaves out of its mean is left out in its dialect.
    pub(super) fn mean(&self, items: &[Item]) -> Component {
        let judging = self.measure.judging();
        let leaves_out = judging.strict && judging.unknown() != UnknownVerdict::Missing;
        let is_counted = |item: &&Item| !(leaves_out && item.component.is_missing());
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
            _ if counted.is_empty() => items.first().map_or_else(
                || self.measure.score_of_nothing(),
                |first| Component::missing(format!("no verdict can be used: {}", first.component.why())),
            ),
            other => other,
        }
    }
}

/// Replaces a score by the mean of all scores that the judge could have given, by their probabilities.
fn weighted(verdict: ItemVerdict, alternatives: &[ScoreAlternative]) -> ItemVerdict {
    let Ok(Some(score)) = verdict.decision else { return verdict };
    let Some(mean) = alternatives::weighted(alternatives, score.get() * 10.0) else { return verdict };
    let reason =
        format!("{} ({:.0} of 10, {mean:.2} by the probabilities of all scores)", verdict.reason, score.get() * 10.0);
    ItemVerdict { reason, decision: Ok(Some(Score::clamped(mean / 10.0))), ..verdict }
}
