//! What the YAML says of the demo agent.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agent::embabel::EmbabelConfig;
use crate::agent::{Ability, Agent, AgentContext, AgentError, Hosting, Transport};

/// `target.demo`: the agent that eval-job brings along. It has nothing to set up.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DemoConfig {}

impl DemoConfig {
    /// Why this build has none; `None` where it has.
    pub const ABSENT: Option<&'static str> = match cfg!(feature = "demo") {
        true => None,
        false => Some("this eval-job was built without the demo agent (the feature `demo`)"),
    };

    /// The models that it offers. The first does what it says; the second only says it.
    pub const MODELS: [&'static str; 2] = ["demo-careful", "demo-sloppy"];
}

impl Transport for DemoConfig {
    fn abilities(&self) -> Vec<Ability> {
        EmbabelConfig::default().abilities()
    }

    fn check(&self) -> Vec<String> {
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

    /// The user's key is for the user's agent; this one needs none.
    fn connect(&self, context: AgentContext) -> Result<Box<dyn Agent>, AgentError> {
        EmbabelConfig::default().connect(AgentContext { api_key: None, ..context })
    }
}
