//! Reports on a run. In come its record, summary and trials; out goes text. Pure functions: the caller decides
//! where it goes.
//!
//! Invariant: whatever an agent or a model said is untrusted and passes through [`plain`] before it reaches a terminal.

mod analysis;
mod cached;
mod calibration;
mod audit;
mod mutation;
mod canaries;
mod comparison;
mod conversation;
mod coverage;
mod csv;
mod failed_parts;
mod escaped;
mod estimates;
mod format;
mod gate;
mod gathered;
mod html;
mod idle;
mod ink;
mod jobs;
mod judge_check;
mod junit;
mod listing;
mod lost;
mod markdown;
mod no_nights;
mod numbers;
mod personas;
mod plain;
mod scores;
mod screen;
mod sparkline;
mod systems;
mod terminal;
mod token_file;
mod trend;
mod trial_names;
mod turns;
mod validity;

pub use analysis::Analysis;
pub use audit::audit;
pub use calibration::calibration;
pub use comparison::{Compared, comparisons, write_comparisons};
pub use conversation::{PromptLength, change, conversation, divergence, event, excuse, judging, user_tool_call};
pub use coverage::{coverage, coverage_json};
pub use failed_parts::failed_parts;
pub use format::{AMBIGUOUS_ENDING, Format, TrialIter, WrittenRun, terminal_json};
pub use gathered::Gathered;
use idle::{idle_texts, scores_zero_for_silence, silence_text};
pub use ink::{Ink, Paint};
pub use jobs::{job_line, jobs};
pub use listing::{listing, listing_as};
pub use mutation::mutation;
pub use numbers::{beside_gate, count, decimals, duration, size, telling_decimals, thousands, two_decimals};
pub use plain::{one_line, plain, short_name, wrapped};
pub use scores::scores;
pub use screen::{FigureCell, FigureRow, FigureTable, Page, Screen};
pub use systems::{ResultFile, ResultFolder};
pub use terminal::{judge_beside_facts, terminal};
pub use trend::trend;
pub use trial_names::TrialNames;
pub use turns::turns;

/// What a page says of a run without an end: it goes on, or was cut off.
const UNENDED: &str = "The run has not come to its end: this is what was kept of it by then.";
