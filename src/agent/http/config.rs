//! The settings of an agent with a REST interface of its own: `target.http`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json_path::JsonPath;

use crate::agent::freeform::{
    DoneConfig, DoneMark, MethodConfig, ReplyPaths, RequestTemplate, StatePaths, UsageConfig, never_hears, path,
};

use super::calls::HttpWire;
use crate::agent::rest::{Caller, HttpAgent};
use crate::agent::transport::{abilities_where, is_of_tls};
use crate::agent::{Ability, Agent, AgentContext, AgentError, AgentErrorKind, SettingError, Transport};

/// `target.http`: any agent that is talked to by HTTP requests. Every text of an address, a header or a body is a template
/// over `user`, `chatbot`, `sessionId`, `message`, `model`, `history`, `turn`, `baseUrl` (the agent that is started) and, but
/// for addresses, `apiKey` (`EVAL_JOB_AGENT_API_KEY`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HttpConfig {
    /// The request that opens a conversation. Without it, `sessionId` is one that eval-job makes up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<OpenConfig>,
    /// The request that sends a message.
    pub say: SayConfig,
    /// The request that reads the agent's state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<StateConfig>,
    /// The request that calls a tool of the user (`evaluator.tools`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_tools: Option<UserToolsConfig>,
}

// serde can't refuse unknown keys in flattened structs, which the loader must report: so a request's four keys are fields of
// each kind of request.
macro_rules! request_config {
    ($(#[$doc:meta])* $name:ident, $method:literal, $is_of_tool:literal, { $($own:tt)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        pub struct $name {
            /// The method.
            #[serde(default = $method)]
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
            $($own)*
        }

        impl $name {
            pub(super) fn template(&self) -> RequestTemplate<'_> {
                let (url, headers, body) = (&self.url, &self.headers, &self.body);
                RequestTemplate { method: self.method, url, headers, body, is_of_tool: $is_of_tool }
            }
        }
    };
}

request_config! {
    /// `target.http.open`.
    OpenConfig, "MethodConfig::default", false, {
        /// Where the reply has the session's id, as JSONPath.
        pub session_id: String,
    }
}

request_config! {
    /// `target.http.say`.
    SayConfig, "MethodConfig::default", false, {
        /// The place of the agent's text in the reply, or in each event of a stream, as JSONPath; several are concatenated.
        pub reply: String,
        /// The place of the events that the agent reports, as JSONPath: objects, or lists of them. One with `name`, `function` or
        /// `tool` beside `args`, `arguments`, `input` or `parameters` is a call, one with `output`, `result` or `response` a result.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub events: Option<String>,
        /// The places of the agent's tokens.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub usage: Option<UsageConfig>,
        /// The form of the reply.
        #[serde(default)]
        pub stream: StreamConfig,
        /// The mark of a stream's last event: one that ends without it was cut off. Default: `data: [DONE]`, where earlier
        /// replies of the agent have it
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub done: Option<DoneConfig>,
    }
}

request_config! {
    /// `target.http.state`: its reply is `objectContext` in expressions: a document in that shape, or any document from which
    /// the paths below pick the parts.
    StateConfig, "MethodConfig::get", false, {
        /// Where the reply has what becomes `objectContext.context`, as JSONPath. Default: its `context` where it has the
        /// shape of an object context, else all of it
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub context: Option<String>,
        /// Where it has the things that are entities of the knowledge graph, as JSONPath. Default: its `entities`, and those
        /// of its `resources` that are labelled `DomainNode`
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub entities: Option<String>,
        /// Where it has the things that the agent has at hand, as JSONPath. Default: its `resources`
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub resources: Option<String>,
        /// Where it has the functions that the agent can call, as JSONPath. Default: its `functions`
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub functions: Option<String>,
    }
}

request_config! {
    /// `target.http.userTools`: its templates may also name the tool, `name`, and its `arguments`.
    UserToolsConfig, "MethodConfig::default", true, {
        /// Where the reply has the result, as JSONPath; several places are a list. Default: all of it, which may then also be a
        /// plain text, or nothing
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub result: Option<String>,
    }
}

/// The form of a reply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StreamConfig {
    /// One JSON document.
    #[default]
    Json,
    /// Server-sent events, each with JSON or text.
    Sse,
    /// Lines of JSON.
    Ndjson,
}

impl HttpConfig {
    /// Its requests, each with its key.
    pub(super) fn templates(&self) -> impl Iterator<Item = (&'static str, RequestTemplate<'_>)> {
        let open = self.open.iter().map(|open| ("open", open.template()));
        let state = self.state.iter().map(|state| ("state", state.template()));
        let tools = self.user_tools.iter().map(|tools| ("userTools", tools.template()));
        open.chain([("say", self.say.template())]).chain(state).chain(tools)
    }

    /// Whether sessions are opened at the host and port to which messages are sent: only then an open session shows that the
    /// agent is there.
    pub(super) fn opens_at_message_host(&self) -> bool {
        // `http:`, nothing, host and port; what templates fill in is the same in both.
        let origin = |url: &str| url.split('/').take(3).collect::<Vec<_>>().join("/");
        self.open.as_ref().is_some_and(|open| origin(&open.url) == origin(&self.say.url))
    }

    /// The paths of the agent's state.
    pub(super) fn state_paths(&self) -> Result<StatePaths, SettingError> {
        let Some(state) = &self.state else { return Ok(StatePaths::default()) };
        let StateConfig { context, entities, resources, functions, .. } = state;
        let paths = [("context", context), ("entities", entities), ("resources", resources), ("functions", functions)];
        StatePaths::parse("target.http.state", paths.map(|(key, path)| (key, path.as_ref())))
    }

