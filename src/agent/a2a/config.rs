//! The settings of an agent that speaks A2A: `target.a2a`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::calls::A2aWire;
use crate::agent::rest::{Caller, HttpAgent, RestSettings, RestTransport};
use crate::agent::transport::abilities_where;
use crate::agent::{Ability, Agent, AgentError, AgentErrorKind, SettingError};
use crate::http::BaseUrl;

/// `target.a2a`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct A2aConfig {
    /// The address of the agent card, without its path: `/.well-known/agent-card.json`, or the older `agent.json`.
    /// Default: http://localhost:9999
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// Whether replies are streamed. Default: where the agent card says that the agent can
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

impl RestTransport for A2aConfig {
    fn settings(&self) -> RestSettings<'_> {
        RestSettings {
            base_url: self.base_url.as_deref(),
            api_key: self.api_key.as_ref(),
            headers: Some(&self.headers),
            // Agents that mark function calls as ADK and trpc-agent-go do report them.
            abilities: abilities_where(&[
                (self.streaming != Some(false), Ability::Streams),
                (true, Ability::ReportsTools),
                (true, Ability::Resumes),
            ]),
            ..RestSettings::new("a2a", "http://localhost:9999")
        }
    }

    fn own_hint(&self, error: &AgentError) -> Option<String> {
        let what = match error.kind {
            AgentErrorKind::Unreachable if error.message.contains("agent card names") => {
                "the address in the agent card, which whoever starts the agent tells it; target.a2a.baseUrl is right, for the \
                 card was found there"
            }
            AgentErrorKind::BadReply if error.message.contains("target.a2a.streaming is true") => {
                "the job without target.a2a.streaming, so that the agent card decides"
            }
            _ => return None,
        };
        Some(what.to_owned())
    }

    fn agent(&self, base: BaseUrl, caller: Caller) -> Result<Box<dyn Agent>, SettingError> {
        Ok(HttpAgent::boxed(A2aWire::new(base, self.streaming, &caller.context), caller))
    }
}
