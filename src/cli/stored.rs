//! The cases and prompts of a stored run.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use crate::clock::Clock;
use crate::dataset::adk_criterion;
use crate::evidence::ExpectationReview;
use crate::grade::{self, GradeInput};
use crate::job::{Case, Job};
use crate::prompt::Templates;
use crate::record::TrialRecord;
use crate::store::folder::JournalFile;

/// The cases of a stored run: those of its job, and those that were kept with its trials.
#[derive(Debug, Default)]
pub(super) struct StoredCases(HashMap<String, Arc<Case>>);

impl StoredCases {
    /// The cases of a run of this job.
    pub(super) fn new(job: &Job) -> StoredCases {
        StoredCases(job.cases.iter().map(|case| (case.id.clone(), Arc::clone(case))).collect())
    }

    /// The case of a trial; `None` where it was not kept.
    pub(super) fn case(&self, trial: &TrialRecord) -> Option<Arc<Case>> {
        match &trial.case {
            Some(kept) => Case::deserialize(&**kept).ok().map(Arc::new),
            None => self.0.get(&trial.trial.case).cloned(),
        }
    }
}

/// Fills in the prompts of the judge's questions, which a journal does not hold: they are rendered again from its job, its
/// templates and its conversations.
pub(super) struct StoredPrompts {
    job: Option<Job>,
    cases: StoredCases,
    templates: Templates,
    clock: Clock,
}

impl StoredPrompts {
    /// The prompts of a stored run.
    pub(super) fn from_run(run: &JournalFile, clock: Clock) -> StoredPrompts {
        let job = run.job.as_ref().and_then(|job| Job::restored(job).ok());
        let cases = job.as_ref().map(StoredCases::new).unwrap_or_default();
        StoredPrompts { job, cases, templates: Templates::from_sources(run.templates.clone()), clock }
    }

    /// The trial with them; one that can't be rendered to the byte as it was asked is left out.
    pub(super) fn filled_in(&self, mut trial: TrialRecord) -> TrialRecord {
        if trial.questions.is_empty() {
            return trial;
        }
        if let (Some(job), Some(case), Some(evidence)) = (&self.job, self.cases.case(&trial), &trial.evidence) {
            let trial_of = GradeInput { job, case: &case, evidence, clock: self.clock };
            grade::fill_in_prompts(trial_of, &self.templates, &mut trial.questions);
        }
        trial
    }

    /// The criteria of the job's metrics as ADK writes them, by their names; none whose job was not kept.
    pub(super) fn criteria(&self) -> BTreeMap<String, Value> {
        let metrics = self.job.iter().flat_map(|job| job.metrics.iter().map(move |entry| (job, entry)));
        metrics.filter_map(|(job, it)| Some((it.label().to_owned(), adk_criterion(job, it)?))).collect()
    }

    /// The trial beside what its case expects; nothing of one that opened no session, or whose job was not kept.
    pub(super) fn review(&self, trial: &TrialRecord) -> ExpectationReview {
        match (&self.job, self.cases.case(trial), &trial.evidence) {
            (Some(job), Some(case), Some(evidence)) => grade::review(job, &case, evidence),
            _ => ExpectationReview::default(),
        }
    }
}
