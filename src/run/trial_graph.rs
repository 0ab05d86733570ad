//! The graph that a trial plays on, and the way by which an agent that eval-job starts gets there.

use std::sync::Arc;
use std::time::Duration;

use super::edges::{Edges, neo4j_connection};
use crate::agent::managed::GraphAccess;
use crate::evidence::TrialId;
use crate::graph::bolt::{BoltLimits, BoltServer, BoltSettings};
use crate::graph::embedded::{EmbeddedConfig, EmbeddedGraph};
use crate::graph::neo4j::{Neo4jConnection, Neo4jGraph, Neo4jLimits};
use crate::graph::{Graph, GraphConfig};
use crate::job::Isolation;
use crate::plan::Plan;

/// A graph with what it needs to be there.
pub(super) struct TrialGraph {
    /// The graph that setups and assertions look at.
    pub(super) graph: Arc<dyn Graph>,
    /// What an agent that eval-job starts is told of it.
    pub(super) access: Option<GraphAccess>,
    /// The embedded graph's door, where an agent needs one.
    pub(super) door: Option<BoltServer>,
    /// The database that was made for it.
    pub(super) database: Option<String>,
}

impl TrialGraph {
    /// A graph that nobody outside needs to reach.
    pub(super) fn of(graph: Arc<dyn Graph>) -> TrialGraph {
        TrialGraph { graph, access: None, door: None, database: None }
    }
}

impl Edges {
    /// The graph of a trial: one of its own, or the one that all trials share; `None` where nothing uses one.
    pub(super) async fn trial_graph(&self, plan: &Plan, id: &TrialId) -> Result<Option<Arc<TrialGraph>>, String> {
        let own = matches!(plan.isolation, Isolation::Database | Isolation::Process);
        let trial_graph = match &plan.graph {
            None => return Ok(None),
            Some(GraphConfig::Embedded(config)) if own => Arc::new(self.embedded(plan, config).await?),
            Some(GraphConfig::Embedded(config)) => {
                let mut shared = self.resources.trial_graph.lock().await;
                match &*shared {
                    Some(trial_graph) => trial_graph.clone(),
                    None => shared.insert(Arc::new(self.embedded(plan, config).await?)).clone(),
                }
            }
            Some(GraphConfig::Neo4j(config)) => {
                let connection = neo4j_connection(config, &self.credentials);
                match (&self.neo4j, plan.isolation) {
                    (Some(neo4j), Isolation::Database) => Arc::new(self.database(neo4j, connection, id).await?),
                    (Some(neo4j), _) => {
                        let access = Some(access(connection));
                        Arc::new(TrialGraph { access, ..TrialGraph::of(neo4j.clone()) })
                    }
                    (None, _) => return Err("eval-job itself failed: there is no way to the database".to_owned()),
                }
            }
        };
        Ok(Some(trial_graph))
    }

    /// A fresh embedded graph; with a door where an agent in another process needs one.
    async fn embedded(&self, plan: &Plan, config: &EmbeddedConfig) -> Result<TrialGraph, String> {
        let limits = self.graph_limits();
        if plan.job.target.start.is_none() {
            let graph = EmbeddedGraph::with_limits(limits).map_err(|error| error.message)?;
            return Ok(TrialGraph::of(Arc::new(graph)));
        }
        let graph = EmbeddedGraph::shareable(limits).map_err(|error| error.message)?;
        let (username, password) = ("neo4j".to_owned(), self.resources.password());
        self.redactor().learn_login(&username, &password);
        let settings = BoltSettings {
            port: config.bolt_port(),
            username: username.clone(),
            password: password.clone(),
            limits: BoltLimits::default(),
            clock: self.clock,
        };
        let door = BoltServer::open(&graph, settings).await.map_err(|error| error.to_string())?;
        let access = GraphAccess { uri: door.uri(), username, password, database: Some("neo4j".to_owned()) };
        Ok(TrialGraph { access: Some(access), door: Some(door), ..TrialGraph::of(Arc::new(graph)) })
    }

    /// A database of the trial's own on a server that can have several.
    async fn database(
        &self,
        neo4j: &Neo4jGraph,
        connection: Neo4jConnection,
        id: &TrialId,
    ) -> Result<TrialGraph, String> {
        let name = format!("evaljob{}", self.resources.token(id));
        // Before it is made: whatever happens from now on, it is deleted.
        self.resources.database_made(&name);
        if let Err(error) = neo4j.create_database(&name).await {
            self.delete_database(&name).await;
            return Err(error.message);
        }
        let connection = Neo4jConnection { database: Some(name.clone()), ..connection };
        let graph = neo4j_graph(connection.clone(), self.query_limit)?;
        Ok(TrialGraph { access: Some(access(connection)), database: Some(name), ..TrialGraph::of(Arc::new(graph)) })
    }

    async fn delete_database(&self, name: &str) {
        if let Some(neo4j) = &self.neo4j
            && neo4j.drop_database(name).await.is_ok()
        {
            self.resources.database_dropped(name);
        }
    }

    /// Ends what a trial's graph needed. A graph that others use stays as it is.
    pub(super) async fn leave(&self, trial_graph: Arc<TrialGraph>) {
        let Some(TrialGraph { graph, door, database, .. }) = Arc::into_inner(trial_graph) else { return };
        if let Some(door) = door {
            door.stop().await;
        }
        drop(graph);
        if let Some(name) = database {
            self.delete_database(&name).await;
        }
    }
}

/// A way to a database.
pub(super) fn neo4j_graph(connection: Neo4jConnection, time: Duration) -> Result<Neo4jGraph, String> {
    Neo4jGraph::connect(connection, Neo4jLimits { time, ..Neo4jLimits::default() }).map_err(|error| error.message)
}

fn access(connection: Neo4jConnection) -> GraphAccess {
    let Neo4jConnection { uri, username, password, database } = connection;
    GraphAccess { uri, username, password, database }
}
