//! The settings of an agent that speaks Embabel's protocol: `target.embabel`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::calls::EmbabelWire;
use crate::agent::rest::{Caller, HttpAgent, RestSettings, RestTransport};
use crate::agent::transport::base_url;
use crate::agent::{Ability, Agent, SettingError};
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
    /// Its description.
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
    /// The path before `/sessions`, `/messages` and `/objectContexts`.
    fn path(&self) -> &str {
        self.path.as_deref().unwrap_or("/api/v1/chat")
    }

    /// The address of the chat: the agent's together with the path.
    fn chat_url(&self, base: &BaseUrl) -> Result<BaseUrl, SettingError> {
        match self.path_problem() {
            Some(problem) => Err(problem),
            None => base_url("embabel.path", base.join(self.path().split('/')).as_str()),
        }
    }

    fn path_problem(&self) -> Option<SettingError> {
        let path = self.path();
        let unfit = path.contains(['?', '#', ' ']) || path.split('/').any(|segment| matches!(segment, "." | ".."));
        let problem = "the path must be plain segments; write it like /api/v1/chat, without ?, #, spaces and dots";
        unfit.then(|| SettingError::new("target.embabel.path", problem))
    }
}

impl KnowledgeConfig {
    /// The schema of a knowledge context that names none.
    pub const SCHEMA: &'static str = "personal";

    /// The address of the knowledge-graph service.
    pub(super) fn address(&self) -> Result<BaseUrl, SettingError> {
        base_url("embabel.knowledge.baseUrl", self.base_url.as_deref().unwrap_or("http://localhost:8080"))
    }
}

impl RestTransport for EmbabelConfig {
    fn settings(&self) -> RestSettings<'_> {
        RestSettings {
            base_url: self.base_url.as_deref(),
            api_key: self.api_key.as_ref(),
            abilities: vec![Ability::ChoosesModel, Ability::ShowsState, Ability::ReportsTools, Ability::Resumes],
            default_model: "gpt-4.1-mini",
            name_key: Some("target.chatbot"),
            ..RestSettings::new("embabel", "http://localhost:8081")
        }
    }

    fn own_problems(&self) -> Vec<SettingError> {
        let knowledge = self.knowledge.as_ref().and_then(|knowledge| knowledge.address().err());
        self.path_problem().into_iter().chain(knowledge).collect()
    }

    fn agent(&self, base: BaseUrl, caller: Caller) -> Result<Box<dyn Agent>, SettingError> {
        let knowledge = self.knowledge.as_ref().map(|own| own.address().map(|address| (own.clone(), address)));
        let wire = EmbabelWire::new(self.chat_url(&base)?, knowledge.transpose()?, &caller.context);
        Ok(HttpAgent::boxed(wire, caller))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::Transport;

    fn chat_url(config: &EmbabelConfig, base: &str, last: &str) -> String {
        config.chat_url(&BaseUrl::parse(base).unwrap()).unwrap().join([last]).to_string()
    }

    #[test]
    fn the_defaults_are_embabels() {
        let config = EmbabelConfig::default();
        assert_eq!(config.check(), []);
        let url = chat_url(&config, config.address().unwrap(), "sessions");
        assert_eq!(url, "http://localhost:8081/api/v1/chat/sessions");
    }

    #[test]
    fn slashes_at_either_side_are_never_doubled() {
        let at = |path: &str| EmbabelConfig { path: Some(path.to_owned()), ..EmbabelConfig::default() };
        for (base, path) in
            [("http://h/", "/chat/"), ("http://h", "chat"), ("http://h/", "chat"), ("http://h", "//chat//")]
        {
            assert_eq!(chat_url(&at(path), base, "messages"), "http://h/chat/messages");
        }
        assert_eq!(chat_url(&at(""), "http://h/a/", "messages"), "http://h/a/messages");
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
            assert!(problem.to_string().starts_with(key), "{problem}");
        }
    }
}
