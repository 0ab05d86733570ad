//! What the YAML says of an agent with a REST interface of its own.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agent::freeform::{MethodConfig, Parts, Picks, StatePicks, UsageConfig, path};

use super::calls::HttpWire;
use crate::agent::rest::{Caller, HttpAgent};
use crate::agent::transport::{is_of_tls, those, unusable};
use crate::agent::{Ability, Agent, AgentContext, AgentError, AgentErrorKind, Transport};

/// `target.http`: any agent that is talked to by HTTP requests. Every text of an address, a header or a body is a template
/// over `user`, `chatbot`, `sessionId`, `message`, `model`, `history`, `turn` and `baseUrl` (the agent that is started).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HttpConfig {
    /// The request that opens a conversation. Without it, `sessionId` is one that eval-job makes up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<OpenConfig>,
    /// The request that says something.
    pub say: SayConfig,
    /// The request that shows the agent's state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<StateConfig>,
}

/// `target.http.open`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OpenConfig {
    /// The method.
    #[serde(default)]
    pub method: MethodConfig,
    /// The address; what is filled in is percent-encoded.
    pub url: String,
    /// Headers beside the usual ones.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("writeOnly" = true))]
    pub headers: BTreeMap<String, String>,
    /// The JSON to send. A text that is nothing but `{{ name }}` becomes the value itself: a list, a number.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub body: Value,
    /// Where the reply has the session's id, as JSONPath.
    pub session_id: String,
}

/// `target.http.say`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SayConfig {
    /// The method.
    #[serde(default)]
    pub method: MethodConfig,
    /// The address; what is filled in is percent-encoded.
    pub url: String,
    /// Headers beside the usual ones.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("writeOnly" = true))]
    pub headers: BTreeMap<String, String>,
    /// The JSON to send. A text that is nothing but `{{ name }}` becomes the value itself: a list, a number.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub body: Value,
    /// Where the reply, or each event of a stream, has the agent's words, as JSONPath; several are put together.
    pub reply: String,
    /// Where it has what the agent reports about its work, as JSONPath.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<String>,
    /// Where it has the agent's tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<UsageConfig>,
    /// How the reply comes.
    #[serde(default)]
    pub stream: StreamConfig,
}

/// `target.http.state`: its reply is what expressions see as `objectContext`: a document in that shape, or any that the paths
/// below are picked from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StateConfig {
    /// The method.
    #[serde(default = "MethodConfig::get")]
    pub method: MethodConfig,
    /// The address; what is filled in is percent-encoded.
    pub url: String,
    /// Headers beside the usual ones.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("writeOnly" = true))]
    pub headers: BTreeMap<String, String>,
    /// The JSON to send.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub body: Value,
    /// Where the reply has what becomes `objectContext.context`, as JSONPath. Default: its `context` where it has the shape
    /// of an object context, else all of it
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Where it has the things that are entities of the knowledge graph, as JSONPath. Default: its `entities`, and those of
    /// its `resources` that are labelled `DomainNode`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entities: Option<String>,
    /// Where it has the things that the agent has at hand, as JSONPath. Default: its `resources`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<String>,
    /// Where it has the functions that the agent can call, as JSONPath. Default: its `functions`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub functions: Option<String>,
}

/// How a reply comes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StreamConfig {
    /// As one JSON document.
    #[default]
    Json,
    /// As server-sent events, each with JSON or text.
    Sse,
    /// As lines of JSON.
    Ndjson,
}

impl HttpConfig {
    /// The model where `--model` names none.
    pub const MODEL: &'static str = "default";

    /// Its requests, each with the key under which it stands.
    pub(super) fn parts(&self) -> impl Iterator<Item = (&'static str, Parts<'_>)> {
        let open = self.open.iter().map(|open| ("open", open.parts()));
        let state = self.state.iter().map(|state| ("state", state.parts()));
        open.chain([("say", self.say.parts())]).chain(state)
    }

    /// The headers of all its requests, which may be keys.
    pub fn headers(&self) -> impl Iterator<Item = (&String, &String)> {
        self.parts().flat_map(|(_, parts)| parts.headers.iter())
    }

    /// Whether sessions are opened at the host and port where the words are said: else who answers there says nothing of
    /// who is here.
    pub(super) fn opens_where_it_talks(&self) -> bool {
        // `http:`, nothing, host and port; what templates fill in is the same in both.
        let origin = |url: &str| url.split('/').take(3).collect::<Vec<_>>().join("/");
        self.open.as_ref().is_some_and(|open| origin(&open.url) == origin(&self.say.url))
    }

