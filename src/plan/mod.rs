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
mod unmeasured;
mod until;

use std::sync::Arc;

use serde::Serialize;

use crate::agent::{Ability, TransportConfig};
use crate::evidence::{Condition, Role, TrialId};
use crate::graph::GraphConfig;
use crate::graph::embedded::EmbeddedConfig;
use crate::graph::neo4j::Neo4jConfig;
use crate::job::{Case, Gate, Isolation, Job, Model, ModelName, Opening, Panel, RunLimits, Seed, User, UserPersona};
use crate::metric::{MetricConfig, MetricEntry, MetricKind};
use crate::money::PriceTable;
use crate::score::{Score, UntilDecided};
use crate::secret::Variables;

pub use features::refusal as missing_feature;
pub use lanes::Lane;
pub use models::{Access, REVIEW, access, model_variables, with_model_variables};
pub use partition::{Partition, PartitionError, SuiteCase, parts};
pub use refusal::Refusal;
pub use resumed::{BegunTrial, HeldTrials};
pub use until::Until;

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
    /// Repetitions are added until the models are told apart.
    pub until: Option<Until>,
    /// How many messages a conversation may have, instead of `maxTurns`.
    pub max_turns: Option<u32>,
    /// How many seconds a conversation may take, instead of `limits.trial`.
    pub trial_seconds: Option<f64>,
    /// The kinds of users instead of the job's; empty means those of the job.
    pub personas: Vec<UserPersona>,
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

