//! The clients that a plan needs, made of what the job says and of what the surroundings know.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::Engine;
use crate::agent::embabel::{EmbabelAgent, EmbabelConfig, EmbabelSettings};
use crate::agent::{Agent, AgentError, TransportConfig};
use crate::clock::Clock;
use crate::evidence::TrialId;
use crate::graph::embedded::{self, EmbeddedGraph};
use crate::graph::neo4j::{Limits, Neo4jConfig, Neo4jConnection, Neo4jGraph};
use crate::graph::{Graph, GraphConfig, GraphError};
use crate::http::HttpClient;
use crate::job::{Mind, ModelName};
use crate::llm::Llm;
use crate::llm::openai::{OpenAi, OpenAiSettings};
use crate::llm::scripted::Scripted;
use crate::plan::Plan;
use crate::retry::RetryPolicy;
use crate::secret::Secret;

/// Keys, passwords and addresses, as the environment gives them.
#[derive(Debug, Clone, Default)]
pub struct Credentials {
    /// `OPENAI_API_KEY`.
    pub openai_key: Option<Secret>,
    /// `OPENAI_BASE_URL`.
    pub openai_base_url: Option<String>,
    /// `EVAL_JOB_AGENT_API_KEY`.
    pub agent_api_key: Option<Secret>,
    /// `NEO_URI`.
    pub neo4j_uri: Option<String>,
    /// `NEO_USERNAME`.
    pub neo4j_username: Option<String>,
    /// `NEO_PASSWORD`.
    pub neo4j_password: Option<Secret>,
}

/// The clients that a plan needs. Nothing is contacted before a trial asks.
pub struct Edges {
    /// The persona's model; `None` where it says fixed lines.
    pub persona: Option<Arc<dyn Llm>>,
    /// The judge's model.
    pub judge: Arc<dyn Llm>,
    http: HttpClient,
    credentials: Credentials,
    /// Stands for "nothing there": made when an assertion is first looked at on it, never written to.
    empty_graph: OnceLock<Result<Arc<EmbeddedGraph>, GraphError>>,
    /// One connection to the database for all trials.
    neo4j: Option<Arc<dyn Graph>>,
    /// `limits.query`.
    query_limit: Duration,
}

/// How long one request to one of our own models may take.
const MODEL_LIMIT: Duration = Duration::from_secs(120);

impl Edges {
    /// The clients of a plan.
    ///
    /// # Errors
    /// What a client can't be made of: an address that is none.
    pub fn of(plan: &Plan, credentials: &Credentials, clock: Clock, rng_seed: u64) -> Result<Edges, String> {
        let http = HttpClient::new();
        let model = |name: &ModelName| model(name, credentials, clock, rng_seed, &http);
        let persona = match &plan.job.persona.mind {
            Mind::Lines(_) => None,
            Mind::Model(name) => Some(model(name)?),
        };
        let judge = model(&plan.job.judge.model)?;
        let query_limit = Duration::from_secs_f64(plan.job.limits.query_seconds);
        let neo4j = match &plan.graph {
            Some(GraphConfig::Neo4j(config)) => {
                let limits = Limits { time: query_limit, ..Limits::default() };
                let connection = neo4j_connection(config, credentials);
                let graph = Neo4jGraph::connect(connection, limits).map_err(|error| error.message)?;
                Some(Arc::new(graph) as Arc<dyn Graph>)
            }
            _ => None,
        };
        let empty_graph = OnceLock::new();
        Ok(Edges { persona, judge, http, credentials: credentials.clone(), empty_graph, neo4j, query_limit })
    }

    /// Where our own models are asked, if the environment says.
    pub(super) fn model_endpoint(&self) -> Option<&str> {
        self.credentials.openai_base_url.as_deref()
    }

    /// The graph of a trial: a fresh one, or the database that all trials share.
    pub(super) fn graph(&self, config: &GraphConfig) -> Result<Arc<dyn Graph>, GraphError> {
        match (config, &self.neo4j) {
            (GraphConfig::Neo4j(_), Some(graph)) => Ok(graph.clone()),
            _ => Ok(Arc::new(self.fresh_graph()?)),
        }
    }

    /// The graph with nothing in it.
    pub(super) fn empty_graph(&self) -> Result<Arc<EmbeddedGraph>, GraphError> {
        self.empty_graph.get_or_init(|| self.fresh_graph().map(Arc::new)).clone()
    }

    fn fresh_graph(&self) -> Result<EmbeddedGraph, GraphError> {
        EmbeddedGraph::with_limits(embedded::Limits { time: self.query_limit, ..embedded::Limits::default() })
    }

    /// The client of a trial's agent. `base_url` is where the demo agent of this trial listens.
    pub(super) fn agent(
        &self,
        engine: &Engine,
        id: &TrialId,
        base_url: Option<String>,
    ) -> Result<Box<dyn Agent>, AgentError> {
        let target = &engine.plan.job.target;
        let own = match &target.transport {
            TransportConfig::Embabel(config) => config.clone(),
            TransportConfig::Demo(_) => EmbabelConfig { base_url, ..EmbabelConfig::default() },
        };
        // The user's key is for the user's agent; the demo agent needs none.
        let from_environment = match &target.transport {
            TransportConfig::Embabel(_) => self.credentials.agent_api_key.clone(),
            TransportConfig::Demo(_) => None,
        };
        let settings = EmbabelSettings {
            base_url: own.base_url().to_owned(),
            path: own.path().to_owned(),
            api_key: own.api_key.clone().map(Secret::new).or(from_environment),
            knowledge: own.knowledge.clone(),
            user: target.user.clone(),
            chatbot: target.chatbot.clone(),
            model: id.model.clone(),
            turn_limit: Duration::from_secs_f64(engine.plan.job.limits.turn_seconds),
            rng_seed: engine.rng_seed.wrapping_add(u64::from(id.number)),
            clock: engine.clock,
            retry: RetryPolicy::AGENT,
        };
        Ok(Box::new(EmbabelAgent::new(settings, self.http.clone())?))
    }
}

fn model(
    name: &ModelName,
    credentials: &Credentials,
    clock: Clock,
    rng_seed: u64,
    http: &HttpClient,
) -> Result<Arc<dyn Llm>, String> {
    match name {
        ModelName::Scripted => Ok(Arc::new(Scripted)),
        ModelName::OpenAi(model) => {
            let api_key = credentials.openai_key.clone().ok_or("there is no OPENAI_API_KEY")?;
            let settings = OpenAiSettings {
                base_url: credentials.openai_base_url.clone().unwrap_or_else(|| OpenAiSettings::BASE_URL.to_owned()),
                api_key,
                model: model.clone(),
                time_limit: MODEL_LIMIT,
                rng_seed,
                clock,
                retry: RetryPolicy::MODEL,
            };
            Ok(Arc::new(OpenAi::new(settings, http.clone()).map_err(|error| error.message)?))
        }
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
