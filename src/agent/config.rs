//! How the agent is reached: the one transport that a job names.

use super::Ability;
use super::a2a::A2aConfig;
use super::adk::AdkConfig;
use super::demo::DemoConfig;
use super::embabel::EmbabelConfig;

/// How the agent is reached. The key beside `user` and `chatbot` tells which; none means `embabel`.
#[derive(Debug, Clone, PartialEq)]
pub enum TransportConfig {
    /// `target.embabel`: Embabel's REST protocol.
    Embabel(EmbabelConfig),
    /// `target.demo`: the agent that eval-job brings along.
    Demo(DemoConfig),
    /// `target.adk`: Google ADK's `api_server`.
    Adk(AdkConfig),
    /// `target.a2a`: Agent2Agent.
    A2a(A2aConfig),
}

impl TransportConfig {
    /// What the transport can do.
    pub fn abilities(&self) -> &'static [Ability] {
        match self {
            TransportConfig::Embabel(_) | TransportConfig::Demo(_) => {
                &[Ability::ChoosesModel, Ability::ShowsState, Ability::ReportsTools]
            }
            TransportConfig::Adk(AdkConfig { streaming: false, .. }) => {
                &[Ability::ShowsState, Ability::ReportsTools, Ability::ReportsUsage]
            }
            TransportConfig::A2a(A2aConfig { streaming: Some(false), .. }) => &[],
            TransportConfig::A2a(_) => &[Ability::Streams],
            TransportConfig::Adk(_) => {
                &[Ability::ShowsState, Ability::Streams, Ability::ReportsTools, Ability::ReportsUsage]
            }
        }
    }

    /// The key that names it in a job file.
    pub fn word(&self) -> &'static str {
        match self {
            TransportConfig::Embabel(_) => "embabel",
            TransportConfig::Demo(_) => "demo",
            TransportConfig::Adk(_) => "adk",
            TransportConfig::A2a(_) => "a2a",
        }
    }

    /// Whether it can do this.
    pub fn can(&self, ability: Ability) -> bool {
        self.abilities().contains(&ability)
    }

    /// The address that the job names, where it names one.
    pub fn named_address(&self) -> Option<&str> {
        match self {
            TransportConfig::Embabel(config) => config.base_url.as_deref(),
            TransportConfig::Demo(_) => None,
            TransportConfig::Adk(config) => config.base_url.as_deref(),
            TransportConfig::A2a(config) => config.base_url.as_deref(),
        }
    }

    /// Where the agent is looked for that nobody starts; the demo agent's address nobody knows before.
    pub fn address(&self) -> Option<&str> {
        match self {
            TransportConfig::Embabel(config) => Some(config.base_url()),
            TransportConfig::Demo(_) => None,
            TransportConfig::Adk(config) => Some(config.base_url()),
            TransportConfig::A2a(config) => Some(config.base_url()),
        }
    }

    /// The keys that the job holds, none of which may be shown.
    pub fn keys(&self) -> Vec<&str> {
        match self {
            TransportConfig::Embabel(config) => config.api_key.as_deref().into_iter().collect(),
            TransportConfig::Demo(_) => Vec::new(),
            TransportConfig::Adk(config) => config.headers.values().map(String::as_str).collect(),
            TransportConfig::A2a(config) => {
                config.headers.values().chain(&config.api_key).map(String::as_str).collect()
            }
        }
    }
}
