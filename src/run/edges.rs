//! The clients that a plan needs, made of what the job says and of what the surroundings know.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::commons::Commons;
use super::ground::Ground;
use super::models::{Models, Surround};
use super::{Chance, Engine};
use crate::agent::embabel::{EmbabelAgent, EmbabelConfig, EmbabelSettings};
use crate::agent::managed::{GraphAccess, Listener, ManagedAgent, StartConfig, StartSettings};
use crate::agent::{Agent, AgentError, TransportConfig};
use crate::clock::Clock;
use crate::evidence::TrialId;
use crate::graph::bolt::{BoltDoor, BoltLimits, BoltSettings};
use crate::graph::embedded::{self, EmbeddedConfig, EmbeddedGraph};
use crate::graph::neo4j::{Limits, Neo4jConfig, Neo4jConnection, Neo4jGraph};
use crate::graph::{GraphConfig, GraphError};
use crate::http::{BaseUrl, HttpClient, Url};
use crate::job::Isolation;
use crate::llm::Llm;
use crate::llm::limiter::Telling;
use crate::plan::Plan;
use crate::retry::RetryPolicy;
use crate::secret::{Secret, Variables};

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
}

/// The clients that a plan needs. Nothing is contacted before a trial asks.
pub struct Edges {
    /// The persona's model; `None` where it says fixed lines.
    pub persona: Option<Arc<dyn Llm>>,
    /// The judge's model.
    pub judge: Arc<dyn Llm>,
    endpoints: Vec<String>,
    model_keys: Vec<Secret>,
    http: HttpClient,
    credentials: Credentials,
    /// Stands for "nothing there": made when an assertion is first looked at on it, never written to.
    empty_graph: OnceLock<Result<Arc<EmbeddedGraph>, GraphError>>,
    clock: Clock,
    /// One connection to the database for all trials, unless each has a database of its own.
    neo4j: Option<Arc<Neo4jGraph>>,
    /// `limits.query`.
    query_limit: Duration,
    /// What the trials have in common.
    pub(super) commons: Commons,
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
    /// Hears how long the models' queue waits for a rate limit.
    pub telling: Option<Arc<Telling>>,
}

