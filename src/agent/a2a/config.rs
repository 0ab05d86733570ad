//! What the YAML says of an agent that speaks A2A.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `target.a2a`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct A2aConfig {
    /// Under which address the agent card is: `/.well-known/agent-card.json`, or the older `agent.json`.
    /// Default: http://localhost:9999
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// Whether replies are asked for piece by piece. Default: where the agent card says that the agent can
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streaming: Option<bool>,
    /// Headers that are sent with every request.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("writeOnly" = true))]
    pub headers: BTreeMap<String, String>,
    /// The agent's key, sent as `Authorization: Bearer`, or in the `X-API-Key` header where the card asks for that.
    /// `EVAL_JOB_AGENT_API_KEY` is used where this is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("writeOnly" = true))]
    pub api_key: Option<String>,
}

impl A2aConfig {
    /// Where an agent listens that the job says nothing about.
    pub const BASE_URL: &'static str = "http://localhost:9999";

    /// Where its card is.
    pub fn base_url(&self) -> &str {
        self.base_url.as_deref().unwrap_or(Self::BASE_URL)
    }
}
