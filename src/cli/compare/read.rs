//! A run with the scores of its models.

use chrono::{DateTime, Utc};

use crate::compare::{RunRules, ScoredSide, Scores, Side};
use crate::record::{TrialRecord, Verdict};
use crate::score::UntilDecided;
use crate::store::StoreError;
use crate::store::folder::JournalFile;

/// A run that is compared.
pub(in crate::cli) struct ComparedRun {
    pub(super) id: String,
    pub(super) job: String,
    /// The verdict, where it is that the run is incomplete or was interrupted.
    pub(super) broken_off: Option<Verdict>,
    /// When it began.
    pub(super) started_at: DateTime<Utc>,
    /// Whether it has come to its end.
    pub(super) has_ended: bool,
    /// Whether lines of its journal are not as they were written, or missing.
    pub(super) is_damaged: bool,
    pub(super) rules: RunRules,
    /// Its models in the order of the run, each with its scores.
    pub(in crate::cli) models: Vec<(Side, Scores)>,
    /// How repetitions were added until the models differ; `None` where their number was fixed.
    pub(super) until: Option<UntilDecided>,
}

impl ComparedRun {
    /// Reads a run once.
    pub(in crate::cli) fn read(file: &mut JournalFile) -> Result<ComparedRun, StoreError> {
        ComparedRun::read_as(file, false)
    }

    /// The same, with what was said in its conversations.
    pub(super) fn read_with_transcripts(file: &mut JournalFile) -> Result<ComparedRun, StoreError> {
        ComparedRun::read_as(file, true)
    }

    fn read_as(file: &mut JournalFile, has_words: bool) -> Result<ComparedRun, StoreError> {
        let (summary, plan) = file.planned_trials()?;
        let side = |model: &String| {
            let mut scores = Scores::new(&summary.provenance.personas);
            scores.plan(plan.cases_of(model));
            (Side { run: summary.id.clone(), model: model.clone() }, scores)
        };
        let mut run = ComparedRun {
            rules: RunRules::new(&summary.provenance, file.job.as_deref()),
            models: summary.provenance.models.iter().map(side).collect(),
            id: summary.id,
            job: summary.provenance.job,
            broken_off: None,
            started_at: summary.started_at,
            has_ended: false,
            is_damaged: false,
            until: summary.provenance.until,
        };
        drop(plan);
        let end = file.read_trials(has_words, |trial| {
            run.rules.add(trial);
            run.add(trial, has_words);
        })?;
        (run.has_ended, run.is_damaged, run.broken_off) = (end.has_ended, end.is_damaged, end.broken_off);
        Ok(run)
    }

    /// The same run without its conversations, as it is made by other rules.
    pub(super) fn without_trials(&self, rules: RunRules) -> ComparedRun {
        ComparedRun {
            id: self.id.clone(),
            job: self.job.clone(),
            broken_off: self.broken_off,
            started_at: self.started_at,
            has_ended: self.has_ended,
            is_damaged: self.is_damaged,
            rules,
            models: self.models.iter().map(|(side, scores)| (side.clone(), scores.without_trials())).collect(),
            until: self.until.clone(),
        }
    }

    /// Takes in a conversation, with what was said where that is wanted.
    pub(super) fn add(&mut self, trial: &TrialRecord, has_words: bool) {
        let of_model = self.models.iter_mut().find(|(side, _)| side.model == trial.trial.model);
        match of_model {
            Some((_, scores)) if has_words => scores.add_with_transcript(trial),
            Some((_, scores)) => scores.add(trial),
            None => {}
        }
    }

    pub(super) fn side(&self, model: &str) -> Option<ScoredSide<'_>> {
        self.models.iter().find(|(side, _)| side.model == model).map(|(side, scores)| (side, scores))
    }

    /// The scores that a model of another run is compared with: those of the model of its name, or of the only one where both
    /// runs have one.
    pub(super) fn counterpart(&self, side: &Side, run: &ComparedRun) -> Option<&Scores> {
        match (self.models.as_slice(), run.models.len()) {
            ([(_, only)], 1) => Some(only),
            _ => self.side(&side.model).map(|(_, scores)| scores),
        }
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.models.iter().map(|(side, _)| side.model.clone()).collect()
    }
}
