//! v2: chat completions, streamed as server-sent events.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{TurnContent, is_uuid};
use crate::agent::json::JsonFields;
use crate::evidence::{Event, Usage};
use crate::text::is_blank;

/// The further parts of a request.
#[derive(Debug, Clone, Copy)]
pub struct RequestExtras<'a> {
    /// `context`.
    pub context: &'a Map<String, Value>,
    /// `context_variables`.
    pub context_variables: &'a Map<String, Value>,
    /// `additional_parameters`.
    pub additional_parameters: &'a Map<String, Value>,
}

/// The body of `POST …/chat/completions`. It names a thread of ours; one of the server's is named in a header.
pub fn request(messages: &[Value], own_thread: Option<&str>, beside: RequestExtras<'_>) -> Value {
    let mut body = json!({"stream": true, "messages": messages});
    if let Some(thread) = own_thread {
        body["thread_id"] = thread.into();
    }
    let maps = [
        ("context", beside.context),
        ("context_variables", beside.context_variables),
        ("additional_parameters", beside.additional_parameters),
    ];
    for (key, map) in maps.into_iter().filter(|(_, map)| !map.is_empty()) {
        body[key] = Value::Object(map.clone());
    }
    body
}

/// A turn, as far as its frames have come.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CompletionTurn {
    completed: Option<Value>,
    steps: Vec<Value>,
    /// The failure that the agent reports.
    pub failure: Option<String>,
    /// Whether nothing that came was a frame; `None` before anything came.
    pub is_other: Option<bool>,
}

impl CompletionTurn {
    /// Takes in a frame. Returns whether it has text.
    pub fn take(&mut self, frame: &Value) -> bool {
        self.is_other = Some(frame.get("object").is_none() && self.is_other != Some(false));
        match frame["object"].as_str().unwrap_or_default() {
            "thread.run.step.delta" => {
                let places = ["/data/delta/step_details", "/choices/0/delta/step_details"];
                let steps = places.iter().find_map(|place| frame.pointer(place)?.as_array());
                self.steps.extend(steps.into_iter().flatten().cloned());
                false
            }
            "thread.message.delta" => {
                let has_text = |delta: &Value, key: &str| delta.text(key).is_some_and(|text| !is_blank(text));
                has_text(&frame["choices"][0]["delta"], "content")
                    || frame["data"]["delta"].list("content").iter().any(|item| has_text(item, "text"))
            }
            "thread.message.completed" => {
                self.completed = Some(frame.clone());
                true
            }
            "error" => {
                let message = frame.pointer("/choices/0/delta/content").or_else(|| frame.pointer("/error/message"));
                let message = message.and_then(Value::as_str).unwrap_or("it gives no detail");
                self.failure = Some(message.to_owned());
                false
            }
            _ => false,
        }
    }

    /// The turn, once its last frame has come.
    pub fn completed(&self) -> Option<Completed> {
        let frame = self.completed.as_ref()?;
        let message = &frame["data"]["message"];
        let mut content = TurnContent::default();
        // A deployment may leave the steps out of its stream, and it repeats in the end what it has streamed.
        let steps = message.list("step_details");
        content.take_steps(if steps.is_empty() { &self.steps } else { steps });
        content.take_content(&message["content"]);
        let choice = &frame["choices"][0]["message"];
        if content.is_silent() {
            content.push_text(choice["content"].as_str().unwrap_or_default());
        }
        if let Some(reason @ ("length" | "content_filter")) = frame["choices"][0]["finish_reason"].as_str() {
            content.events.push(Event::other(json!({"finish_reason": reason, "incomplete": reason})));
        }
        let usage = &frame["usage"];
        let tokens = |key: &str| usage[key].as_u64();
        let usage = usage.is_object().then(|| Usage::from_counts(tokens("prompt_tokens"), tokens("completion_tokens")));
        Some(Completed {
            content,
            thread: frame["thread_id"].as_str().filter(|thread| is_uuid(thread)).map(str::to_owned),
            history: history(message, choice["reasoning_content"].as_str().unwrap_or_default()),
            usage,
        })
    }
}

/// A turn that is whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Completed {
    /// Its text and events.
    pub content: TurnContent,
    /// The server's thread; `None` where it keeps none.
    pub thread: Option<String>,
    /// The messages of the turn in the history that is sent with the next.
    pub history: Vec<Value>,
    /// Its tokens, where they are reported.
    pub usage: Option<Usage>,
}

/// The messages of a turn: its steps, calls as an assistant's and results as a tool's, and then the agent's own message. A
/// result without its call is left out, since it would be refused.
fn history(message: &Value, reasoning: &str) -> Vec<Value> {
    let (mut history, mut called) = (Vec::new(), BTreeSet::new());
    for step in message.list("step_details") {
        match step.text("type").unwrap_or_default() {
            "tool_calls" => {
                let calls: Vec<&Value> = step.list("tool_calls").iter().filter(|call| call.is_object()).collect();
                called.extend(calls.iter().filter_map(|call| call["id"].as_str()));
                if !calls.is_empty() {
                    history.push(json!({"role": "assistant", "content": "", "tool_calls": calls}));
                }
            }
            "tool_response" if step["tool_call_id"].as_str().is_some_and(|id| called.contains(id)) => {
                let text = |key: &str| step.get(key).cloned().unwrap_or_else(|| "".into());
                let id = &step["tool_call_id"];
                history.push(
                    json!({"role": "tool", "content": text("content"), "name": text("name"), "tool_call_id": id}),
                );
            }
            _ => {}
        }
    }
    let content = message.get("content").cloned().unwrap_or_else(|| json!([]));
    let mut own = json!({"role": "assistant", "content": content});
    if let Some(meta) = message.get("_meta").filter(|meta| !meta.is_null()) {
        own["_meta"] = meta.clone();
    }
    if !reasoning.is_empty() {
        own["reasoning_content"] = reasoning.into();
    }
    history.push(own);
    history
}
