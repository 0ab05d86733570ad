//! The settings of the demo agent: `target.demo`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agent::embabel::EmbabelConfig;
use crate::agent::{Ability, Agent, AgentContext, AgentError, Hosting, SettingError, Transport};

/// `target.demo`: the agent that is built into eval-job. It has no settings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DemoConfig {}

impl DemoConfig {
    /// The reason why this build has no demo agent; `None` where it has one.
    pub const ABSENT: Option<&'static str> = match cfg!(feature = "demo") {
        true => None,
        false => Some("this eval-job was built without the demo agent (the feature `demo`)"),
    };

    /// Its models. The first does what it says; the second only says it.
    pub const MODELS: [&'static str; 2] = ["demo-careful", "demo-sloppy"];
}

impl Transport for DemoConfig {
    fn abilities(&self) -> Vec<Ability> {
        EmbabelConfig::default().abilities()
    }

    fn check(&self) -> Vec<SettingError> {
        Vec::new()
    }

    fn secrets(&self) -> Vec<(&str, &str)> {
        Vec::new()
    }

    fn default_model(&self) -> &'static str {
        Self::MODELS[0]
    }

    fn models(&self) -> Option<&'static [&'static str]> {
        Some(&Self::MODELS)
    }

    fn absent(&self) -> Option<&'static str> {
        Self::ABSENT
    }

    fn hosting(&self) -> Hosting {
        Hosting::InProcess
    }

    /// The user's key is for the user's agent and is not sent to this one.
    fn connect(&self, context: AgentContext) -> Result<Box<dyn Agent>, AgentError> {
        EmbabelConfig::default().connect(AgentContext { api_key: None, ..context })
    }
}
