//! What the YAML says of a bare model as the agent under test.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agent::tools::{ToolConfig, tool_problems};

use super::calls::OpenAiWire;
use crate::agent::rest::{Caller, HttpAgent};
use crate::agent::transport::{bare_model, base_url, unusable};
use crate::agent::{Ability, Agent, AgentContext, AgentError, Transport};
use std::collections::BTreeMap;

/// `target.openai`: a model behind any endpoint that speaks OpenAI's chat completions. `--model` names it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OpenAiConfig {
    /// The address before `/chat/completions`. Default: https://api.openai.com/v1, or the agent that is started
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The key. `EVAL_JOB_AGENT_API_KEY` is used where this is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("writeOnly" = true))]
    pub api_key: Option<String>,
    /// The system prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// The temperature. Without it, the endpoint's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 2))]
    pub temperature: Option<f64>,
    /// The most tokens of one reply. Without it, the endpoint's own bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10_000_000))]
    pub max_tokens: Option<u32>,
    /// Whether replies are asked for piece by piece; with `false`, the time to the first words is not known. Default: true
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streaming: Option<bool>,
    /// The functions that the model may call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolConfig>,
}

impl OpenAiConfig {
    /// OpenAI's own address.
    pub const BASE_URL: &'static str = "https://api.openai.com/v1";
    /// The model where `--model` names none.
    pub const MODEL: &'static str = "gpt-4.1-mini";

    /// Whether replies are asked for piece by piece.
    pub fn streams(&self) -> bool {
        self.streaming.unwrap_or(true)
    }

    /// The address before `/chat/completions`.
    pub fn base_url(&self) -> &str {
        self.base_url.as_deref().unwrap_or(Self::BASE_URL)
    }
}

impl Transport for OpenAiConfig {
    fn key(&self) -> &'static str {
        "openai"
    }

    fn abilities(&self) -> Vec<Ability> {
        bare_model(self.streams())
    }

    fn check(&self) -> Vec<String> {
        let mut problems: Vec<String> = base_url("openai.baseUrl", self.base_url()).err().into_iter().collect();
        problems.extend(tool_problems("target.openai.tools", &self.tools));
        problems
    }

    fn secrets(&self) -> Vec<(&str, &str)> {
        self.api_key.iter().map(|key| ("apiKey", key.as_str())).collect()
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
        let base = base_url("openai.baseUrl", address).map_err(unusable)?;
        let wire = OpenAiWire::new(self, base, context.model.clone());
        Ok(HttpAgent::boxed(wire, Caller::new(context, &BTreeMap::new(), self.api_key.as_ref())))
    }
}
