//! The graph of a trial, and how an agent that eval-job starts reaches it.

use std::io;
use std::sync::Arc;

use super::Engine;
use super::clients::{connect_neo4j, neo4j_connection, query_limit};
use crate::agent::managed::GraphAccess;
use crate::cassette::{Party, Tape, TapedGraph};
use crate::graph::bolt::{BoltLimits, BoltServer, BoltSettings};
use crate::graph::embedded::{EmbeddedConfig, EmbeddedGraph, EmbeddedLimits};
use crate::graph::neo4j::{Neo4jConnection, Neo4jGraph};
use crate::graph::{Graph, GraphConfig, GraphError};
use crate::job::Isolation;
use crate::plan::Trial;

/// A graph with what it needs to be there.
pub(super) struct TrialGraph {
    /// The graph that setups and assertions look at.
    pub(super) graph: Arc<dyn Graph>,
    /// The access for an agent that eval-job starts.
    pub(super) access: Option<GraphAccess>,
    /// The embedded graph's server, where an agent needs one.
    pub(super) bolt_server: Option<BoltServer>,
    /// The database that was made for it.
    database: Option<String>,
}

/// A trial's graph can't be made.
#[derive(Debug, thiserror::Error)]
pub(super) enum TrialGraphError {
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// Its port could not be opened.
    #[error(transparent)]
    Port(#[from] io::Error),
}

impl TrialGraph {
    /// A graph that nobody outside needs to reach.
    fn new(graph: Arc<dyn Graph>) -> TrialGraph {
        TrialGraph { graph, access: None, bolt_server: None, database: None }
    }
}

impl Engine {
    /// The graph of a trial: one of its own, or the one that all trials share; `None` where nothing uses one.
    pub(super) async fn trial_graph(&self, trial: &Trial) -> Result<Option<Arc<TrialGraph>>, TrialGraphError> {
        let plan = &self.plan;
        let trial_graph = match (&plan.graph, &self.clients.neo4j) {
            (Some(GraphConfig::Embedded(config)), _) => match plan.isolation {
                Isolation::Database | Isolation::Process => Arc::new(self.embedded(config).await?),
                Isolation::Shared | Isolation::User => {
                    let mut shared = self.resources.trial_graph.lock().await;
                    match &*shared {
                        Some(trial_graph) => trial_graph.clone(),
                        None => shared.insert(Arc::new(self.embedded(config).await?)).clone(),
                    }
                }
            },
            (Some(GraphConfig::Neo4j(config)), Some(neo4j)) => {
                let connection = neo4j_connection(config, &self.clients.credentials);
                match plan.isolation {
                    Isolation::Database => Arc::new(self.database(neo4j, connection, trial).await?),
                    _ => Arc::new(TrialGraph { access: Some(access(connection)), ..TrialGraph::new(neo4j.clone()) }),
                }
            }
            (None, _) | (Some(GraphConfig::Neo4j(_)), None) => return Ok(None),
        };
        Ok(Some(trial_graph))
    }

    /// A graph as a trial sees it: itself, or in replay what is recorded of it.
    pub(super) fn taped(&self, tape: &Tape, party: Party, graph: Option<Arc<dyn Graph>>) -> Option<Arc<dyn Graph>> {
        let tape = tape.clone();
        match tape {
            Tape::Off => graph,
            Tape::Recorded(_) => Some(Arc::new(TapedGraph::recorded(tape, party, graph?))),
            Tape::Replayed(_) => {
                let backend = match self.plan.graph.as_ref()? {
                    GraphConfig::Embedded(_) => "embedded",
                    GraphConfig::Neo4j(_) if party == Party::Graph => "neo4j",
                    GraphConfig::Neo4j(_) => "embedded",
                };
                Some(Arc::new(TapedGraph::replayed(tape, party, backend)))
            }
        }
    }

    /// A graph with nothing in it, which is never written to.
    pub(super) fn empty_graph(&self) -> Result<Arc<EmbeddedGraph>, GraphError> {
        let fresh = || EmbeddedGraph::with_limits(self.graph_limits()).map(Arc::new);
        self.resources.empty_graph.get_or_init(fresh).clone()
    }

    fn graph_limits(&self) -> EmbeddedLimits {
        let memory = match &self.plan.graph {
            Some(GraphConfig::Embedded(config)) => config.memory.unwrap_or_default(),
            _ => Default::default(),
        };
        EmbeddedLimits { time: query_limit(&self.plan), memory: memory.bytes(), ..EmbeddedLimits::default() }
    }

    /// A fresh embedded graph; with a server where an agent in another process needs one.
    async fn embedded(&self, config: &EmbeddedConfig) -> Result<TrialGraph, TrialGraphError> {
        let limits = self.graph_limits();
        if self.plan.job.target.start.is_none() {
            return Ok(TrialGraph::new(Arc::new(EmbeddedGraph::with_limits(limits)?)));
        }
        let graph = EmbeddedGraph::shareable(limits)?;
        let (username, password) = ("neo4j".to_owned(), self.resources.password());
        self.clients.redactor().learn_login(&username, &password);
        let settings = BoltSettings {
            port: config.bolt_port(),
            username: username.clone(),
            password: password.clone(),
            limits: BoltLimits::default(),
            clock: self.clock,
        };
        let bolt_server = BoltServer::open(&graph, settings).await?;
        let access = GraphAccess { uri: bolt_server.uri(), username, password, database: Some("neo4j".to_owned()) };
        Ok(TrialGraph { access: Some(access), bolt_server: Some(bolt_server), ..TrialGraph::new(Arc::new(graph)) })
    }

    /// A database of the trial's own on a server that can have several.
    async fn database(
        &self,
        neo4j: &Neo4jGraph,
        connection: Neo4jConnection,
        trial: &Trial,
    ) -> Result<TrialGraph, GraphError> {
        let name = format!("evaljob{}", self.resources.token(trial));
        self.resources.note_database(&name);
        if let Err(error) = neo4j.create_database(&name).await {
            self.delete_database(&name).await;
            return Err(error);
        }
        let connection = Neo4jConnection { database: Some(name.clone()), ..connection };
        let graph = Arc::new(connect_neo4j(connection.clone(), query_limit(&self.plan), self.on_wait.clone())?);
        Ok(TrialGraph { access: Some(access(connection)), database: Some(name), ..TrialGraph::new(graph) })
    }

    async fn delete_database(&self, name: &str) {
        // Boxed: it takes 30 KB, which else every trial would have, with a database or without.
        if let Some(neo4j) = &self.clients.neo4j
            && Box::pin(neo4j.drop_database(name)).await.is_ok()
        {
            self.resources.forget_database(name);
        }
    }

    /// Ends what a trial's graph needed. A graph that others use stays as it is.
    pub(super) async fn release_graph(&self, trial_graph: Arc<TrialGraph>) {
        let Some(TrialGraph { graph, bolt_server, database, .. }) = Arc::into_inner(trial_graph) else { return };
        if let Some(bolt_server) = bolt_server {
            bolt_server.stop().await;
        }
        drop(graph);
        if let Some(name) = database {
            self.delete_database(&name).await;
        }
    }
}

fn access(connection: Neo4jConnection) -> GraphAccess {
    let Neo4jConnection { uri, username, password, database } = connection;
    GraphAccess { uri, username, password, database }
}
