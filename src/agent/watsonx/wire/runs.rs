//! v1: runs, streamed as one JSON document a line.

use serde_json::{Map, Value, json};

use super::TurnContent;
use crate::agent::json::JsonFields;
use crate::text::is_blank;

/// The body of `POST /v1/orchestrate/runs`.
pub fn request(agent_id: &str, thread: Option<&str>, message: &str, context: &Map<String, Value>) -> Value {
    let mut body = json!({"message": {"role": "user", "content": message}, "agent_id": agent_id});
    if let Some(thread) = thread {
        body["thread_id"] = thread.into();
    }
    if !context.is_empty() {
        body["context"] = Value::Object(context.clone());
    }
    body
}

/// A run, as far as its events have come.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PartialRun {
    /// The thread, once it is known.
    pub thread: Option<String>,
    /// Its text and events.
    pub content: TurnContent,
    /// Whether the run has ended.
    pub is_over: bool,
    /// The failure that the run reports.
    pub failure: Option<String>,
    /// Whether nothing that came was an event of a run; `None` before anything came.
    pub is_other: Option<bool>,
    pieces: String,
}

impl PartialRun {
    /// A run before its first event, in this thread.
    pub fn in_thread(thread: Option<String>) -> PartialRun {
        PartialRun { thread, ..PartialRun::default() }
    }

    /// Takes in an event. Returns whether it has text.
    pub fn take(&mut self, event: &Value) -> bool {
        let (name, data) = (event.text("event").unwrap_or_default(), &event["data"]);
        let is_known = ["event", "error", "detail"].iter().any(|key| event.get(key).is_some());
        self.is_other = Some(!is_known && self.is_other != Some(false));
        if let Some(thread) = data.text("thread_id") {
            self.thread = Some(thread.to_owned());
        }
        match name {
            "run.completed" | "done" => self.is_over = true,
            "run.failed" | "run.cancelled" | "error" => self.failure = Some(error_message(data)),
            "" if !event["error"].is_null() || !event["detail"].is_null() => self.failure = Some(error_message(event)),
            _ => {}
        }
        self.content.take_steps(data["delta"].list("step_details"));
        let text = |content: &Value| {
            let mut taken = TurnContent::default();
            taken.take_content(content);
            taken.text()
        };
        match name {
            "message.delta" => {
                let piece = pieces(&data["delta"]["content"]);
                self.pieces.push_str(&piece);
                !is_blank(&piece)
            }
            // A message without a role only announces that one begins.
            "message.created" if data["message"]["role"] == "assistant" => {
                let content = &data["message"]["content"];
                self.content.take_content(content);
                !is_blank(&text(content))
            }
            _ => false,
        }
    }

    /// The content at the run's end: where no message was whole, the pieces together.
    pub fn finish(mut self) -> TurnContent {
        if self.content.is_silent() {
            let pieces = std::mem::take(&mut self.pieces);
            self.content.push_text(&pieces);
        }
        self.content
    }
}

/// The answer to our last message among a thread's messages; `None` while there is none. `turn` is the number of messages of
/// ours that there must be.
pub fn find_answer(messages: &Value, turn: u32, message: &str) -> Option<TurnContent> {
    let messages = messages.as_array()?;
    let is_ours = |entry: &Value| entry["role"] == "user";
    let last = messages.iter().rposition(is_ours)?;
    let mut sent = TurnContent::default();
    sent.take_content(&messages[last]["content"]);
    // Otherwise the answer is one to an earlier message.
    if sent.text().trim() != message.trim() || messages.iter().filter(|entry| is_ours(entry)).count() < turn as usize {
        return None;
    }
    let mut content = TurnContent::default();
    for entry in messages[last + 1..].iter().filter(|entry| entry["role"] == "assistant") {
        for step in entry.list("step_history") {
            content.take_steps(step.list("step_details"));
        }
        content.take_content(&entry["content"]);
    }
    (!content.is_silent()).then_some(content)
}

fn pieces(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().filter_map(|item| item.get("text")?.as_str()).collect(),
        _ => String::new(),
    }
}

fn error_message(data: &Value) -> String {
    let place = ["/error/message", "/last_error/message", "/error", "/last_error", "/message", "/detail"];
    let message = place.iter().find_map(|place| data.pointer(place)?.as_str());
    message.map_or_else(|| data.to_string(), str::to_owned)
}
