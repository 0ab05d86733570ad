//! The clients that a plan needs, made of what the job says and of what the surroundings know.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::budget::Budget;
use tokio::sync::Semaphore;

use super::evaluate;
use super::models::{ModelAddress, ModelDeps, Models};
use super::resources::RunResources;
use super::trial_graph::neo4j_graph;
use super::{Engine, RandomSource};
use crate::agent::{Agent, AgentContext, AgentError};
use crate::clock::{Clock, Stopwatch};
use crate::evidence::TrialId;
use crate::graph::embedded::{self, EmbeddedGraph};
use crate::graph::neo4j::{Neo4jConfig, Neo4jConnection, Neo4jGraph};
use crate::graph::{GraphConfig, GraphError};
use crate::http::HttpClient;
use crate::job::Isolation;
use crate::limiter::{ConversationLimiter, OnWait, TargetLimiter, WaitReason};
use crate::llm::Llm;
use crate::plan::Plan;
use crate::retry::RetryPolicy;
use crate::secret::{Redactor, Secret, Variables};

/// Keys, passwords and addresses, as the environment gives them.
#[derive(Debug, Clone, Default)]
pub struct Credentials {
    /// All variables, among them the keys and addresses of our own models.
    pub variables: Variables,
    /// `EVAL_JOB_AGENT_API_KEY`.
    pub agent_api_key: Option<Secret>,
    /// `NEO_URI`.
    pub neo4j_uri: Option<String>,
    /// `NEO_USERNAME`.
    pub neo4j_username: Option<String>,
    /// `NEO_PASSWORD`.
    pub neo4j_password: Option<Secret>,
    /// Knows whatever of a run is secret.
    pub redactor: Redactor,
}

/// The clients that a plan needs. Nothing is contacted before a trial asks.
pub struct Edges {
    /// The persona's model; `None` where it says fixed lines.
    pub persona: Option<Arc<dyn Llm>>,
    /// The judge's model.
    pub judge: Arc<dyn Llm>,
    endpoints: Vec<String>,
    pub(super) model_addresses: Vec<ModelAddress>,
    pub(super) http: HttpClient,
    pub(super) credentials: Credentials,
    /// Stands for "nothing there": made when an assertion is first looked at on it, never written to.
    empty_graph: OnceLock<Result<Arc<EmbeddedGraph>, GraphError>>,
    pub(super) clock: Clock,
    /// Since these clients were made: what `limits.time` counts from.
    pub(super) since: Stopwatch,
    /// One connection to the database for all trials, unless each has a database of its own.
    pub(super) neo4j: Option<Arc<Neo4jGraph>>,
    /// `limits.query`.
    pub(super) query_limit: Duration,
    /// `graph.embedded.memory`.
    graph_memory: embedded::Megabytes,
    /// What the trials have in common.
    pub(super) resources: RunResources,
    /// What the run may spend.
    pub(super) budget: Budget,
    /// The assertions that may be evaluated at once.
    pub(super) evaluations: Arc<Semaphore>,
    /// What all conversations with the agent share.
    pub(super) target: TargetLimiter,
    on_wait: Option<Arc<OnWait>>,
}

/// What the surroundings give, of which the clients are made.
pub struct RunDeps<'a> {
    /// Keys, passwords and addresses.
    pub credentials: &'a Credentials,
    /// The clock.
    pub clock: Clock,
    /// The seed of every random choice that can be made again.
    pub rng_seed: u64,
    /// What tokens and passwords are drawn from.
    pub random: Box<RandomSource>,
    /// Hears how long something is waited for: a rate limit, the agent's first words.
    pub on_wait: Option<Arc<OnWait>>,
}

impl Edges {
    /// The clients of a plan.
    ///
    /// # Errors
    /// What a client can't be made of: an address that is none.
    pub fn of(plan: &Plan, means: RunDeps<'_>) -> Result<Edges, String> {
        let RunDeps { credentials, clock, rng_seed, random, on_wait } = means;
        let http = HttpClient::new().with_redactor(credentials.redactor.clone());
        let budget = Budget::new(plan.job.limits.spend(), plan.prices.clone());
        let variables = &credentials.variables;
        let (target, waits) = (TargetLimiter::new(clock, rng_seed, on_wait.clone()), on_wait.clone());
        let deps = ModelDeps { variables, clock, rng_seed, http: &http, on_wait, budget: &budget };
        let Models { persona, judge, addresses, endpoints, keys } = Models::of(&plan.job, &deps)?;
        learn(plan, credentials, &keys);
        let query_limit = Duration::from_secs_f64(plan.job.limits.query_seconds);
        let graph_memory = match &plan.graph {
            Some(GraphConfig::Embedded(config)) => config.memory.unwrap_or_default(),
            _ => embedded::Megabytes::default(),
        };
        let neo4j = match &plan.graph {
            Some(GraphConfig::Neo4j(config)) => {
                let graph = neo4j_graph(neo4j_connection(config, credentials), query_limit)?;
                Some(Arc::new(graph))
            }
            _ => None,
        };
        let (credentials, resources) = (credentials.clone(), RunResources::new(random));
        let empty_graph = OnceLock::new();
        Ok(Edges {
            persona,
            judge,
            endpoints,
            model_addresses: addresses,
            http,
            credentials,
            clock,
            since: clock.start(),
            empty_graph,
            neo4j,
            query_limit,
            graph_memory,
            resources,
            budget,
            evaluations: evaluate::slots(),
            target,
            on_wait: waits,
        })
    }

