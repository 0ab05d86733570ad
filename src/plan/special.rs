//! Plans of runs without an agent, without models, or with a person as the user.

use std::sync::Arc;

use super::{Environment, Overrides, Plan, Refusal, lanes, models, prices};
use crate::agent::TransportConfig;
use crate::evidence::Condition;
use crate::graph::GraphConfig;
use crate::graph::embedded::EmbeddedConfig;
use crate::job::{Gate, Isolation, Job, Model, ModelName, Opening, User};
use crate::metric::{MetricConfig, MetricEntry, MetricKind};
use crate::money::PriceTable;

/// The time limit of a conversation with a person, in seconds: a day.
const LONGEST_RECORDING: f64 = 86_400.0;

impl Plan {
    /// Plans to ask a job's judge about conversations that were run earlier: neither agent, persona nor graph is needed.
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
        // A person has none to call.
        job.persona.tools.clear();
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
        Ok(Plan { schedule: plan.schedule.clone().first_only(), ..plan })
    }
}
