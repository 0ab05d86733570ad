//! Message lists as OpenAI writes them: chat completions, the older function calls, and items of the Responses API.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::Recorded;
use super::messages::{HistoryMessage, OTHER_PARTS, turns_of};
use crate::dataset::cursor::{Cursor, Spelling};
use crate::dataset::json::{JsonNode, json_of, json_within};
use crate::dataset::model::{DatasetCall, RecordedTurn};
use crate::evidence::LazyValue;

/// Reads a list of messages, an object with `messages`, or one such object a line.
pub(super) fn read(value: Cursor<'_>, name: &str) -> Vec<Recorded> {
    let is_one = value.node.items().iter().all(|item| !item.has("messages"));
    if value.node.has("messages") {
        return vec![read_object(value, name.to_owned())];
    }
    if !is_one {
        let items = value.node.items().iter().zip(1..);
        return items.map(|(item, number)| read_object(value.at(item), format!("{name}-{number}"))).collect();
    }
    vec![Recorded::new(name, turns_said(value, value.items()))]
}

/// The turns of these messages, which stand at `place`.
fn turns_said(place: Cursor<'_>, messages: Vec<Cursor<'_>>) -> Vec<RecordedTurn> {
    let said: Vec<HistoryMessage> = messages.into_iter().filter_map(read_message).collect();
    if said.iter().any(|message| message.has_others) {
        place.warn(OTHER_PARTS);
    }
    turns_of(said)
}

fn read_object(value: Cursor<'_>, name: String) -> Recorded {
    let Some(mut fields) = value.fields(Spelling::Exact) else { return Recorded::default() };
    let mut ids = ID_KEYS.into_iter().filter_map(|key| id_of(&fields.get(key)?.json())).collect::<Vec<_>>().into_iter();
    let model = fields.get("model").and_then(|model| model.node.text().map(str::to_owned));
    let messages = fields.required("messages").map(Cursor::items).unwrap_or_default();
    let turns = turns_said(value, messages);
    let id = ids.next().unwrap_or(name);
    Recorded { model, other_ids: ids.collect(), ..Recorded::new(id, turns) }
}

/// The keys beside `messages` that may name the case, the plainest first.
pub(super) const ID_KEYS: [&str; 4] = ["case", "id", "conversation_id", "session_id"];

/// An id as a text; it may be a number.
pub(super) fn id_of(value: &Value) -> Option<String> {
    match value {
        Value::String(id) if !id.is_empty() => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    }
}

fn read_message(value: Cursor<'_>) -> Option<HistoryMessage> {
    let mut fields = value.fields(Spelling::Exact)?;
    let kind = fields.get("type").and_then(|kind| kind.node.text()).unwrap_or_default();
    match kind {
        "function_call" => {
            let call = call_of(value.node, "call_id")?;
            return Some(HistoryMessage { role: "assistant".into(), calls: vec![call], ..HistoryMessage::default() });
        }
        "function_call_output" => {
            let result = fields.get("output").map(json_in);
            let id = fields.text("call_id");
            let results = vec![DatasetCall { id, result, ..DatasetCall::default() }];
            return Some(HistoryMessage { role: "tool".into(), results, ..HistoryMessage::default() });
        }
        // They say nothing, and nothing is done by them.
        "reasoning"
        | "item_reference"
        | "compaction"
        | "mcp_list_tools"
        | "mcp_approval_request"
        | "mcp_approval_response" => return None,
        kind if kind.ends_with("_call_output") => {
            let (id, result) = (fields.text("call_id"), fields.get("output").map(json_in));
            let results = vec![DatasetCall { id, result, ..DatasetCall::default() }];
            return Some(HistoryMessage { role: "tool".into(), results, ..HistoryMessage::default() });
        }
        kind if kind.ends_with("_call") => {
            let calls = vec![hosted(kind.trim_end_matches("_call"), &value.json())];
            return Some(HistoryMessage { role: "assistant".into(), calls, ..HistoryMessage::default() });
        }
        _ => {}
    }
    let mut message = HistoryMessage { role: fields.required("role").and_then(role_of)?, ..HistoryMessage::default() };
    let content = fields.get("content");
    message.text = content.and_then(text_of);
    message.has_others = content.is_some_and(|content| content.node.items().iter().any(|part| said_in(part).is_none()));
    if message.text.is_none() {
        let spoken = fields.get("audio").and_then(|audio| audio.node.get("transcript")?.text().map(str::to_owned));
        message.text = fields.get("refusal").and_then(|refusal| refusal.node.text().map(str::to_owned)).or(spoken);
    }
    for call in fields.items("tool_calls") {
        match call_of(call.node, "id") {
            Some(call) => message.calls.push(call),
            None => call.error("this call names no function"),
        }
    }
    message.calls.extend(fields.get("function_call").and_then(|call| call_of(call.node, "id")));
    if matches!(message.role.as_ref(), "tool" | "function") {
        let result = Some(message.text.take().map_or_else(LazyValue::default, |text| json_of(&text)));
        let (id, tool) = (fields.text("tool_call_id"), fields.text("name").unwrap_or_default());
        message.results.push(DatasetCall { id, tool, result, ..DatasetCall::default() });
    }
    Some(message)
}

