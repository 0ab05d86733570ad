//! What the YAML says of an agent behind a WebSocket.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::wire::FrameReader;
use crate::agent::freeform::{
    UsageConfig, address, example_values, example_values_without, fill_all, headers_of, mentions, mentions_within,
    tells_message,
};

use super::WebSocketAgent;
use crate::agent::transport::{abilities_where, is_of_tls, unusable};
use crate::agent::{Ability, Agent, AgentContext, AgentError, AgentErrorKind, Transport};

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
    /// What is sent first, a frame each: JSON, or a text as it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<Value>,
    /// Where a frame that comes before the first message has the session's id, as JSONPath; it is waited for. Without it,
    /// `sessionId` is one that eval-job makes up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The agent speaks first.
    #[serde(default)]
    pub greeting: bool,
    /// What is sent to say something: JSON, or a text as it is.
    #[serde(default = "WebSocketConfig::default_say")]
    pub say: Value,
    /// What of its frames is what. Without it, each is a reply.
    #[serde(default)]
    pub reply: ReplyConfig,
}

/// `target.websocket.reply`: the frames are JSON as soon as one of these is there.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReplyConfig {
    /// Where a frame has a piece of the agent's words, as JSONPath.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta: Option<String>,
    /// Where a frame has the words of the whole reply, as JSONPath; they stand in for the pieces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Where a frame has what the agent reports about its work, as JSONPath.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<String>,
    /// Where a frame has the agent's tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<UsageConfig>,
    /// Where a frame has the agent's words about a failure of its own, as JSONPath; it ends the reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// By what the last frame of a reply is known. Without it, the first frame with words is the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done: Option<DoneConfig>,
}

/// `target.websocket.reply.done`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DoneConfig {
    /// What must be there, as JSONPath.
    pub path: String,
    /// What it must be. Without it, anything will do.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub equals: Value,
}

impl WebSocketConfig {
    /// What an address can begin with.
    pub(super) const SCHEMES: [&'static str; 4] = ["ws", "wss", "http", "https"];
    pub(super) const EXAMPLE: &'static str = "ws://localhost:8080/chat";

    fn default_say() -> Value {
        "{{ message }}".into()
    }

    /// Whether a template tells the agent this value.
    fn tells(&self, name: &str) -> bool {
        let in_messages = self.open.iter().chain([&self.say]).any(|message| mentions_within(message, name));
        in_messages || mentions(&self.url, name) || self.headers.values().any(|value| mentions(value, name))
    }
}

fn problems(config: &WebSocketConfig, values: &Value) -> Vec<String> {
    let url = address(&config.url, values, &WebSocketConfig::SCHEMES, WebSocketConfig::EXAMPLE);
    let messages = config.open.iter().map(|message| ("open", message)).chain([("say", &config.say)]);
    let messages = messages.filter_map(|(key, message)| fill_all(key, message, values).err());
    // As RFC 6455 has it (section 4.1): characters of a token.
    let is_token = |text: &str| {
        !text.is_empty() && text.bytes().all(|it| it.is_ascii_graphic() && !b"\"(),/:;<=>?@[\\]{}".contains(&it))
    };
    let subprotocols = config.subprotocols.iter().filter(|text| !is_token(text));
    let problems = url.err().map(|problem| format!("url: {problem}")).into_iter();
    let problems = problems
        .chain(headers_of(&config.headers, values).err())
        .chain(subprotocols.map(|text| format!("subprotocols: `{text}` can't be one: only letters, digits and - . _")))
        .chain(messages);
    let is_mute = !tells_message(|values| fill_all("say", &config.say, values).ok());
    let mute = "say: nothing in it says {{ message }} (or {{ history }}), so the agent never hears the user";
    let problems: Vec<String> = problems.collect();
    let mute = (is_mute && problems.is_empty()).then(|| mute.to_owned());
    let problems = problems.into_iter().chain(mute);
    problems.map(|problem| format!("target.websocket.{problem}")).chain(FrameReader::new(config).err()).collect()
}

impl Transport for WebSocketConfig {
    fn abilities(&self) -> Vec<Ability> {
        abilities_where(&[
            (self.tells("model"), Ability::ChoosesModel),
            (self.reply.delta.is_some(), Ability::Streams),
            (self.reply.events.is_some(), Ability::ReportsTools),
            (self.reply.usage.is_some(), Ability::ReportsUsage),
        ])
    }

    fn check(&self) -> Vec<String> {
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

    fn needs_base_url(&self) -> Option<&'static str> {
        let needs = problems(self, &example_values()).is_empty()
            && !problems(self, &example_values_without("baseUrl")).is_empty();
        needs.then_some("target.websocket")
    }

    fn tells_user(&self) -> bool {
        self.tells("user")
    }

    fn how_to_report_calls(&self) -> &'static str {
        "say where its frames have them: target.websocket.reply.events; or look at the graph, or at the transcript"
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
                "target.websocket.reply, which says where the words are (delta, text) and what ends them (done); or \
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
        Ok(Box::new(WebSocketAgent::new(self.clone(), context).map_err(unusable)?))
    }
}
