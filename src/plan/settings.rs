//! The settings of a plan beside the job: those of the command line, and those of the environment.

use super::Until;
use crate::evidence::Condition;
use crate::job::{ModelName, Panel, RunLimits, UserPersona};
use crate::money::PriceTable;
use crate::score::Score;
use crate::secret::Variables;

/// The settings of the command line that override the job's.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Overrides {
    /// The agent's models; empty means the transport's default.
    pub models: Vec<String>,
    /// Only these of the cases' conditions; empty means all.
    pub conditions: Vec<Condition>,
    /// The persona's model instead of the job's.
    pub evaluator_model: Option<ModelName>,
    /// The judge's model instead of the job's.
    pub scorer_model: Option<Panel>,
    /// The gate instead of the job's.
    pub min_score: Option<Score>,
    /// The baseline instead of the job's.
    pub baseline: Option<String>,
    /// The drop from it instead of the job's.
    pub max_drop: Option<Score>,
    /// Limits of the run instead of the job's.
    pub limits: RunLimits,
    /// Overrides `repeat`.
    pub repeat: Option<u32>,
    /// Add repetitions until the models differ significantly.
    pub until: Option<Until>,
    /// How many messages a conversation may have, instead of `maxTurns`.
    pub max_turns: Option<u32>,
    /// How many seconds a conversation may take, instead of `limits.trial`.
    pub trial_seconds: Option<f64>,
    /// The kinds of users instead of the job's; empty means those of the job.
    pub personas: Vec<UserPersona>,
    /// Only one message is said, and none of our own models is asked.
    pub is_probe: bool,
}

/// The parts of the environment that decide whether a job can work.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Environment {
    /// The environment's variables: keys and addresses of our own models.
    pub variables: Variables,
    /// `NEO_URI`.
    pub neo4j_uri: Option<String>,
    /// Prices of models.
    pub prices: PriceTable,
    /// Whether a recording answers in place of the models: no key is needed.
    pub is_replayed: bool,
}
