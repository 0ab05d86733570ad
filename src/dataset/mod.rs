//! Evaluation files of other systems: Google ADK, trpc-agent-go, watsonx Orchestrate and Red Hat's quickstart. In comes the
//! text of a file, and of those that stand beside it; out comes a [`Dataset`], or every error with its place.
//!
//! Invariants: a file is recognised by its content, never by its name; nothing that a file says is dropped without a word;
//! nothing in here opens a file but [`open`], and that only through [`Files`]; no network, no clock.
//!
//! ```text
//! text ─recognise→ Kind ─json→ tree with places ─adk, trpc, watsonx, redhat→ Dataset
//!                                └→ Problems
//! ```

mod adk;
mod counterpart;
mod cursor;
mod edit;
mod fields;
mod files;
mod findings;
mod json;
mod kind;
mod load;
mod lost;
mod lower;
mod model;
mod open;
mod raise;
mod recognise;
mod recorded;
mod redhat;
mod trpc;
mod watsonx;
mod write;
#[cfg(test)]
mod tests;

pub use adk::adk_criterion;
pub use edit::CaseFile;
pub use files::{DiskFiles, FileReader, Files};
pub use kind::{Kind, Purpose, System};
pub use load::{Beside, NamedText, load};
pub use lower::{LowerOptions, LoweredJob, check_expected, lower, lower_from};
pub use model::{
    AuthoredText, CaseExpectation, CaseSession, CaseUser, ContextFile, ContextMessage, Dataset, DatasetCall,
    DatasetCase, DatasetGoals, DatasetMetric, Goal, GoalKind, JudgedCheck, JudgedScope, LineExpectation, MeasureKind,
    PersonaBehavior, RecordedTurn, Rubric, Scenario, ScenarioDriver, ScenarioPersona, ToolMock, UserLine,
};
pub use open::{LargeDataset, OpenOptions, are_no_cases, open};
pub use raise::from_job;
pub use recognise::{is_json, recognise};
pub use recorded::{CaseKey, Matching, Recorded, Recording, RecordingKey, Recordings, load_recorded, match_cases};
pub use redhat::metrics::MetricSet;
pub use write::{WrittenDataset, WrittenFile, write, written_case};

/// The message of a turn whose user wrote no text, in a recording.
const NO_TEXT: &str = "(a message without text)";
