//! What the YAML says of an agent that speaks A2A.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::calls::A2aWire;
use crate::agent::rest::{Caller, HttpAgent};
use crate::agent::transport::{base_url, header_problems, key_and_headers, those, unusable};
use crate::agent::{Ability, Agent, AgentContext, AgentError, Transport};

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

impl Transport for A2aConfig {
    fn key(&self) -> &'static str {
        "a2a"
    }

    fn abilities(&self) -> Vec<Ability> {
        // Whoever marks function calls as ADK and trpc-agent-go do reports them.
        those(&[(self.streaming != Some(false), Ability::Streams), (true, Ability::ReportsTools)])
    }

    fn check(&self) -> Vec<String> {
        let address = base_url("a2a.baseUrl", self.base_url()).err();
        address.into_iter().chain(header_problems("a2a", &self.headers)).collect()
    }

    fn secrets(&self) -> Vec<(&str, &str)> {
        key_and_headers(self.api_key.as_ref(), &self.headers)
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

    fn connect(&self, context: AgentContext) -> Result<Box<dyn Agent>, AgentError> {
        let address = context.address(self.base_url.as_ref(), Self::BASE_URL);
        let base = base_url("a2a.baseUrl", &address).map_err(unusable)?;
        let wire = A2aWire::new(base, self.streaming, context.user.clone(), context.turn_limit);
        Ok(HttpAgent::boxed(wire, Caller::new(context, &self.headers, self.api_key.as_ref())))
    }
}
