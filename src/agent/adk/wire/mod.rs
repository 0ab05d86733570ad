//! ADK's events ↔ ours, pure. The names are those of `google.adk.events.Event`, JSON in camelCase without nulls.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::agent::json::{arguments_of, token_count};
use crate::agent::{AgentRun, WireError};
use crate::evidence::{Event, EventKind, Usage};
use crate::text::is_blank;

/// One event of a run: the fields that are used.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AdkEvent {
    author: Option<String>,
    content: Option<AdkContent>,
    partial: Option<bool>,
    actions: Option<Actions>,
    long_running_tool_ids: Option<Vec<Value>>,
    error_code: Option<Value>,
    error_message: Option<String>,
    usage_metadata: Option<UsageMetadata>,
    /// An error of the server itself, in a stream.
    error: Option<Value>,
    /// The kind of event; only trpc-agent-go sets it.
    object: Option<String>,
    /// Why the model stopped.
    finish_reason: Option<Value>,
    /// The whole event, as it came.
    #[serde(skip)]
    raw: Value,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct AdkContent {
    parts: Option<Vec<Map<String, Value>>>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Actions {
    skip_summarization: Option<bool>,
    transfer_to_agent: Option<String>,
    escalate: Option<bool>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct UsageMetadata {
    #[serde(deserialize_with = "token_count")]
    prompt_token_count: Option<u64>,
    #[serde(deserialize_with = "token_count")]
    tool_use_prompt_token_count: Option<u64>,
    #[serde(deserialize_with = "token_count")]
    cached_content_token_count: Option<u64>,
    #[serde(deserialize_with = "token_count")]
    candidates_token_count: Option<u64>,
    #[serde(deserialize_with = "token_count")]
    thoughts_token_count: Option<u64>,
}

impl UsageMetadata {
    /// Gemini counts thoughts beside the candidates, and results of its own tools beside the prompt.
    fn usage(self) -> Usage {
        let sum = |a: Option<u64>, b: Option<u64>| a.map(|a| a.saturating_add(b.unwrap_or(0))).or(b);
        let input = sum(self.prompt_token_count, self.tool_use_prompt_token_count);
        let output = sum(self.candidates_token_count, self.thoughts_token_count);
        Usage {
            cached_input_tokens: self.cached_content_token_count,
            reasoning_tokens: self.thoughts_token_count,
            ..Usage::from_counts(input, output)
        }
    }
}

impl AdkEvent {
    /// Reads an event.
    ///
    /// # Errors
    /// It is of another shape.
    pub fn read(raw: Value) -> Result<AdkEvent, serde_json::Error> {
        let event = AdkEvent::deserialize(&raw)?;
        Ok(AdkEvent { raw, ..event })
    }

    /// The event as it came, with only this one of its parts: the others are kept with their own events.
    fn raw_with(&self, part: &Map<String, Value>) -> Value {
        let mut raw = self.raw.clone();
        if let Some(parts) = raw.pointer_mut("/content/parts") {
            *parts = json!([part]);
        }
        raw
    }

    /// The reason why the model stopped before it was done.
    fn cut(&self) -> Option<&str> {
        let reason = self.finish_reason.as_ref()?.as_str()?;
        (!matches!(reason, "STOP" | "FINISH_REASON_UNSPECIFIED" | "stop" | "tool_calls" | "")).then_some(reason)
    }

    fn is_partial(&self) -> bool {
        self.partial == Some(true)
    }

    fn is_of_user(&self) -> bool {
        self.author.as_deref() == Some("user")
    }

    fn is_of_a_tool(&self) -> bool {
        self.has("functionCall") || self.has("functionResponse")
    }

    /// trpc-agent-go's last event of a run, which repeats the final text.
    fn is_completion(&self) -> bool {
        self.object.as_deref() == Some("runner.completion")
    }

    fn parts(&self) -> &[Map<String, Value>] {
        self.content.as_ref().and_then(|content| content.parts.as_deref()).unwrap_or_default()
    }

    fn has(&self, key: &str) -> bool {
        self.parts().iter().any(|part| part.get(key).is_some_and(|value| !value.is_null()))
    }

    fn waits_for_a_tool(&self) -> bool {
        self.long_running_tool_ids.as_ref().is_some_and(|ids| !ids.is_empty())
    }

    fn skips_summary(&self) -> bool {
        self.actions.as_ref().and_then(|actions| actions.skip_summarization) == Some(true)
    }

    /// ADK's own rule, `Event.is_final_response`.
    fn is_final(&self) -> bool {
        let ends_in_code = || self.parts().last().is_some_and(|part| part.contains_key("codeExecutionResult"));
        self.skips_summary() || self.waits_for_a_tool() || !(self.is_of_a_tool() || self.is_partial() || ends_in_code())
    }

    /// The text for the user: all texts but thoughts, those of a whole event a line each, as ADK's evaluation has them.
    pub fn text(&self) -> String {
        let is_thought = |part: &Map<String, Value>| part.get("thought") == Some(&Value::Bool(true));
        let texts = self.parts().iter().filter(|part| !is_thought(part));
        let texts: Vec<&str> =
            texts.filter_map(|part| part.get("text")?.as_str()).filter(|it| !it.is_empty()).collect();
        texts.join(if self.is_partial() { "" } else { "\n" })
    }

    fn failure(&self) -> Option<String> {
        if let Some(error) = self.error.as_ref().filter(|error| !error.is_null()) {
            return Some(error.as_str().map_or_else(|| error.to_string(), str::to_owned));
        }
        let code = self.error_code.as_ref().filter(|code| !code.is_null())?;
        let code = code.as_str().map_or_else(|| code.to_string(), str::to_owned);
        Some(self.error_message.as_ref().map_or_else(|| code.clone(), |message| format!("{code}: {message}")))
    }
}

/// The keys that tell an event of a run from any other JSON.
const KEYS: [&str; 8] =
    ["content", "author", "actions", "error", "errorCode", "invocationId", "object", "usageMetadata"];

/// Whether there are events, and none of them is one of a run.
pub fn is_foreign(events: &[AdkEvent]) -> bool {
    let is_known = |event: &AdkEvent| KEYS.iter().any(|key| event.raw.get(key).is_some());
    !events.is_empty() && !events.iter().any(is_known)
}

/// Reads the events of one run.
///
/// # Errors
/// The agent reports a failure, or there is no final response.
pub fn parse_run(events: &[AdkEvent]) -> Result<AgentRun, WireError> {
    if let Some(error) = events.iter().find(|event| event.error.is_some()).and_then(AdkEvent::failure) {
        return Err(WireError::Failed(format!("the agent reported a failure: {error}")));
    }
    let whole: Vec<&AdkEvent> = events.iter().filter(|event| !event.is_partial() && !event.is_of_user()).collect();
    let says_something =
        |event: &AdkEvent| event.waits_for_a_tool() || event.failure().is_some() || !event.parts().is_empty();
    let last = whole.iter().rposition(|event| event.is_final() && says_something(event));
    let metadata = whole.iter().filter(|event| !event.is_completion()).filter_map(|event| event.usage_metadata);
    // The event that is left out of a run in pieces takes its tokens with it: of the run, nothing is known then.
    let usage = metadata.map(UsageMetadata::usage).reduce(Usage::plus).filter(|_| last.is_some());
    let mut ours = Vec::new();
    for (index, event) in whole.iter().enumerate() {
        let is_repeated = last.is_some_and(|last| whole[last].is_completion() && whole[last].text() == event.text());
        events_of(event, Some(index) == last || is_repeated, &mut ours);
    }
    let text = match last.map(|index| whole[index]) {
        Some(event) => text_of(event)?,
        // trpc-agent-go's server leaves out the event that would hold the pieces together. ADK's own sends it: without it,
        // the stream was cut off.
        None if events.iter().any(AdkEvent::is_partial) && events.iter().all(|event| event.object.is_none()) => {
            let what = "the run ended before its final response: there are only pieces of it";
            return Err(WireError::Failed(what.to_owned()));
        }
        // What came before a tool's result is no part of them.
        None => {
            let from = events.iter().rposition(AdkEvent::is_of_a_tool).map_or(0, |last| last + 1);
            let text: String = events[from..].iter().filter(|event| event.is_partial()).map(AdkEvent::text).collect();
            if is_blank(&text) {
                return Err(WireError::Failed("the run ended without a final response".to_owned()));
            }
            text
        }
    };
    Ok(AgentRun { text, events: ours, usage })
}

fn text_of(event: &AdkEvent) -> Result<String, WireError> {
    let text = event.text();
    if !is_blank(&text) {
        return Ok(text);
    }
    if let Some(failure) = event.failure() {
        return Err(WireError::Failed(format!("the agent reported a failure: {failure}")));
    }
    // ADK's rule: the call of a long-running tool ends the run, whatever it says. Its result is for a later run.
    if event.waits_for_a_tool() {
        return Ok(String::new());
    }
    let shown = event.parts().iter().filter_map(|part| part.get("functionResponse")?.get("response"));
    let shown: Vec<String> = shown.map(ToString::to_string).collect();
    if event.skips_summary() && !shown.is_empty() {
        return Ok(shown.join("\n"));
    }
    Err(WireError::Failed("the agent's final response is empty".to_owned()))
}

fn events_of(event: &AdkEvent, is_response: bool, ours: &mut Vec<Event>) {
    let other = |data: Value| Event::with_raw(EventKind::Other { data }, event.raw.clone());
    let text = event.text();
    if !is_response && !is_blank(&text) {
        let is_text = |part: &&Map<String, Value>| part.contains_key("text");
        let kind = EventKind::Other { data: json!({"intermediate": text, "author": event.author}) };
        let raw = event.parts().iter().find(is_text).map_or_else(|| event.raw.clone(), |part| event.raw_with(part));
        ours.push(Event::with_raw(kind, raw));
    }
    for part in event.parts() {
        if let Some(call) = part.get("functionCall").and_then(Value::as_object) {
            let function = call.get("name").and_then(Value::as_str).unwrap_or_default();
            let args = call.get("args").cloned().map_or_else(|| json!({}), arguments_of);
            ours.push(Event::call(function, args, event.raw_with(part)));
        }
        if let Some(response) = part.get("functionResponse") {
            let output = response.get("response").cloned().unwrap_or_default();
            ours.push(Event::response(output, event.raw_with(part)));
        }
        if part.contains_key("executableCode") || part.contains_key("codeExecutionResult") {
            let kind = EventKind::Other { data: Value::Object(part.clone()) };
            ours.push(Event::with_raw(kind, event.raw_with(part)));
        }
    }
    if let Some(actions) = &event.actions {
        if let Some(agent) = &actions.transfer_to_agent {
            ours.push(other(json!({"transferToAgent": agent})));
        }
        if actions.escalate == Some(true) {
            ours.push(other(json!({"escalate": true})));
        }
    }
    if let Some(reason) = event.cut() {
        ours.push(other(json!({"incomplete": reason})));
    }
    if let Some(ids) = event.long_running_tool_ids.as_ref().filter(|ids| !ids.is_empty()) {
        ours.push(other(json!({"longRunningToolIds": ids})));
    }
    if let Some(failure) = event.failure() {
        ours.push(other(json!({"error": failure})));
    }
}

/// The body that opens a session; `None` without a state. `is_old` is for servers that take the body for the state.
pub fn session_request(state: &Map<String, Value>, is_old: bool) -> Option<Value> {
    match (state.is_empty(), is_old) {
        (true, _) => None,
        (false, false) => Some(json!({"state": state})),
        (false, true) => Some(Value::Object(state.clone())),
    }
}

/// Whether a server took our whole body for the state: older ones do.
pub fn took_body_for_state(session: &Value, state: &Map<String, Value>) -> bool {
    let inner = session.pointer("/state/state").and_then(Value::as_object);
    inner.is_some_and(|inner| inner == state) && !state.contains_key("state")
}

/// The body of `/run` and `/run_sse`.
pub fn run_request(app: &str, user: &str, session: &str, message: &str, streaming: bool) -> Value {
    json!({
        "appName": app,
        "userId": user,
        "sessionId": session,
        "newMessage": {"role": "user", "parts": [{"text": message}]},
        "streaming": streaming,
    })
}

#[cfg(test)]
mod tests;
