//! The clients that a plan needs, made of what the job says and of what the surroundings know.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::budget::Budget;
use serde_json::Map;
use tokio::sync::Semaphore;

use super::commons::Commons;
use super::evaluate;
use super::ground::neo4j_graph;
use super::models::{ModelAddress, Models, Surround};
use super::{Chance, Engine};
use crate::agent::a2a::{A2aAgent, A2aConfig, A2aSettings};
use crate::agent::adk::{AdkAgent, AdkConfig, AdkServer, AdkSettings};
use crate::agent::command::{CommandAgent, CommandSettings};
use crate::agent::embabel::{EmbabelAgent, EmbabelConfig, EmbabelSettings};
use crate::agent::freeform::Known;
use crate::agent::http::{HttpAgent, HttpAgentSettings};
use crate::agent::openai::{OpenAiAgent, OpenAiAgentSettings, OpenAiConfig};
use crate::agent::responses::{ResponsesAgent, ResponsesAgentSettings, ResponsesConfig};
use crate::agent::trpc::{ServerConfig, TrpcAgent, TrpcConfig, TrpcSettings};
use crate::agent::watsonx::{WatsonxAgent, WatsonxConfig, WatsonxSettings};
use crate::agent::websocket::{WebSocketAgent, WebSocketAgentSettings};
use crate::agent::{Agent, AgentError, RestSettings, TransportConfig};
use crate::clock::{Clock, Stopwatch};
use crate::evidence::TrialId;
use crate::graph::embedded::{self, EmbeddedGraph};
use crate::graph::neo4j::{Neo4jConfig, Neo4jConnection, Neo4jGraph};
use crate::graph::{GraphConfig, GraphError};
use crate::http::HttpClient;
use crate::job::Isolation;
use crate::limiter::{Awaited, Place, TargetLimiter, Telling};
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
    pub(super) commons: Commons,
    /// What the run may spend.
    pub(super) budget: Budget,
    /// The assertions that may be evaluated at once.
    pub(super) evaluations: Arc<Semaphore>,
    /// What all conversations with the agent share.
    pub(super) target: TargetLimiter,
    telling: Option<Arc<Telling>>,
}

/// What the surroundings give, of which the clients are made.
pub struct Means<'a> {
    /// Keys, passwords and addresses.
    pub credentials: &'a Credentials,
    /// The clock.
    pub clock: Clock,
    /// The seed of every random choice that can be made again.
    pub rng_seed: u64,
    /// What tokens and passwords are drawn from.
    pub chance: Box<Chance>,
    /// Hears how long something is waited for: a rate limit, the agent's first words.
    pub telling: Option<Arc<Telling>>,
}

