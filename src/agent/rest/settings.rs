//! The settings that transports over HTTP share: base URL, key, headers.

use std::collections::BTreeMap;

use super::Caller;
use crate::agent::transport::{base_url, header_problems};
use crate::agent::{Ability, Agent, AgentContext, AgentError, SettingError, Transport};
use crate::http::{BaseUrl, key_problem};

/// A transport over HTTP to an agent with one base URL; it implements [`Transport`] for all of them.
pub trait RestTransport: Send + Sync {
    /// Its settings as they were read.
    fn settings(&self) -> RestSettings<'_>;

    /// Problems of its configuration, beside those of the base URL and the headers.
    fn own_problems(&self) -> Vec<SettingError> {
        Vec::new()
    }

    /// The hint for this error, where a better one is known than that for any transport.
    fn own_hint(&self, _error: &AgentError) -> Option<String> {
        None
    }

    /// A client for the agent at this base URL.
    ///
    /// # Errors
    /// The setting that can't work.
    fn agent(&self, base: BaseUrl, caller: Caller) -> Result<Box<dyn Agent>, SettingError>;
}

/// The settings of a [`RestTransport`], and the facts that follow from them.
pub struct RestSettings<'a> {
    /// Its key below `target`.
    pub key: &'static str,
    /// The base URL that the job names.
    pub base_url: Option<&'a str>,
    /// The base URL where it names none and starts no agent.
    pub default_url: &'static str,
    /// The path of the API of an agent that is started.
    pub started_path: &'static str,
    /// The agent's key.
    pub api_key: Option<&'a String>,
    /// Headers with every request.
    pub headers: Option<&'a BTreeMap<String, String>>,
    /// Its abilities as it is configured.
    pub abilities: Vec<Ability>,
    /// The model where `--model` names none.
    pub default_model: &'static str,
    /// The key of the name by which the agent is addressed.
    pub name_key: Option<&'static str>,
    /// Whether the user's name is sent to the agent.
    pub sends_user: bool,
}

impl RestSettings<'_> {
    /// The settings of an empty configuration.
    pub(in crate::agent) fn new(key: &'static str, default_url: &'static str) -> RestSettings<'static> {
        RestSettings {
            key,
            base_url: None,
            default_url,
            started_path: "",
            api_key: None,
            headers: None,
            abilities: Vec::new(),
            default_model: "default",
            name_key: None,
            sends_user: true,
        }
    }

    /// Reads a base URL.
    fn base_url(&self, address: &str) -> Result<BaseUrl, SettingError> {
        base_url(&format!("{}.baseUrl", self.key), address)
    }
}

impl<T: RestTransport> Transport for T {
    fn abilities(&self) -> Vec<Ability> {
        self.settings().abilities
    }

    fn check(&self) -> Vec<SettingError> {
        let settings = self.settings();
        let address = settings.base_url(settings.base_url.unwrap_or(settings.default_url)).err();
        let headers = settings.headers.into_iter().flat_map(|headers| header_problems(settings.key, headers));
        let key = settings.api_key.and_then(|key| {
            let problem = match key_problem(key) {
                None if key.starts_with('$') => {
                    "no variables (`$NAME`) are filled in here; leave `apiKey` out and set EVAL_JOB_AGENT_API_KEY"
                }
                problem => problem?,
            };
            Some(SettingError::new(format!("target.{}.apiKey", settings.key), problem))
        });
        address.into_iter().chain(key).chain(self.own_problems()).chain(headers).collect()
    }

    fn secrets(&self) -> Vec<(&str, &str)> {
        let RestSettings { api_key, headers, .. } = self.settings();
        let headers = headers.into_iter().flatten().map(|(name, value)| (name.as_str(), value.as_str()));
        api_key.map(|key| ("apiKey", key.as_str())).into_iter().chain(headers).collect()
    }

    fn default_model(&self) -> &'static str {
        self.settings().default_model
    }

    fn named_address(&self) -> Option<&str> {
        self.settings().base_url
    }

    fn address(&self) -> Option<&str> {
        let settings = self.settings();
        settings.base_url.or(Some(settings.default_url))
    }

    fn name_key(&self) -> Option<&'static str> {
        self.settings().name_key
    }

    fn sends_user(&self) -> bool {
        self.settings().sends_user
    }

    fn hint(&self, error: &AgentError) -> Option<String> {
        self.own_hint(error)
    }

    /// Connects to the job's address, to that of the agent that was started, or to the default one.
    fn connect(&self, context: AgentContext) -> Result<Box<dyn Agent>, AgentError> {
        let settings = self.settings();
        let started_at = context.started_at.as_ref().map(|address| format!("{address}{}", settings.started_path));
        let address = settings.base_url.or(started_at.as_deref()).unwrap_or(settings.default_url);
        let base = settings.base_url(address)?;
        Ok(self.agent(base, Caller::new(context, settings.headers, settings.api_key))?)
    }
}
