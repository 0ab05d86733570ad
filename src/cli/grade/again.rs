//! Grades stored conversations again, and reports the differences.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

use super::super::context::Context;
use super::super::jobs::Loaded;
use super::queries::with_rows_of;
use crate::evidence::{AskedQuestion, Ending, Evidence, Judgement, Observed, Question, Usage};
use crate::grade::{self, GradeInput, ReproduceError};
use crate::job::{Case, Job, Panel};
use crate::prompt::{PromptError, Templates};
use crate::record::{Overview, TrialRecord};
use crate::report;
use crate::run::{AskingStopped, PlacedQuestion, StoredConversation};
use crate::score::{Component, Outcome, Scorecard, Weight, composite};
use crate::store::StoreError;
use crate::store::folder::{Grading, Regraded};

/// A question's id, the judge of a panel, and the sample.
type OwnedQuestionKey = (String, Option<String>, u32);

/// A question by its key, or why it can't be rendered as it was asked.
type ReproducedQuestion = (OwnedQuestionKey, Result<Question, ReproduceError>);

/// The questions about a trial are not known.
#[derive(Debug, thiserror::Error)]
enum QuestionsError {
    /// The run was kept without the judge's template.
    #[error("an earlier version kept it without the judge's template, and that of today is another; say --job FILE")]
    NoTemplate,
    /// They can't be rendered.
    #[error(transparent)]
    Prompt(#[from] PromptError),
}

/// Grades trials again, and collects the differences.
pub(super) struct Regrader<'a> {
    weights: &'a [(String, Weight)],
    context: &'a Context,
    /// The job to grade by.
    pub(super) job: Job,
    /// Its templates; `None` where an earlier version kept none.
    pub(super) templates: Option<Templates>,
    /// The job that the run was made with and its templates, where the job to grade by is another.
    first: Option<(Job, Option<Templates>)>,
    is_corrected: bool,
    /// Whether the run was about one case only.
    has_one_case: bool,
    /// Another judge's answers, and why asking it stopped early.
    grading: Option<(Grading, Option<AskingStopped>)>,
    /// The number of trials with another result, by case, task or assertion, and the results before and after.
    flips: BTreeMap<(String, String), BTreeMap<(String, String), usize>>,
}

