//! The settings of a model behind OpenAI's Responses API: `target.responses`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agent::tools::{ToolConfig, tool_problems};

use super::calls::ResponsesWire;
use crate::agent::rest::{Caller, HttpAgent, RestSettings, RestTransport};
use crate::agent::tools::bare_model;
use crate::agent::{Agent, SettingError};
use crate::http::BaseUrl;

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
    /// Each conversation is created at the endpoint (`/conversations`), which adds the responses to it. Otherwise each
    /// request names the previous response.
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
    /// Whether replies are streamed; with `false`, the time to the first token is not known. Default: true
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
    /// Whether replies are streamed.
    pub fn streams(&self) -> bool {
        self.streaming.unwrap_or(true)
    }
}

impl RestTransport for ResponsesConfig {
    fn settings(&self) -> RestSettings<'_> {
        RestSettings {
            base_url: self.base_url.as_deref(),
            api_key: self.api_key.as_ref(),
            headers: Some(&self.headers),
            ..bare_model("responses", self.streams(), true)
        }
    }

    fn own_problems(&self) -> Vec<SettingError> {
        tool_problems("target.responses.tools", &self.tools)
    }

    fn agent(&self, base: BaseUrl, caller: Caller) -> Result<Box<dyn Agent>, SettingError> {
        let wire = ResponsesWire::new(self, base, caller.context.model.clone(), caller.context.turns.clone());
        Ok(HttpAgent::boxed(wire, caller))
    }
}
