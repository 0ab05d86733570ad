//! `google.genai` content: a role and parts, of which some are text.

use serde_json::Value;

use super::KEYS;
use crate::dataset::cursor::{Cursor, Fields, UnknownKeys};
use crate::dataset::model::DatasetCall;

/// The parts of one content.
#[derive(Debug, Default)]
pub(in crate::dataset) struct AdkCaseContent {
    /// The texts.
    pub(in crate::dataset) texts: Vec<String>,
    /// How many of the calls come before each text.
    pub(in crate::dataset) calls_before: Vec<usize>,
    /// The function calls, in order.
    pub(in crate::dataset) calls: Vec<DatasetCall>,
    /// The function responses: the id and the name of the call, and what it answered.
    pub(in crate::dataset) responses: Vec<DatasetCall>,
    /// The parts that are none of these, as they are.
    pub(in crate::dataset) others: Vec<Value>,
}

impl AdkCaseContent {
    /// Adds a text, behind the calls so far.
    fn add_text(&mut self, text: String) {
        self.texts.push(text);
        self.calls_before.push(self.calls.len());
    }

    /// The texts between calls, a line for each of those that stand together, with the number of calls before it.
    pub(in crate::dataset) fn placed_texts(&self) -> Vec<(usize, String)> {
        let mut placed: Vec<(usize, String)> = Vec::new();
        for (text, before) in self.texts.iter().zip(&self.calls_before).filter(|(text, _)| !text.is_empty()) {
            match placed.last_mut().filter(|(place, _)| place == before) {
                Some((_, joined)) => *joined = format!("{joined}\n{text}"),
                None => placed.push((*before, text.clone())),
            }
        }
        placed
    }

    /// The texts, a line each; `None` where they say nothing.
    pub(in crate::dataset) fn text(&self) -> Option<String> {
        let said: Vec<&str> = self.texts.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
        (!said.is_empty()).then(|| said.join("\n"))
    }
}

/// The kinds of parts that are neither text nor about functions, and what they may say of themselves.
const OTHER_PARTS: [&str; 14] = [
    "inline_data",
    "file_data",
    "executable_code",
    "code_execution_result",
    "video_metadata",
    "media_resolution",
    "tool_call",
    "tool_response",
    "audio_transcription",
    "media_processing",
    "speech_metadata",
    "thought_signature",
    "part_metadata",
    "thought",
];

/// Reads a content; a bare text is one too.
pub(in crate::dataset) fn read_content(value: Cursor<'_>) -> AdkCaseContent {
    let mut content = AdkCaseContent::default();
    if let Some(text) = value.node.text() {
        content.add_text(text.to_owned());
        return content;
    }
    let Some(mut fields) = value.fields(KEYS) else { return content };
    fields.text("role");
    for part in fields.items("parts") {
        read_part(part, &mut content);
    }
    fields.rest(UnknownKeys::Refused);
    content
}

/// Reads one part into a content.
pub(in crate::dataset) fn read_part(part: Cursor<'_>, content: &mut AdkCaseContent) {
    let Some(mut fields) = part.fields(KEYS) else { return };
    let text = fields.text("text");
    let call = fields.get("function_call").and_then(read_call);
    let response = fields.get("function_response").and_then(read_response);
    let others = OTHER_PARTS.map(|name| fields.get(name).is_some());
    let is_other = others[..9].contains(&true);
    fields.rest(UnknownKeys::Refused);
    if is_other {
        content.others.push(part.json());
    }
    text.into_iter().for_each(|it| content.add_text(it));
    content.calls.extend(call);
    content.responses.extend(response);
}

/// Reads `{"id", "name", "args"}`.
pub(in crate::dataset) fn read_call(value: Cursor<'_>) -> Option<DatasetCall> {
    let mut fields = value.fields(KEYS)?;
    let id = fields.text("id");
    let tool = fields.required("name").and_then(Cursor::filled_text).unwrap_or_default().to_owned();
    // None given is none expected.
    let args = Some(fields.object("args"));
    means_nothing(&mut fields, &["partial_args", "will_continue"]);
    fields.rest(UnknownKeys::Refused);
    Some(DatasetCall { id, tool, args, ..DatasetCall::default() })
}

/// Keys that Google's types have and that nobody compares.
fn means_nothing(fields: &mut Fields<'_>, names: &[&'static str]) {
    for name in names {
        if let Some(value) = fields.get(name) {
            value.warn(format!("`{name}` is not compared: names, arguments and results are"));
        }
    }
}

/// Reads `{"id", "name", "response"}`.
pub(in crate::dataset) fn read_response(value: Cursor<'_>) -> Option<DatasetCall> {
    let mut fields = value.fields(KEYS)?;
    let id = fields.text("id");
    let tool = fields.text("name").unwrap_or_default();
    let result = fields.get("response").map(Cursor::lazy);
    means_nothing(&mut fields, &["will_continue", "scheduling", "parts"]);
    fields.rest(UnknownKeys::Refused);
    Some(DatasetCall { id, tool, result, ..DatasetCall::default() })
}

/// Gives each call its response: the one with its id, else the next one of its name without an id. Those left over are
/// returned.
pub(in crate::dataset) fn pair(calls: &mut [DatasetCall], responses: Vec<DatasetCall>) -> Vec<DatasetCall> {
    let mut left = Vec::new();
    for response in responses {
        // Of several calls with this id the one that waits, or else the last: a tool that runs long reports again.
        let by_id = response.id.as_ref().and_then(|id| {
            let own = |call: &DatasetCall| call.id.as_ref() == Some(id);
            let waiting = calls.iter().position(|call| own(call) && call.result.is_none());
            waiting.or_else(|| calls.iter().rposition(own))
        });
        let by_name = || {
            let is_free = |call: &DatasetCall| {
                call.result.is_none() && call.tool == response.tool && (call.id.is_none() || response.id.is_none())
            };
            calls.iter().position(is_free)
        };
        match by_id.or_else(by_name) {
            Some(index) => calls[index].result = response.result,
            None => left.push(response),
        }
    }
    left
}
