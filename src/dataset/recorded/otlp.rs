//! Traces of agents by OpenTelemetry's conventions for generative AI: the message attributes of 1.37 and later, the message
//! events before them, and what ADK adds of its own.
//!
//! A conversation is what has one `gen_ai.conversation.id`, or one trace. A model's call carries the history so far: the
//! last call of a conversation tells most of it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::messages::{Spoken, answer, turns_of};
use super::openai::call_of;
use super::otlp_figures::{TurnSpan, add_figures};
use super::otlp_spans::{Record, records};
use super::{Recorded, numbered};
use crate::dataset::cursor::Cursor;
use crate::dataset::json::json_within;
use crate::dataset::model::{CaseSession, DatasetCall, RecordedTurn};

/// Attributes that tell to which conversation a span belongs.
pub(super) const CONVERSATION_IDS: [&str; 2] = ["gen_ai.conversation.id", "gcp.vertex.agent.session_id"];

/// Reads a document, or one a line.
pub(super) fn read(value: Cursor<'_>, _: &str) -> Vec<Recorded> {
    let (spans, events) = records(value.node);
    let mut conversation_of: BTreeMap<&str, &str> = BTreeMap::new();
    for record in spans.iter().chain(&events) {
        let id = CONVERSATION_IDS.iter().find_map(|key| text(record, key));
        if let Some(id) = id.filter(|id| !id.is_empty()) {
            conversation_of.entry(&record.trace).or_insert(id);
        }
    }
    let mut order: Vec<&str> = Vec::new();
    let mut groups: BTreeMap<&str, (Vec<&Record>, Vec<&Record>)> = BTreeMap::new();
    for (record, is_span) in spans.iter().map(|span| (span, true)).chain(events.iter().map(|event| (event, false))) {
        let id = conversation_of.get(record.trace.as_str()).copied().unwrap_or(&record.trace);
        let group = groups.entry(id).or_insert_with(|| {
            order.push(id);
            (Vec::new(), Vec::new())
        });
        if is_span { group.0.push(record) } else { group.1.push(record) }
    }
    let mut conversations = Vec::new();
    for id in order {
        let Some((spans, events)) = groups.get(id) else { continue };
        let turns = turns(spans, events);
        if !turns.is_empty() {
            let user = spans.iter().find_map(|span| text(span, "user.id").or_else(|| text(span, "enduser.id")));
            let session = CaseSession {
                id: Some(id.to_owned()),
                user: user.map(str::to_owned),
                app: spans.iter().find_map(|span| text(span, "gen_ai.agent.name")).map(str::to_owned),
                ..CaseSession::default()
            };
            let (id, model, turns) = (id.to_owned(), model(spans), numbered(&turns));
            conversations.push(Recorded { id, model, session, turns, ..Recorded::default() });
        }
    }
    if conversations.is_empty() {
        value.error_with(
            "no message of a user or an agent is in these traces",
            "content is recorded only where the agent was told to (OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT)",
        );
    }
    conversations
}

/// The model that all of its calls went to.
fn model(spans: &[&Record]) -> Option<String> {
    let keys = ["gen_ai.request.model", "gen_ai.response.model"];
    let mut names = spans.iter().filter_map(|span| keys.iter().find_map(|key| text(span, key)));
    let first = names.next()?;
    names.all(|name| name == first).then(|| first.to_owned())
}

fn text<'a>(record: &'a Record, key: &str) -> Option<&'a str> {
    record.attributes.get(key)?.as_str()
}

/// A trace's turns, and what its spans tell of them.
#[derive(Default)]
struct Trace<'a> {
    id: &'a str,
    turns: Vec<RecordedTurn>,
    spans: Vec<TurnSpan<'a>>,
}

/// The turns of a conversation: those of its last history, or where a trace begins anew each time, of all traces.
fn turns<'a>(spans: &[&'a Record], events: &[&Record]) -> Vec<RecordedTurn> {
    let mut traces: Vec<Trace<'a>> = Vec::new();
    for span in spans {
        let turns = turns_of(history_of(span, events));
        let asked = turns.iter().filter(|turn| !turn.user.is_empty()).count();
        let place = traces.iter().position(|trace| trace.id == span.trace).unwrap_or_else(|| {
            traces.push(Trace { id: &span.trace, ..Trace::default() });
            traces.len() - 1
        });
        let trace = &mut traces[place];
        trace.spans.push((*span, asked));
        // The history that says most; of two as long, the later one.
        if asked > 0 && weight(&turns) >= weight(&trace.turns) {
            trace.turns = turns;
        }
    }
    for trace in &mut traces {
        add_figures(&mut trace.turns, &trace.spans);
    }
    if traces.iter().all(|trace| trace.turns.is_empty()) {
        let history = events.iter().filter_map(|event| message_of_event(event)).collect();
        traces = vec![Trace { turns: turns_of(history), ..Trace::default() }];
    }
    let mut turns: Vec<RecordedTurn> = Vec::new();
    for Trace { turns: mut next, .. } in traces {
        // A later trace tells the earlier turns again, without their figures.
        let repeats = next.len() > turns.len() && next.iter().zip(&turns).all(|(new, old)| new.user == old.user);
        if !repeats {
            turns.extend(next);
            continue;
        }
        for (new, old) in next.iter_mut().zip(turns) {
            (new.usage, new.extra) = (old.usage, old.extra);
        }
        turns = next;
    }
    add_tools(&mut turns, spans);
    turns
}

fn weight(turns: &[RecordedTurn]) -> usize {
    turns.iter().map(|turn| 1 + turn.calls.len() + usize::from(turn.reply.is_some())).sum()
}

