//! What the YAML says of an agent in watsonx Orchestrate.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::settings::check;
use super::{WatsonxAgent, WatsonxSettings};
use crate::agent::transport::{header_problems, key_and_headers};
use crate::agent::{Ability, Agent, AgentContext, AgentError, Transport};

/// `target.watsonx`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WatsonxConfig {
    /// The instance: of a SaaS, the service URL with `/instances/…`. Default: http://localhost:4321, the developer edition
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// Which runtime API: runs, or chat completions.
    #[serde(default)]
    pub api: ApiConfig,
    /// Whose paths: the SaaS, or the developer edition and Cloud Pak for Data. Default: by the address, `developer` on this
    /// machine
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edition: Option<EditionConfig>,
    /// The agent's name. Default: the target's chatbot
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"\S"))]
    pub agent: Option<String>,
    /// The id of a published environment, a UUID; `draft` is the agent as it is being edited. Only for `api: v2`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"\S"))]
    pub environment: Option<String>,
    /// Who keeps the conversation. Only for `api: v2`: with runs it is always the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<ThreadsConfig>,
    /// Sent with each message as `context`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub context: Map<String, Value>,
    /// Sent with each message as `context_variables`. Only for `api: v2`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub context_variables: Map<String, Value>,
    /// Sent with each message as `additional_parameters`. Only for `api: v2`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub additional_parameters: Map<String, Value>,
    /// What the key is.
    #[serde(default)]
    pub auth: AuthConfig,
    /// The key. `EVAL_JOB_AGENT_API_KEY` is used where this is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("writeOnly" = true))]
    pub api_key: Option<String>,
    /// Where `auth: iam` exchanges the key. Default: https://iam.cloud.ibm.com
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iam_url: Option<String>,
    /// Headers that are sent with every request.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("writeOnly" = true))]
    pub headers: BTreeMap<String, String>,
}

/// `target.watsonx.api`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ApiConfig {
    /// `/v1/orchestrate/runs`.
    #[default]
    V1,
    /// `…/chat/completions`.
    V2,
}

/// `target.watsonx.edition`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum EditionConfig {
    /// IBM Cloud or AWS.
    Saas,
    /// The developer edition, or Cloud Pak for Data.
    Developer,
}

/// `target.watsonx.threads`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ThreadsConfig {
    /// Each message carries the whole conversation.
    #[default]
    Client,
    /// The server keeps it (`X-IBM-THREAD-ID`); where it can't, each message carries it after all.
    Server,
}

/// `target.watsonx.auth`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum AuthConfig {
    /// A token, sent as `Authorization: Bearer`.
    #[default]
    Bearer,
    /// An IBM Cloud API key, exchanged for such tokens.
    Iam,
}

impl WatsonxConfig {
    /// Where the developer edition listens.
    pub const BASE_URL: &'static str = "http://localhost:4321";

    /// The instance.
    pub fn base_url(&self) -> &str {
        self.base_url.as_deref().unwrap_or(Self::BASE_URL)
    }

    /// The published environment; `None` is the draft.
    pub fn published(&self) -> Option<&str> {
        self.environment.as_deref().map(str::trim).filter(|environment| *environment != "draft")
    }
}

impl Transport for WatsonxConfig {
    fn key(&self) -> &'static str {
        "watsonx"
    }

    fn abilities(&self) -> Vec<Ability> {
        vec![Ability::Streams, Ability::ReportsTools]
    }

    fn check(&self) -> Vec<String> {
        check(self).into_iter().chain(header_problems("watsonx", &self.headers)).collect()
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
        Some(if self.agent.is_some() { "target.watsonx.agent" } else { "target.chatbot" })
    }

    fn connect(&self, context: AgentContext) -> Result<Box<dyn Agent>, AgentError> {
        let settings = WatsonxSettings {
            config: self.clone(),
            base_url: context.address(self.base_url.as_ref(), Self::BASE_URL),
            agent: self.agent.as_ref().unwrap_or(&context.chatbot).clone(),
            reading: context.reading,
            rest: context.rest(&self.headers, self.api_key.as_ref()),
        };
        Ok(Box::new(WatsonxAgent::new(settings, context.http)?))
    }
}