impl Edges {
    /// The clients of a plan.
    ///
    /// # Errors
    /// What a client can't be made of: an address that is none.
    pub fn of(plan: &Plan, means: Means<'_>) -> Result<Edges, String> {
        let Means { credentials, clock, rng_seed, chance, telling } = means;
        let http = HttpClient::new().with_redactor(credentials.redactor.clone());
        let budget = Budget::new(plan.job.limits.run.spend, plan.prices.clone());
        let variables = &credentials.variables;
        let (target, waits) = (TargetLimiter::new(clock, rng_seed, telling.clone()), telling.clone());
        let surround = Surround { variables, clock, rng_seed, http: &http, telling, budget: &budget };
        let Models { persona, judge, addresses, endpoints, keys } = Models::of(&plan.job, &surround)?;
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
        let (credentials, commons) = (credentials.clone(), Commons::new(chance));
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
            commons,
            budget,
            evaluations: evaluate::slots(),
            target,
            telling: waits,
        })
    }

    /// Tells whoever watches how long something is going to be waited for.
    pub(super) fn tell(&self, what: Awaited, wait: Duration) {
        if let Some(telling) = &self.telling {
            telling(what, wait);
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

    pub(super) fn graph_limits(&self) -> embedded::Limits {
        embedded::Limits { time: self.query_limit, memory: self.graph_memory.bytes(), ..embedded::Limits::default() }
    }

    /// A conversation's place: among all that are held with the agent, or alone where it has one of its own.
    pub(super) fn place(&self, plan: &Plan) -> Place {
        let is_started =
            plan.job.target.start.is_some() || matches!(plan.job.target.transport, TransportConfig::Demo(_));
        match plan.isolation {
            Isolation::Database | Isolation::Process if is_started => self.target.enter_alone(),
            _ => self.target.enter(),
        }
    }

    /// The user of a trial.
    pub(super) fn user(&self, plan: &Plan, id: &TrialId) -> String {
        let user = &plan.job.target.user;
        match plan.isolation {
            Isolation::User => format!("{user}-{}", self.commons.token(id)),
            Isolation::Shared | Isolation::Database | Isolation::Process => user.clone(),
        }
    }

    /// The client of a trial's agent. `base_url` is where the agent that was started for it listens.
    pub(super) fn agent(
        &self,
        engine: &Engine,
        id: &TrialId,
        (base_url, place): (Option<String>, &Place),
    ) -> Result<Box<dyn Agent>, AgentError> {
        let target = &engine.plan.job.target;
        // The user's key is for the user's agent; the demo agent needs none.
        let api_key =
            |own: &Option<String>| own.clone().map(Secret::new).or_else(|| self.credentials.agent_api_key.clone());
        let rest = |headers: &BTreeMap<String, String>, own: &Option<String>| RestSettings {
            headers: headers.iter().map(|(name, value)| (name.clone(), Secret::new(value))).collect(),
            api_key: api_key(own),
            turn_limit: Duration::from_secs_f64(engine.plan.job.limits.turn_seconds),
            rng_seed: engine.rng_seed.wrapping_add(u64::from(id.number)),
            clock: engine.clock,
            retry: RetryPolicy::AGENT,
            place: place.clone(),
        };
        // Of an agent without a protocol, keys are where its templates say, and nowhere else.
        let without_key = RestSettings { api_key: None, ..rest(&BTreeMap::new(), &None) };
        match &target.transport {
            TransportConfig::Embabel(config) => {
                let own = EmbabelConfig { base_url: config.base_url.clone().or(base_url), ..config.clone() };
                self.embabel_agent(engine, id, own, (api_key(&config.api_key), place.clone()))
            }
            TransportConfig::Demo(_) => {
                let own = EmbabelConfig { base_url, ..EmbabelConfig::default() };
                self.embabel_agent(engine, id, own, (None, place.clone()))
            }
            TransportConfig::OpenAi(config) => {
                let base_url = config.base_url.clone().or(base_url.map(|address| format!("{address}/v1")));
                let settings = OpenAiAgentSettings {
                    config: OpenAiConfig { base_url, ..config.clone() },
                    model: id.model.clone(),
                    rest: rest(&BTreeMap::new(), &config.api_key),
                };
                Ok(Box::new(OpenAiAgent::new(settings, self.http.clone())?))
            }
            TransportConfig::Responses(config) => {
                let base_url = config.base_url.clone().or(base_url.map(|address| format!("{address}/v1")));
                let settings = ResponsesAgentSettings {
                    config: ResponsesConfig { base_url, ..(**config).clone() },
                    model: id.model.clone(),
                    rest: rest(&config.headers, &config.api_key),
                };
                Ok(Box::new(ResponsesAgent::new(settings, self.http.clone())?))
            }
            TransportConfig::Http(config) => {
                let (config, known) = ((**config).clone(), self.known(engine, id, base_url));
                let looked_at = engine.plan.job.assertions.iter().flat_map(|assertion| assertion.check.context_parts());
                let settings = HttpAgentSettings { config, known, rest: without_key, looked_at: looked_at.collect() };
                Ok(Box::new(HttpAgent::new(settings, self.http.clone())?))
            }
            TransportConfig::WebSocket(config) => {
                let (config, known) = ((**config).clone(), self.known(engine, id, base_url));
                let settings = WebSocketAgentSettings { config, known, rest: without_key };
                Ok(Box::new(WebSocketAgent::new(settings, self.http.clone())?))
            }
            TransportConfig::A2a(config) => {
                let settings = A2aSettings {
                    base_url: config.base_url.clone().or(base_url).unwrap_or_else(|| A2aConfig::BASE_URL.to_owned()),
                    streaming: config.streaming,
                    user: Some(self.user(&engine.plan, id)),
                    rest: rest(&config.headers, &config.api_key),
                };
                Ok(Box::new(A2aAgent::new(settings, self.http.clone())?))
            }
            TransportConfig::Adk(config) => {
                let settings = AdkSettings {
                    server: AdkServer::ApiServer,
                    base_url: config.base_url.clone().or(base_url).unwrap_or_else(|| AdkConfig::BASE_URL.to_owned()),
                    app: config.app.clone().unwrap_or_else(|| target.chatbot.clone()),
                    user: self.user(&engine.plan, id),
                    state: config.state.clone(),
                    streaming: config.streaming,
                    rest: rest(&config.headers, &None),
                };
                Ok(Box::new(AdkAgent::new(settings, self.http.clone())?))
            }
            TransportConfig::Watsonx(config) => {
                let own = config.base_url.clone().or(base_url);
                let settings = WatsonxSettings {
                    config: (**config).clone(),
                    base_url: own.unwrap_or_else(|| WatsonxConfig::BASE_URL.to_owned()),
                    agent: config.agent.as_ref().unwrap_or(&target.chatbot).clone(),
                    reading: RetryPolicy::READING,
                    rest: rest(&config.headers, &config.api_key),
                };
                Ok(Box::new(WatsonxAgent::new(settings, self.http.clone())?))
            }
            TransportConfig::Trpc(config) => {
                let base_url = config.base_url.clone().or(base_url).unwrap_or_else(|| TrpcConfig::BASE_URL.to_owned());
                let (app, user) = (config.app.as_ref().unwrap_or(&target.chatbot).clone(), self.user(&engine.plan, id));
                let rest = rest(&config.headers, &config.api_key);
                match config.server {
                    ServerConfig::Agent => {
                        let runtime_state = config.runtime_state.clone();
                        let settings = TrpcSettings { base_url, app, user, runtime_state, rest };
                        Ok(Box::new(TrpcAgent::new(settings, self.http.clone())?))
                    }
                    ServerConfig::Debug => {
                        let (server, state, streaming) = (AdkServer::TrpcDebug, Map::new(), config.streaming);
                        let settings = AdkSettings { server, base_url, app, user, state, streaming, rest };
                        Ok(Box::new(AdkAgent::new(settings, self.http.clone())?))
                    }
                }
            }
            TransportConfig::Command(config) => {
                let settings = CommandSettings {
                    config: config.clone(),
                    folder: engine.plan.job.folder.clone(),
                    surroundings: self.credentials.variables.clone(),
                    redactor: self.credentials.redactor.clone(),
                    user: self.user(&engine.plan, id),
                    model: id.model.clone(),
                    turn_limit: Duration::from_secs_f64(engine.plan.job.limits.turn_seconds),
                    rng_seed: engine.rng_seed.wrapping_add(u64::from(id.number)),
                    clock: engine.clock,
                };
                Ok(Box::new(CommandAgent::new(settings)))
            }
        }
    }

    /// What the templates of a trial may name.
    fn known(&self, engine: &Engine, id: &TrialId, base_url: Option<String>) -> Known {
        let chatbot = engine.plan.job.target.chatbot.clone();
        Known { base_url, user: self.user(&engine.plan, id), chatbot, model: id.model.clone() }
    }

    fn embabel_agent(
        &self,
        engine: &Engine,
        id: &TrialId,
        own: EmbabelConfig,
        (api_key, place): (Option<Secret>, Place),
    ) -> Result<Box<dyn Agent>, AgentError> {
        let settings = EmbabelSettings {
            base_url: own.base_url().to_owned(),
            path: own.path().to_owned(),
            api_key,
            knowledge: own.knowledge.clone(),
            user: self.user(&engine.plan, id),
            chatbot: engine.plan.job.target.chatbot.clone(),
            model: id.model.clone(),
            turn_limit: Duration::from_secs_f64(engine.plan.job.limits.turn_seconds),
            rng_seed: engine.rng_seed.wrapping_add(u64::from(id.number)),
            clock: engine.clock,
            retry: RetryPolicy::AGENT,
            place,
        };
        Ok(Box::new(EmbabelAgent::new(settings, self.http.clone())?))
    }
}

/// Tells the redactor what of a plan and its surroundings is secret.
fn learn(plan: &Plan, credentials: &Credentials, model_keys: &[Secret]) {
    let redactor = &credentials.redactor;
    redactor.learn_variables(&credentials.variables);
    let own = [&credentials.agent_api_key, &credentials.neo4j_password].into_iter().flatten();
    own.chain(model_keys).for_each(|key| redactor.learn(key));
    let target = &plan.job.target;
    redactor.learn_all(target.transport.keys());
    if let TransportConfig::Command(config) = &target.transport {
        config.env.iter().for_each(|(name, value)| redactor.learn_named(name, value));
    }
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
