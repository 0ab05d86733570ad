//! How the agent is reached: the one transport that a job names.

use super::Ability;
use super::demo::DemoConfig;
use super::embabel::EmbabelConfig;

/// How the agent is reached. The key beside `user` and `chatbot` tells which; none means `embabel`.
#[derive(Debug, Clone, PartialEq)]
pub enum TransportConfig {
    /// `target.embabel`: Embabel's REST protocol.
    Embabel(EmbabelConfig),
    /// `target.demo`: the agent that eval-job brings along.
    Demo(DemoConfig),
}

impl TransportConfig {
    /// What the transport can do.
    pub fn abilities(&self) -> &'static [Ability] {
        match self {
            TransportConfig::Embabel(_) | TransportConfig::Demo(_) => {
                &[Ability::ChoosesModel, Ability::ShowsState, Ability::ReportsTools]
            }
        }
    }

    /// The key that names it in a job file.
    pub fn word(&self) -> &'static str {
        match self {
            TransportConfig::Embabel(_) => "embabel",
            TransportConfig::Demo(_) => "demo",
        }
    }

    /// Whether it can do this.
    pub fn can(&self, ability: Ability) -> bool {
        self.abilities().contains(&ability)
    }
}
