//! What is stored of a run: the journal's entries and the one document that they add up to.
//!
//! Invariants: the record is nothing but the fold of the journal ([`RunRecord::of`]), so a run that was killed reads
//! like one that ended; every document carries [`FORMAT_VERSION`]; nothing in here is secret.

mod call;
mod entry;
mod figures;
mod provenance;
mod run;
mod spending;
mod trial;
mod vacuous;
mod verdict;

pub use call::{Asker, ModelCall};
pub use entry::Entry;
pub use figures::{CaseFigure, ConditionFigure, ModelFigure};
pub use provenance::{PromptDigest, Provenance};
pub use run::RunRecord;
pub use spending::{Spender, Spending, Stage, total};
pub use trial::TrialRecord;
pub use verdict::Verdict;

/// The version of the journal's and the record's format. A reader refuses what is newer than itself.
///
/// 2: each line of a journal has a number and a checksum.
pub const FORMAT_VERSION: u32 = 2;