    /// Tells whoever watches how long something is going to be waited for.
    pub(super) fn tell(&self, what: WaitReason, wait: Duration) {
        if let Some(on_wait) = &self.on_wait {
            on_wait(what, wait);
        }
    }

    /// Where our own models are asked, if not at their providers' own addresses.
    pub(super) fn model_endpoints(&self) -> &[String] {
        &self.endpoints
    }

    /// What clears texts of the run's secrets.
    pub(super) fn redactor(&self) -> &Redactor {
        &self.credentials.redactor
    }

    /// The graph with nothing in it.
    pub(super) fn empty_graph(&self) -> Result<Arc<EmbeddedGraph>, GraphError> {
        let fresh = || EmbeddedGraph::with_limits(self.graph_limits()).map(Arc::new);
        self.empty_graph.get_or_init(fresh).clone()
    }

    pub(super) fn graph_limits(&self) -> embedded::EmbeddedLimits {
        embedded::EmbeddedLimits {
            time: self.query_limit,
            memory: self.graph_memory.bytes(),
            ..embedded::EmbeddedLimits::default()
        }
    }

    /// A conversation's limiter: among all that are held with the agent, or alone where it has one of its own.
    pub(super) fn conversation_limiter(&self, plan: &Plan) -> ConversationLimiter {
        let is_started = plan.job.target.start.is_some() || plan.job.target.transport.hosting().is_in_process();
        match plan.isolation {
            Isolation::Database | Isolation::Process if is_started => self.target.open_separate_conversation(),
            _ => self.target.open_conversation(),
        }
    }

    /// The user of a trial.
    pub(super) fn user(&self, plan: &Plan, id: &TrialId) -> String {
        let user = &plan.job.target.user;
        match plan.isolation {
            Isolation::User => format!("{user}-{}", self.resources.token(id)),
            Isolation::Shared | Isolation::Database | Isolation::Process => user.clone(),
        }
    }

    /// The client of a trial's agent. `started_at` is where the agent listens that was started for it.
    pub(super) fn agent(
        &self,
        engine: &Engine,
        id: &TrialId,
        (started_at, limiter): (Option<String>, &ConversationLimiter),
    ) -> Result<Box<dyn Agent>, AgentError> {
        let job = &engine.plan.job;
        let context = AgentContext {
            user: self.user(&engine.plan, id),
            chatbot: job.target.chatbot.clone(),
            model: id.model.clone(),
            started_at,
            api_key: self.credentials.agent_api_key.clone(),
            folder: job.folder.clone(),
            variables: self.credentials.variables.clone(),
            redactor: self.credentials.redactor.clone(),
            state_parts: job.assertions().flat_map(|assertion| assertion.check.context_parts()).collect(),
            http: self.http.clone(),
            turn_limit: Duration::from_secs_f64(job.limits.turn_seconds),
            rng_seed: engine.rng_seed.wrapping_add(u64::from(id.number)),
            clock: engine.clock,
            retry: RetryPolicy::AGENT,
            reading: RetryPolicy::READING,
            limiter: limiter.clone(),
        };
        job.target.transport.connect(context)
    }
}

/// Tells the redactor what of a plan and its surroundings is secret.
fn learn(plan: &Plan, credentials: &Credentials, model_keys: &[Secret]) {
    let redactor = &credentials.redactor;
    redactor.learn_variables(&credentials.variables);
    let own = [&credentials.agent_api_key, &credentials.neo4j_password].into_iter().flatten();
    own.chain(model_keys).for_each(|key| redactor.learn(key));
    let secrets = plan.job.target.transport.secrets();
    secrets.into_iter().for_each(|(name, value)| redactor.learn_named(name, value));
    if let Some(GraphConfig::Neo4j(config)) = &plan.graph {
        let connection = neo4j_connection(config, credentials);
        redactor.learn_named("", &connection.uri);
        redactor.learn_login(&connection.username, &connection.password);
    }
}

/// What the job says of the database; the environment only fills in what is missing.
pub fn neo4j_connection(config: &Neo4jConfig, credentials: &Credentials) -> Neo4jConnection {
    let own = |own: &Option<String>, other: &Option<String>| own.clone().or_else(|| other.clone());
    Neo4jConnection {
        uri: own(&config.uri, &credentials.neo4j_uri).unwrap_or_else(|| Neo4jConfig::DEFAULT_URI.to_owned()),
        username: own(&config.username, &credentials.neo4j_username).unwrap_or_else(|| "neo4j".to_owned()),
        password: config
            .password
            .clone()
            .map(Secret::new)
            .or_else(|| credentials.neo4j_password.clone())
            .unwrap_or_else(|| Secret::new("")),
        database: config.database.clone(),
    }
}
