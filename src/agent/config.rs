//! How the agent is reached: the one transport that a job names.

use super::a2a::A2aConfig;
use super::adk::AdkConfig;
use super::command::CommandConfig;
use super::demo::DemoConfig;
use super::embabel::EmbabelConfig;
use super::http::HttpConfig;
use super::openai::OpenAiConfig;
use super::responses::ResponsesConfig;
use super::trpc::TrpcConfig;
use super::watsonx::WatsonxConfig;
use super::websocket::WebSocketConfig;
use super::{Ability, Transport};

/// How the agent is reached. The key beside `user` and `chatbot` tells which; none means `embabel`.
#[derive(Debug, Clone, PartialEq)]
pub enum TransportConfig {
    /// `target.embabel`: Embabel's REST protocol.
    Embabel(EmbabelConfig),
    /// `target.demo`: the agent that eval-job brings along.
    Demo(DemoConfig),
    /// `target.adk`: Google ADK's `api_server`.
    Adk(AdkConfig),
    /// `target.openai`: a bare model behind chat completions.
    OpenAi(OpenAiConfig),
    /// `target.responses`: a bare model behind the Responses API, which keeps the conversation.
    Responses(Box<ResponsesConfig>),
    /// `target.http`: any agent with a REST interface.
    Http(Box<HttpConfig>),
    /// `target.websocket`: any agent behind a WebSocket.
    WebSocket(Box<WebSocketConfig>),
    /// `target.command`: standard input and output of a command.
    Command(CommandConfig),
    /// `target.a2a`: Agent2Agent.
    A2a(A2aConfig),
    /// `target.trpc`: trpc-agent-go's agent server or its debug server.
    Trpc(TrpcConfig),
    /// `target.watsonx`: watsonx Orchestrate.
    Watsonx(Box<WatsonxConfig>),
}

impl TransportConfig {
    /// The transport, whichever it is.
    pub fn as_transport(&self) -> &dyn Transport {
        match self {
            TransportConfig::Embabel(config) => config,
            TransportConfig::Demo(config) => config,
            TransportConfig::Adk(config) => config,
            TransportConfig::OpenAi(config) => config,
            TransportConfig::Responses(config) => config.as_ref(),
            TransportConfig::Http(config) => config.as_ref(),
            TransportConfig::WebSocket(config) => config.as_ref(),
            TransportConfig::Command(config) => config,
            TransportConfig::A2a(config) => config,
            TransportConfig::Trpc(config) => config,
            TransportConfig::Watsonx(config) => config.as_ref(),
        }
    }

    /// Whether it can do this.
    pub fn can(&self, ability: Ability) -> bool {
        self.as_transport().abilities().contains(&ability)
    }
}
