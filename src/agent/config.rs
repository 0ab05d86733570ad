//! How the agent is reached: the one transport that a job names.

use std::collections::BTreeMap;

use super::Ability;
use super::a2a::A2aConfig;
use super::adk::AdkConfig;
use super::command::CommandConfig;
use super::demo::DemoConfig;
use super::embabel::EmbabelConfig;
use super::http::{HttpConfig, StreamConfig};
use super::openai::OpenAiConfig;
use super::responses::ResponsesConfig;
use super::trpc::{ServerConfig, TrpcConfig};
use super::watsonx::WatsonxConfig;
use super::websocket::WebSocketConfig;
use crate::http::unfit_header;
use crate::secret::is_key_name;

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
    /// What the transport can do.
    pub fn abilities(&self) -> Vec<Ability> {
        match self {
            TransportConfig::Embabel(_) | TransportConfig::Demo(_) => {
                vec![Ability::ChoosesModel, Ability::ShowsState, Ability::ReportsTools]
            }
            TransportConfig::OpenAi(config) => bare_model(config.streams()),
            TransportConfig::Responses(config) => bare_model(config.streams()),
            TransportConfig::Http(config) => those(&[
                (config.tells_model(), Ability::ChoosesModel),
                (config.state.is_some(), Ability::ShowsState),
                (config.say.stream != StreamConfig::Json, Ability::Streams),
                (config.say.events.is_some(), Ability::ReportsTools),
                (config.say.usage.is_some(), Ability::ReportsUsage),
            ]),
            TransportConfig::WebSocket(config) => those(&[
                (config.tells_model(), Ability::ChoosesModel),
                (config.reply.delta.is_some(), Ability::Streams),
                (config.reply.events.is_some(), Ability::ReportsTools),
                (config.reply.usage.is_some(), Ability::ReportsUsage),
            ]),
            TransportConfig::Command(config) => {
                those(&[(config.tells_model(), Ability::ChoosesModel), (config.tokens, Ability::ReportsUsage)])
            }
            TransportConfig::A2a(config) => {
                // Whoever marks function calls as ADK and trpc-agent-go do reports them.
                those(&[(config.streaming != Some(false), Ability::Streams), (true, Ability::ReportsTools)])
            }
            TransportConfig::Watsonx(_) => vec![Ability::Streams, Ability::ReportsTools],
            TransportConfig::Trpc(config) => those(&[
                (config.server == ServerConfig::Debug && config.streaming, Ability::Streams),
                (true, Ability::ReportsTools),
                (!config.streaming, Ability::ReportsUsage),
            ]),
            TransportConfig::Adk(config) => those(&[
                (true, Ability::ShowsState),
                (config.streaming, Ability::Streams),
                (true, Ability::ReportsTools),
                (true, Ability::ReportsUsage),
            ]),
        }
    }

    /// The key that names it in a job file.
    pub fn word(&self) -> &'static str {
        match self {
            TransportConfig::Embabel(_) => "embabel",
            TransportConfig::Demo(_) => "demo",
            TransportConfig::Adk(_) => "adk",
            TransportConfig::A2a(_) => "a2a",
            TransportConfig::Trpc(_) => "trpc",
            TransportConfig::Watsonx(_) => "watsonx",
            TransportConfig::OpenAi(_) => "openai",
            TransportConfig::Responses(_) => "responses",
            TransportConfig::Http(_) => "http",
            TransportConfig::WebSocket(_) => "websocket",
            TransportConfig::Command(_) => "command",
        }
    }

    /// The key that says where its agent is, from `target` on.
    pub fn address_key(&self) -> String {
        let key = match self {
            TransportConfig::Http(_) => "say.url",
            TransportConfig::WebSocket(_) => "url",
            TransportConfig::Command(_) => "command",
            _ => "baseUrl",
        };
        format!("target.{}.{key}", self.word())
    }

    /// The address that the job names for it, where it has one.
    pub fn base_url(&self) -> Option<&str> {
        match self {
            TransportConfig::Embabel(config) => config.base_url.as_deref(),
            TransportConfig::OpenAi(config) => config.base_url.as_deref(),
            TransportConfig::Responses(config) => config.base_url.as_deref(),
            TransportConfig::Adk(config) => config.base_url.as_deref(),
            TransportConfig::A2a(config) => config.base_url.as_deref(),
            TransportConfig::Trpc(config) => config.base_url.as_deref(),
            TransportConfig::Watsonx(config) => config.base_url.as_deref(),
            TransportConfig::Demo(_)
            | TransportConfig::Http(_)
            | TransportConfig::WebSocket(_)
            | TransportConfig::Command(_) => None,
        }
    }

    /// Everything in its configuration that can't work, each in a sentence that names its key. Touches nothing.
    pub fn check(&self) -> Vec<String> {
        let unfit = |(name, value): (&String, &String)| {
            unfit_header(name, value).map(|what| format!("target.{}.headers: `{name}` {what}", self.word()))
        };
        self.own_problems().into_iter().chain(self.plain_headers().into_iter().flatten().filter_map(unfit)).collect()
    }

    /// The headers that are sent as they stand, without templates.
    fn plain_headers(&self) -> Option<&BTreeMap<String, String>> {
        match self {
            TransportConfig::Responses(config) => Some(&config.headers),
            TransportConfig::Adk(config) => Some(&config.headers),
            TransportConfig::A2a(config) => Some(&config.headers),
            TransportConfig::Trpc(config) => Some(&config.headers),
            TransportConfig::Watsonx(config) => Some(&config.headers),
            TransportConfig::Embabel(_)
            | TransportConfig::Demo(_)
            | TransportConfig::OpenAi(_)
            | TransportConfig::Http(_)
            | TransportConfig::WebSocket(_)
            | TransportConfig::Command(_) => None,
        }
    }

    fn own_problems(&self) -> Vec<String> {
        match self {
            TransportConfig::Embabel(config) => super::embabel::check(config),
            TransportConfig::OpenAi(config) => super::openai::check(config),
            TransportConfig::Responses(config) => super::responses::check(config),
            TransportConfig::Http(config) => super::http::check(config),
            TransportConfig::WebSocket(config) => super::websocket::check(config),
            TransportConfig::Command(config) => super::command::check(config),
            TransportConfig::Adk(config) => super::adk::check(config),
            TransportConfig::A2a(config) => super::a2a::check(config),
            TransportConfig::Trpc(config) => super::trpc::check(config),
            TransportConfig::Watsonx(config) => super::watsonx::check(config),
            TransportConfig::Demo(_) => Vec::new(),
        }
    }

    /// Where a template names the address of an agent that eval-job starts, and can't do without.
    pub fn needs_base_url(&self) -> Option<&'static str> {
        match self {
            TransportConfig::Http(config) => config.needs_base_url(),
            TransportConfig::WebSocket(config) => config.needs_base_url().then_some("target.websocket"),
            _ => None,
        }
    }

    /// Whether the agent is told who the user is.
    pub fn tells_user(&self) -> bool {
        match self {
            TransportConfig::Http(config) => config.tells_user(),
            TransportConfig::WebSocket(config) => config.tells_user(),
            TransportConfig::OpenAi(_) | TransportConfig::Responses(_) => false,
            // `command` has it in the environment.
            _ => true,
        }
    }

    /// What to write where function calls are to be reported, and are not.
    pub fn how_to_report_calls(&self) -> &'static str {
        match self {
            TransportConfig::Http(_) => {
                "say where its replies have them: target.http.say.events; or look at the graph, or at the transcript"
            }
            TransportConfig::WebSocket(_) => {
                "say where its frames have them: target.websocket.reply.events; or look at the graph, or at the transcript"
            }
            _ => "look at the graph, or at `evaluation.transcript` instead",
        }
    }

    /// What to write where the agent is to be told its model, and is not.
    pub fn how_to_choose_model(&self) -> &'static str {
        match self {
            TransportConfig::Http(_) => {
                "send it: {{ model }} in the url, a header or the body of target.http.open or say; or run the job once for \
                 each agent"
            }
            TransportConfig::WebSocket(_) => {
                "send it: {{ model }} in target.websocket's url, headers, open or say; or run the job once for each agent"
            }
            TransportConfig::Command(_) => {
                "tell it: {model} in target.command.args; or run the job once for each agent"
            }
            _ => "run the job once for each agent",
        }
    }

    /// Whether it can do this.
    pub fn can(&self, ability: Ability) -> bool {
        self.abilities().contains(&ability)
    }

    /// Where the agent is looked for that nobody starts; `None` where nobody knows before.
    pub fn address(&self) -> Option<&str> {
        match self {
            TransportConfig::Embabel(config) => Some(config.base_url()),
            TransportConfig::OpenAi(config) => Some(config.base_url()),
            TransportConfig::Responses(config) => Some(config.base_url()),
            TransportConfig::Adk(config) => Some(config.base_url()),
            TransportConfig::A2a(config) => Some(config.base_url()),
            TransportConfig::Trpc(config) => Some(config.base_url()),
            TransportConfig::Watsonx(config) => Some(config.base_url()),
            // A query can hold a key.
            TransportConfig::Http(config) => config.say.url.split('?').next(),
            TransportConfig::WebSocket(config) => config.url.split('?').next(),
            TransportConfig::Demo(_) | TransportConfig::Command(_) => None,
        }
    }

    /// The keys that the job holds, none of which may be shown.
    pub fn keys(&self) -> Vec<&str> {
        let (key, headers) = match self {
            TransportConfig::Embabel(config) => (config.api_key.as_deref(), None),
            TransportConfig::OpenAi(config) => (config.api_key.as_deref(), None),
            TransportConfig::Responses(config) => (config.api_key.as_deref(), Some(&config.headers)),
            TransportConfig::Adk(config) => (None, Some(&config.headers)),
            TransportConfig::A2a(config) => (config.api_key.as_deref(), Some(&config.headers)),
            TransportConfig::Trpc(config) => (config.api_key.as_deref(), Some(&config.headers)),
            TransportConfig::Watsonx(config) => (config.api_key.as_deref(), Some(&config.headers)),
            TransportConfig::Http(config) => return config.headers().filter_map(key_of).collect(),
            TransportConfig::WebSocket(config) => (None, Some(&config.headers)),
            TransportConfig::Demo(_) | TransportConfig::Command(_) => (None, None),
        };
        key.into_iter().chain(headers.into_iter().flatten().filter_map(key_of)).collect()
    }
}

/// The value of a header that is a key by its name.
fn key_of<'c>((name, value): (&'c String, &'c String)) -> Option<&'c str> {
    is_key_name(name).then_some(value.as_str())
}

fn bare_model(streams: bool) -> Vec<Ability> {
    those(&[
        (true, Ability::ChoosesModel),
        (streams, Ability::Streams),
        (true, Ability::ReportsTools),
        (true, Ability::ReportsUsage),
        (true, Ability::TakesHistory),
    ])
}

/// Those that the configuration brings along.
fn those(abilities: &[(bool, Ability)]) -> Vec<Ability> {
    abilities.iter().filter(|(has, _)| *has).map(|(_, ability)| *ability).collect()
}