/// The roles of messages, by whatever name an agent goes there.
const ROLES: [&str; 10] =
    ["user", "assistant", "system", "developer", "tool", "function", "model", "agent", "ai", "bot"];

/// Who speaks: whoever is nobody known can't be taken for the agent, nor for its user.
fn role_of(role: Cursor<'_>) -> Option<Cow<'static, str>> {
    let name = role.text()?;
    if name == "human" {
        return Some("user".into());
    }
    if let Some(known) = ROLES.into_iter().find(|known| *known == name) {
        return Some(known.into());
    }
    role.error_with(format!("`{name}` is no role that a message can have"), format!("one of {}", ROLES.join(", ")));
    Some(name.to_owned().into())
}

/// A call of a tool that the endpoint runs, by the name that it has in a live conversation, with its result where that is shown.
fn hosted(tool: &str, item: &Value) -> DatasetCall {
    let known = |keys: &[&str]| keys.iter().find_map(|key| item.get(key).filter(|value| !value.is_null())).cloned();
    let text = |key: &str| item.get(key).and_then(Value::as_str).map(str::to_owned);
    let named = text("name").filter(|_| matches!(tool, "mcp" | "custom_tool"));
    let args = match tool {
        "file_search" => known(&["queries"]).map(|queries| json!({ "queries": queries })),
        "code_interpreter" => known(&["code"]).map(|code| json!({ "code": code })),
        _ => known(&["action", "input", "arguments"]).map(json_within),
    };
    DatasetCall {
        id: text("call_id").or_else(|| text("id")),
        tool: named.unwrap_or_else(|| tool.to_owned()),
        args: Some(args.unwrap_or_else(|| json!({})).into()),
        result: known(&["error", "results", "outputs", "output"]).map(json_within).map(LazyValue::from),
        ..DatasetCall::default()
    }
}

/// The text of a content: a text, or the texts of its parts.
fn text_of(content: Cursor<'_>) -> Option<String> {
    if let Some(text) = content.node.text() {
        return Some(text.to_owned());
    }
    for part in content.items() {
        if let Some(kind @ ("tool_use" | "tool_result")) = part.node.get("type").and_then(|kind| kind.text()) {
            part.error(format!(
                "`{kind}` is a part of Anthropic's messages, which are not read: write calls as `tool_calls` and results as messages of the role `tool`"
            ));
        }
    }
    let items = content.items();
    let texts: Vec<&str> = items.iter().filter_map(|part| said_in(part.node)).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// The text of a part: also a refusal, which is what the agent says, and the transcript of what it spoke.
fn said_in<'a>(part: &'a JsonNode<'_>) -> Option<&'a str> {
    let audio = || part.get("audio").and_then(|audio| audio.get("transcript"));
    let other = || part.get("refusal").or_else(|| part.get("transcript")).or_else(audio);
    part.text().or_else(|| part.get("text").or_else(other)?.text())
}

/// A value, or the JSON that it is as a text.
fn json_in(value: Cursor<'_>) -> LazyValue {
    value.node.text().map_or_else(|| value.json().into(), json_of)
}

/// JSON of which a call is read: with its place in a file, or without.
pub(super) trait CallJson {
    /// The value of a key.
    fn at(&self, key: &str) -> Option<&Self>;
    /// The text that it is.
    fn as_text(&self) -> Option<&str>;
    /// The whole value.
    fn value(&self) -> Value;
}

impl CallJson for JsonNode<'_> {
    fn at(&self, key: &str) -> Option<&Self> {
        self.get(key)
    }

    fn as_text(&self) -> Option<&str> {
        self.text()
    }

    fn value(&self) -> Value {
        self.to_json()
    }
}

impl CallJson for Value {
    fn at(&self, key: &str) -> Option<&Self> {
        self.get(key)
    }

    fn as_text(&self) -> Option<&str> {
        self.as_str()
    }

    fn value(&self) -> Value {
        self.clone()
    }
}

/// A call: `{"id", "function": {"name", "arguments"}}`, or flat.
pub(super) fn call_of(call: &impl CallJson, id: &str) -> Option<DatasetCall> {
    let function = call.at("function").unwrap_or(call);
    let args = function.at("arguments").and_then(|args| match args.as_text() {
        // A function without parameters is called with a blank text by many servers.
        Some(text) if text.trim().is_empty() => None,
        Some(text) => Some(json_of(text)),
        None => Some(args.value().into()),
    });
    Some(DatasetCall {
        id: call.at(id).and_then(CallJson::as_text).map(str::to_owned),
        tool: function.at("name")?.as_text()?.to_owned(),
        args,
        ..DatasetCall::default()
    })
}
