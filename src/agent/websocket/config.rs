//! The settings of an agent behind a WebSocket: `target.websocket`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::wire::FrameReader;
use crate::agent::freeform::{
    DoneConfig, UsageConfig, address, depends_on_message, example_values, example_values_without, fill_all, headers_of,
    mentions, mentions_within, never_hears,
};

use super::WebSocketAgent;
use crate::agent::transport::{abilities_where, is_of_tls};
use crate::agent::{Ability, Agent, AgentContext, AgentError, AgentErrorKind, SettingError, Transport};

/// `target.websocket`: any agent that is talked to by frames of text. Every text of the address, a header or a message is a
/// template over `user`, `chatbot`, `sessionId`, `message`, `model`, `history`, `turn` and `baseUrl` (the agent that is
/// started).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WebSocketConfig {
    /// The address, with ws:// or wss://; what is filled in is percent-encoded.
    pub url: String,
    /// Headers of the handshake.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("writeOnly" = true))]
    pub headers: BTreeMap<String, String>,
    /// The subprotocols that are offered, the preferred one first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subprotocols: Vec<String>,
    /// The messages that are sent first, a frame each: JSON, or a text as it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<Value>,
    /// The place of the session's id in a frame that the agent sends before the first message, as JSONPath. Without it,
    /// eval-job makes up `sessionId`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The agent speaks first.
    #[serde(default)]
    pub greeting: bool,
    /// The frame that sends a message: JSON, or a text as it is.
    #[serde(default = "WebSocketConfig::default_say")]
    pub say: Value,
    /// The places of the reply's parts in the agent's frames. Without it, each frame is a reply.
    #[serde(default)]
    pub reply: ReplyConfig,
}

/// `target.websocket.reply`: with any of these, the frames are JSON.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReplyConfig {
    /// The place of a piece of the agent's text, as JSONPath.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta: Option<String>,
    /// The place of the text of the whole reply, as JSONPath; it replaces the pieces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The place of the events that the agent reports, as JSONPath: objects, or lists of them. One with `name`, `function` or
    /// `tool` beside `args`, `arguments`, `input` or `parameters` is a call, one with `output`, `result` or `response` a result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<String>,
    /// The places of the agent's tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<UsageConfig>,
    /// The place of the agent's error message, as JSONPath; it ends the reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The mark of a reply's last frame. Without it, the first frame with text is the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done: Option<DoneConfig>,
}

impl WebSocketConfig {
    /// The schemes of its address.
    pub(super) const SCHEMES: [&'static str; 4] = ["ws", "wss", "http", "https"];
    pub(super) const EXAMPLE: &'static str = "ws://localhost:8080/chat";

    fn default_say() -> Value {
        "{{ message }}".into()
    }

    /// Whether a template sends this value to the agent.
    fn sends(&self, name: &str) -> bool {
        let in_messages = self.open.iter().chain([&self.say]).any(|message| mentions_within(message, name));
        in_messages || mentions(&self.url, name) || self.headers.values().any(|value| mentions(value, name))
    }
}

fn problems(config: &WebSocketConfig, values: &Value) -> Vec<SettingError> {
    let url = address(&config.url, values, &WebSocketConfig::SCHEMES, WebSocketConfig::EXAMPLE);
    let messages = config.open.iter().map(|message| ("open", message)).chain([("say", &config.say)]);
    let messages = messages.filter_map(|(key, message)| fill_all(key, message, values).err());
    // As RFC 6455 has it (section 4.1): characters of a token.
    let is_token = |text: &str| {
        !text.is_empty() && text.bytes().all(|it| it.is_ascii_graphic() && !b"\"(),/:;<=>?@[\\]{}".contains(&it))
    };
    let subprotocols = config.subprotocols.iter().filter(|text| !is_token(text));
    let not_a_token = |text| format!("`{text}` can't be one: only letters, digits and - . _");
    let subprotocols = subprotocols.map(|text| SettingError::new("subprotocols", not_a_token(text)));
    let problems = url.err().into_iter().chain(headers_of(&config.headers, values).err()).chain(subprotocols);
    let mut problems: Vec<SettingError> = problems.chain(messages).collect();
    if problems.is_empty() && !depends_on_message(|values| fill_all("say", &config.say, values).ok()) {
        problems.push(SettingError::new("say", never_hears(&config.say.to_string())));
    }
    let problems = problems.into_iter().map(|error| error.below("target.websocket"));
    problems.chain(FrameReader::new(config).err()).collect()
}

impl Transport for WebSocketConfig {
    fn abilities(&self) -> Vec<Ability> {
        abilities_where(&[
            (self.sends("model"), Ability::ChoosesModel),
            (self.sends("state"), Ability::TakesState),
            (self.reply.delta.is_some(), Ability::Streams),
            (self.reply.events.is_some(), Ability::ReportsTools),
            (self.reply.usage.is_some(), Ability::ReportsUsage),
        ])
    }

    fn check(&self) -> Vec<SettingError> {
        problems(self, &example_values())
    }

    fn secrets(&self) -> Vec<(&str, &str)> {
        self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }

    fn default_model(&self) -> &'static str {
        "default"
    }

    /// Without the query, which can hold a key.
    fn address(&self) -> Option<&str> {
        self.url.split('?').next()
    }

    fn address_key(&self) -> &'static str {
        "url"
    }

    fn schemes(&self) -> [&'static str; 2] {
        ["ws", "wss"]
    }

    fn is_templated(&self) -> bool {
        true
    }

    fn templates_api_key(&self) -> Option<bool> {
        Some(self.sends("apiKey"))
    }

    fn needs_base_url(&self) -> Option<&'static str> {
        let needs = problems(self, &example_values()).is_empty()
            && !problems(self, &example_values_without("baseUrl")).is_empty();
        needs.then_some("target.websocket")
    }

    fn sends_user(&self) -> bool {
        self.sends("user")
    }

    fn how_to_report_calls(&self) -> &'static str {
        "say where its frames have them: target.websocket.reply.events; or look at the graph, or at the transcript"
    }

    fn how_to_take_state(&self) -> &'static str {
        "send it: {{ state }} in target.websocket.open or say"
    }

    fn how_to_choose_model(&self) -> &'static str {
        "send it: {{ model }} in target.websocket's url, headers, open or say; or run the job once for each agent"
    }

    fn hint(&self, error: &AgentError) -> Option<String> {
        let names = |part: &str| error.message.contains(part);
        match error.kind {
            AgentErrorKind::Unauthorized if names("answered 403") => Some(
                "another path in target.websocket.url, which many servers refuse like that; or a key in \
                 target.websocket.headers"
                    .to_owned(),
            ),
            kind if kind == AgentErrorKind::NotFound
                || kind == AgentErrorKind::Unreadable && names("no WebSocket is there") =>
            {
                Some(
                    "another path in target.websocket.url: something answers there, and has no WebSocket under this one"
                        .to_owned(),
                )
            }
            AgentErrorKind::Unreadable if !names("text/html") && !names("web page") => Some(
                "target.websocket.reply, which says where the text is (delta, text) and what ends it (done); or \
                 target.websocket.say"
                    .to_owned(),
            ),
            AgentErrorKind::Status(400..=404 | 406..500) if !is_of_tls(error) => {
                Some("target.websocket.url, and the headers beside it".to_owned())
            }
            _ => None,
        }
    }

    fn connect(&self, context: AgentContext) -> Result<Box<dyn Agent>, AgentError> {
        Ok(Box::new(WebSocketAgent::new(self.clone(), context)?))
    }
}