/// One conversation that is to be held.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// Which.
    pub id: TrialId,
    /// Its case.
    pub case: Arc<Case>,
    /// How often it was held before, with a persona that did not play its part.
    pub attempt: u32,
    /// How many of its conversations were cut off or broke, where it was begun before the run was resumed: they are replaced.
    pub restart: Option<u32>,
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
    /// How repetitions are added until the models are told apart, where they are.
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

    /// Plans to ask a job's judge about conversations that were held earlier: neither agent, persona nor graph is needed.
    ///
    /// # Errors
    /// Everything that cannot work, all at once.
    pub fn for_judge(mut job: Job, wanted: Overrides, surroundings: Environment) -> Result<Plan, Vec<Refusal>> {
        job.persona.model = Model::new(ModelName::Scripted);
        let mut refusals = models::choose(&mut job, &wanted, &surroundings.variables);
        job.limits.replace(wanted.limits);
        refusals.extend(models::refusals(&job, &surroundings));
        let elsewhere = prices::elsewhere(&job, &[], &surroundings.variables);
        let prices = surroundings.prices.with_elsewhere(elsewhere);
        refusals.extend(prices::refusals(&job, &[], &prices));
        if !refusals.is_empty() {
            // There is no persona to name a model for.
            refusals.iter_mut().for_each(|it| it.help = it.help.replace("--evaluator-model scripted ", ""));
            return Err(refusals);
        }
        let schedule = lanes::Schedule::new(&job, &[], &[]);
        let (job, isolation) = (Arc::new(job), Isolation::Shared);
        Ok(Plan {
            job,
            models: Vec::new(),
            graph: None,
            isolation,
            schedule,
            prices,
            until: None,
            is_audit: false,
            warnings: Vec::new(),
        })
    }

    /// Plans to hold a job's conversations with agents that do nothing: on an embedded graph, without any model, process or
    /// network, whatever the job names.
    pub fn for_audit(mut job: Job, agents: Vec<String>) -> Plan {
        let graph = match job.graph.backend() {
            Some(GraphConfig::Embedded(config)) => config,
            _ => EmbeddedConfig::default(),
        };
        let needs_graph = job.uses_graph() || job.target.transport.hosting().is_in_process();
        job.target.transport = TransportConfig::default();
        (job.target.start, job.target.max_concurrency, job.reference) = (None, None, None);
        job.persona.model = Model::new(ModelName::Scripted);
        job.judge.model = Model::new(ModelName::Scripted).into();
        job.judge.embeddings = None;
        job.repeat = 1;
        (job.limits.cost, job.limits.tokens, job.limits.run_seconds) = (None, None, None);
        for case in &mut job.cases {
            Arc::make_mut(case).reference = None;
        }
        let schedule = lanes::Schedule::new(&job, &agents, &Condition::ALL);
        Plan {
            job: Arc::new(job),
            models: agents,
            graph: needs_graph.then_some(GraphConfig::Embedded(graph)),
            isolation: Isolation::Database,
            schedule,
            prices: PriceTable::default(),
            until: None,
            is_audit: true,
            warnings: Vec::new(),
        }
    }

    /// Plans one conversation of a job's first case, in which a person speaks in the place of the persona; nothing is judged.
    ///
    /// # Errors
    /// Everything that cannot work, all at once.
    pub fn for_person(mut job: Job, mut wanted: Overrides, environment: Environment) -> Result<Plan, Vec<Refusal>> {
        for case in &mut job.cases {
            let case = Arc::make_mut(case);
            (case.user, case.opening, case.persona, case.reference) = (User::Persona, Opening::default(), None, None);
            case.assertions.clear();
            case.max_turns = None;
            // Setups and seeds stay: the agent finds what the case says.
        }
        job.persona.personas.clear();
        (job.greetings, job.max_turns) = (Vec::new(), u32::MAX);
        job.metrics = vec![MetricEntry::new(MetricConfig::new(MetricKind::Timing))];
        job.judge.embeddings = None;
        job.limits.trial_seconds = LONGEST_RECORDING;
        job.gate = Gate::default();
        job.reference = None;
        wanted.evaluator_model = Some(ModelName::Scripted);
        wanted.scorer_model = Some(Model::new(ModelName::Scripted).into());
        wanted.repeat = Some(1);
        let plan = Plan::new(job, wanted, environment)?;
        Ok(Plan { schedule: plan.schedule.clone().of_one(), ..plan })
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
        let untold_model = untold_model(&job, &overrides.models);
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
        let elsewhere = prices::elsewhere(&job, &models, &environment.variables);
        let prices = environment.prices.clone().with_elsewhere(elsewhere);
        refusals.extend(prices::refusals(&job, &models, &prices));
        refusals.extend(refusal::refusals(&job, &models, graph.as_ref(), &environment));
        let share_state = lanes::share_state(&job, graph.as_ref(), isolation);
        let apart = apart::Apart { isolation, several_at_once: !share_state && trials > 1 };
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
        warnings.extend(untold_model);
        warnings.extend(personas::warning(&job));
        warnings.extend(same_tasks(&job));
        warnings.extend(unsent_seeds(&job));
        warnings.extend(samples_alike(&job));
        warnings.extend(unmeasured::warnings(&job));
        warnings.extend(refusal::unsent_key(&job, &environment));
        Ok(Plan { job: Arc::new(job), models, graph, isolation, schedule, until, prices, is_audit: false, warnings })
    }
}

/// How many seconds a person may take: a day.
const LONGEST_RECORDING: f64 = 86_400.0;

/// That the agent never hears of the model that `--model` names.
fn untold_model(job: &Job, named: &[String]) -> Option<String> {
    let transport = &job.target.transport;
    let [model] = named else { return None };
    (!transport.can(Ability::ChoosesModel)).then(|| {
        let (key, help) = (transport.key(), transport.how_to_choose_model());
        format!("--model {model} only names the agent in reports: target.{key} does not tell it a model; {help}")
    })
}

/// Tasks that say the same.
fn same_tasks(job: &Job) -> Vec<String> {
    let mut warnings = Vec::new();
    for case in &job.cases {
        let of_case = if job.cases.len() > 1 { format!(" of case `{}`", case.id) } else { String::new() };
        for (at, task) in case.tasks.iter().enumerate() {
            if let Some(first) = case.tasks[..at].iter().position(|first| first.task == task.task) {
                warnings.push(format!("tasks {} and {}{of_case} ask for the same", first + 1, at + 1));
            }
        }
    }
    warnings
}

