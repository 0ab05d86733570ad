//! The parts of a reply, by JSONPath (RFC 9535).

use serde_json::Value;
use serde_json_path::JsonPath;

use super::UsageConfig;
use super::path::path;
use crate::agent::SettingError;
use crate::agent::json::arguments_of;
use crate::evidence::{Event, Usage};
use crate::http::BODY_CAP;

/// The paths of a reply.
#[derive(Debug, Clone)]
pub(in crate::agent) struct ReplyPaths {
    text: Option<JsonPath>,
    events: Option<JsonPath>,
    input: Option<JsonPath>,
    output: Option<JsonPath>,
}

/// A reply, as far as it has come.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::agent) struct PickedReply {
    pub(in crate::agent) text: String,
    pub(in crate::agent) events: Vec<Event>,
    pub(in crate::agent) usage: Option<Usage>,
    /// Whether the path of the text has found nothing so far that can be text, not even an empty one: it may be wrong then.
    /// `None` before anything came.
    pub(in crate::agent) is_missed: Option<bool>,
    /// The place of a list that looks like tool calls, in a document in which the path of the events has found nothing.
    pub(in crate::agent) missed_calls: Option<String>,
}

impl PickedReply {
    /// Notes the nodes that the path of the text has found in a document.
    pub(in crate::agent) fn note_found<'a>(&mut self, nodes: impl IntoIterator<Item = &'a Value>) {
        let has_found = nodes.into_iter().any(can_be_text) || self.is_missed == Some(false);
        self.is_missed = Some(!has_found);
    }
}

impl ReplyPaths {
    /// Reads the paths of a job. `parent` is the key above all of them; `text` is the key and the path of the agent's text.
    ///
    /// # Errors
    /// The first path that can't be used.
    pub(in crate::agent) fn parse(
        parent: &str,
        text: (&str, Option<&String>),
        events: Option<&String>,
        usage: Option<&UsageConfig>,
    ) -> Result<ReplyPaths, SettingError> {
        let optional =
            |key: &str, text: Option<&String>| text.map(|text| path(&format!("{parent}.{key}"), text)).transpose();
        let UsageConfig { input, output } = usage.cloned().unwrap_or_default();
        Ok(ReplyPaths {
            text: optional(text.0, text.1)?,
            events: optional("events", events)?,
            input: optional("usage.input", input.as_ref())?,
            output: optional("usage.output", output.as_ref())?,
        })
    }

    /// Whether the path of the text finds anything in a document.
    pub(in crate::agent) fn find_text(&self, document: &Value) -> bool {
        self.text.iter().any(|path| !path.query(document).is_empty())
    }

    /// Takes in a document, or an event of a stream. Returns whether it has text.
    pub(in crate::agent) fn take(&self, document: &Value, picked: &mut PickedReply) -> bool {
        let before = picked.text.len();
        for node in self.text.iter().flat_map(|path| path.query(document).all()) {
            picked.text.push_str(&text(node));
        }
        // A null has no place for text.
        if !document.is_null() {
            picked.note_found(self.text.iter().flat_map(|path| path.query(document).all()));
        }
        // Parts of parts can be found, `$..a`, which together are many times as large as the document.
        let mut left = BODY_CAP;
        for node in self.events.iter().flat_map(|path| path.query(document).all()) {
            if !fits(node, &mut left) {
                picked.events.push(Event::other(TOO_MUCH.into()));
                break;
            }
            match node {
                Value::Array(list) => picked.events.extend(list.iter().map(event)),
                Value::Null => {}
                one => picked.events.push(event(one)),
            }
        }
        if picked.events.is_empty()
            && let Some(path) = &self.events
            && path.query(document).is_empty()
        {
            picked.missed_calls = where_calls_are(document);
        }
        let number = |path: &Option<JsonPath>| path.as_ref()?.query(document).all().into_iter().find_map(Value::as_u64);
        let (input, output) = (number(&self.input), number(&self.output));
        if input.is_some() || output.is_some() {
            // Where only one of the two is reported, the usage stays incomplete.
            let known = picked.usage.unwrap_or_default();
            picked.usage = Some(Usage::from_counts(input.or(known.input_tokens), output.or(known.output_tokens)));
        }
        picked.text.len() > before
    }
}

