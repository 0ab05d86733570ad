//! The content of a turn.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::content;
use crate::agent::json::{JsonFields, arguments_of, json_within};
use crate::evidence::Event;
use crate::text::is_blank;

/// Text and events of one turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TurnContent {
    texts: Vec<String>,
    /// The events, in order.
    pub events: Vec<Event>,
    /// The events of the calls that have an id.
    calls: BTreeMap<String, usize>,
}

impl TurnContent {
    /// The text for the user; messages stand apart.
    pub fn text(&self) -> String {
        self.texts.join("\n\n")
    }

    /// Whether there is no text.
    pub fn is_silent(&self) -> bool {
        self.texts.is_empty()
    }

    /// Adds a message's text, unless it is blank.
    pub fn push_text(&mut self, text: &str) {
        if !is_blank(text) {
            self.texts.push(text.to_owned());
        }
    }

    /// Takes a message's content: a list of items, or a bare text.
    pub fn take_content(&mut self, content: &Value) {
        if let Some(text) = content.as_str() {
            return self.push_text(text);
        }
        for item in content.as_array().into_iter().flatten() {
            if content::has_more_than_text(item) {
                self.events.push(Event::other(item.clone()));
            }
            self.push_text(&content::text(item));
        }
    }

    /// Takes the steps of a run. The same call often comes twice, alone and in a list.
    pub fn take_steps(&mut self, steps: &[Value]) {
        for step in steps {
            match step.text("type").unwrap_or_default() {
                "tool_calls" => {
                    let calls = step.list("tool_calls").iter().zip(0..);
                    calls.for_each(|(call, place)| self.take_call(call, place > 0));
                }
                "tool_call" => self.take_call(step, false),
                // The answer of a collaborating agent is not a tool's result.
                "tool_response" if step.text("name").is_some_and(|name| name.ends_with("_agent")) => {
                    self.events.push(Event::other(json!({"routing": step})));
                }
                "tool_response" => {
                    let content = step.get("content").cloned().unwrap_or_default();
                    self.events.push(Event::response(json_within(content), step.clone()));
                }
                _ => self.events.push(Event::other(step.clone())),
            }
        }
    }

    fn take_call(&mut self, call: &Value, is_parallel: bool) {
        let id = call.text("id").or(call.text("tool_call_id"));
        if let Some(known) = id.and_then(|id| self.calls.get(id)).and_then(|at| self.events.get_mut(*at)) {
            // Alone it does not tell that it came with another one.
            known.is_parallel |= is_parallel;
            return;
        }
        self.calls.extend(id.map(|id| (id.to_owned(), self.events.len())));
        // A call in the shape of chat completions has them one step deeper.
        let function = call.get("function").filter(|function| function.is_object()).unwrap_or(call);
        let args = ["args", "arguments"].iter().find_map(|key| function.get(key).or_else(|| call.get(key)));
        let args = args.cloned().unwrap_or_else(|| json!({}));
        let name = function.text("name").unwrap_or_default();
        let event = Event::call(name, arguments_of(args), call.clone());
        self.events.push(if is_parallel { event.parallel() } else { event });
    }
}