/// The messages that a span of a model or an agent carries.
fn history_of(span: &Record, events: &[&Record]) -> Vec<Spoken> {
    let mut history = Vec::new();
    let own = |event: &&&Record| event.trace == span.trace && event.span == span.span;
    let details = events.iter().filter(own).find(|event| event.name == "gen_ai.client.inference.operation.details");
    for source in std::iter::once(span).chain(details.copied()) {
        for key in ["gen_ai.input.messages", "gen_ai.output.messages"] {
            let messages = source.attributes.get(key).cloned().map(json_within);
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
    history.extend(events.iter().filter(own).filter_map(|event| message_of_event(event)));
    history
}

fn string(value: &Value, key: &str) -> Option<String> {
    value.get(key)?.as_str().map(str::to_owned)
}

/// `{"role", "parts": [{"type", …}]}`.
fn message_of_parts(message: &Value) -> Spoken {
    let mut spoken = Spoken { role: string(message, "role").unwrap_or_default(), ..Spoken::default() };
    for part in message.get("parts").and_then(Value::as_array).into_iter().flatten() {
        match part.get("type").and_then(Value::as_str) {
            Some("text") => {
                string(part, "content").or_else(|| string(part, "text")).into_iter().for_each(|it| spoken.add_text(it));
            }
            Some("tool_call") => spoken.calls.extend(call_of(part.clone(), "id")),
            Some("tool_call_response") => {
                let result = part.get("response").or_else(|| part.get("result")).cloned().map(json_within);
                spoken.results.push(DatasetCall { id: string(part, "id"), result, ..DatasetCall::default() });
            }
            _ => {}
        }
    }
    // Some write chat completions' own messages here.
    if let Some(content) = message.get("content").and_then(Value::as_str) {
        spoken.add_text(content.to_owned());
    }
    spoken
}

/// `{"role", "parts": [{"text"} | {"function_call"} | {"function_response"}]}`.
fn message_of_content(content: &Value) -> Spoken {
    let mut spoken = Spoken { role: string(content, "role").unwrap_or_default(), ..Spoken::default() };
    for part in content.get("parts").and_then(Value::as_array).into_iter().flatten() {
        string(part, "text").into_iter().for_each(|it| spoken.add_text(it));
        if let Some(call) = part.get("function_call").or_else(|| part.get("functionCall")) {
            let (id, tool) = (string(call, "id"), string(call, "name").unwrap_or_default());
            spoken.calls.push(DatasetCall { id, tool, args: call.get("args").cloned(), ..DatasetCall::default() });
        }
        if let Some(result) = part.get("function_response").or_else(|| part.get("functionResponse")) {
            let (id, tool) = (string(result, "id"), string(result, "name").unwrap_or_default());
            let result = result.get("response").cloned();
            spoken.results.push(DatasetCall { id, tool, result, ..DatasetCall::default() });
        }
    }
    spoken
}

/// One of the older message events: its body, or where a SDK writes attributes, those.
fn message_of_event(event: &Record) -> Option<Spoken> {
    let role = match event.name.as_str() {
        "gen_ai.user.message" => "user",
        "gen_ai.assistant.message" | "gen_ai.choice" => "assistant",
        "gen_ai.tool.message" => "tool",
        _ => return None,
    };
    let attributes = Value::Object(event.attributes.clone());
    let body = if event.body.is_object() { &event.body } else { &attributes };
    let message = match body.get("message").cloned().map(json_within) {
        Some(message) if message.is_object() => message,
        _ => body.clone(),
    };
    let text = string(&message, "content").or_else(|| string(&message, "gen_ai.event.content"));
    let calls = body.get("tool_calls").or_else(|| message.get("tool_calls")).cloned().map(json_within);
    let calls = calls.iter().flat_map(|calls| calls.as_array().into_iter().flatten());
    let calls: Vec<DatasetCall> = calls.filter_map(|call| call_of(call.clone(), "id")).collect();
    let mut spoken = Spoken { role: role.to_owned(), calls, ..Spoken::default() };
    if role == "tool" {
        let result = Some(text.map_or(Value::Null, |text| json_within(Value::String(text))));
        spoken.results.push(DatasetCall { id: string(body, "id"), result, ..DatasetCall::default() });
    } else {
        spoken.text = text;
    }
    Some(spoken)
}

/// Adds what spans of tools tell: results that no message brings, and calls where no message tells any. Where those stand among the
/// agent's messages is not known: its messages count as behind them.
fn add_tools(turns: &mut [RecordedTurn], spans: &[&Record]) {
    let has_calls = turns.iter().any(|turn| !turn.calls.is_empty());
    for span in spans.iter().filter(|span| text(span, "gen_ai.operation.name") == Some("execute_tool")) {
        let Some(tool) = text(span, "gen_ai.tool.name").filter(|tool| *tool != "(merged tools)") else { continue };
        let first = |keys: [&str; 2]| keys.iter().find_map(|key| span.attributes.get(*key).cloned()).map(json_within);
        let call = DatasetCall {
            id: text(span, "gen_ai.tool.call.id").map(str::to_owned),
            tool: tool.to_owned(),
            args: first(["gen_ai.tool.call.arguments", "gcp.vertex.agent.tool_call_args"]),
            result: first(["gen_ai.tool.call.result", "gcp.vertex.agent.tool_response"]),
            ..DatasetCall::default()
        };
        if !has_calls {
            if let Some(turn) = turns.last_mut() {
                turn.calls.push(call);
                turn.reply_after_calls = None;
                turn.intermediate.iter_mut().for_each(|message| message.after_calls = None);
            }
        } else if call.result.is_some() {
            let is_known = |known: &DatasetCall| known.result.is_some() && known.id.is_some() && known.id == call.id;
            if !turns.iter().any(|turn| turn.calls.iter().any(is_known)) {
                answer(turns, call);
            }
        }
    }
}
