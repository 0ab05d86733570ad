//! What the YAML says of an agent that speaks Embabel's protocol.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `target.embabel`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EmbabelConfig {
    /// Where the agent listens. Default: http://localhost:8081
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The path before `/sessions`, `/messages` and `/objectContexts`. Default: /api/v1/chat
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The value of the `X-API-KEY` header. `EVAL_JOB_AGENT_API_KEY` is used where this is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key: Option<String>,
    /// A knowledge context that is created before a seed is delivered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knowledge: Option<KnowledgeConfig>,
}

/// `target.embabel.knowledge`: the knowledge-graph service and the context to create in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KnowledgeConfig {
    /// The context's name.
    pub name: String,
    /// What it is for.
    #[serde(default)]
    pub description: String,
    /// The schema of the graph. Default: personal
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema_name: Option<String>,
    /// Its id. Default: its name
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Where the knowledge-graph service listens. Default: http://localhost:8080
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
}
