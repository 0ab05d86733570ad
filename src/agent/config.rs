//! The transport of a job, and the table of all transports.

use std::ops::Deref;

use super::{Ability, Transport};

/// The table of all transports, one row each: the key below `target`, the variant, the settings. A key of the first kind may
/// have no value (`demo:` is `demo: {}`); one of the second must, and names its settings once more for the schema.
macro_rules! transports {
    ($expand:ident) => {
        $expand! {
            optional settings {
                /// Embabel's REST protocol.
                embabel: Embabel($crate::agent::embabel::EmbabelConfig),
                /// The demo agent that is built into eval-job.
                demo: Demo($crate::agent::demo::DemoConfig),
                /// Google ADK's `api_server`.
                adk: Adk($crate::agent::adk::AdkConfig),
                /// A bare model behind any endpoint that speaks OpenAI's chat completions, with mocked
                /// functions.
                openai: OpenAi($crate::agent::openai::OpenAiConfig),
                /// A bare model behind OpenAI's Responses API, which keeps the conversation itself.
                responses: Responses($crate::agent::responses::ResponsesConfig),
                /// Agent2Agent.
                a2a: A2a($crate::agent::a2a::A2aConfig),
                /// trpc-agent-go: its agent server or its debug server.
                trpc: Trpc($crate::agent::trpc::TrpcConfig),
                /// watsonx Orchestrate.
                watsonx: Watsonx($crate::agent::watsonx::WatsonxConfig),
            }
            required settings {
                /// Any agent with a REST interface: its requests as templates, its replies by JSONPath.
                http: Http($crate::agent::http::HttpConfig) "crate::agent::http::HttpConfig",
                /// Any agent behind a WebSocket: its messages as templates, its replies by JSONPath.
                websocket: WebSocket($crate::agent::websocket::WebSocketConfig) "crate::agent::websocket::WebSocketConfig",
                /// Any command that reads messages from standard input and prints its own.
                command: Command($crate::agent::command::CommandConfig) "crate::agent::command::CommandConfig",
            }
        }
    };
}
pub(crate) use transports;

macro_rules! transport_config {
    ($($_kind:ident settings { $($(#[$doc:meta])* $key:ident: $variant:ident($config:ty) $($_schema:literal)?,)* })*) => {
        /// The transport to the agent, by the key beside `user` and `chatbot`; without one it is `embabel`.
        #[derive(Debug, Clone, PartialEq)]
        pub enum TransportConfig {
            $($($(#[$doc])* $variant(Box<$config>),)*)*
        }

        impl TransportConfig {
            /// Its key below `target`.
            pub fn key(&self) -> &'static str {
                match self {
                    $($(TransportConfig::$variant(_) => stringify!($key),)*)*
                }
            }
        }

        impl Deref for TransportConfig {
            type Target = dyn Transport;

            fn deref(&self) -> &(dyn Transport + 'static) {
                match self {
                    $($(TransportConfig::$variant(config) => config.as_ref(),)*)*
                }
            }
        }

        $($(
            impl From<$config> for TransportConfig {
                fn from(config: $config) -> TransportConfig {
                    TransportConfig::$variant(Box::new(config))
                }
            }
        )*)*
    };
}
transports!(transport_config);

impl Default for TransportConfig {
    fn default() -> TransportConfig {
        super::embabel::EmbabelConfig::default().into()
    }
}

impl TransportConfig {
    /// Whether it has this ability.
    pub fn can(&self, ability: Ability) -> bool {
        self.abilities().contains(&ability)
    }
}
