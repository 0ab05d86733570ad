//! The plan of a run: cases × models × conditions × repeats, in lanes. In come a job, the command line's overrides and
//! the environment; out goes a [`Plan`] with its lanes of trials. Jobs that cannot work are refused here, before
//! anything is paid.
//!
//! Pure: whatever can be known from the job, the flags and the surroundings is checked here, all problems at once.

mod apart;
mod features;
mod gate;
mod lanes;
mod leftovers;
mod models;
mod partition;
mod personas;
mod prices;
mod refusal;
mod resumed;
mod settings;
mod special;
#[cfg(test)]
mod tests;
mod unmeasured;
mod until;
mod user_tools;
mod warnings;

use std::sync::Arc;

use crate::evidence::{Condition, TrialId};
use crate::graph::GraphConfig;
use crate::graph::embedded::EmbeddedConfig;
use crate::graph::neo4j::Neo4jConfig;
use crate::job::{Case, Isolation, Job};
use crate::money::PriceTable;
use crate::score::UntilDecided;
use warnings::{left_out, model_not_sent, same_tasks, short_of_lines, unsent_seeds, unset_variables};

pub use features::refusal as missing_feature;
pub use lanes::Lane;
pub use models::{Access, REVIEW, access, model_variables, with_model_variables};
pub use partition::{Partition, PartitionError, SuiteCase, parts};
pub use refusal::Refusal;
pub use resumed::{BegunTrial, ResumedTrials, UnfinishedTrial};
pub use settings::{Environment, Overrides};
pub use until::Until;
pub use warnings::samples_alike;

/// One conversation that is to be run.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// Which.
    pub id: TrialId,
    /// Its case.
    pub case: Arc<Case>,
    /// How often it was run before, with a persona that did not play its part.
    pub attempt: u32,
    /// How many of its conversations were cut off or broke, where it was begun before the run was resumed: they are replaced.
    pub restart: Option<u32>,
    /// What was held of it before the run was resumed, where it goes on where it was.
    pub left: Option<Arc<UnfinishedTrial>>,
    /// How many conversations of the same case and repetition begin with it: those of all models and conditions, which are
    /// compared with each other. 1 for all but the first of them.
    pub together: u32,
}

/// The plan of a run; nothing in it is known to be unable to work.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The job, with what the command line changes of it.
    pub job: Arc<Job>,
    /// The agent's models, in the order they were named.
    pub models: Vec<String>,
    /// The graph of the trials, if anything uses one.
    pub graph: Option<GraphConfig>,
    /// The isolation of the trials.
    pub isolation: Isolation,
    schedule: lanes::Schedule,
    /// How repetitions are added until the models differ significantly; `None` where their number is fixed.
    pub until: Option<UntilDecided>,
    /// Prices of models.
    pub prices: PriceTable,
    /// Whether agents that do nothing take the agent's place, and no model is asked.
    pub is_audit: bool,
    /// Warnings about jobs that can work and may not mean what they seem to.
    pub warnings: Vec<String>,
}

impl Plan {
    /// Whether a conversation about this case finds what others left: nothing keeps them apart, and no setup prepares what
    /// they share.
    pub fn keeps_leftovers(&self, case: &Case) -> bool {
        leftovers::are_kept(case, self.graph.as_ref(), self.isolation)
    }

    /// All trials in their order, each made when it is asked for.
    pub fn trials(&self) -> impl ExactSizeIterator<Item = Trial> + Send + use<> {
        self.schedule.trials()
    }

    /// The trials as lanes, which run side by side: all in one if they share state, else each in a lane of its own.
    pub fn lanes(&self) -> Box<dyn Iterator<Item = Lane> + Send> {
        match self.share_state() {
            true => Box::new(std::iter::once(Lane::new(self.trials()))),
            false => Box::new(self.trials().map(|trial| Lane::new(std::iter::once(trial)))),
        }
    }

    /// How many lanes there are.
    pub fn lane_count(&self) -> usize {
        if self.share_state() { 1 } else { self.trials().len() }
    }

    fn share_state(&self) -> bool {
        lanes::share_state(&self.job, self.graph.as_ref(), self.isolation)
    }