    /// Whether a template sends this value to the agent.
    fn sends(&self, name: &str) -> bool {
        self.templates().any(|(key, template)| matches!(key, "open" | "say") && template.mentions(name))
    }
}

impl UserToolsConfig {
    /// The path of a result; `None` where the whole reply is one.
    pub(super) fn result_path(&self) -> Result<Option<JsonPath>, SettingError> {
        self.result.as_ref().map(|text| path("target.http.userTools.result", text)).transpose()
    }
}

impl SayConfig {
    /// The paths of a reply.
    pub(super) fn paths(&self) -> Result<ReplyPaths, SettingError> {
        ReplyPaths::parse("target.http.say", ("reply", Some(&self.reply)), self.events.as_ref(), self.usage.as_ref())
    }

    /// The mark of a stream's last event.
    pub(super) fn done_mark(&self) -> Result<Option<DoneMark>, SettingError> {
        const PLACE: &str = "target.http.say.done";
        if self.done.is_some() && self.stream == StreamConfig::Json {
            return Err(SettingError::new(PLACE, "only a stream has a last event: target.http.say.stream is json"));
        }
        self.done.as_ref().map(|done| DoneMark::parse(PLACE, done)).transpose()
    }
}

impl Transport for HttpConfig {
    fn abilities(&self) -> Vec<Ability> {
        abilities_where(&[
            (self.sends("model"), Ability::ChoosesModel),
            (self.sends("state"), Ability::TakesState),
            (self.state.is_some(), Ability::ShowsState),
            (self.say.stream != StreamConfig::Json, Ability::Streams),
            (self.say.events.is_some(), Ability::ReportsTools),
            (self.say.usage.is_some(), Ability::ReportsUsage),
            (true, Ability::Resumes),
            (self.user_tools.is_some(), Ability::OffersUserTools),
        ])
    }

    fn check(&self) -> Vec<SettingError> {
        let mut problems: Vec<SettingError> =
            self.say.paths().err().into_iter().chain(self.say.done_mark().err()).collect();
        for (key, template) in self.templates() {
            problems.extend(template.problem().map(|error| error.below(&format!("target.http.{key}"))));
        }
        if !self.say.template().depends_on_message() && problems.is_empty() {
            let problem = never_hears(&format!("{} {}", self.say.url, self.say.body));
            problems.push(SettingError::new("target.http.say", problem));
        }
        if let Some(open) = &self.open {
            let path = path("target.http.open.sessionId", &open.session_id);
            problems.extend(path.err());
        }
        problems.extend(self.state_paths().err());
        if let Some(tools) = &self.user_tools {
            problems.extend(tools.result_path().err());
            if !tools.template().mentions("name") {
                let problem = "nothing in it says {{ name }}, so the target never learns which tool is called";
                problems.push(SettingError::new("target.http.userTools", problem));
            }
        }
        problems
    }

    fn secrets(&self) -> Vec<(&str, &str)> {
        let headers = self.templates().flat_map(|(_, template)| template.headers);
        headers.map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }

    fn default_model(&self) -> &'static str {
        "default"
    }

    /// Without the query, which can hold a key.
    fn address(&self) -> Option<&str> {
        self.say.url.split('?').next()
    }

    fn address_key(&self) -> &'static str {
        if self.opens_at_message_host() { "open.url and say.url" } else { "say.url" }
    }

    fn is_templated(&self) -> bool {
        true
    }

    fn templates_api_key(&self) -> Option<bool> {
        Some(self.templates().any(|(_, template)| template.mentions("apiKey")))
    }

    fn needs_base_url(&self) -> Option<&'static str> {
        self.templates().find(|(_, template)| template.needs("baseUrl")).map(|(key, _)| match key {
            "open" => "target.http.open",
            "state" => "target.http.state",
            "userTools" => "target.http.userTools",
            _ => "target.http.say",
        })
    }

    fn sends_user(&self) -> bool {
        self.sends("user")
    }

    fn sends_tool_arguments(&self) -> bool {
        self.user_tools.as_ref().is_none_or(|tools| tools.template().mentions("arguments"))
    }

    fn user_tools_address(&self) -> Option<&str> {
        self.user_tools.as_ref()?.url.split('?').next()
    }

    fn how_to_report_calls(&self) -> &'static str {
        "say where its replies have them: target.http.say.events; or look at the graph, or at the transcript"
    }

    fn how_to_take_state(&self) -> &'static str {
        "send it: {{ state }} in target.http.open or say"
    }

    fn how_to_choose_model(&self) -> &'static str {
        "send it: {{ model }} in the url, a header or the body of target.http.open or say; or run the job once for each \
         agent"
    }

    fn hint(&self, error: &AgentError) -> Option<String> {
        let is_page = error.message.contains("text/html") || error.message.contains("web page");
        match error.kind {
            AgentErrorKind::Unreadable if !is_page => Some(
                "target.http.say.reply, which says where the text is, and target.http.say.stream, which says how it comes"
                    .to_owned(),
            ),
            AgentErrorKind::Status(400..=404 | 406..500) if !is_of_tls(error) => {
                Some("the body, the method and the headers of target.http.say".to_owned())
            }
            _ => None,
        }
    }

    fn connect(&self, context: AgentContext) -> Result<Box<dyn Agent>, AgentError> {
        let wire = HttpWire::new(self, &context)?;
        Ok(HttpAgent::boxed(wire, Caller::without_key(context)))
    }
}
