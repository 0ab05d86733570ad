//! The messages that spans and their events carry, by the conventions of all times.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::messages::HistoryMessage;
use super::openai::call_of;
use super::otlp_spans::OtlpRecord;
use crate::dataset::json::{json_of, json_within};
use crate::dataset::model::DatasetCall;
use crate::evidence::LazyValue;

/// The messages that a span of a model or an agent carries.
pub(super) fn history_of(span: &OtlpRecord, events: &[&OtlpRecord]) -> Vec<HistoryMessage> {
    let mut history = Vec::new();
    let own = |event: &&&OtlpRecord| event.trace == span.trace && event.span == span.span;
    // Some write one such event for what goes in, and another for what comes out.
    let details = events.iter().filter(own).filter(|event| event.name == "gen_ai.client.inference.operation.details");
    for sources in [vec![span], details.copied().collect()] {
        for key in ["gen_ai.input.messages", "gen_ai.output.messages"] {
            let messages = sources.iter().filter_map(|source| source.attributes.get(key)).cloned().map(json_within);
            let messages: Vec<Value> = messages.collect();
            history
                .extend(messages.iter().flat_map(|list| list.as_array().into_iter().flatten()).map(message_of_parts));
        }
        if !history.is_empty() {
            return history;
        }
    }
    if let Some(request) = span.attributes.get("gcp.vertex.agent.llm_request").cloned().map(json_within) {
        let contents = request.get("contents").and_then(Value::as_array).cloned().unwrap_or_default();
        history.extend(contents.iter().map(message_of_content));
        let reply = span.attributes.get("gcp.vertex.agent.llm_response").cloned().map(json_within);
        history.extend(reply.as_ref().and_then(|reply| reply.get("content")).map(message_of_content));
        return history;
    }
    history.extend(older_messages(&span.attributes));
    for event in events.iter().filter(own) {
        history.extend(older_messages(&event.attributes));
        history.extend(message_of_event(event));
    }
    history
}

/// What the oldest conventions have as attributes: a text, a list of messages, or a message's parts by their numbers.
fn older_messages(attributes: &Map<String, Value>) -> Vec<HistoryMessage> {
    let sides = [("gen_ai.prompt", "user"), ("gen_ai.completion", "assistant")];
    let mut messages = Vec::new();
    for (key, role) in sides {
        let list = match attributes.get(key).cloned().map(json_within) {
            Some(Value::Array(list)) => list,
            Some(Value::Null) | None => numbered_messages(attributes, key),
            Some(Value::String(text)) => vec![json!({ "content": text })],
            Some(one) => vec![one],
        };
        messages.extend(list.iter().map(|message| message_of_chat(message, role)));
    }
    messages
}

/// The entries of a message by their names, and its tool calls by their numbers.
#[derive(Default)]
struct NumberedMessage {
    entries: Map<String, Value>,
    calls: BTreeMap<usize, Map<String, Value>>,
}

/// `gen_ai.prompt.0.role`, `gen_ai.prompt.0.content`, `gen_ai.prompt.0.tool_calls.0.name` as messages.
fn numbered_messages(attributes: &Map<String, Value>, key: &str) -> Vec<Value> {
    let mut messages: BTreeMap<usize, NumberedMessage> = BTreeMap::new();
    for (name, value) in attributes {
        let Some(rest) = name.strip_prefix(key).and_then(|rest| rest.strip_prefix('.')) else { continue };
        let mut path = rest.split('.');
        let Some(message) = path.next().and_then(|number| number.parse().ok()) else { continue };
        let NumberedMessage { entries, calls } = messages.entry(message).or_default();
        match (path.next(), path.next().and_then(|number| number.parse().ok()), path.next()) {
            (Some("tool_calls"), Some(call), Some(part)) => {
                calls.entry(call).or_default().insert(part.to_owned(), value.clone());
            }
            (Some(part), None, _) => drop(entries.insert(part.to_owned(), value.clone())),
            _ => {}
        }
    }
    let whole = |NumberedMessage { entries: mut message, calls }: NumberedMessage| {
        if !calls.is_empty() {
            message.insert("tool_calls".to_owned(), calls.into_values().map(Value::Object).collect());
        }
        Value::Object(message)
    };
    messages.into_values().map(whole).collect()
}

