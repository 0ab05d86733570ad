//! What the YAML says of an agent that speaks Embabel's protocol.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::calls::EmbabelWire;
use crate::agent::rest::{Caller, HttpAgent};
use crate::agent::transport::{base_url, unusable};
use crate::agent::{Ability, Agent, AgentContext, AgentError, Transport};
use crate::http::BaseUrl;

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

    /// The address of the chat: the agent's together with the path.
    pub(super) fn chat_url(&self, address: &str) -> Result<BaseUrl, String> {
        let base = base_url("embabel.baseUrl", address)?;
        match self.path_problem() {
            Some(problem) => Err(problem),
            None => base_url("embabel.path", base.join(self.path().split('/')).as_str()),
        }
    }

    fn path_problem(&self) -> Option<String> {
        let path = self.path();
        let unfit = path.contains(['?', '#', ' ']) || path.split('/').any(|segment| matches!(segment, "." | ".."));
        unfit.then(|| {
            "target.embabel.path: the path must be plain segments; write it like /api/v1/chat, without ?, #, spaces and dots"
                .to_owned()
        })
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

impl KnowledgeConfig {
    /// Where the service listens, as it is reached.
    pub(super) fn address(&self) -> Result<BaseUrl, String> {
        base_url("embabel.knowledge.baseUrl", self.base_url())
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
        let agent = base_url("embabel.baseUrl", self.base_url()).err();
        let knowledge = self.knowledge.as_ref().and_then(|knowledge| knowledge.address().err());
        agent.into_iter().chain(self.path_problem()).chain(knowledge).collect()
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
        let wire = EmbabelWire::new(self, &context).map_err(unusable)?;
        Ok(HttpAgent::boxed(wire, Caller::new(context, &BTreeMap::new(), self.api_key.as_ref())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_embabels() {
        let config = EmbabelConfig::default();
        assert_eq!(config.check(), Vec::<String>::new());
        let url = config.chat_url(config.base_url()).unwrap();
        assert_eq!(url.join(["sessions"]).as_str(), "http://localhost:8081/api/v1/chat/sessions");
    }

    #[test]
    fn slashes_at_either_side_are_never_doubled() {
        let at = |path: &str| EmbabelConfig { path: Some(path.to_owned()), ..EmbabelConfig::default() };
        for (base, path) in
            [("http://h/", "/chat/"), ("http://h", "chat"), ("http://h/", "chat"), ("http://h", "//chat//")]
        {
            assert_eq!(at(path).chat_url(base).unwrap().join(["messages"]).as_str(), "http://h/chat/messages");
        }
        assert_eq!(at("").chat_url("http://h/a/").unwrap().join(["messages"]).as_str(), "http://h/a/messages");
    }

    #[test]
    fn every_problem_is_named_with_its_key() {
        let config = EmbabelConfig {
            base_url: Some("localhost:8081".to_owned()),
            path: Some("/chat?x=1".to_owned()),
            api_key: None,
            knowledge: Some(KnowledgeConfig {
                name: "memory".to_owned(),
                description: String::new(),
                schema_name: None,
                id: None,
                base_url: Some("ftp://h".to_owned()),
                api_key: None,
            }),
        };
        let problems = config.check();
        let keys = ["target.embabel.baseUrl: ", "target.embabel.path: ", "target.embabel.knowledge.baseUrl: "];
        assert_eq!(problems.len(), 3, "{problems:?}");
        for (problem, key) in problems.iter().zip(keys) {
            assert!(problem.starts_with(key), "{problem}");
        }
    }
}
