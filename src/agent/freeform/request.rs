//! Requests by templates, and the values that templates name.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::MethodConfig;
use super::off_thread::off_thread;
use super::template::{address, can_be_slow, can_be_slow_within, fill_all, headers_of, mentions, mentions_within};
use crate::agent::rest::TurnInput;
use crate::agent::{AgentContext, SettingError};
use crate::http::Url;
use crate::secret::Secret;

/// A request's four parts, as the job has them.
#[derive(Debug, Clone, Copy)]
pub(in crate::agent) struct RequestTemplate<'a> {
    pub(in crate::agent) method: MethodConfig,
    pub(in crate::agent) url: &'a str,
    pub(in crate::agent) headers: &'a BTreeMap<String, String>,
    pub(in crate::agent) body: &'a Value,
    /// Whether it calls a tool of the user, and may name that and its arguments.
    pub(in crate::agent) is_of_tool: bool,
}

/// A request, filled in.
pub(in crate::agent) struct FilledRequest {
    pub(in crate::agent) method: crate::http::Method,
    pub(in crate::agent) url: Url,
    pub(in crate::agent) headers: Vec<(String, Secret)>,
    pub(in crate::agent) body: Option<Value>,
}

impl RequestTemplate<'_> {
    /// Fills in all parts.
    ///
    /// # Errors
    /// The part that can't be filled in, without any of the values.
    pub(in crate::agent) fn fill(&self, values: &Value) -> Result<FilledRequest, SettingError> {
        let example = "http://localhost:8080/chat/{{ sessionId }}";
        let url = address(self.url, values, &["http", "https"], example)?;
        let headers = headers_of(self.headers, values)?;
        let body = match self.body {
            Value::Null => None,
            body => Some(fill_all("body", body, values)?),
        };
        let method = match self.method {
            MethodConfig::Get => crate::http::Method::GET,
            MethodConfig::Post => crate::http::Method::POST,
            MethodConfig::Put => crate::http::Method::PUT,
            MethodConfig::Patch => crate::http::Method::PATCH,
        };
        Ok(FilledRequest { method, url, headers, body })
    }

    /// The same during a run: templates that can take long are rendered on a thread of their own.
    pub(in crate::agent) async fn fill_off_thread(&self, values: &Value) -> Result<FilledRequest, SettingError> {
        let can_be_slow = can_be_slow(self.url) || self.headers.values().any(|value| can_be_slow(value));
        if !can_be_slow && !can_be_slow_within(self.body) {
            return self.fill(values);
        }
        let (method, url, headers, body) = (self.method, self.url.to_owned(), self.headers.clone(), self.body.clone());
        let (values, is_of_tool) = (values.clone(), self.is_of_tool);
        let fill =
            move || RequestTemplate { method, url: &url, headers: &headers, body: &body, is_of_tool }.fill(&values);
        off_thread(fill).await.map_err(|error| SettingError::new("", error))?
    }

    /// Whether a template of it uses this value.
    pub(in crate::agent) fn mentions(&self, name: &str) -> bool {
        mentions(self.url, name)
            || self.headers.values().any(|value| mentions(value, name))
            || mentions_within(self.body, name)
    }

    /// Whether the request depends on the user's message.
    pub(in crate::agent) fn depends_on_message(&self) -> bool {
        depends_on_message(|values| {
            let FilledRequest { url, headers, body, .. } = self.fill(values).ok()?;
            let headers: Vec<_> = headers.into_iter().map(|(name, value)| (name, value.expose().to_owned())).collect();
            Some((url, headers, body))
        })
    }

    /// Whether it can't be filled in without this value.
    pub(in crate::agent) fn needs(&self, name: &str) -> bool {
        let with_all = self.example_values();
        let mut without = with_all.clone();
        without.as_object_mut().and_then(|values| values.remove(name));
        self.fill(&with_all).is_ok() && self.fill(&without).is_err()
    }

    /// The part that can't be filled in, whatever the values.
    pub(in crate::agent) fn problem(&self) -> Option<SettingError> {
        self.fill(&self.example_values()).err()
    }

    fn example_values(&self) -> Value {
        let values = example_values();
        if self.is_of_tool { with_call(values, "tool", &json!({})) } else { values }
    }
}

/// The values for the template of a call of a tool.
pub(in crate::agent) fn with_call(mut values: Value, name: &str, arguments: &Value) -> Value {
    values["name"] = name.into();
    values["arguments"] = arguments.clone();
    values
}

/// An example of each value, to check whether templates can be filled in.
pub(in crate::agent) fn example_values() -> Value {
    json!({
        "user": "user", "chatbot": "chatbot", "sessionId": "1", "message": "message", "model": "model",
        "history": [{"role": "user", "content": "Hello"}], "turn": 1, "baseUrl": "http://127.0.0.1:1",
        "state": {}, "apiKey": "key",
    })
}

/// The same without one of them.
pub(in crate::agent) fn example_values_without(name: &str) -> Value {
    let mut values = example_values();
    values.as_object_mut().and_then(|values| values.remove(name));
    values
}

/// Whether a request depends on the user's message: two messages of one length make two different requests, in the first
/// turn or in the second.
pub(in crate::agent) fn depends_on_message<T: PartialEq>(filled: impl Fn(&Value) -> Option<T>) -> bool {
    let sent = |turn: u32, message: &str| {
        let mut values = example_values();
        values["turn"] = turn.into();
        values["message"] = message.into();
        values["history"] = json!([{"role": "user", "content": message}]);
        filled(&values)
    };
    [1, 2].into_iter().any(|turn| sent(turn, "A train to Rome") != sent(turn, "Tell me a story"))
}

/// The problem with a request without the user's message.
pub(in crate::agent) fn never_hears(request: &str) -> &'static str {
    if ["{message}", "$message", "${message", "<message>", "%message%"].iter().any(|other| request.contains(other)) {
        "nothing in it says {{ message }}, so the agent never hears the user; it is written with two braces on each side"
    } else {
        "nothing in it says {{ message }} (or {{ history }}), so the agent never hears the user"
    }
}

/// The values that are the same in all turns. It has no `Debug`: an address can hold a password.
#[derive(Clone)]
pub struct TemplateValues {
    /// The address of the agent that eval-job started.
    pub base_url: Option<String>,
    /// The user.
    pub user: String,
    /// The chatbot.
    pub chatbot: String,
    /// The model.
    pub model: String,
    /// The state that the case's session begins with.
    pub state: Map<String, Value>,
    /// `EVAL_JOB_AGENT_API_KEY`.
    pub api_key: Option<Secret>,
}

impl From<&AgentContext> for TemplateValues {
    fn from(context: &AgentContext) -> TemplateValues {
        let AgentContext { started_at, user, chatbot, model, state, api_key, .. } = context.clone();
        TemplateValues { base_url: started_at, user, chatbot, model, state, api_key }
    }
}

impl TemplateValues {
    /// The values that templates may name in this turn; `history` is the conversation so far, as `{role, content}`.
    pub(in crate::agent) fn in_turn(&self, input: &TurnInput, history: &[Value]) -> Value {
        let TurnInput { session_id, message, turn } = input;
        let mut values = json!({
            "user": self.user, "chatbot": self.chatbot, "model": self.model, "sessionId": session_id,
            "message": message, "turn": turn, "history": history, "state": self.state,
        });
        if let Some(base_url) = &self.base_url {
            values["baseUrl"] = base_url.as_str().into();
        }
        if let Some(api_key) = &self.api_key {
            values["apiKey"] = api_key.expose().into();
        }
        values
    }
}