impl<'a> Regrader<'a> {
    /// Grades by a corrected job, or by the run's own; `None` where there is neither.
    pub(super) fn new(
        weights: &'a [(String, Weight)],
        context: &'a Context,
        kept: Option<(Job, Option<Templates>)>,
        corrected: Option<&Loaded>,
        before: &Overview,
    ) -> Option<Regrader<'a>> {
        let ((job, templates), first) = match corrected {
            Some(loaded) => ((loaded.job.clone(), Some(loaded.templates.clone())), kept),
            None => (kept?, None),
        };
        Some(Regrader {
            weights,
            context,
            job,
            templates,
            first,
            is_corrected: corrected.is_some(),
            has_one_case: before.groups.windows(2).all(|pair| pair[0].case == pair[1].case),
            grading: None,
            flips: BTreeMap::new(),
        })
    }

    /// Has other judges asked.
    pub(super) fn judged_by(mut self, judges: &Panel) -> Regrader<'a> {
        self.job.judge.model.replace(judges);
        self
    }

    /// Sets another judge's answers.
    pub(super) fn asked(&mut self, grading: Grading, stopped: Option<AskingStopped>) {
        self.grading = Some((grading, stopped));
    }

    /// The trial with a new scorecard, where its conversation says something of the agent.
    pub(super) fn grade(&mut self, mut trial: TrialRecord) -> Result<TrialRecord, StoreError> {
        let counts = trial.outcome.as_ref().is_some_and(|outcome| outcome.counts());
        if !(counts || self.grading.is_some() && can_be_judged(&trial)) {
            return Ok(trial);
        }
        let Some(evidence) = trial.evidence.take() else { return Ok(trial) };
        let card = match self.case_of(&trial) {
            Some(case) => {
                let judgements = self.judgements(&mut trial, &case, &evidence)?;
                let held = self.held_case(&trial).filter(|_| self.is_corrected);
                let by_query = held.map(|held| with_rows_of(&evidence, &held.assertions, &case.assertions));
                let evidence = by_query.as_ref().unwrap_or(&evidence);
                let input = GradeInput { job: &self.job, case: &case, evidence, clock: self.context.clock };
                self.weighed(grade::grade(input, &judgements))
            }
            None => {
                let why = format!("the job has no case `{}`", trial.trial.case);
                Scorecard { composite: Component::missing(why), ..trial.scorecard.clone().unwrap_or_else(nothing) }
            }
        };
        if let Some(before) = &trial.scorecard {
            self.compare(&trial.trial.case, before, &card);
        }
        (trial.evidence, trial.scorecard) = (Some(evidence), Some(card));
        Ok(trial)
    }

    /// The case of a trial: that of the job to grade by, or the one that was kept with the trial.
    pub(super) fn case_of(&self, trial: &TrialRecord) -> Option<Arc<Case>> {
        match &trial.case {
            Some(kept) if !self.is_corrected => Case::deserialize(&**kept).ok().map(Arc::new),
            _ => case(&self.job, &trial.trial.case, self.has_one_case),
        }
    }

    /// The case as the trial was run with it; `None` where an earlier version did not keep it.
    fn held_case(&self, trial: &TrialRecord) -> Option<Arc<Case>> {
        let kept = trial.case.as_ref().and_then(|kept| Case::deserialize(&**kept).ok()).map(Arc::new);
        kept.or_else(|| case(&self.first.as_ref()?.0, &trial.trial.case, self.has_one_case))
    }

    /// The questions about a trial, where it counts for the agent.
    pub(super) fn conversation(&self, trial: TrialRecord) -> Option<StoredConversation> {
        let case = self.case_of(&trial).filter(|_| can_be_judged(&trial))?;
        let questions = self.questions(&trial.questions, &case, trial.evidence.as_ref()?);
        let placed = |(place, (_, question)): (u32, ReproducedQuestion)| {
            Some(PlacedQuestion { place, question: question.ok()? })
        };
        let questions = (0..).zip(questions.into_iter().flatten()).filter_map(placed).collect();
        Some(StoredConversation { trial: trial.trial, case, evidence: trial.evidence?, questions })
    }

    /// The answers of the run's own judge about a trial, each with its question as it was asked.
    pub(super) fn first_answers(&self, trial: &TrialRecord) -> Vec<(AskedQuestion, Judgement)> {
        trial.evidence.as_ref().map(|evidence| self.first_judgements(trial, evidence)).unwrap_or_default()
    }

    /// The judgements on which the new scorecard rests. The trial is left with those that there are; in place of the others
    /// the scorecard gets the reason why there is none.
    fn judgements(
        &self,
        trial: &mut TrialRecord,
        case: &Case,
        evidence: &Evidence,
    ) -> Result<Vec<Judgement>, StoreError> {
        if !self.is_corrected && self.grading.is_none() {
            return Ok(trial.judgements.clone());
        }
        let questions = match self.questions(&trial.questions, case, evidence) {
            Ok(questions) => questions,
            Err(error) => {
                let why = error.to_string();
                return Ok(trial.judgements.iter().map(|judgement| without_reply(&judgement.question, &why)).collect());
            }
        };
        let given = match &self.grading {
            Some((grading, _)) => {
                let Regraded { judgements, calls } = grading.regraded(trial.trial.number)?;
                trial.calls.extend(calls);
                judgements
            }
            None => self.first_judgements(trial, evidence),
        };
        let (mut all, mut kept, mut asked, mut places) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (place, ((id, judge, sample), question)) in (0..).zip(questions) {
            let is_it = |known: &AskedQuestion| {
                let is_same = question.as_ref().is_ok_and(|question| question.digest() == known.digest);
                known.key() == (&*id, judge.as_deref(), sample) && (is_same || self.grading.is_some())
            };
            match (given.iter().find(|(known, _)| is_it(known)), &question) {
                (Some((known, judgement)), Ok(question)) => {
                    kept.push(judgement.clone());
                    places.push(place);
                    asked.push(AskedQuestion { prompt: Some(question.prompt.clone()), ..known.clone() });
                    all.push(judgement.clone());
                }
                (_, Err(error)) => all.push(without_reply(&id, &error.to_string())),
                (None, Ok(_)) => all.push(without_reply(&id, &self.why_none(!given.is_empty()))),
            }
        }
        (trial.judgements, trial.questions, trial.places) = (kept, asked, places);
        if self.grading.is_some() && trial.judgements.len() == all.len() {
            trial.outcome = Some(grade::outcome(&evidence.ending, &trial.judgements, &self.job));
        }
        Ok(all)
    }

    /// The first judge's answers, each with its question, which is rendered again for runs of an earlier version.
    fn first_judgements(&self, trial: &TrialRecord, evidence: &Evidence) -> Vec<(AskedQuestion, Judgement)> {
        let rendered = || {
            let (job, templates) = self.first.as_ref()?;
            let case = case(job, &trial.trial.case, self.has_one_case)?;
            let clock = self.context.clock;
            render(GradeInput { job, case: &case, evidence, clock }, templates.as_ref()?).ok()
        };
        let rendered = if trial.questions.is_empty() { rendered().unwrap_or_default() } else { Vec::new() };
        let asked: Vec<AskedQuestion> =
            trial.questions.iter().cloned().chain(rendered.iter().map(AskedQuestion::new)).collect();
        let pair = |judgement: &Judgement| {
            let is_it = |asked: &&AskedQuestion| asked.is_answered_by(judgement);
            Some((asked.iter().find(is_it)?.clone(), judgement.clone()))
        };
        trial.judgements.iter().filter_map(pair).collect()
    }

    /// The questions of the job's metrics about a trial, by id, judge of a panel, and sample: as they were asked, where that was stored.
    fn questions(
        &self,
        asked: &[AskedQuestion],
        case: &Case,
        evidence: &Evidence,
    ) -> Result<Vec<ReproducedQuestion>, QuestionsError> {
        let templates = self.templates.as_ref().ok_or(QuestionsError::NoTemplate)?;
        let trial = GradeInput { job: &self.job, case, evidence, clock: self.context.clock };
        let rendered = render(trial, templates)?;
        let as_asked = |question: &Question| {
            let is_it = |asked: &&AskedQuestion| asked.key() == question.key();
            match asked.iter().find(is_it).filter(|_| !self.is_corrected) {
                Some(asked) => grade::reproduce(asked, &rendered),
                None => Ok(question.clone()),
            }
        };
        Ok(rendered
            .iter()
            .map(|question| ((question.id.clone(), question.judge.clone(), question.sample), as_asked(question)))
            .collect())
    }

    /// Why there is no reply to a question.
    fn why_none(&self, something_was_asked: bool) -> String {
        match &self.grading {
            Some((_, Some(AskingStopped::LimitReached(why) | AskingStopped::Refused(why)))) => {
                format!("{}{why}", grade::NOT_ASKED)
            }
            Some(_) => "the judge was not asked".to_owned(),
            None if something_was_asked => {
                "the judge was asked something else, and never this; --scorer-model MODEL asks it".to_owned()
            }
            None => "the judge was never asked this; --scorer-model MODEL asks it".to_owned(),
        }
    }

    /// The same with the weights of `--weights`.
    fn weighed(&self, mut card: Scorecard) -> Scorecard {
        let mut is_other = false;
        for dimension in &mut card.dimensions {
            if let Some((_, weight)) = self.weights.iter().find(|(name, _)| *name == dimension.name) {
                is_other |= dimension.weight != *weight;
                dimension.weight = *weight;
            }
        }
        if is_other {
            card.composite = composite(&card.dimensions, card.failure_count);
        }
        card
    }

    fn compare(&mut self, case: &str, before: &Scorecard, after: &Scorecard) {
        let mut flip = |what: String, before: &Component, after: &Component| {
            let (before, after) = (state(before), state(after));
            if before != after {
                let flips = self.flips.entry((case.to_owned(), what)).or_default();
                *flips.entry((before, after)).or_default() += 1;
            }
        };
        for dimension in &after.dimensions {
            let Some(earlier) = before.named(&dimension.name) else { continue };
            if dimension.items.is_empty() && earlier.items.is_empty() {
                flip(dimension.name.clone(), &earlier.component, &dimension.component);
            }
            for item in &dimension.items {
                let earlier = earlier
                    .items
                    .iter()
                    .find(|earlier| earlier.key() == item.key() || earlier.id.is_none() && earlier.label == item.label);
                let none = Component::not_applicable("");
                flip(item.label.clone(), earlier.map_or(&none, |earlier| &earlier.component), &item.component);
            }
        }
        flip("composite".to_owned(), &before.composite, &after.composite);
    }

    /// The differences, case by case, and both verdicts.
    pub(super) fn difference(&self, before: &Overview, after: &Overview) -> String {
        let mut page = String::from("\nGraded again\n");
        for ((case, what), flips) in &self.flips {
            let case = if self.job.cases.len() > 1 { format!("{} · ", report::plain(case)) } else { String::new() };
            let what = report::one_line(what, self.context.width.saturating_sub(40).max(20));
            for ((from, to), trials) in flips {
                let trials = report::count(*trials, "conversation");
                page.push_str(&format!("  {case}{what}: {from} → {to} ({trials})\n"));
            }
        }
        if self.flips.is_empty() {
            page.push_str("  nothing came out otherwise\n");
        }
        let (before, after) = (before.summary.verdict_label(), after.summary.verdict_label());
        page.push_str(&format!("  verdict: {before} → {after}\n"));
        page
    }
}