/// A message of chat completions; without a role it is of this one.
fn message_of_chat(message: &Value, role: &str) -> HistoryMessage {
    let role = string(message, "role").unwrap_or_else(|| role.to_owned());
    let mut spoken = HistoryMessage { role: role.into(), ..HistoryMessage::default() };
    let content = message.get("content").cloned().map(json_within);
    let text = match &content {
        Some(Value::Array(parts)) => {
            let texts = parts.iter().filter_map(|part| string(part, "text").or_else(|| string(part, "content")));
            Some(texts.collect::<Vec<_>>().join("\n")).filter(|text| !text.is_empty())
        }
        _ => string(message, "content"),
    };
    if spoken.role == "tool" {
        let result = Some(text.map_or_else(LazyValue::default, |text| json_of(&text)));
        let id = string(message, "tool_call_id");
        spoken.results.push(DatasetCall { id, result, ..DatasetCall::default() });
        return spoken;
    }
    text.into_iter().for_each(|text| spoken.add_text(text));
    let calls = message.get("tool_calls").cloned().map(json_within);
    let calls = calls.iter().flat_map(|calls| calls.as_array().into_iter().flatten());
    spoken.calls.extend(calls.filter_map(|call| call_of(call, "id")));
    spoken
}

fn string(value: &Value, key: &str) -> Option<String> {
    value.get(key)?.as_str().map(str::to_owned)
}

/// `{"role", "parts": [{"type", …}]}`.
fn message_of_parts(message: &Value) -> HistoryMessage {
    let mut spoken =
        HistoryMessage { role: string(message, "role").unwrap_or_default().into(), ..HistoryMessage::default() };
    for part in message.get("parts").and_then(Value::as_array).into_iter().flatten() {
        match part.get("type").and_then(Value::as_str) {
            Some("text") => {
                string(part, "content").or_else(|| string(part, "text")).into_iter().for_each(|it| spoken.add_text(it));
            }
            Some("tool_call") => spoken.calls.extend(call_of(part, "id")),
            Some("tool_call_response") => {
                let result = part.get("response").or_else(|| part.get("result")).cloned().map(json_within);
                let result = result.map(LazyValue::from);
                spoken.results.push(DatasetCall { id: string(part, "id"), result, ..DatasetCall::default() });
            }
            // Tools that the model's provider runs.
            Some(kind @ "server_tool_call") => {
                let mut args = part.get(kind).cloned().map(json_within).unwrap_or_default();
                let own = args.as_object_mut().and_then(|args| args.remove("type"));
                let tool = string(part, "name").or_else(|| own?.as_str().map(str::to_owned));
                let (id, args) = (string(part, "id"), Some(args).filter(|args| !args.is_null()).map(LazyValue::from));
                let tool = tool.unwrap_or_default();
                spoken.calls.push(DatasetCall { id, tool, args, ..DatasetCall::default() });
            }
            Some(kind @ "server_tool_call_response") => {
                let result = part.get(kind).cloned().map(json_within);
                let result = result.map(LazyValue::from);
                spoken.results.push(DatasetCall { id: string(part, "id"), result, ..DatasetCall::default() });
            }
            Some("reasoning") => {}
            _ => spoken.has_others = true,
        }
    }
    // Some write chat completions' own messages here.
    if let Some(content) = message.get("content").and_then(Value::as_str) {
        spoken.add_text(content.to_owned());
    }
    spoken
}

