//! `target` and `graph`: one key a transport, one key a backend.

use std::num::NonZeroU16;

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

use super::rules;
use crate::agent::a2a::A2aConfig;
use crate::agent::adk::AdkConfig;
use crate::agent::command::CommandConfig;
use crate::agent::demo::DemoConfig;
use crate::agent::embabel::EmbabelConfig;
use crate::agent::http::HttpConfig;
use crate::agent::managed::StartConfig;
use crate::agent::openai::OpenAiConfig;
use crate::agent::responses::ResponsesConfig;
use crate::agent::trpc::TrpcConfig;
use crate::agent::watsonx::WatsonxConfig;
use crate::agent::websocket::WebSocketConfig;
use crate::graph::WatchConfig;
use crate::graph::embedded::EmbeddedConfig;
use crate::graph::neo4j::Neo4jConfig;

/// The agent under test and how it is reached: at most one transport key, none means `embabel`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "target", transform = one_transport)]
pub struct TargetFile {
    /// The user that a session is opened for.
    #[schemars(regex(pattern = r"\S"))]
    pub user: String,
    /// The chatbot that a session is opened with.
    #[schemars(regex(pattern = r"\S"))]
    pub chatbot: String,
    /// Embabel's REST protocol.
    #[serde(default, deserialize_with = "rules::present_or_empty")]
    pub embabel: Option<EmbabelConfig>,
    /// The demo agent that eval-job brings along.
    #[serde(default, deserialize_with = "rules::present_or_empty")]
    pub demo: Option<DemoConfig>,
    /// Google ADK's `api_server`.
    #[serde(default, deserialize_with = "rules::present_or_empty")]
    pub adk: Option<AdkConfig>,
    /// A bare model behind any endpoint that speaks OpenAI's chat completions, with functions whose results the job
    /// foretells.
    #[serde(default, deserialize_with = "rules::present_or_empty")]
    pub openai: Option<OpenAiConfig>,
    /// A bare model behind OpenAI's Responses API, which keeps the conversation itself.
    #[serde(default, deserialize_with = "rules::present_or_empty")]
    pub responses: Option<ResponsesConfig>,
    /// Any agent with a REST interface: its requests as templates, its replies by JSONPath.
    #[serde(default, deserialize_with = "rules::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "HttpConfig")]
    pub http: Option<HttpConfig>,
    /// Any agent behind a WebSocket: what is sent as templates, what comes by JSONPath.
    #[serde(default, deserialize_with = "rules::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "WebSocketConfig")]
    pub websocket: Option<WebSocketConfig>,
    /// Any command that reads messages from standard input and prints its own.
    #[serde(default, deserialize_with = "rules::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "CommandConfig")]
    pub command: Option<CommandConfig>,
    /// Agent2Agent.
    #[serde(default, deserialize_with = "rules::present_or_empty")]
    pub a2a: Option<A2aConfig>,
    /// trpc-agent-go: its agent server or its debug server.
    #[serde(default, deserialize_with = "rules::present_or_empty")]
    pub trpc: Option<TrpcConfig>,
    /// watsonx Orchestrate.
    #[serde(default, deserialize_with = "rules::present_or_empty")]
    pub watsonx: Option<WatsonxConfig>,
    /// How many conversations may be held with it at once, whatever `-j` says.
    #[serde(default, deserialize_with = "rules::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "NonZeroU16")]
    pub max_concurrency: Option<NonZeroU16>,
    /// How eval-job starts the agent and ends it. Without it, the agent must be running.
    #[serde(default, deserialize_with = "rules::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "StartConfig")]
    pub start: Option<StartConfig>,
}

fn one_transport(schema: &mut Schema) {
    // The demo agent is started anyway, and so is a command.
    const TRANSPORTS: [&str; 11] =
        ["embabel", "demo", "openai", "responses", "http", "websocket", "command", "adk", "a2a", "trpc", "watsonx"];
    let pairs = rules::pairs(&TRANSPORTS);
    rules::apart(schema, &[pairs, vec![["demo", "start"], ["command", "start"]]].concat());
}

/// The graph that the agent writes to: at most one backend key.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "graph", transform = one_backend)]
pub struct GraphFile {
    /// In process: the default for the demo agent and for every agent that eval-job starts.
    #[serde(default, deserialize_with = "rules::present_or_empty")]
    pub embedded: Option<EmbeddedConfig>,
    /// A Neo4j database: the default for every other job with Cypher.
    #[serde(default, deserialize_with = "rules::present_or_empty")]
    pub neo4j: Option<Neo4jConfig>,
    /// Which part of it is photographed before the conversation, after each turn and at the end, to tell what has changed.
    #[serde(default)]
    pub watch: WatchConfig,
}

fn one_backend(schema: &mut Schema) {
    rules::at_most_one(schema, &["embedded", "neo4j"]);
}