    /// Plans a job.
    ///
    /// # Errors
    /// Everything that cannot work, all at once.
    pub fn new(job: Job, overrides: Overrides, environment: Environment) -> Result<Plan, Vec<Refusal>> {
        let mut job = job;
        let misnamed = models::choose(&mut job, &overrides, &environment.variables);
        let unplayable = personas::expand(&mut job, overrides.personas);
        job.gate.min_score = overrides.min_score.or(job.gate.min_score);
        job.gate.baseline = overrides.baseline.or(job.gate.baseline);
        job.gate.max_drop = overrides.max_drop.or(job.gate.max_drop);
        job.limits.replace(overrides.limits);
        job.repeat = overrides.until.map(|until| until.most).or(overrides.repeat).unwrap_or(job.repeat);
        job.limits.trial_seconds = overrides.trial_seconds.unwrap_or(job.limits.trial_seconds);
        if let Some(most) = overrides.max_turns {
            job.max_turns = most;
            job.cases.iter_mut().for_each(|case| Arc::make_mut(case).max_turns = None);
        }
        let model_not_sent = model_not_sent(&job, &overrides.models);
        let models = if overrides.models.is_empty() {
            vec![job.target.transport.default_model().to_owned()]
        } else {
            overrides.models
        };
        let graph = choose_graph(&job);
        let isolation = lanes::isolation(&job, graph.as_ref());
        let conditions = if overrides.conditions.is_empty() { Condition::ALL.to_vec() } else { overrides.conditions };
        let schedule = lanes::Schedule::new(&job, &models, &conditions);
        let trials = schedule.trials().len();
        let mut refusals = misnamed;
        refusals.extend(unplayable);
        refusals.extend((trials == 0).then(|| no_trials(&conditions)));
        refusals.extend(models::refusals(&job, &environment));
        if !overrides.is_probe {
            refusals.extend(models::beyond_rules(&job));
        }
        let elsewhere = prices::elsewhere(&job, &models, &environment.variables);
        let prices = environment.prices.clone().with_elsewhere(elsewhere);
        refusals.extend(prices::refusals(&job, &models, &prices));
        refusals.extend(refusal::refusals(&job, &models, graph.as_ref(), &environment));
        let share_state = lanes::share_state(&job, graph.as_ref(), isolation);
        let apart = apart::IsolationPlan { isolation, several_at_once: !share_state && trials > 1 };
        refusals.extend(gate::refusals(&job));
        refusals.extend(overrides.until.and_then(|it| until::refusal(&models, it.most, personas::cases_in_file(&job))));
        refusals.extend(features::refusals(&job, graph.as_ref()));
        refusals.extend(apart::refusals(&job, graph.as_ref(), apart));
        if !refusals.is_empty() {
            return Err(refusals);
        }
        let mut warnings = leftovers::warnings(&job, graph.as_ref(), isolation);
        warnings.extend(leftovers::shared_names(&job));
        warnings.extend(left_out(&job, &conditions));
        warnings.extend(unset_variables(&job, &environment.variables));
        let until = overrides.until.map(|it| UntilDecided::new(it.most, it.min_effect, personas::cases_in_file(&job)));
        warnings.extend(gate::warnings(&job, &models).filter(|_| until.is_none()));
        warnings.extend(model_not_sent);
        warnings.extend(short_of_lines(&job));
        warnings.extend(personas::warning(&job));
        warnings.extend(same_tasks(&job));
        warnings.extend(unsent_seeds(&job));
        warnings.extend(samples_alike(&job));
        warnings.extend(user_tools::unused(&job));
        warnings.extend(unmeasured::warnings(&job));
        warnings.extend(refusal::unsent_key(&job, &environment));
        Ok(Plan { job: Arc::new(job), models, graph, isolation, schedule, until, prices, is_audit: false, warnings })
    }
}

/// The graph that the job names; else the embedded one for an agent that eval-job starts, Neo4j for every other job with
/// Cypher.
fn choose_graph(job: &Job) -> Option<GraphConfig> {
    if let Some(graph) = job.graph.backend() {
        return Some(graph);
    }
    let is_demo = job.target.transport.hosting().is_in_process();
    // A started agent is given a graph although nothing of the job looks at it: it may need one.
    let may_need_one = job.target.start.is_some() && (EmbeddedConfig::ABSENT.is_none() || job.uses_graph());
    if is_demo || may_need_one {
        return Some(GraphConfig::Embedded(EmbeddedConfig::default()));
    }
    job.uses_graph().then(|| GraphConfig::Neo4j(Neo4jConfig::default()))
}

/// The refusal where no case has any of the conditions that are asked for.
fn no_trials(conditions: &[Condition]) -> Refusal {
    let asked: Vec<&str> = conditions.iter().map(|condition| condition.label()).collect();
    Refusal::new(
        format!("no conversation of this job is held {}", asked.join(" or ")),
        "a case without facts is held without facts only; write `facts`, or leave --condition out",
    )
}
