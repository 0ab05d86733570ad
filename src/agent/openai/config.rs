//! The settings of a bare model as the agent under test: `target.openai`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agent::tools::{ToolConfig, tool_problems};

use super::calls::OpenAiWire;
use crate::agent::rest::{Caller, HttpAgent, RestSettings, RestTransport};
use crate::agent::tools::bare_model;
use crate::agent::{Agent, SettingError};
use crate::http::BaseUrl;

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
    /// Whether replies are streamed; with `false`, the time to the first token is not known. Default: true
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streaming: Option<bool>,
    /// The functions that the model may call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolConfig>,
}

impl OpenAiConfig {
    /// Whether replies are streamed.
    pub fn streams(&self) -> bool {
        self.streaming.unwrap_or(true)
    }
}

impl RestTransport for OpenAiConfig {
    fn settings(&self) -> RestSettings<'_> {
        RestSettings {
            base_url: self.base_url.as_deref(),
            api_key: self.api_key.as_ref(),
            // The messages between its calls and its reply are in no journal.
            ..bare_model("openai", self.streams(), self.tools.is_empty())
        }
    }

    fn own_problems(&self) -> Vec<SettingError> {
        tool_problems("target.openai.tools", &self.tools)
    }

    fn agent(&self, base: BaseUrl, caller: Caller) -> Result<Box<dyn Agent>, SettingError> {
        let wire = OpenAiWire::new(self, base, caller.context.model.clone(), caller.context.turns.clone());
        Ok(HttpAgent::boxed(wire, caller))
    }
}