    /// The first of its requests that can only be made where it is known where a started agent listens.
    pub(in crate::agent) fn needs_base_url(&self) -> Option<&'static str> {
        self.parts().find(|(_, parts)| parts.needs("baseUrl")).map(|(key, _)| match key {
            "open" => "target.http.open",
            "state" => "target.http.state",
            _ => "target.http.say",
        })
    }

    /// The paths of the agent's state; the error names the key of the first that is none.
    pub(super) fn state_picks(&self) -> Result<StatePicks, String> {
        let Some(state) = &self.state else { return Ok(StatePicks::default()) };
        let StateConfig { context, entities, resources, functions, .. } = state;
        let paths = [("context", context), ("entities", entities), ("resources", resources), ("functions", functions)];
        StatePicks::of("target.http.state", paths.map(|(key, path)| (key, path.as_ref())))
    }

    /// Whether a template tells the agent who the user is.
    pub fn tells_user(&self) -> bool {
        self.parts().any(|(key, parts)| key != "state" && parts.names("user"))
    }

    /// Whether a template tells the agent which model to use.
    pub fn tells_model(&self) -> bool {
        self.parts().any(|(key, parts)| key != "state" && parts.names("model"))
    }
}

// Four keys stand in each of the three: serde can't refuse unknown keys in what is flattened, and the loader's words for
// them are worth more.

impl OpenConfig {
    pub(super) fn parts(&self) -> Parts<'_> {
        Parts { method: self.method, url: &self.url, headers: &self.headers, body: &self.body }
    }
}

impl SayConfig {
    /// The paths of a reply; the error names the key of the first that is none.
    pub(super) fn picks(&self) -> Result<Picks, String> {
        Picks::of("target.http.say", ("reply", Some(&self.reply)), self.events.as_ref(), self.usage.as_ref())
    }

    pub(super) fn parts(&self) -> Parts<'_> {
        Parts { method: self.method, url: &self.url, headers: &self.headers, body: &self.body }
    }
}

impl StateConfig {
    pub(super) fn parts(&self) -> Parts<'_> {
        Parts { method: self.method, url: &self.url, headers: &self.headers, body: &self.body }
    }
}

impl Transport for HttpConfig {
    fn abilities(&self) -> Vec<Ability> {
        those(&[
            (self.tells_model(), Ability::ChoosesModel),
            (self.state.is_some(), Ability::ShowsState),
            (self.say.stream != StreamConfig::Json, Ability::Streams),
            (self.say.events.is_some(), Ability::ReportsTools),
            (self.say.usage.is_some(), Ability::ReportsUsage),
        ])
    }

    fn check(&self) -> Vec<String> {
        let mut problems: Vec<String> = self.say.picks().err().into_iter().collect();
        for (key, parts) in self.parts() {
            problems.extend(parts.problem().map(|problem| format!("target.http.{key}.{problem}")));
        }
        if !self.say.parts().tells_message() && problems.is_empty() {
            problems.push(
                "target.http.say: nothing in it says {{ message }} (or {{ history }}), so the agent never hears the user"
                    .to_owned(),
            );
        }
        if let Some(open) = &self.open {
            problems.extend(path("target.http.open.sessionId", &open.session_id).err());
        }
        problems.extend(self.state_picks().err());
        problems
    }

    fn secrets(&self) -> Vec<(&str, &str)> {
        self.headers().map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }

    fn default_model(&self) -> &'static str {
        Self::MODEL
    }

    /// Without the query, which can hold a key.
    fn address(&self) -> Option<&str> {
        self.say.url.split('?').next()
    }

    fn address_key(&self) -> &'static str {
        "say.url"
    }

    fn is_templated(&self) -> bool {
        true
    }

    fn needs_base_url(&self) -> Option<&'static str> {
        self.needs_base_url()
    }

    fn tells_user(&self) -> bool {
        self.tells_user()
    }

    fn how_to_report_calls(&self) -> &'static str {
        "say where its replies have them: target.http.say.events; or look at the graph, or at the transcript"
    }

    fn how_to_choose_model(&self) -> &'static str {
        "send it: {{ model }} in the url, a header or the body of target.http.open or say; or run the job once for each \
         agent"
    }

    fn hint(&self, error: &AgentError) -> Option<String> {
        let is_page = error.message.contains("text/html") || error.message.contains("web page");
        match error.kind {
            AgentErrorKind::Unreadable if !is_page => Some(
                "target.http.say.reply, which says where the words are, and target.http.say.stream, which says how they come"
                    .to_owned(),
            ),
            AgentErrorKind::Status(400..=404 | 406..500) if !is_of_tls(error) => {
                Some("the body, the method and the headers of target.http.say".to_owned())
            }
            _ => None,
        }
    }

    fn connect(&self, context: AgentContext) -> Result<Box<dyn Agent>, AgentError> {
        let wire = HttpWire::new(self, &context).map_err(unusable)?;
        Ok(HttpAgent::boxed(wire, Caller::without_key(context)))
    }
}
