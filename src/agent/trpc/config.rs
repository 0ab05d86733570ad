//! What the YAML says of an agent made with trpc-agent-go.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::calls::TrpcWire;
use crate::agent::adk::{AdkWire, TRPC_DEBUG, Talk};
use crate::agent::rest::{Caller, HttpAgent};
use crate::agent::transport::{base_url, header_problems, key_and_headers, those, unusable};
use crate::agent::{Ability, Agent, AgentContext, AgentError, Transport};

/// `target.trpc`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TrpcConfig {
    /// Which of its servers: the agent server, or the debug server of releases before December 2025.
    #[serde(default)]
    pub server: ServerConfig,
    /// Where it listens, without the path of the API. Default: http://localhost:8080
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The app that the server was made with. Default: the target's chatbot
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"\S"))]
    pub app: Option<String>,
    /// State that each run begins with (`runOptions.runtimeState`). Only the agent server takes it.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub runtime_state: Map<String, Value>,
    /// Whether replies are asked for piece by piece, so that the time to their first words is known. Only the debug server
    /// can.
    #[serde(default)]
    pub streaming: bool,
    /// The key, sent as `Authorization: Bearer`. `EVAL_JOB_AGENT_API_KEY` is used where this is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("writeOnly" = true))]
    pub api_key: Option<String>,
    /// Headers that are sent with every request.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("writeOnly" = true))]
    pub headers: BTreeMap<String, String>,
}

/// `target.trpc.server`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ServerConfig {
    /// The agent server, `server/trpcagent`.
    #[default]
    Agent,
    /// The debug server, `server/debug`, made after ADK's `api_server`.
    Debug,
}

impl TrpcConfig {
    /// Where a server listens that the job says nothing about: the port of trpc-agent-go's examples.
    pub const BASE_URL: &'static str = "http://localhost:8080";

    /// Where it listens.
    pub fn base_url(&self) -> &str {
        self.base_url.as_deref().unwrap_or(Self::BASE_URL)
    }
}

impl Transport for TrpcConfig {
    fn key(&self) -> &'static str {
        "trpc"
    }

    fn abilities(&self) -> Vec<Ability> {
        those(&[
            (self.server == ServerConfig::Debug && self.streaming, Ability::Streams),
            (true, Ability::ReportsTools),
            (!self.streaming, Ability::ReportsUsage),
        ])
    }

    fn check(&self) -> Vec<String> {
        let mut problems: Vec<String> = base_url("trpc.baseUrl", self.base_url()).err().into_iter().collect();
        match self.server {
            ServerConfig::Agent if self.streaming => problems.push(
                "target.trpc.streaming: the agent server answers in one piece; only `server: debug` can stream"
                    .to_owned(),
            ),
            ServerConfig::Debug if !self.runtime_state.is_empty() => problems.push(
                "target.trpc.runtimeState: the debug server takes no state; only `server: agent` does".to_owned(),
            ),
            ServerConfig::Agent | ServerConfig::Debug => {}
        }
        problems.extend(header_problems("trpc", &self.headers));
        problems
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

    fn name_key(&self) -> Option<&'static str> {
        Some(if self.app.is_some() { "target.trpc.app" } else { "target.chatbot" })
    }

    fn connect(&self, context: AgentContext) -> Result<Box<dyn Agent>, AgentError> {
        let address = context.address(self.base_url.as_ref(), Self::BASE_URL);
        let base = base_url("trpc.baseUrl", &address).map_err(unusable)?;
        let app = self.app.as_ref().unwrap_or(&context.chatbot).clone();
        let user = context.user.clone();
        let caller = Caller::new(context, &self.headers, self.api_key.as_ref());
        Ok(match self.server {
            ServerConfig::Agent => HttpAgent::boxed(TrpcWire::new(base, app, user, self.runtime_state.clone()), caller),
            ServerConfig::Debug => {
                let (state, streaming, talk) = (Map::new(), self.streaming, Talk::default());
                HttpAgent::boxed(AdkWire { server: &TRPC_DEBUG, base, app, user, state, streaming, talk }, caller)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_server_cant_do_is_named_with_its_key() {
        let config = |json: Value| serde_json::from_value::<TrpcConfig>(json).unwrap();
        for (json, words) in [
            (json!({}), None),
            (json!({"server": "debug", "streaming": true}), None),
            (json!({"runtimeState": {"city": "Rome"}}), None),
            (json!({"baseUrl": "localhost:8080"}), Some("target.trpc.baseUrl: the address must start with http://")),
            (json!({"streaming": true}), Some("target.trpc.streaming: the agent server answers in one piece")),
            (json!({"server": "debug", "runtimeState": {"a": 1}}), Some("target.trpc.runtimeState: the debug server")),
        ] {
            let problems = config(json.clone()).check();
            assert_eq!(problems.len(), usize::from(words.is_some()), "{json}: {problems:?}");
            assert!(problems.iter().all(|problem| problem.starts_with(words.unwrap_or_default())), "{problems:?}");
        }
    }
}
