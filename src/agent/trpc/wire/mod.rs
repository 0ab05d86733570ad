//! trpc-agent-go's runs ↔ ours, pure. The names are those of its `server/trpcagent`, `event` and `model` packages.

mod event;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use self::event::{RunEvent, RunMessage};
use crate::agent::{AgentRun, WireError};
use crate::evidence::{Event, Usage, trace_steps};
use crate::text::is_blank;

/// The reply of `POST …/runs`: the fields that are used.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunReply {
    status: String,
    #[serde(default, deserialize_with = "event::read_all")]
    events: Option<Vec<RunEvent>>,
    #[serde(default)]
    messages: Option<Vec<RunMessage>>,
    #[serde(default)]
    error_message: String,
    #[serde(default)]
    execution_trace: Option<Value>,
}

impl RunReply {
    /// Whether it is a run's: it has one of a run's ends, or something that a run brings.
    pub fn is_run(&self) -> bool {
        ["completed", "failed", "incomplete"].contains(&self.status.as_str())
            || self.events.is_some()
            || self.messages.is_some()
            || !self.error_message.is_empty()
    }
}

/// The options of a run.
#[derive(Debug, Clone, Copy)]
pub struct RunExtras<'a> {
    /// The state that it begins with.
    pub runtime_state: &'a Map<String, Value>,
    /// Whether it tells the trace of its steps.
    pub wants_trace: bool,
}

/// The body of `POST …/runs`. The server refuses keys that it does not know, so none is sent that need not be.
pub fn run_request(user: &str, session: &str, message: &str, beside: RunExtras<'_>) -> Value {
    let mut body = json!({
        "session": {"userId": user, "sessionId": session},
        "input": {"role": "user", "content": message},
    });
    if !beside.runtime_state.is_empty() {
        body["runOptions"]["runtimeState"] = Value::Object(beside.runtime_state.clone());
    }
    if beside.wants_trace {
        body["runOptions"]["executionTraceEnabled"] = true.into();
    }
    body
}

/// Reads a run.
///
/// # Errors
/// The agent reports a failure, or there is no final response.
pub fn parse_run(reply: &RunReply) -> Result<AgentRun, WireError> {
    let failed = |message: &str| match message.trim() {
        "" => WireError::Failed(format!("the agent reported that the run is {}", reply.status)),
        message => WireError::Failed(format!("the agent reported a failure: {message}")),
    };
    if reply.status != "completed" {
        return Err(failed(&reply.error_message));
    }
    let all = reply.events.as_deref().unwrap_or_default();
    let whole: Vec<&RunEvent> = all.iter().filter(|event| !event.is_partial).collect();
    let usage = whole.iter().filter_map(|event| event.usage()).reduce(Usage::plus);
    let found = from_events(&whole).or_else(|| from_messages(reply.messages.as_deref().unwrap_or_default()));
    let Some((text, mut events)) = found else {
        return Err(match reply.error_message.trim() {
            "" => WireError::Failed("the run ended without a final response".to_owned()),
            message => failed(message),
        });
    };
    // A run that was stopped on purpose has completed, with the reason as its error message.
    if !reply.error_message.trim().is_empty() {
        events.push(Event::other(json!({"error": reply.error_message})));
    }
    events.extend(reply.execution_trace.iter().flat_map(trace_steps).map(Event::other));
    Ok(AgentRun { text, events, usage })
}

/// The final response and the events before it, by the events.
fn from_events(whole: &[&RunEvent]) -> Option<(String, Vec<Event>)> {
    let has_text = |event: &RunEvent| !is_blank(&event.text());
    let completion = whole.iter().rposition(|event| event.is_completion() && has_text(event));
    let last = whole.iter().rposition(|event| !event.is_completion() && event.is_final() && has_text(event));
    let text = whole[completion.or(last)?].text();
    let mut ours = Vec::new();
    // A completion repeats the text of other events.
    for (index, event) in whole.iter().enumerate().filter(|(_, event)| !event.is_completion()) {
        let is_response = Some(index) == last && event.text() == text;
        event.push_events(is_response, &mut ours);
    }
    Some((text, ours))
}

/// The final response and the events before it, by the messages, which the server assembles where an agent sends only pieces.
fn from_messages(messages: &[RunMessage]) -> Option<(String, Vec<Event>)> {
    let from = messages.iter().rposition(|message| message.role == "user").map_or(0, |user| user + 1);
    let answers = &messages[from..];
    let last = answers.iter().rposition(|message| message.is_answer() && !is_blank(&message.text()))?;
    let mut ours = Vec::new();
    for (index, message) in answers.iter().enumerate() {
        message.push_events("", index == last, &Value::Null, &mut ours);
    }
    Some((answers[last].text(), ours))
}

#[cfg(test)]
mod tests;
