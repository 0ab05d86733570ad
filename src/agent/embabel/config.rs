//! What the YAML says of an agent that speaks Embabel's protocol.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::settings::check;
use super::{EmbabelAgent, EmbabelSettings};
use crate::agent::{Ability, Agent, AgentContext, AgentError, Transport};
use crate::secret::Secret;

/// `target.embabel`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EmbabelConfig {
    /// Where the agent listens. Default: http://localhost:8081
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The path before `/sessions`, `/messages` and `/objectContexts`. Default: /api/v1/chat
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The value of the `X-API-KEY` header. `EVAL_JOB_AGENT_API_KEY` is used where this is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("writeOnly" = true))]
    pub api_key: Option<String>,
    /// A knowledge context that is created before a seed is delivered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knowledge: Option<KnowledgeConfig>,
}

/// `target.embabel.knowledge`: the knowledge-graph service and the context to create in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KnowledgeConfig {
    /// The context's name.
    pub name: String,
    /// What it is for.
    #[serde(default)]
    pub description: String,
    /// The schema of the graph. Default: personal
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema_name: Option<String>,
    /// Its id. Default: its name
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Where the knowledge-graph service listens. Default: http://localhost:8080
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The value of its `X-API-KEY` header. Default: the agent's key, where the service has the agent's scheme, host and
    /// port; else none
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("writeOnly" = true))]
    pub api_key: Option<String>,
}

impl EmbabelConfig {
    /// Where an agent listens that the job says nothing about.
    pub const BASE_URL: &'static str = "http://localhost:8081";
    /// The path before `/sessions`, `/messages` and `/objectContexts`, when the job names none.
    pub const PATH: &'static str = "/api/v1/chat";

    /// Where the agent listens.
    pub fn base_url(&self) -> &str {
        self.base_url.as_deref().unwrap_or(Self::BASE_URL)
    }

    /// The path before `/sessions`, `/messages` and `/objectContexts`.
    pub fn path(&self) -> &str {
        self.path.as_deref().unwrap_or(Self::PATH)
    }
}

impl KnowledgeConfig {
    /// Where a knowledge-graph service listens that the job says nothing about.
    pub const BASE_URL: &'static str = "http://localhost:8080";
    /// The schema of a knowledge context that names none.
    pub const SCHEMA: &'static str = "personal";

    /// Where the knowledge-graph service listens.
    pub fn base_url(&self) -> &str {
        self.base_url.as_deref().unwrap_or(Self::BASE_URL)
    }
}

impl Transport for EmbabelConfig {
    fn key(&self) -> &'static str {
        "embabel"
    }

    fn abilities(&self) -> Vec<Ability> {
        vec![Ability::ChoosesModel, Ability::ShowsState, Ability::ReportsTools]
    }

    fn check(&self) -> Vec<String> {
        check(self)
    }

    fn secrets(&self) -> Vec<(&str, &str)> {
        self.api_key.iter().map(|key| ("apiKey", key.as_str())).collect()
    }

    fn default_model(&self) -> &'static str {
        "gpt-4.1-mini"
    }

    fn named_address(&self) -> Option<&str> {
        self.base_url.as_deref()
    }

    fn address(&self) -> Option<&str> {
        Some(self.base_url())
    }

    fn name_key(&self) -> Option<&'static str> {
        Some("target.chatbot")
    }

    fn connect(&self, context: AgentContext) -> Result<Box<dyn Agent>, AgentError> {
        let settings = EmbabelSettings {
            base_url: context.address(self.base_url.as_ref(), Self::BASE_URL),
            path: self.path().to_owned(),
            api_key: self.api_key.as_ref().map(Secret::new).or(context.api_key),
            knowledge: self.knowledge.clone(),
            user: context.user,
            chatbot: context.chatbot,
            model: context.model,
            turn_limit: context.turn_limit,
            rng_seed: context.rng_seed,
            clock: context.clock,
            retry: context.retry,
            place: context.place,
        };
        Ok(Box::new(EmbabelAgent::new(settings, context.http)?))
    }
}