/// Stands among the events in place of those that were left out.
const TOO_MUCH: &str = "eval-job left out the rest: what the job's path of the events finds here is larger than 8 MiB";

/// Whether a node takes no more than so many bytes are left, which it takes.
fn fits(node: &Value, left: &mut usize) -> bool {
    let own = match node {
        Value::String(text) => text.len(),
        Value::Object(entries) => entries.keys().map(String::len).sum(),
        _ => 0,
    };
    let Some(rest) = left.checked_sub(own + 1) else { return false };
    *left = rest;
    match node {
        Value::Array(list) => list.iter().all(|item| fits(item, left)),
        Value::Object(entries) => entries.values().all(|item| fits(item, left)),
        _ => true,
    }
}

/// The text of a node: strings as they are, those of lists concatenated, numbers as their digits.
pub(in crate::agent) fn text(node: &Value) -> String {
    match node {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Array(list) => list.iter().map(text).collect(),
        _ => String::new(),
    }
}

/// The places in a document where there is text, to go on a sentence about one where there is none: `; there is text at
/// $.answer`. Sentences come before ids and the like, then the longest. Empty where there is none.
pub(in crate::agent) fn where_text_is(document: &Value) -> String {
    const SHOWN: usize = 4;
    const MOST: usize = 100;
    const DEEPEST: usize = 8;
    /// Whether it has several words, and its length.
    type Rank = (bool, usize);
    fn collect(node: &Value, path: &str, depth: usize, found: &mut Vec<(Rank, String)>) {
        match node {
            _ if found.len() == MOST || depth > DEEPEST => {}
            Value::String(text) if !text.trim().is_empty() => {
                found.push(((text.trim().contains(char::is_whitespace), text.len()), path.to_owned()));
            }
            Value::Object(map) => {
                let is_plain = |name: &str| {
                    !name.is_empty()
                        && name.len() <= 40
                        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
                        && !name.starts_with(|c: char| c.is_ascii_digit())
                };
                for (name, value) in map.iter().filter(|(name, _)| is_plain(name)) {
                    collect(value, &format!("{path}.{name}"), depth + 1, found);
                }
            }
            Value::Array(list) => {
                list.iter().take(1).for_each(|item| collect(item, &format!("{path}[0]"), depth + 1, found));
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    collect(document, "$", 0, &mut found);
    found.sort_by_key(|(rank, _)| std::cmp::Reverse(*rank));
    let found: Vec<String> = found.into_iter().take(SHOWN).map(|(_, path)| path).collect();
    if found.is_empty() { String::new() } else { format!("; there is text at {}", found.join(", ")) }
}

/// The place of the first list of tool calls in a document: objects with a name and arguments, and no description, which
/// definitions of tools have.
fn where_calls_are(document: &Value) -> Option<String> {
    const DEEPEST: usize = 3;
    fn search(node: &Value, path: &str, depth: usize) -> Option<String> {
        match node {
            Value::Array(items) => {
                let is_call = |item: &Value| {
                    let call = item.get("function").filter(|function| function.is_object()).unwrap_or(item);
                    let has = |keys: &[&str]| keys.iter().any(|key| call.get(key).is_some());
                    has(&["args", "arguments"]) && has(&["name", "function", "tool"]) && !has(&["description"])
                };
                (!items.is_empty() && items.iter().all(is_call)).then(|| path.to_owned())
            }
            Value::Object(map) if depth < DEEPEST => {
                map.iter().find_map(|(name, value)| search(value, &format!("{path}.{name}"), depth + 1))
            }
            _ => None,
        }
    }
    search(document, "$", 0)
}

/// Whether a node is text, or can be in place of one.
fn can_be_text(node: &Value) -> bool {
    match node {
        Value::String(_) | Value::Number(_) | Value::Null => true,
        Value::Array(list) => list.is_empty() || list.iter().any(can_be_text),
        Value::Bool(_) | Value::Object(_) => false,
    }
}

/// An event, by its shape: a name with arguments is a call, an output a response; anything else is kept as it came.
fn event(node: &Value) -> Event {
    // The shape of calls in chat completions, and in the events of Embabel's agents.
    let request = node.get("request").filter(|request| request.get("function").is_some()).unwrap_or(node);
    let call = request.get("function").filter(|function| function.is_object()).unwrap_or(request);
    let first = |node: &Value, keys: &[&str]| keys.iter().find_map(|key| node.get(key).cloned());
    let keys = ["args", "arguments", "input", "parameters"];
    let args = first(call, &keys).or_else(|| first(request, &keys));
    if let (Some(Value::String(function)), Some(args)) = (first(call, &["name", "function", "tool"]), args) {
        return Event::call(function, arguments_of(args), node.clone());
    }
    match first(node, &["output", "result", "response"]) {
        Some(output) => Event::response(output, node.clone()),
        None => Event::other(node.clone()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::evidence::{EventKind, ToolCall};

    #[test]
    fn parts_of_parts_are_picked_as_far_as_they_fit() {
        let (text, events) = ("$.text".to_owned(), "$..a".to_owned());
        let picks = ReplyPaths::parse("p", ("reply", Some(&text)), Some(&events), None).unwrap();
        let nested = |depth: usize, length: usize| {
            (0..depth)
                .fold(json!({"text": "hi", "a": "x".repeat(length)}), |inner, _| json!({"a": inner, "text": "hi"}))
        };
        let picked = |document: &Value| {
            let mut picked = PickedReply::default();
            picks.take(document, &mut picked);
            (picked.text, picked.events)
        };
        let (text, events) = picked(&nested(60, 1_000_000));
        assert_eq!((text.as_str(), events.len()), ("hi", 9));
        assert_eq!(events.last(), Some(&Event::other(TOO_MUCH.into())));
        assert_eq!(picked(&nested(60, 1_000)).1.len(), 61);
    }

    #[test]
    fn calls_beside_the_path_of_the_events_are_seen() {
        let (text, events) = ("$.text".to_owned(), "$.callz[*]".to_owned());
        let picks = ReplyPaths::parse("p", ("reply", Some(&text)), Some(&events), None).unwrap();
        let missed = |document: Value| {
            let mut picked = PickedReply::default();
            picks.take(&document, &mut picked);
            picked.missed_calls
        };
        let calls = json!([{"name": "find", "args": {"id": 7}}]);
        assert_eq!(missed(json!({"text": "hi", "calls": calls})).as_deref(), Some("$.calls"));
        assert_eq!(missed(json!({"text": "hi", "meta": {"calls": calls}})).as_deref(), Some("$.meta.calls"));
        let function = json!([{"type": "function", "function": {"name": "find", "arguments": "{}"}}]);
        assert_eq!(missed(json!({"text": "hi", "tool_calls": function})).as_deref(), Some("$.tool_calls"));
        assert_eq!(missed(json!({"text": "hi", "callz": calls})), None, "they are found");
        assert_eq!(missed(json!({"text": "hi"})), None, "an agent that called nothing may leave them out");
        let tools = json!([{"name": "find", "description": "finds", "args": {}}]);
        assert_eq!(missed(json!({"text": "hi", "tools": tools, "sources": [{"name": "a"}]})), None);
    }

    #[test]
    fn the_places_of_text_are_named() {
        let document = json!({"id": 5, "a b": "x", "empty": " ", "answer": {"parts": [{"text": "Hi"}, {"text": "2"}]}, "by": "me"});
        assert_eq!(where_text_is(&document), "; there is text at $.answer.parts[0].text, $.by");
        let response = json!({"id": "resp_4ff3596c82974078aca2f5cb86f842a3", "object": "response", "status": "completed",
                              "by": "an agent", "output": [{"id": "m", "type": "message",
                              "content": [{"type": "text", "text": "I book trains."}]}]});
        assert_eq!(where_text_is(&response), "; there is text at $.output[0].content[0].text, $.by, $.id, $.status");
        assert_eq!(where_text_is(&json!([1, null, {}])), "");
        assert_eq!(where_text_is(&json!("Hi")), "; there is text at $");
    }

    #[test]
    fn text_events_and_tokens_are_picked() {
        let usage = serde_json::from_value(json!({"input": "$.tokens.in", "output": "$..out"})).unwrap();
        let (text, events) = ("$.parts[*].text".to_owned(), "$.steps".to_owned());
        let mut picked = PickedReply::default();
        let picks = ReplyPaths::parse("p", ("reply", Some(&text)), Some(&events), Some(&usage)).unwrap();
        assert!(picks.take(
            &json!({"parts": [{"text": "Hel"}, {"text": "lo"}, {"image": 1}], "tokens": {"in": 3, "out": 4},
                    "steps": [{"name": "f", "args": {"a": 1}, "id": 5}, {"function": {"name": "g", "arguments": "{\"b\":2}"}},
                              {"request": {"function": {"name": "h"}, "arguments": "{\"c\":3}"}}, {"result": "ok"}, 7]}),
            &mut picked
        ));
        assert_eq!(picked.text, "Hello");
        let kinds: Vec<EventKind> = picked.events.iter().map(|event| event.kind.clone()).collect();
        let call = |function: &str, args: Value| {
            EventKind::FunctionCall(ToolCall { function: function.to_owned(), args: args.into() })
        };
        assert_eq!(
            kinds,
            [
                call("f", json!({"a": 1})),
                call("g", json!({"b": 2})),
                call("h", json!({"c": 3})),
                EventKind::FunctionResponse { output: json!("ok").into() },
                EventKind::Other { data: json!(7) },
            ]
        );
        assert_eq!(picked.events[0].to_json()["id"], 5);
        assert_eq!(picked.events[1].to_json()["function"]["name"], "g");
        let usage = picked.usage.unwrap();
        assert_eq!((usage.input_tokens, usage.output_tokens, usage.cached_input_tokens), (Some(3), Some(4), None));
        assert!(!picks.take(&json!({"parts": []}), &mut picked));
        assert_eq!(picked.text, "Hello");
    }

    #[test]
    fn tokens_that_come_one_by_one_are_of_one_call_and_one_alone_is_not_all() {
        let usage = serde_json::from_value(json!({"input": "$.in", "output": "$.out"})).unwrap();
        let picks = ReplyPaths::parse("p", ("reply", None), None, Some(&usage)).unwrap();
        let mut picked = PickedReply::default();
        picks.take(&json!({"in": 7}), &mut picked);
        assert_eq!(picked.usage.map(|usage| (usage.calls, usage.unreported_calls)), Some((1, 1)));
        picks.take(&json!({"out": 2}), &mut picked);
        assert_eq!(picked.usage, Some(Usage::from_counts(Some(7), Some(2))));
    }

    #[test]
    fn a_path_that_is_none_is_named_with_its_key() {
        let config = |reply: &str, events: &str| {
            ReplyPaths::parse("target.http.say", ("reply", Some(&reply.to_owned())), Some(&events.to_owned()), None)
        };
        assert!(
            config("message", "$")
                .unwrap_err()
                .to_string()
                .starts_with("target.http.say.reply: `message` is no JSONPath")
        );
        assert!(config("$.a", "$[").unwrap_err().to_string().starts_with("target.http.say.events: "));
    }
}
