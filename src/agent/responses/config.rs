//! What the YAML says of a model behind OpenAI's Responses API.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agent::tools::{ToolConfig, tool_problems};

use super::calls::ResponsesWire;
use crate::agent::rest::{Caller, HttpAgent};
use crate::agent::transport::{bare_model, base_url, header_problems, key_and_headers, unusable};
use crate::agent::{Ability, Agent, AgentContext, AgentError, Transport};

/// `target.responses`: a model behind any endpoint that speaks OpenAI's Responses API and keeps the conversation. `--model`
/// names it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ResponsesConfig {
    /// The address before `/responses`. Default: https://api.openai.com/v1, or the agent that is started
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The key. `EVAL_JOB_AGENT_API_KEY` is used where this is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("writeOnly" = true))]
    pub api_key: Option<String>,
    /// Headers with every request.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("writeOnly" = true))]
    pub headers: BTreeMap<String, String>,
    /// The system prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Each conversation is made as one at the endpoint (`/conversations`), to which responses are then added. Otherwise
    /// each response names the one before it.
    #[serde(default)]
    pub conversation: bool,
    /// The temperature. Without it, the endpoint's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 2))]
    pub temperature: Option<f64>,
    /// The most tokens of one response, those of reasoning too. Without it, the endpoint's own bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10_000_000))]
    pub max_tokens: Option<u32>,
    /// How much a reasoning model thinks. Without it, the model's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<EffortConfig>,
    /// Whether replies are asked for piece by piece; with `false`, the time to the first words is not known. Default: true
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streaming: Option<bool>,
    /// The functions that the model may call, and what they return. None is ever really called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolConfig>,
}

/// How much a reasoning model thinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EffortConfig {
    /// Not at all.
    None,
    /// Hardly.
    Minimal,
    /// A little.
    Low,
    /// As usual.
    Medium,
    /// Much.
    High,
    /// As much as it can.
    XHigh,
}

impl ResponsesConfig {
    /// OpenAI's own address.
    pub const BASE_URL: &'static str = "https://api.openai.com/v1";
    /// The model where `--model` names none.
    pub const MODEL: &'static str = "gpt-4.1-mini";

    /// Whether replies are asked for piece by piece.
    pub fn streams(&self) -> bool {
        self.streaming.unwrap_or(true)
    }

    /// The address before `/responses`.
    pub fn base_url(&self) -> &str {
        self.base_url.as_deref().unwrap_or(Self::BASE_URL)
    }
}

impl Transport for ResponsesConfig {
    fn key(&self) -> &'static str {
        "responses"
    }

    fn abilities(&self) -> Vec<Ability> {
        bare_model(self.streams())
    }

    fn check(&self) -> Vec<String> {
        let mut problems: Vec<String> = base_url("responses.baseUrl", self.base_url()).err().into_iter().collect();
        problems.extend(tool_problems("target.responses.tools", &self.tools));
        problems.extend(header_problems("responses", &self.headers));
        problems
    }

    fn secrets(&self) -> Vec<(&str, &str)> {
        key_and_headers(self.api_key.as_ref(), &self.headers)
    }

    fn default_model(&self) -> &'static str {
        Self::MODEL
    }

    fn named_address(&self) -> Option<&str> {
        self.base_url.as_deref()
    }

    fn address(&self) -> Option<&str> {
        Some(self.base_url())
    }

    fn name_key(&self) -> Option<&'static str> {
        Some("another model (--model)")
    }

    fn tells_user(&self) -> bool {
        false
    }

    fn connect(&self, context: AgentContext) -> Result<Box<dyn Agent>, AgentError> {
        let started_at = context.started_at.as_ref().map(|address| format!("{address}/v1"));
        let address = self.base_url.as_ref().or(started_at.as_ref()).map_or(Self::BASE_URL, String::as_str);
        let base = base_url("responses.baseUrl", address).map_err(unusable)?;
        let wire = ResponsesWire::new(self, base, context.model.clone());
        Ok(HttpAgent::boxed(wire, Caller::new(context, &self.headers, self.api_key.as_ref())))
    }
}
