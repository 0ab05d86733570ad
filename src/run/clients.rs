//! The clients of a run: of our own models, of HTTP endpoints and of the database. Nothing is contacted before a trial asks.

use std::sync::Arc;
use std::time::Duration;

use super::budget::Budget;
use super::models::Models;
use crate::clock::Clock;
use crate::evidence::{Question, QuestionTo};
use crate::graph::neo4j::{Neo4jConfig, Neo4jConnection, Neo4jGraph, Neo4jLimits};
use crate::graph::{GraphConfig, GraphError};
use crate::http::{HttpClient, key_problem};
use crate::llm::{Llm, LlmError};
use crate::plan::Plan;
use crate::retry::OnWait;
use crate::secret::{Redactor, Secret, Variables, is_long_and_mixed};

/// Keys, passwords and addresses, as the environment gives them.
#[derive(Debug, Clone, Default)]
pub struct Credentials {
    /// All variables, among them the keys and addresses of our own models.
    pub variables: Variables,
    /// `EVAL_JOB_AGENT_API_KEY`.
    pub agent_api_key: Option<Secret>,
    /// `EVAL_JOB_REFERENCE_API_KEY`.
    pub reference_api_key: Option<Secret>,
    /// `NEO_URI`.
    pub neo4j_uri: Option<String>,
    /// `NEO_USERNAME`.
    pub neo4j_username: Option<String>,
    /// `NEO_PASSWORD`.
    pub neo4j_password: Option<Secret>,
    /// The redactor, which learns all secrets of the run.
    pub redactor: Redactor,
}

/// The clients that a plan needs.
pub struct Clients {
    pub(super) models: Models,
    pub(super) http: HttpClient,
    /// One connection to the database for all trials, unless each has a database of its own.
    pub(super) neo4j: Option<Arc<Neo4jGraph>>,
    pub(super) credentials: Credentials,
}

/// A client can't be made: an address that is none, a key that is no header.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The client of one of our own models.
    #[error(transparent)]
    Model(#[from] LlmError),
    /// The agent's key.
    #[error("{0}")]
    Key(String),
    /// The client of the database.
    #[error(transparent)]
    Database(#[from] GraphError),
}

/// Checks that the clients of a plan can be made. Nothing is contacted; it must be called where asynchronous work can be done.
///
/// # Errors
/// A client can't be made.
pub fn check_clients(plan: &Plan, credentials: &Credentials, clock: Clock) -> Result<(), ClientError> {
    let keys = [
        ("EVAL_JOB_AGENT_API_KEY", &credentials.agent_api_key),
        ("EVAL_JOB_REFERENCE_API_KEY", &credentials.reference_api_key),
    ];
    for (name, key) in keys {
        if let Some(problem) = key.as_ref().and_then(|key| key_problem(key.expose())) {
            return Err(ClientError::Key(format!("{name} {problem}")));
        }
    }
    Clients::new(plan, credentials.clone(), &Budget::new(plan, plan.job.limits.spend(), clock, 0, None)).map(drop)
}

impl Clients {
    pub(super) fn new(plan: &Plan, credentials: Credentials, budget: &Budget) -> Result<Clients, ClientError> {
        let http = HttpClient::new().with_redactor(credentials.redactor.clone());
        let models = Models::new(&plan.job, &credentials.variables, &http, budget)?;
        learn_secrets(plan, &credentials, &models.keys);
        let neo4j = match &plan.graph {
            Some(GraphConfig::Neo4j(config)) => {
                let connection = neo4j_connection(config, &credentials);
                Some(Arc::new(connect_neo4j(connection, query_limit(plan), budget.on_wait.clone())?))
            }
            _ => None,
        };
        Ok(Clients { models, http, neo4j, credentials })
    }

    /// The persona's model; `None` for fixed lines.
    pub(super) fn persona(&self) -> Option<&dyn Llm> {
        self.models.persona.as_deref()
    }

    /// Who makes up the results of tools, where a case leaves them to a model.
    pub(super) fn result_writer(&self) -> Option<Arc<dyn Llm>> {
        self.models.result_writer.clone()
    }

    /// The reviewer of the persona's messages, where the job names one.
    pub(super) fn reviewer(&self) -> Option<&dyn Llm> {
        self.models.reviewer.as_deref()
    }

    /// The model of embeddings, where the job names one.
    pub(super) fn embeddings(&self) -> Option<&dyn Llm> {
        self.models.embeddings.as_deref()
    }

    /// Who answers a question.
    pub(super) fn answerer(&self, question: &Question) -> &dyn Llm {
        let judges = &self.models.judges;
        let of_panel = || judges.iter().find(|judge| question.judge.as_deref() == Some(judge.name()));
        match (question.to, self.embeddings()) {
            (QuestionTo::Embeddings, Some(embeddings)) => embeddings,
            _ => of_panel().unwrap_or(&judges[0]).as_ref(),
        }
    }

    /// Clears texts of the run's secrets.
    pub(super) fn redactor(&self) -> &Redactor {
        &self.credentials.redactor
    }
}

/// Makes the secrets of a plan and its credentials known to the redactor.
fn learn_secrets(plan: &Plan, credentials: &Credentials, model_keys: &[Secret]) {
    let redactor = &credentials.redactor;
    redactor.learn_variables(&credentials.variables);
    let own = [&credentials.agent_api_key, &credentials.reference_api_key, &credentials.neo4j_password];
    let own = own.into_iter().flatten();
    own.chain(model_keys).for_each(|key| redactor.learn(key));
    let of_reference = plan.job.reference.iter().flat_map(|reference| reference.transport.secrets());
    let secrets = plan.job.target.transport.secrets().into_iter().chain(of_reference);
    secrets.into_iter().for_each(|(name, value)| redactor.learn_named(name, value));
    // A key has not always a key's name.
    let started = plan.job.target.start.iter().flat_map(|start| &start.inherit_env);
    for name in started.chain(plan.job.target.transport.inherited_variables()) {
        if let Some(value) = credentials.variables.secret(name).filter(|value| is_long_and_mixed(value.expose())) {
            redactor.learn(value);
        }
    }
    if let Some(GraphConfig::Neo4j(config)) = &plan.graph {
        let connection = neo4j_connection(config, credentials);
        redactor.learn_named("", &connection.uri);
        redactor.learn_login(&connection.username, &connection.password);
    }
}

/// `limits.query`.
pub(super) fn query_limit(plan: &Plan) -> Duration {
    Duration::from_secs_f64(plan.job.limits.query_seconds)
}

/// Connects to a database whose retries are reported.
pub(super) fn connect_neo4j(
    connection: Neo4jConnection,
    time: Duration,
    on_wait: Option<Arc<OnWait>>,
) -> Result<Neo4jGraph, GraphError> {
    let mut graph = Neo4jGraph::connect(connection, Neo4jLimits { time, ..Neo4jLimits::default() })?;
    graph.report_waits(on_wait);
    Ok(graph)
}

/// The database that the job names; the environment only fills in what is missing.
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
