//! What the YAML says of an agent behind ADK's `api_server`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::calls::{API_SERVER, AdkWire, Talk};
use crate::agent::rest::{Caller, HttpAgent};
use crate::agent::transport::{base_url, header_problems, key_and_headers, those, unusable};
use crate::agent::{Ability, Agent, AgentContext, AgentError, Transport};

/// `target.adk`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AdkConfig {
    /// Where `adk api_server` listens. Default: http://localhost:8000
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The app: the name of the agent's folder. Default: the target's chatbot
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"\S"))]
    pub app: Option<String>,
    /// The state that each session begins with.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub state: Map<String, Value>,
    /// Whether replies are asked for piece by piece (`/run_sse`), so that the time to their first words is known.
    #[serde(default)]
    pub streaming: bool,
    /// Headers that are sent with every request. Without `Authorization` among them, `EVAL_JOB_AGENT_API_KEY` is sent as
    /// `Authorization: Bearer`, where it is set.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("writeOnly" = true))]
    pub headers: BTreeMap<String, String>,
}

impl AdkConfig {
    /// Where an `api_server` listens that the job says nothing about.
    pub const BASE_URL: &'static str = "http://localhost:8000";

    /// Where it listens.
    pub fn base_url(&self) -> &str {
        self.base_url.as_deref().unwrap_or(Self::BASE_URL)
    }
}

impl Transport for AdkConfig {
    fn key(&self) -> &'static str {
        "adk"
    }

    fn abilities(&self) -> Vec<Ability> {
        those(&[
            (true, Ability::ShowsState),
            (self.streaming, Ability::Streams),
            (true, Ability::ReportsTools),
            (true, Ability::ReportsUsage),
        ])
    }

    fn check(&self) -> Vec<String> {
        let address = base_url("adk.baseUrl", self.base_url()).err();
        address.into_iter().chain(header_problems("adk", &self.headers)).collect()
    }

    fn secrets(&self) -> Vec<(&str, &str)> {
        key_and_headers(None, &self.headers)
    }

    fn default_model(&self) -> &'static str {
        "own"
    }

    fn named_address(&self) -> Option<&str> {
        self.base_url.as_deref()
    }

    fn address(&self) -> Option<&str> {
        Some(self.base_url())
    }

    fn name_key(&self) -> Option<&'static str> {
        Some(if self.app.is_some() { "target.adk.app" } else { "target.chatbot" })
    }

    fn connect(&self, context: AgentContext) -> Result<Box<dyn Agent>, AgentError> {
        let wire = AdkWire {
            server: &API_SERVER,
            base: base_url("adk.baseUrl", &context.address(self.base_url.as_ref(), Self::BASE_URL))
                .map_err(unusable)?,
            app: self.app.as_ref().unwrap_or(&context.chatbot).clone(),
            user: context.user.clone(),
            state: self.state.clone(),
            streaming: self.streaming,
            talk: Talk::default(),
        };
        Ok(HttpAgent::boxed(wire, Caller::new(context, &self.headers, None)))
    }
}
