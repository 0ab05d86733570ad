//! The clients that a plan needs, made of what the job says and of what the surroundings know.

use std::sync::Arc;
use std::time::Duration;

use super::Engine;
use crate::agent::embabel::{EmbabelAgent, EmbabelConfig, EmbabelSettings};
use crate::agent::{Agent, AgentError, TransportConfig};
use crate::clock::Clock;
use crate::evidence::TrialId;
use crate::graph::embedded::EmbeddedGraph;
use crate::graph::neo4j::{Neo4jConfig, Neo4jConnection, Neo4jGraph};
use crate::graph::{Graph, GraphConfig, GraphError};
use crate::http::HttpClient;
use crate::job::{Mind, ModelName};
use crate::llm::Llm;
use crate::llm::openai::{OpenAi, OpenAiSettings};
use crate::llm::scripted::Scripted;
use crate::plan::Plan;
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
