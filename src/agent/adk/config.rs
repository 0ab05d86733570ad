//! The settings of an agent behind ADK's `api_server`: `target.adk`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::calls::{API_SERVER, AdkWire};
use crate::agent::rest::{Caller, HttpAgent, RestSettings, RestTransport};
use crate::agent::transport::abilities_where;
use crate::agent::{Ability, Agent, SettingError};
use crate::http::BaseUrl;

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
    /// Whether replies are streamed (`/run_sse`), so that the time to the first token is known.
    #[serde(default)]
    pub streaming: bool,
    /// Headers that are sent with every request. Without `Authorization` among them, `EVAL_JOB_AGENT_API_KEY` is sent as
    /// `Authorization: Bearer`, where it is set.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("writeOnly" = true))]
    pub headers: BTreeMap<String, String>,
}

impl RestTransport for AdkConfig {
    fn settings(&self) -> RestSettings<'_> {
        RestSettings {
            base_url: self.base_url.as_deref(),
            headers: Some(&self.headers),
            abilities: abilities_where(&[
                (true, Ability::ShowsState),
                (true, Ability::TakesState),
                (self.streaming, Ability::Streams),
                (true, Ability::ReportsTools),
                (true, Ability::ReportsUsage),
                (true, Ability::Resumes),
            ]),
            name_key: Some(if self.app.is_some() { "target.adk.app" } else { "target.chatbot" }),
            ..RestSettings::new("adk", "http://localhost:8000")
        }
    }

    fn agent(&self, base: BaseUrl, caller: Caller) -> Result<Box<dyn Agent>, SettingError> {
        let wire = AdkWire::new(&API_SERVER, base, self.app.as_ref(), self.streaming, &caller.context);
        let state = caller.context.state_over(&self.state);
        Ok(HttpAgent::boxed(wire.with_state(state), caller))
    }
}