/// Whether a judge can be asked about a conversation: it says something of the agent, or would have if a judge had not failed, or
/// if judging had not been interrupted.
pub(in crate::cli) fn can_be_judged(trial: &TrialRecord) -> bool {
    let Some(evidence) = &trial.evidence else { return false };
    match &trial.outcome {
        Some(Outcome::Broken { error }) => error.starts_with(grade::NOT_ASKED),
        Some(outcome) => outcome.counts() || matches!(outcome, Outcome::JudgeFailed { .. }),
        None => evidence.ending != Ending::CutOff,
    }
}

/// The case of this id. Where job and run have one each it is that, whatever their files are called.
fn case(job: &Job, id: &str, run_has_one: bool) -> Option<Arc<Case>> {
    let found = job.cases.iter().find(|case| case.id == id);
    let only = || job.cases.first().filter(|_| run_has_one && job.cases.len() == 1);
    found.or_else(only).cloned()
}

pub(super) fn render(trial: GradeInput<'_>, templates: &Templates) -> Result<Vec<Question>, PromptError> {
    let GradeInput { job, case, evidence, clock } = trial;
    grade::questions(job, &grade::metric_input(job, case, evidence, clock), templates)
}

pub(super) fn without_reply(question: &str, why: &str) -> Judgement {
    Judgement {
        question: question.to_owned(),
        judge: String::new(),
        sample: 1,
        reply: Observed::Failed(why.to_owned()),
        rejected: Vec::new(),
        alternatives: Vec::new(),
        usage: Usage::default(),
        is_cached: false,
        notes: Vec::new(),
    }
}

/// The result of a part, as a short text.
fn state(component: &Component) -> String {
    match component {
        Component::Scored { score, .. } => report::two_decimals(score.get()),
        Component::NotApplicable { .. } => "not used".to_owned(),
        Component::Missing { .. } => "missing".to_owned(),
    }
}

fn nothing() -> Scorecard {
    Scorecard { dimensions: Vec::new(), failure_count: 0, penalty: 0.0, composite: Component::missing("not graded") }
}
