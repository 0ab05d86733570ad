//! `target` and `graph`: one key a transport, one key a backend.

use std::num::NonZeroU16;

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

use super::rules;
use crate::agent::TransportConfig;
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
use crate::graph::embedded::EmbeddedConfig;
use crate::graph::neo4j::Neo4jConfig;
use crate::graph::{GraphConfig, WatchConfig};

/// The agent under test and how it is reached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "TargetFile", into = "TargetFile")]
pub struct Target {
    /// The user that a session is opened for.
    pub user: String,
    /// The chatbot that a session is opened with.
    pub chatbot: String,
    /// How the agent is reached.
    pub transport: TransportConfig,
    /// How it is started; `None` for an agent that is running already.
    pub start: Option<StartConfig>,
    /// How many conversations may be held with it at once.
    pub max_concurrency: Option<NonZeroU16>,
}

/// The agent under test and how it is reached: at most one transport key, none means `embabel`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "target", rename = "Target", transform = one_transport)]
struct TargetFile {
    /// The user that a session is opened for.
    #[schemars(regex(pattern = r"\S"))]
    user: String,
    /// The chatbot that a session is opened with.
    #[schemars(regex(pattern = r"\S"))]
    chatbot: String,
    /// Embabel's REST protocol.
    #[serde(default, deserialize_with = "rules::present_or_empty", skip_serializing_if = "Option::is_none")]
    embabel: Option<EmbabelConfig>,
    /// The demo agent that eval-job brings along.
    #[serde(default, deserialize_with = "rules::present_or_empty", skip_serializing_if = "Option::is_none")]
    demo: Option<DemoConfig>,
    /// Google ADK's `api_server`.
    #[serde(default, deserialize_with = "rules::present_or_empty", skip_serializing_if = "Option::is_none")]
    adk: Option<AdkConfig>,
    /// A bare model behind any endpoint that speaks OpenAI's chat completions, with functions whose results the job
    /// foretells.
    #[serde(default, deserialize_with = "rules::present_or_empty", skip_serializing_if = "Option::is_none")]
    openai: Option<OpenAiConfig>,
    /// A bare model behind OpenAI's Responses API, which keeps the conversation itself.
    #[serde(default, deserialize_with = "rules::present_or_empty", skip_serializing_if = "Option::is_none")]
    responses: Option<ResponsesConfig>,
    /// Any agent with a REST interface: its requests as templates, its replies by JSONPath.
    #[serde(default, deserialize_with = "rules::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "HttpConfig")]
    http: Option<HttpConfig>,
    /// Any agent behind a WebSocket: what is sent as templates, what comes by JSONPath.
    #[serde(default, deserialize_with = "rules::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "WebSocketConfig")]
    websocket: Option<WebSocketConfig>,
    /// Any command that reads messages from standard input and prints its own.
    #[serde(default, deserialize_with = "rules::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "CommandConfig")]
    command: Option<CommandConfig>,
    /// Agent2Agent.
    #[serde(default, deserialize_with = "rules::present_or_empty", skip_serializing_if = "Option::is_none")]
    a2a: Option<A2aConfig>,
    /// trpc-agent-go: its agent server or its debug server.
    #[serde(default, deserialize_with = "rules::present_or_empty", skip_serializing_if = "Option::is_none")]
    trpc: Option<TrpcConfig>,
    /// watsonx Orchestrate.
    #[serde(default, deserialize_with = "rules::present_or_empty", skip_serializing_if = "Option::is_none")]
    watsonx: Option<WatsonxConfig>,
    /// How many conversations may be held with it at once, whatever `-j` says.
    #[serde(default, deserialize_with = "rules::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "NonZeroU16")]
    max_concurrency: Option<NonZeroU16>,
    /// How eval-job starts the agent and ends it. Without it, the agent must be running.
    #[serde(default, deserialize_with = "rules::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "StartConfig")]
    start: Option<StartConfig>,
}

