//! The summary of a run, without its conversations.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::{BaselineCheck, FORMAT_VERSION, JudgeCheck, ModelFigure, Provenance, Verdict};
use crate::money::Dollars;
use crate::score::{Component, RepeatsEnded};

/// The summary of a run, without its conversations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunSummary {
    /// The format's version.
    pub version: u32,
    /// The run's id.
    pub id: String,
    /// When it started.
    pub started_at: DateTime<Utc>,
    /// When it ended; `None` when it was killed.
    pub finished_at: Option<DateTime<Utc>>,
    /// Whether its user stopped it.
    pub interrupted: bool,
    /// The limit of the whole run that ended it, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_reached: Option<String>,
    /// When it was resumed, each time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resumed_at: Vec<DateTime<Utc>>,
    /// The milliseconds between its stops and the times when it was resumed; what an earlier version resumed is not in it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub idle_ms: u64,
    /// The job, models, prompts and limits of the run.
    pub provenance: Provenance,
    /// Each model's figure, with those of its cases and conditions.
    pub figures: Vec<ModelFigure>,
    /// The judge beside the facts, of each model of which assertions verify tasks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judge_checks: Vec<JudgeCheck>,
    /// How the adding of repetitions ended; `None` where their number was fixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats_ended: Option<RepeatsEnded>,
    /// The run beside the baseline of its gate, where that names one and the run has come to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<BaselineCheck>,
    /// The known part of its cost in US dollars, by the prices of its record; `None` where nothing is, and in what an earlier
    /// version kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Dollars>,
    /// The verdict on the run.
    pub verdict: Verdict,
    /// Whether nothing that the job asks for could have failed the run: it has no gate of any kind, and no metric a threshold.
    /// `false` in a summary of an earlier version.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_no_gate: bool,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl RunSummary {
    /// How long it was held, without the time for which it was stopped; `None` of one that has not ended.
    pub fn took(&self) -> Option<Duration> {
        let whole = (self.finished_at? - self.started_at).to_std().ok()?;
        Some(whole.saturating_sub(Duration::from_millis(self.idle_ms)))
    }

    /// The verdict's name; `no gate` for a run that passed because nothing could have failed it.
    pub fn verdict_label(&self) -> &'static str {
        label(self.verdict, self.has_no_gate)
    }

    /// The same without the figures of each metric, task and assertion over repetitions.
    pub fn without_repeated(&self) -> RunSummary {
        let mut summary = self.clone();
        let cases = summary.figures.iter_mut().flat_map(|figure| &mut figure.cases);
        cases.flat_map(|case| &mut case.conditions).for_each(|condition| condition.metrics.clear());
        summary
    }

    /// Whether this version of eval-job can read it.
    pub fn is_readable(&self) -> bool {
        self.version <= FORMAT_VERSION
    }

    /// Whether it says of each case how many conversations pass, where something is asked of them: an earlier version kept that
    /// of all cases together.
    pub fn tells_passes(&self) -> bool {
        let tells = |figure: &ModelFigure| {
            let decided = figure.cases.iter().flat_map(|case| &case.conditions).any(|it| it.decided > 0);
            let has_passes = figure.estimates.as_ref().is_some_and(|estimates| estimates.passes.is_some());
            decided || !has_passes
        };
        self.figures.iter().all(tells)
    }
}

/// A run in a list of runs: the parts of its summary that tell it apart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListedRun {
    /// The format's version.
    pub version: u32,
    /// The run's id.
    pub id: String,
    /// When it started.
    pub started_at: DateTime<Utc>,
    /// When it ended; `None` for one that goes on or was killed.
    pub finished_at: Option<DateTime<Utc>>,
    /// The verdict on the run.
    pub verdict: Verdict,
    /// Whether nothing that the job asks for could have failed the run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_no_gate: bool,
    /// The job, models, prompts and limits of the run.
    pub provenance: ListedProvenance,
    /// Each model's figure; none for a run that has not ended.
    pub figures: Vec<ListedFigure>,
}

/// The parts of a run's provenance that tell it apart.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ListedProvenance {
    /// The job's name.
    pub job: String,
    /// Where the job was read from.
    pub job_file: String,
    /// Which of its cases were run, where not all of them were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selection: Option<String>,
    /// The models that the agent was asked to use.
    pub models: Vec<String>,
    /// Whether a person was the user (`eval-job record`).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub by_person: bool,
    /// The run whose recording was replayed, where one was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replayed: Option<String>,
}

/// A model's figure, without those of its cases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListedFigure {
    /// The agent's model.
    pub model: String,
    /// The mean of its cases' figures; missing if one of them has none.
    pub figure: Component,
}

impl ListedRun {
    /// The verdict's name; `no gate` for a run that passed because nothing could have failed it.
    pub fn verdict_label(&self) -> &'static str {
        match self.provenance.by_person {
            true => "by a person",
            false => label(self.verdict, self.has_no_gate),
        }
    }

    /// Whether this version of eval-job can read it.
    pub fn is_readable(&self) -> bool {
        self.version <= FORMAT_VERSION
    }
}

fn label(verdict: Verdict, has_no_gate: bool) -> &'static str {
    match verdict {
        Verdict::Passed if has_no_gate => "no gate",
        verdict => verdict.label(),
    }
}

impl From<&RunSummary> for ListedRun {
    fn from(run: &RunSummary) -> ListedRun {
        let Provenance { job, job_file, selection, models, by_person, replayed, .. } = run.provenance.clone();
        let figure = |it: &ModelFigure| ListedFigure { model: it.model.clone(), figure: it.figure.clone() };
        ListedRun {
            version: run.version,
            id: run.id.clone(),
            started_at: run.started_at,
            finished_at: run.finished_at,
            verdict: run.verdict,
            has_no_gate: run.has_no_gate,
            provenance: ListedProvenance { job, job_file, selection, models, by_person, replayed },
            figures: run.figures.iter().map(figure).collect(),
        }
    }
}
