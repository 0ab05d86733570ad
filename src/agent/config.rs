//! How the agent is reached: the one transport that a job names.

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
