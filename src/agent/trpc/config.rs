//! The settings of an agent made with trpc-agent-go: `target.trpc`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::calls::TrpcWire;
use crate::agent::adk::{AdkWire, TRPC_DEBUG};
use crate::agent::rest::{Caller, HttpAgent, RestSettings, RestTransport};
use crate::agent::transport::abilities_where;
use crate::agent::{Ability, Agent, SettingError};
use crate::http::BaseUrl;

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
    /// Whether each run tells the trace of its steps (`runOptions.executionTraceEnabled`), which a metric `template` can show to a
    /// judge. Only the agent server does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub execution_trace: bool,
    /// Whether replies are streamed, so that the time to the first token is known. Only the debug server can.
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

impl RestTransport for TrpcConfig {
    fn settings(&self) -> RestSettings<'_> {
        RestSettings {
            base_url: self.base_url.as_deref(),
            api_key: self.api_key.as_ref(),
            headers: Some(&self.headers),
            abilities: abilities_where(&[
                (self.server == ServerConfig::Debug && self.streaming, Ability::Streams),
                (self.server == ServerConfig::Agent, Ability::TakesState),
                (true, Ability::ReportsTools),
                (!self.streaming, Ability::ReportsUsage),
                (true, Ability::Resumes),
            ]),
            name_key: Some(if self.app.is_some() { "target.trpc.app" } else { "target.chatbot" }),
            // The port of trpc-agent-go's examples.
            ..RestSettings::new("trpc", "http://localhost:8080")
        }
    }

    fn own_problems(&self) -> Vec<SettingError> {
        let (key, problem) = match self.server {
            ServerConfig::Agent if self.streaming => {
                ("streaming", "the agent server answers in one piece; only `server: debug` can stream")
            }
            ServerConfig::Debug if !self.runtime_state.is_empty() => {
                ("runtimeState", "the debug server takes no state; only `server: agent` does")
            }
            ServerConfig::Debug if self.execution_trace => {
                ("executionTrace", "the debug server tells no trace; only `server: agent` does")
            }
            ServerConfig::Agent | ServerConfig::Debug => return Vec::new(),
        };
        vec![SettingError::new(format!("target.trpc.{key}"), problem)]
    }

    fn agent(&self, base: BaseUrl, caller: Caller) -> Result<Box<dyn Agent>, SettingError> {
        Ok(match self.server {
            ServerConfig::Agent => HttpAgent::boxed(TrpcWire::new(base, self, &caller.context), caller),
            ServerConfig::Debug => {
                let wire = AdkWire::new(&TRPC_DEBUG, base, self.app.as_ref(), self.streaming, &caller.context);
                HttpAgent::boxed(wire, caller)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::agent::Transport;

    #[test]
    fn what_a_server_cant_do_is_named_with_its_key() {
        let config = |json: Value| serde_json::from_value::<TrpcConfig>(json).unwrap();
        for (json, start) in [
            (json!({}), None),
            (json!({"server": "debug", "streaming": true}), None),
            (json!({"runtimeState": {"city": "Rome"}}), None),
            (json!({"baseUrl": "localhost:8080"}), Some("target.trpc.baseUrl: the address must start with http://")),
            (json!({"streaming": true}), Some("target.trpc.streaming: the agent server answers in one piece")),
            (json!({"server": "debug", "runtimeState": {"a": 1}}), Some("target.trpc.runtimeState: the debug server")),
            (json!({"server": "debug", "executionTrace": true}), Some("target.trpc.executionTrace: the debug server")),
        ] {
            let problems = config(json.clone()).check();
            assert_eq!(problems.len(), usize::from(start.is_some()), "{json}: {problems:?}");
            assert!(
                problems.iter().all(|problem| problem.to_string().starts_with(start.unwrap_or_default())),
                "{problems:?}"
            );
        }
    }
}
