//! What is to be run: a job × models × conditions × repeats, in lanes; and what is refused before a token is paid.
//!
//! Pure: whatever can be known from the job, the flags and the surroundings is checked here, all problems at once.

mod apart;
mod lanes;
mod leftovers;
mod models;
mod prices;
mod refusal;

use std::sync::Arc;

use crate::evidence::{Condition, TrialId};
use crate::graph::GraphConfig;
use crate::graph::embedded::EmbeddedConfig;
use crate::graph::neo4j::Neo4jConfig;
use crate::job::{Isolation, Job, ModelName, RunLimits};
use crate::money::PriceTable;
use crate::score::Score;
use crate::secret::Variables;

pub use models::{Access, access};
pub use refusal::Refusal;

/// What the command line asks for beyond the job.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Wanted {
    /// The agent's models; empty means the transport's default.
    pub models: Vec<String>,
    /// The conditions; empty means both.
    pub conditions: Vec<Condition>,
    /// The persona's model instead of the job's.
    pub evaluator_model: Option<ModelName>,
    /// The judge's model instead of the job's.
    pub scorer_model: Option<ModelName>,
    /// The gate instead of the job's.
    pub min_score: Option<Score>,
    /// Limits of the run instead of the job's.
    pub limits: RunLimits,
}

/// What the surroundings offer, as far as it decides what can work.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Surroundings {
    /// The environment's variables: keys and addresses of our own models.
    pub variables: Variables,
    /// `NEO_URI`.
    pub neo4j_uri: Option<String>,
    /// What models cost.
    pub prices: PriceTable,
}

/// What is to be run; whatever it holds can work as far as anyone can know.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The job, with what the command line changes of it.
    pub job: Arc<Job>,
    /// The agent's models, in the order they were named.
    pub models: Vec<String>,
    /// The graph of the trials, if anything uses one.
    pub graph: Option<GraphConfig>,
    /// What keeps the trials apart.
    pub isolation: Isolation,
    /// Trials that share state, one after the other; lanes run side by side.
    pub lanes: Vec<Vec<TrialId>>,
    /// What models cost.
    pub prices: PriceTable,
    /// What can work, and may still not mean what it seems to.
    pub warnings: Vec<String>,
}

impl Plan {
    /// Whether a conversation finds what others left: nothing keeps them apart, and no setup prepares what they share.
    pub fn keeps_leftovers(&self) -> bool {
        leftovers::are_kept(&self.job, self.graph.as_ref(), self.isolation)
    }

    /// All trials, by number.
    pub fn trials(&self) -> Vec<TrialId> {
        let mut trials: Vec<TrialId> = self.lanes.iter().flatten().cloned().collect();
        trials.sort_by_key(|trial| trial.number);
        trials
    }

    /// Plans a job.
    ///
    /// # Errors
    /// Everything that cannot work, all at once.
    pub fn of(job: Job, wanted: Wanted, surroundings: Surroundings) -> Result<Plan, Vec<Refusal>> {
        let mut job = job;
        let misnamed = models::choose(&mut job, &wanted, &surroundings.variables);
        job.gate.min_score = wanted.min_score.or(job.gate.min_score);
        job.limits.run = wanted.limits.or(job.limits.run);
        let models = if wanted.models.is_empty() {
            vec![job.target.transport.as_transport().default_model().to_owned()]
        } else {
            wanted.models
        };
        let graph = choose_graph(&job);
        let isolation = lanes::isolation(&job, graph.as_ref());
        let conditions = if wanted.conditions.is_empty() { Condition::ALL.to_vec() } else { wanted.conditions };
        let share_state = lanes::share_state(&job, graph.as_ref(), isolation);
        let lanes = lanes::lanes(&models, &conditions, share_state);
        let mut refusals = misnamed;
        refusals.extend(models::refusals(&job, &surroundings.variables));
        refusals.extend(prices::refusals(&job, &models, &surroundings.prices));
        refusals.extend(refusal::refusals(&job, &models, graph.as_ref(), &surroundings));
        let apart = apart::Apart { isolation, several_at_once: lanes.len() > 1 };
        refusals.extend(apart::refusals(&job, graph.as_ref(), apart));
        if !refusals.is_empty() {
            return Err(refusals);
        }
        let mut warnings = leftovers::warnings(&job, graph.as_ref(), isolation);
        warnings.extend(unset_variables(&job, &surroundings.variables));
        Ok(Plan { job: Arc::new(job), models, graph, isolation, lanes, prices: surroundings.prices, warnings })
    }
}

/// The graph that the job names; else the embedded one for an agent that eval-job starts, Neo4j for every other job with
/// Cypher.
fn choose_graph(job: &Job) -> Option<GraphConfig> {
    if let Some(graph) = &job.graph {
        return Some(graph.clone());
    }
    let is_demo = job.target.transport.as_transport().hosting().is_in_process();
    if is_demo || job.target.start.is_some() {
        return Some(GraphConfig::Embedded(EmbeddedConfig::default()));
    }
    uses_cypher(job).then(|| GraphConfig::Neo4j(Neo4jConfig::default()))
}

/// That a started agent is to get variables which are not set.
fn unset_variables(job: &Job, variables: &Variables) -> Option<String> {
    let transport = job.target.transport.as_transport();
    let (key, unset) = match &job.target.start {
        Some(start) => ("target.start".to_owned(), start.unset(variables)),
        None => (format!("target.{}", transport.key()), transport.unset_variables(variables)),
    };
    let are = if unset.len() == 1 { "is" } else { "are" };
    (!unset.is_empty())
        .then(|| format!("{key}.inheritEnv: {} {are} not set, so the agent starts without", unset.join(" and ")))
}

/// Whether a setup or an assertion looks at the graph.
fn uses_cypher(job: &Job) -> bool {
    !job.setups.is_empty() || job.assertions.iter().any(|assertion| assertion.check.needs_graph())
}

#[cfg(test)]
mod tests;
