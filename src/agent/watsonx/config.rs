//! The settings of an agent in watsonx Orchestrate: `target.watsonx`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::completions::CompletionsWire;
use super::instance::Instance;
use super::runs::RunsWire;
use super::wire::is_uuid;
use crate::agent::rest::{Caller, HttpAgent, RestSettings, RestTransport};
use crate::agent::transport::base_url;
use crate::agent::{Ability, Agent, AgentContext, SettingError};
use crate::http::{BaseUrl, IAM_URL, IamSettings, IamTokens};

/// `target.watsonx`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WatsonxConfig {
    /// The instance: of a SaaS, the service URL with `/instances/…`. Default: http://localhost:4321, the developer edition
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The runtime API: runs, or chat completions.
    #[serde(default)]
    pub api: ApiConfig,
    /// The edition, which decides the paths: the SaaS, or the developer edition and Cloud Pak for Data. Default: by the
    /// address, `developer` on this machine
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
    /// The side that keeps the conversation. Only for `api: v2`: with runs it is always the server.
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
    /// The kind of the key.
    #[serde(default)]
    pub auth: AuthConfig,
    /// The key. `EVAL_JOB_AGENT_API_KEY` is used where this is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("writeOnly" = true))]
    pub api_key: Option<String>,
    /// The address of the token service of `auth: iam`. Default: https://iam.cloud.ibm.com
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
    /// The server keeps it (`X-IBM-THREAD-ID`); where it can't, each message carries the whole conversation.
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
    /// The published environment; `None` is the draft.
    pub fn published(&self) -> Option<&str> {
        self.environment.as_deref().map(str::trim).filter(|environment| *environment != "draft")
    }

    /// The address of the token service.
    fn iam_address(&self) -> Result<BaseUrl, SettingError> {
        base_url("watsonx.iamUrl", self.iam_url.as_deref().unwrap_or(IAM_URL))
    }

    /// Makes the caller exchange its key for tokens, where the job says so.
    fn with_tokens(&self, caller: Caller) -> Result<Caller, SettingError> {
        let AgentContext { http, clock, turn_limit: time_limit, .. } = caller.context.clone();
        let url = self.iam_address()?;
        let key = caller.api_key.clone().filter(|_| self.auth == AuthConfig::Iam);
        let tokens = key.map(|key| IamTokens::new(IamSettings { url, key, time_limit, clock }, http));
        Ok(caller.with_tokens(tokens))
    }
}

impl RestTransport for WatsonxConfig {
    fn settings(&self) -> RestSettings<'_> {
        RestSettings {
            base_url: self.base_url.as_deref(),
            api_key: self.api_key.as_ref(),
            headers: Some(&self.headers),
            abilities: vec![Ability::Streams, Ability::ReportsTools, Ability::TakesState, Ability::Resumes],
            name_key: Some(if self.agent.is_some() { "target.watsonx.agent" } else { "target.chatbot" }),
            // The developer edition.
            ..RestSettings::new("watsonx", "http://localhost:4321")
        }
    }

    fn own_problems(&self) -> Vec<SettingError> {
        let mut problems: Vec<SettingError> = self.iam_address().err().into_iter().collect();
        if self.auth == AuthConfig::Bearer && self.iam_url.is_some() {
            let problem = "keys are exchanged only with `auth: iam`";
            problems.push(SettingError::new("target.watsonx.iamUrl", problem));
        }
        if self.published().is_some_and(|environment| !is_uuid(environment)) {
            let problem = "a published environment is named by its id, a UUID; the one being edited is `draft`";
            problems.push(SettingError::new("target.watsonx.environment", problem));
        }
        let only_v2 = [
            ("environment", self.published().is_some()),
            ("threads", self.threads.is_some()),
            ("contextVariables", !self.context_variables.is_empty()),
            ("additionalParameters", !self.additional_parameters.is_empty()),
        ];
        if self.api == ApiConfig::V1 {
            let named = only_v2.iter().filter(|(_, is_there)| *is_there);
            problems.extend(
                named.map(|(key, _)| SettingError::new(format!("target.watsonx.{key}"), "only `api: v2` takes it")),
            );
        }
        problems
    }

    fn agent(&self, base: BaseUrl, caller: Caller) -> Result<Box<dyn Agent>, SettingError> {
        let (instance, caller) = (Instance::new(self, base, &caller.context), self.with_tokens(caller)?);
        Ok(match self.api {
            ApiConfig::V1 => HttpAgent::boxed(RunsWire::new(instance, &caller.context), caller),
            ApiConfig::V2 => HttpAgent::boxed(CompletionsWire::new(instance), caller),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::agent::Transport;

    #[test]
    fn what_cant_work_is_named_with_its_key() {
        let config = |json: Value| serde_json::from_value::<WatsonxConfig>(json).unwrap();
        let id = "0f8fad5b-d9cb-469f-a165-70867728950e";
        for (json, expected) in [
            (json!({}), vec![]),
            (json!({"environment": "draft", "context": {"a": 1}}), vec![]),
            (json!({"api": "v2", "environment": id, "threads": "server", "contextVariables": {"a": 1}}), vec![]),
            (json!({"auth": "iam", "iamUrl": "https://iam.test.cloud.ibm.com"}), vec![]),
            (json!({"baseUrl": "localhost:4321"}), vec!["target.watsonx.baseUrl: the address must start"]),
            (json!({"auth": "iam", "iamUrl": "x"}), vec!["target.watsonx.iamUrl: the address must start with"]),
            (json!({"iamUrl": "https://i"}), vec!["target.watsonx.iamUrl: keys are exchanged only with `auth: iam`"]),
            (json!({"api": "v2", "environment": "live"}), vec!["target.watsonx.environment: a published environment"]),
            (
                json!({"environment": id, "threads": "client", "additionalParameters": {"a": 1}}),
                vec![
                    "target.watsonx.environment: only `api: v2`",
                    "target.watsonx.threads: only `api: v2`",
                    "target.watsonx.additionalParameters: only `api: v2`",
                ],
            ),
        ] {
            let problems = config(json.clone()).check();
            assert_eq!(problems.len(), expected.len(), "{json}: {problems:?}");
            assert!(
                problems.iter().zip(&expected).all(|(problem, start)| problem.to_string().starts_with(start)),
                "{problems:?}"
            );
        }
    }
}