/// `{"role", "parts": [{"text"} | {"function_call"} | {"function_response"}]}`.
fn message_of_content(content: &Value) -> HistoryMessage {
    let mut spoken =
        HistoryMessage { role: string(content, "role").unwrap_or_default().into(), ..HistoryMessage::default() };
    for part in content.get("parts").and_then(Value::as_array).into_iter().flatten() {
        string(part, "text").into_iter().for_each(|it| spoken.add_text(it));
        if let Some(call) = part.get("function_call").or_else(|| part.get("functionCall")) {
            let (id, tool) = (string(call, "id"), string(call, "name").unwrap_or_default());
            let args = call.get("args").cloned().map(LazyValue::from);
            spoken.calls.push(DatasetCall { id, tool, args, ..DatasetCall::default() });
        }
        if let Some(result) = part.get("function_response").or_else(|| part.get("functionResponse")) {
            let (id, tool) = (string(result, "id"), string(result, "name").unwrap_or_default());
            let result = result.get("response").cloned().map(LazyValue::from);
            spoken.results.push(DatasetCall { id, tool, result, ..DatasetCall::default() });
        }
    }
    spoken
}

/// One of the older message events: its body, or where a SDK writes attributes, those.
pub(super) fn message_of_event(event: &OtlpRecord) -> Option<HistoryMessage> {
    let role = match event.name.as_str() {
        "gen_ai.user.message" => "user",
        "gen_ai.assistant.message" | "gen_ai.choice" => "assistant",
        "gen_ai.tool.message" => "tool",
        _ => return None,
    };
    let attributes = Value::Object(event.attributes.clone());
    let body = if event.body.is_object() { &event.body } else { &attributes };
    // Further choices are what the model might have said.
    let index = body.get("index").cloned().map(json_within);
    if index.and_then(|index| index.as_u64()).is_some_and(|index| index > 0) {
        return None;
    }
    let message = match (body.get("message"), body.get("message").cloned().map(json_within)) {
        (_, Some(message)) if message.is_object() => message,
        // A list of blocks, or a text, which may look like a number.
        (_, Some(content)) if content.is_array() => json!({ "content": content }),
        (Some(content), _) if content.is_string() => json!({ "content": content }),
        _ => body.clone(),
    };
    let content = ["content", "gen_ai.event.content"].iter().find_map(|key| message.get(key));
    let blocks = content.cloned().map(json_within).and_then(|content| blocks_of(&content));
    let text = content.and_then(Value::as_str).map(str::to_owned);
    let calls = body.get("tool_calls").or_else(|| message.get("tool_calls")).cloned().map(json_within);
    let calls = calls.iter().flat_map(|calls| calls.as_array().into_iter().flatten());
    let calls: Vec<DatasetCall> = calls.filter_map(|call| call_of(call, "id")).collect();
    let mut spoken = HistoryMessage { role: role.to_owned().into(), calls, ..HistoryMessage::default() };
    if let Some(blocks) = blocks.filter(|_| role != "tool") {
        let calls = std::mem::take(&mut spoken.calls);
        spoken = HistoryMessage { role: spoken.role, ..blocks };
        spoken.calls.extend(calls);
    } else if role == "tool" {
        let result = Some(text.map_or_else(LazyValue::default, |text| json_of(&text)));
        spoken.results.push(DatasetCall { id: string(body, "id"), result, ..DatasetCall::default() });
    } else {
        spoken.text = text;
    }
    Some(spoken)
}

/// A content that is a list of blocks, `[{"text"} | {"toolUse"} | {"toolResult"}]`, as the Converse API of Amazon Bedrock has them.
fn blocks_of(content: &Value) -> Option<HistoryMessage> {
    let blocks = content.as_array().filter(|blocks| !blocks.is_empty() && blocks.iter().all(Value::is_object))?;
    let mut spoken = HistoryMessage::default();
    for block in blocks {
        if let Some(text) = string(block, "text") {
            spoken.add_text(text);
        } else if let Some(call) = block.get("toolUse") {
            let (id, tool) = (string(call, "toolUseId"), string(call, "name").unwrap_or_default());
            let args = call.get("input").cloned().map(LazyValue::from);
            spoken.calls.push(DatasetCall { id, tool, args, ..DatasetCall::default() });
        } else if let Some(result) = block.get("toolResult") {
            let (id, result) = (string(result, "toolUseId"), result.get("content").cloned().map(LazyValue::from));
            spoken.results.push(DatasetCall { id, result, ..DatasetCall::default() });
        } else if block.get("reasoningContent").is_none() {
            spoken.has_others = true;
        }
    }
    Some(spoken)
}
