//! The stored form of a run: the journal's entries, and the record that they add up to. In come entries; out go trials,
//! the run's summary and its verdict.
//!
//! Invariants: everything that is known of a run is a fold of its journal ([`Fold`]), so a run that was killed reads like
//! one that ended; the fold has a trial from its first entry to its last, and takes the newer where one was run again; every document carries [`FORMAT_VERSION`];
//! nothing in here is secret.

mod audit;
mod cached;
mod call;
mod canaries;
mod steps;
mod difference;
mod document;
mod earlier;
mod entry;
mod estimates;
mod figures;
mod fold;
mod gate;
mod group;
mod judge_check;
mod judged;
mod label;
mod later;
mod margin;
mod mutation;
mod merge;
mod name_places;
mod outline;
mod overview;
mod part;
mod part_differences;
mod passes;
mod planned_trials;
mod provenance;
mod repeated;
mod reply_times;
mod run_figures;
mod set_aside;
mod spending;
mod summary;
mod tag_first;
mod trial;
mod vacuous;
mod validity;
mod verdict;

pub use audit::{Audit, AuditFinding, AuditedTrial, TrivialScore};
pub use cached::CachedVerdicts;
pub use call::{Asker, CallUnderWay, ModelCall};
pub use canaries::CanaryCheck;
pub use difference::SettingDifference;
pub use document::{DocumentError, FirstModel, ModelDivergence, RunRecord, Sequence, write_document, write_streamed};
pub use earlier::{Continued, Discarded, Replaced};
pub use entry::Entry;
pub use estimates::{Estimates, MeanFigure, NamedFigure, Percentile};
pub use figures::{CaseFigure, ConditionFigure, ModelFigure, PersonaFigure};
pub use fold::Fold;
pub use gate::{
    BaselineCheck, BaselineFigure, BaselineOpen, BaselineUnshared, GateLine, GateRule, GateState, gate_lines,
};
pub use group::{DimensionTally, Tally, TrialGroup};
pub use judge_check::{Confusion, CorrectedTasks, JudgeCheck};
pub use judged::PlacedJudgement;
pub use label::{LABEL_VERSION, Label, LabelVerdict};
pub use later::{LaterEntries, RunPrices};
pub use margin::Margins;
pub use merge::{Merge, MergeError, RunStart};
pub use mutation::{MissedMutant, MutatedTrial, MutationKind, NotMeasured, NotMutated, mutation_counts};
pub use name_places::NamePlaces;
pub use outline::RunEnd;
pub use overview::{Overview, Several};
pub use part::{MergedPart, MergedParts, MissingPart, RunPart};
pub use passes::{AttemptsFigure, Passes};
pub use planned_trials::PlannedTrials;
pub use provenance::{PromptDigest, Provenance};
pub use repeated::RepeatedFigure;
pub use run_figures::{CellFigure, ModelCells, RunFigures};
pub use set_aside::SetAside;
pub use spending::{Spender, Spending, Stage, total};
pub use steps::StepsWritten;
pub use summary::{ListedFigure, ListedProvenance, ListedRun, RunSummary};
pub use trial::TrialRecord;
pub use vacuous::{AssertionKey, Doubts};
pub use validity::{ModelValidity, Validity};
pub use verdict::Verdict;

/// The version of the journal's and the record's format. A reader refuses what is newer than itself.
///
/// 2: each line of a journal has a number and a checksum.
pub const FORMAT_VERSION: u32 = 2;
