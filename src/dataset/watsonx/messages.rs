//! Recorded messages: what a run of watsonx Orchestrate writes for each case.

use serde_json::{Map, Value};

use super::KEYS;
use crate::dataset::cursor::{Cursor, Fields};
use crate::dataset::json;
use crate::dataset::model::{DatasetCall, RecordedTurn};
use crate::evidence::LazyValue;

/// Reads a list of messages as turns: each message of the user begins one.
pub(in crate::dataset) fn read_messages(value: Cursor<'_>) -> Vec<RecordedTurn> {
    turns(value.items())
}

/// Reads messages of which each has a reason beside it.
pub(in crate::dataset) fn read_analyzed(value: Cursor<'_>) -> Vec<RecordedTurn> {
    turns(value.items().into_iter().filter_map(message_of).collect())
}

fn message_of(item: Cursor<'_>) -> Option<Cursor<'_>> {
    item.fields(KEYS)?.required("message")
}

fn turns(messages: Vec<Cursor<'_>>) -> Vec<RecordedTurn> {
    let mut turns: Vec<RecordedTurn> = Vec::new();
    // The responses of the conversation so far: one may stand before its call.
    let mut early: Vec<DatasetCall> = Vec::new();
    for message in messages {
        let Some(mut fields) = message.fields(KEYS) else { continue };
        let role = fields.required("role").and_then(Cursor::text).unwrap_or_default().to_owned();
        let kind = fields.text("type").unwrap_or_default();
        let content = fields.get("content");
        if role == "user" {
            let user = content.and_then(Cursor::text).unwrap_or_default().to_owned();
            turns.push(RecordedTurn { user, ..RecordedTurn::default() });
            continue;
        }
        if turns.is_empty() {
            turns.push(RecordedTurn::default());
        }
        match kind.as_str() {
            "tool_call" => call(&mut turns, calls_of(&mut fields, content), &mut early),
            "tool_response" => {
                let Some(response) = response_of(&mut fields, content) else { continue };
                let calls = || turns.iter().rev().flat_map(|turn| turn.calls.iter().rev());
                let has_call = calls().any(|call| call.id.is_some() && call.id == response.id);
                if !has_call && response.id.is_some() {
                    early.push(response);
                    continue;
                }
                let mut waiting = turns.iter_mut().rev().flat_map(|turn| turn.calls.iter_mut().rev());
                if let Some(call) =
                    waiting.find(|call| if has_call { call.id == response.id } else { call.tool == response.tool })
                {
                    call.result = response.result;
                }
            }
            // Neither a tool nor the system speaks for the agent.
            _ if ["tool", "function", "system", "developer"].contains(&role.as_str()) => {
                message.warn(format!("a message of `{role}` that is no `tool_response`: it is left out"));
            }
            _ => {
                // The newest messages have their calls beside a text, or without one.
                let calls = listed(&mut fields);
                if content.is_none() && calls.is_empty() {
                    message.warn("this message has neither text nor calls: it is left out");
                    continue;
                }
                if role != "assistant" {
                    message.warn(format!("a message of `{role}`: it is taken for the agent's"));
                }
                let has_text = content.is_some_and(|content| content.node.text() != Some(""));
                if has_text || calls.is_empty() {
                    say(&mut turns, &role, content, &mut fields);
                }
                call(&mut turns, calls, &mut early);
            }
        }
    }
    for response in early {
        if let Some(turn) = turns.last_mut() {
            let left = turn.extra.entry("toolResponses").or_insert_with(|| Value::Array(Vec::new()));
            if let Value::Array(left) = left {
                left.push(serde_json::to_value(response).unwrap_or_default());
            }
        }
    }
    turns
}

/// Adds the calls of a message to the last turn, each with its response where that stood before it.
fn call(turns: &mut [RecordedTurn], calls: Vec<DatasetCall>, early: &mut Vec<DatasetCall>) {
    let Some(turn) = turns.last_mut() else { return };
    for (mut call, place) in calls.into_iter().zip(0..) {
        call.is_parallel = place > 0;
        if let Some(at) = early.iter().position(|response| response.id.is_some() && response.id == call.id) {
            call.result = early.remove(at).result;
        }
        turn.calls.push(call);
    }
}

/// The last text of a turn is its reply; those before it came on the way.
fn say(turns: &mut [RecordedTurn], role: &str, content: Option<Cursor<'_>>, fields: &mut Fields<'_>) {
    let Some(turn) = turns.last_mut() else { return };
    let text = content.map(|content| match content.node.text() {
        Some(text) => text.to_owned(),
        None => content.json().to_string(),
    });
    turn.say(role, text);
    if let Some(seconds) = fields.number("response_time") {
        turn.extra.insert("responseTime".to_owned(), seconds.into());
    }
    if let Some(search) = fields.get("conversational_search_metadata") {
        turn.extra.insert("conversationalSearch".to_owned(), search.json());
    }
}

/// The JSON in a message's content, which is a text.
fn inner(content: Option<Cursor<'_>>) -> Option<Map<String, Value>> {
    let content = content?;
    let document = match content.node.text() {
        Some(text) => match json::read(text) {
            Ok(read) => read.root.to_json(),
            Err(error) => {
                content.error(format!("the text of a tool's message must be JSON: {}", error.message));
                return None;
            }
        },
        None => content.json(),
    };
    match document {
        Value::Object(map) => Some(map),
        _ => {
            content.error("the text of a tool's message must be a JSON object");
            None
        }
    }
}

fn text_in(map: &Map<String, Value>, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| map.get(*key)?.as_str()).map(str::to_owned)
}

fn listed(fields: &mut Fields<'_>) -> Vec<DatasetCall> {
    fields.items("tool_calls").into_iter().filter_map(read_listed).collect()
}

/// The calls of a message: those of its list where it has one, else the one in its text.
fn calls_of(fields: &mut Fields<'_>, content: Option<Cursor<'_>>) -> Vec<DatasetCall> {
    let listed = listed(fields);
    if !listed.is_empty() {
        return listed;
    }
    let Some(call) = inner(content) else { return Vec::new() };
    let Some(tool) = text_in(&call, &["name"]) else {
        content.into_iter().for_each(|content| content.error("this call has no `name`"));
        return Vec::new();
    };
    let id = text_in(&call, &["id", "tool_call_id"]);
    vec![DatasetCall { id, tool, args: call.get("args").cloned().map(LazyValue::from), ..DatasetCall::default() }]
}

/// Reads `{"id", "name", "args"}`, or the same with `function`.
fn read_listed(value: Cursor<'_>) -> Option<DatasetCall> {
    let Value::Object(call) = value.json() else { return None };
    let function = call.get("function").and_then(Value::as_object).unwrap_or(&call);
    let args = function.get("args").or_else(|| function.get("arguments")).cloned();
    let args = args.map(json::json_within).map(LazyValue::from);
    Some(DatasetCall {
        id: text_in(&call, &["id"]),
        tool: text_in(function, &["name"])?,
        args,
        ..DatasetCall::default()
    })
}

fn response_of(fields: &mut Fields<'_>, content: Option<Cursor<'_>>) -> Option<DatasetCall> {
    let response = inner(content)?;
    let id = text_in(&response, &["tool_call_id", "id"]).or_else(|| fields.text("tool_call_id"));
    let tool = text_in(&response, &["name"]).unwrap_or_default();
    let result = response.get("content").cloned().map(LazyValue::from);
    Some(DatasetCall { id, tool, result, ..DatasetCall::default() })
}
