//! What a turn has brought so far.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::content;
use crate::agent::arguments::{arguments_of, json_within};
use crate::evidence::{Event, EventKind, ToolCall};

/// Words and events of one turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TurnContent {
    texts: Vec<String>,
    /// What the agent reported about its work, in order.
    pub events: Vec<Event>,
    calls: BTreeSet<String>,
}

impl TurnContent {
    /// The words for the user; messages stand apart.
    pub fn text(&self) -> String {
        self.texts.join("\n\n")
    }

    /// Whether nothing was said.
    pub fn is_silent(&self) -> bool {
        self.texts.is_empty()
    }

    /// Takes words that stand in for a message.
    pub fn say(&mut self, words: &str) {
        if !words.trim().is_empty() {
            self.texts.push(words.to_owned());
        }
    }

    /// Takes a message's content: a list of items, or a bare text.
    pub fn take_content(&mut self, content: &Value) {
        if let Some(text) = content.as_str() {
            return self.say(text);
        }
        for item in content.as_array().into_iter().flatten() {
            if content::is_more_than_words(item) {
                self.events.push(EventKind::Other { data: item.clone() }.into());
            }
            self.say(&content::words(item));
        }
    }

    /// Takes the steps of a run. The same call often comes twice, alone and in a list.
    pub fn take_steps(&mut self, steps: &Value) {
        let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        for step in steps.as_array().into_iter().flatten() {
            match text(step, "type").as_str() {
                "tool_calls" => {
                    for call in step.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
                        self.take_call(call);
                    }
                }
                "tool_call" => self.take_call(step),
                // The answer of a collaborator, which is no tool's: noise for whoever counts results.
                "tool_response" if text(step, "name").ends_with("_agent") => {
                    self.events.push(EventKind::Other { data: json!({"routing": step}) }.into());
                }
                "tool_response" => {
                    let content = step.get("content").cloned().unwrap_or_default();
                    let kind = EventKind::FunctionResponse { output: json_within(content) };
                    self.events.push(Event::with_raw(kind, step.clone()));
                }
                _ => self.events.push(EventKind::Other { data: step.clone() }.into()),
            }
        }
    }

    fn take_call(&mut self, call: &Value) {
        let text = |key: &str| call.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let id = if text("id").is_empty() { text("tool_call_id") } else { text("id") };
        if id.is_empty() || self.calls.insert(id) {
            // A call in the shape of chat completions has them one step deeper.
            let function = call.get("function").filter(|function| function.is_object()).unwrap_or(call);
            let args = ["args", "arguments"].iter().find_map(|key| function.get(key).or_else(|| call.get(key)));
            let args = args.cloned().unwrap_or_else(|| json!({}));
            let name = function.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
            let kind = EventKind::FunctionCall(ToolCall { function: name, args: arguments_of(args) });
            self.events.push(Event::with_raw(kind, call.clone()));
        }
    }
}