/// That several samples of a judge hardly differ: those of all metrics, or of some that say how often it is asked.
fn samples_alike(job: &Job) -> Option<String> {
    if job.judge.temperature != 0.0 || job.judges().next().is_none() {
        return None;
    }
    let asking = job.metrics.iter().filter(|metric| metric.kind().asks_judge());
    let own = asking.filter_map(|metric| Some((metric.label().to_owned(), own_samples(metric)?)));
    let own: Vec<(String, u64)> = own.filter(|(_, samples)| *samples > 1).collect();
    let (who, times, instead) = match own.as_slice() {
        _ if job.judge.samples > 1 => (String::new(), u64::from(job.judge.samples), "samples: 1"),
        [] => return None,
        own => {
            let names: Vec<&str> = own.iter().map(|(name, _)| name.as_str()).collect();
            let most = own.iter().map(|(_, samples)| *samples).max().unwrap_or_default();
            (format!("for {} ", names.join(", ")), most, "judging: {samples: 1} there")
        }
    };
    Some(format!(
        "{who}the judge is asked {times} times at temperature 0, where models answer nearly the same each time: say scorer: \
         {{temperature: 0.7}}, or {instead}"
    ))
}

/// How often a metric has its judge asked, where it says that itself: `judging.samples`.
fn own_samples(metric: &impl Serialize) -> Option<u64> {
    let written = serde_json::to_value(metric).ok()?;
    written.as_object()?.values().find_map(|options| options["judging"]["samples"].as_u64())
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

/// The cases that are left out because they are never held in the conditions that are asked for.
fn left_out(job: &Job, conditions: &[Condition]) -> Vec<String> {
    let is_left_out = |case: &&Arc<Case>| !case.conditions.iter().any(|condition| conditions.contains(condition));
    let held = |case: &Case| case.conditions.iter().map(|it| it.label()).collect::<Vec<_>>().join(" and ");
    let cases = job.cases.iter().filter(is_left_out);
    cases.map(|case| format!("case `{}` is left out: it is held {} only", case.id, held(case))).collect()
}

/// That a started agent is to get variables which are not set.
fn unset_variables(job: &Job, variables: &Variables) -> Option<String> {
    let transport = &job.target.transport;
    let (key, unset) = match &job.target.start {
        Some(start) => ("target.start".to_owned(), start.unset(variables)),
        None => (format!("target.{}", transport.key()), transport.unset_variables(variables)),
    };
    let are = if unset.len() == 1 { "is" } else { "are" };
    (!unset.is_empty())
        .then(|| format!("{key}.inheritEnv: {} {are} not set, so the agent starts without", unset.join(" and ")))
}

/// That an earlier conversation has nothing that is sent: an agent that is not shown it hears the user's lines only.
fn unsent_seeds(job: &Job) -> Option<String> {
    if job.target.transport.can(Ability::TakesHistory) {
        return None;
    }
    let is_unsent = |seed: &&Seed| matches!(seed, Seed::Conversation(messages) if messages.iter().all(|message| message.role != Role::User));
    let cases = job.cases.iter().filter_map(|case| case.seeds.iter().find(is_unsent).map(|_| case.id.as_str()));
    let names: Vec<&str> = cases.collect();
    const NAMED: usize = 3;
    let more = match names.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!names.is_empty()).then(|| {
        format!(
            "{}{more}: a seed's conversation has no line of the user, so that nothing of it is sent; target.{} is not shown what others said",
            names[..names.len().min(NAMED)].join(", "),
            job.target.transport.key()
        )
    })
}

/// That no case is held in any of the conditions that are asked for.
fn no_trials(conditions: &[Condition]) -> Refusal {
    let asked: Vec<&str> = conditions.iter().map(|condition| condition.label()).collect();
    Refusal::new(
        format!("no conversation of this job is held {}", asked.join(" or ")),
        "a case without facts is held without facts only; write `facts`, or leave --condition out",
    )
}

#[cfg(test)]
mod tests;