fn one_transport(schema: &mut Schema) {
    // The demo agent is started anyway, and so is a command.
    const TRANSPORTS: [&str; 11] =
        ["embabel", "demo", "openai", "responses", "http", "websocket", "command", "adk", "a2a", "trpc", "watsonx"];
    let pairs = rules::pairs(&TRANSPORTS);
    rules::apart(schema, &[pairs, vec![["demo", "start"], ["command", "start"]]].concat());
}

impl From<TargetFile> for Target {
    fn from(file: TargetFile) -> Target {
        let transport = file
            .demo
            .map(TransportConfig::Demo)
            .or(file.openai.map(TransportConfig::OpenAi))
            .or(file.responses.map(Box::new).map(TransportConfig::Responses))
            .or(file.http.map(Box::new).map(TransportConfig::Http))
            .or(file.websocket.map(Box::new).map(TransportConfig::WebSocket))
            .or(file.command.map(TransportConfig::Command))
            .or(file.adk.map(TransportConfig::Adk))
            .or(file.a2a.map(TransportConfig::A2a))
            .or(file.trpc.map(TransportConfig::Trpc))
            .or(file.watsonx.map(Box::new).map(TransportConfig::Watsonx))
            .unwrap_or_else(|| TransportConfig::Embabel(file.embabel.unwrap_or_default()));
        let TargetFile { user, chatbot, start, max_concurrency, .. } = file;
        Target { user, chatbot, transport, start, max_concurrency }
    }
}

impl From<Target> for TargetFile {
    fn from(target: Target) -> TargetFile {
        let Target { user, chatbot, transport, start, max_concurrency } = target;
        let mut file = TargetFile { user, chatbot, start, max_concurrency, ..TargetFile::default() };
        match transport {
            TransportConfig::Embabel(config) => file.embabel = Some(config),
            TransportConfig::Demo(config) => file.demo = Some(config),
            TransportConfig::OpenAi(config) => file.openai = Some(config),
            TransportConfig::Responses(config) => file.responses = Some(*config),
            TransportConfig::Http(config) => file.http = Some(*config),
            TransportConfig::WebSocket(config) => file.websocket = Some(*config),
            TransportConfig::Command(config) => file.command = Some(config),
            TransportConfig::Adk(config) => file.adk = Some(config),
            TransportConfig::A2a(config) => file.a2a = Some(config),
            TransportConfig::Trpc(config) => file.trpc = Some(config),
            TransportConfig::Watsonx(config) => file.watsonx = Some(*config),
        }
        file
    }
}

/// The graph that the agent writes to: at most one backend key.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "graph", transform = one_backend)]
pub struct JobGraph {
    /// In process: the default for the demo agent and for every agent that eval-job starts.
    #[serde(default, deserialize_with = "rules::present_or_empty", skip_serializing_if = "Option::is_none")]
    embedded: Option<EmbeddedConfig>,
    /// A Neo4j database: the default for every other job with Cypher.
    #[serde(default, deserialize_with = "rules::present_or_empty", skip_serializing_if = "Option::is_none")]
    neo4j: Option<Neo4jConfig>,
    /// Which part of it is captured before the conversation, after each turn and at the end, to tell what has changed.
    #[serde(default)]
    pub watch: WatchConfig,
}

fn one_backend(schema: &mut Schema) {
    rules::at_most_one(schema, &["embedded", "neo4j"]);
}

impl JobGraph {
    /// The backend that it names; `None` leaves the choice to the plan.
    pub fn backend(&self) -> Option<GraphConfig> {
        let embedded = self.embedded.clone().map(GraphConfig::Embedded);
        embedded.or(self.neo4j.clone().map(GraphConfig::Neo4j))
    }

    /// Names the backend.
    pub fn set_backend(&mut self, backend: GraphConfig) {
        (self.embedded, self.neo4j) = match backend {
            GraphConfig::Embedded(config) => (Some(config), None),
            GraphConfig::Neo4j(config) => (None, Some(config)),
        };
    }
}
