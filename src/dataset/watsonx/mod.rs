//! Files of watsonx Orchestrate: ground-truth datasets, `config.yml`, stories, validation files, and recorded messages.

mod attack;
mod case;
mod config;
mod goals;
mod graph;
mod messages;
mod metrics;
mod stories;
mod write;
mod write_config;

pub(super) use case::{SummaryVersion, read_case, summary_version};
pub(super) use config::{SIMILARITY, WatsonxRunConfig, read_config};
pub(super) use messages::{read_analyzed, read_messages};
pub(super) use metrics::{REFERENCELESS, RESISTED};
pub(super) use stories::{read_stories, read_validation};
pub(super) use write::write;
pub(super) use write_config::CONFIG;

use super::cursor::{Spelling, UnknownKeys};

const KEYS: Spelling = Spelling::Exact;
const UNKNOWN: UnknownKeys = UnknownKeys::Kept;

/// The stop signal of the simulated user.
const STOP_SIGNAL: &str = "END";

/// The most messages of the user where nothing else is said.
const MAX_USER_TURNS: u32 = 25;