impl Edges {
    /// The clients of a plan.
    ///
    /// # Errors
    /// What a client can't be made of: an address that is none.
    pub fn of(plan: &Plan, means: Means<'_>) -> Result<Edges, String> {
        let Means { credentials, clock, rng_seed, chance, telling } = means;
        let http = HttpClient::new();
        let surround = Surround { variables: &credentials.variables, clock, rng_seed, http: &http, telling };
        let Models { persona, judge, endpoints, keys } = Models::of(&plan.job, &surround)?;
        let query_limit = Duration::from_secs_f64(plan.job.limits.query_seconds);
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
            model_keys: keys,
            http,
            credentials,
            clock,
            empty_graph,
            neo4j,
            query_limit,
            commons,
        })
    }

    /// Where our own models are asked, if not at their providers' own addresses.
    pub(super) fn model_endpoints(&self) -> &[String] {
        &self.endpoints
    }

    /// The graph with nothing in it.
    pub(super) fn empty_graph(&self) -> Result<Arc<EmbeddedGraph>, GraphError> {
        let fresh = || EmbeddedGraph::with_limits(self.graph_limits()).map(Arc::new);
        self.empty_graph.get_or_init(fresh).clone()
    }

    fn graph_limits(&self) -> embedded::Limits {
        embedded::Limits { time: self.query_limit, ..embedded::Limits::default() }
    }

    /// The user of a trial.
    pub(super) fn user(&self, plan: &Plan, id: &TrialId) -> String {
        let user = &plan.job.target.user;
        match plan.isolation {
            Isolation::User => format!("{user}-{}", self.commons.token(id)),
            Isolation::Shared | Isolation::Database | Isolation::Process => user.clone(),
        }
    }

    /// The graph of a trial: one of its own, or the one that all trials share; `None` where nothing uses one.
    pub(super) async fn ground(&self, plan: &Plan, id: &TrialId) -> Result<Option<Arc<Ground>>, String> {
        let own = matches!(plan.isolation, Isolation::Database | Isolation::Process);
        let ground = match &plan.graph {
            None => return Ok(None),
            Some(GraphConfig::Embedded(config)) if own => Arc::new(self.embedded(plan, config).await?),
            Some(GraphConfig::Embedded(config)) => {
                let mut shared = self.commons.ground.lock().await;
                match &*shared {
                    Some(ground) => ground.clone(),
                    None => shared.insert(Arc::new(self.embedded(plan, config).await?)).clone(),
                }
            }
            Some(GraphConfig::Neo4j(config)) => {
                let connection = neo4j_connection(config, &self.credentials);
                match (&self.neo4j, plan.isolation) {
                    (Some(neo4j), Isolation::Database) => Arc::new(self.database(neo4j, connection, id).await?),
                    (Some(neo4j), _) => {
                        let access = Some(access(connection));
                        Arc::new(Ground { access, ..Ground::of(neo4j.clone()) })
                    }
                    (None, _) => return Err("eval-job itself failed: there is no way to the database".to_owned()),
                }
            }
        };
        Ok(Some(ground))
    }

    /// A fresh embedded graph; with a door where an agent in another process needs one.
    async fn embedded(&self, plan: &Plan, config: &EmbeddedConfig) -> Result<Ground, String> {
        let limits = self.graph_limits();
        if plan.job.target.start.is_none() {
            let graph = EmbeddedGraph::with_limits(limits).map_err(|error| error.message)?;
            return Ok(Ground::of(Arc::new(graph)));
        }
        let graph = EmbeddedGraph::shareable(limits).map_err(|error| error.message)?;
        let (username, password) = ("neo4j".to_owned(), self.commons.password());
        let settings = BoltSettings {
            port: config.bolt_port(),
            username: username.clone(),
            password: password.clone(),
            limits: BoltLimits::default(),
            clock: self.clock,
        };
        let door = BoltDoor::open(&graph, settings).await.map_err(|error| error.to_string())?;
        let access = GraphAccess { uri: door.uri(), username, password, database: Some("neo4j".to_owned()) };
        Ok(Ground { access: Some(access), door: Some(door), ..Ground::of(Arc::new(graph)) })
    }

    /// A database of the trial's own on a server that can have several.
    async fn database(&self, neo4j: &Neo4jGraph, connection: Neo4jConnection, id: &TrialId) -> Result<Ground, String> {
        let name = format!("evaljob{}", self.commons.token(id));
        // Before it is made: whatever happens from now on, it is deleted.
        self.commons.database_made(&name);
        if let Err(error) = neo4j.create_database(&name).await {
            self.delete_database(&name).await;
            return Err(error.message);
        }
        let connection = Neo4jConnection { database: Some(name.clone()), ..connection };
        let graph = neo4j_graph(connection.clone(), self.query_limit)?;
        Ok(Ground { access: Some(access(connection)), database: Some(name), ..Ground::of(Arc::new(graph)) })
    }

    async fn delete_database(&self, name: &str) {
        if let Some(neo4j) = &self.neo4j
            && neo4j.drop_database(name).await.is_ok()
        {
            self.commons.database_deleted(name);
        }
    }

    /// Ends what a trial's graph needed. A graph that others use stays as it is.
    pub(super) async fn leave(&self, ground: Arc<Ground>) {
        let Some(Ground { graph, door, database, .. }) = Arc::into_inner(ground) else { return };
        if let Some(door) = door {
            door.stop().await;
        }
        drop(graph);
        if let Some(name) = database {
            self.delete_database(&name).await;
        }
    }

    /// The agent of a trial, where eval-job starts it: one of its own, or the one that all trials share.
    pub(super) async fn managed_agent(
        &self,
        plan: &Plan,
        ground: Option<&Ground>,
        listener: &Listener,
    ) -> Result<Option<Arc<ManagedAgent>>, String> {
        let Some(start) = &plan.job.target.start else { return Ok(None) };
        let settings = self.start_settings(plan, start, ground.and_then(|ground| ground.access.clone()));
        let agent = match plan.isolation {
            Isolation::Shared | Isolation::User => self.commons.agent(&settings, listener).await?,
            Isolation::Database | Isolation::Process => Arc::new(self.commons.agents.start(&settings, listener).await?),
        };
        Ok(Some(agent))
    }

    fn start_settings(&self, plan: &Plan, start: &StartConfig, graph: Option<GraphAccess>) -> StartSettings {
        let config = match &plan.job.target.transport {
            TransportConfig::Embabel(config) => Some(config),
            TransportConfig::Demo(_) => None,
        };
        let address = config.and_then(|config| config.base_url.as_deref());
        let credentials = &self.credentials;
        let own = [&credentials.agent_api_key, &credentials.neo4j_password];
        let in_file = config.and_then(|config| config.api_key.clone()).map(Secret::new);
        StartSettings {
            config: start.clone(),
            folder: plan.job.folder.clone(),
            port: start.ready.port.and_then(|port| port.number()).or_else(|| address.and_then(loopback_port)),
            graph,
            secrets: own.into_iter().flatten().chain(&self.model_keys).cloned().chain(in_file).collect(),
        }
    }

    /// The client of a trial's agent. `base_url` is where the agent that was started for it listens.
    pub(super) fn agent(
        &self,
        engine: &Engine,
        id: &TrialId,
        base_url: Option<String>,
    ) -> Result<Box<dyn Agent>, AgentError> {
        let target = &engine.plan.job.target;
        let own = match &target.transport {
            TransportConfig::Embabel(config) => {
                EmbabelConfig { base_url: config.base_url.clone().or(base_url), ..config.clone() }
            }
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
            user: self.user(&engine.plan, id),
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

impl Edges {
    /// Ends every agent that was started and deletes every database that was made, as far as trials have not.
    pub(super) async fn close(&self) {
        self.commons.close(self.neo4j.as_deref()).await;
    }
}

fn neo4j_graph(connection: Neo4jConnection, time: Duration) -> Result<Neo4jGraph, String> {
    Neo4jGraph::connect(connection, Limits { time, ..Limits::default() }).map_err(|error| error.message)
}

fn access(connection: Neo4jConnection) -> GraphAccess {
    let Neo4jConnection { uri, username, password, database } = connection;
    GraphAccess { uri, username, password, database }
}

/// The port of an address on this machine.
fn loopback_port(address: &str) -> Option<u16> {
    BaseUrl::parse(address).ok().filter(BaseUrl::is_loopback)?;
    Url::parse(address.trim()).ok()?.port_or_known_default()
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
