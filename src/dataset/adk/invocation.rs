//! One turn, expected or recorded.

use serde_json::{Map, Value};

use super::KEYS;
use super::content::{AdkCaseContent, pair, read_call, read_content, read_part, read_response};
use super::rubric::read_rubrics;
use crate::dataset::NO_TEXT;
use crate::dataset::cursor::{Cursor, UnknownKeys};
use crate::dataset::json::JsonNode;
use crate::dataset::model::{AuthoredText, DatasetCall, LineExpectation, RecordedTurn, Rubric, UserLine};

/// A turn as the file says it.
#[derive(Debug, Default)]
pub(in crate::dataset) struct AdkInvocation {
    id: String,
    user: AdkCaseContent,
    reply: Option<String>,
    calls: Option<Vec<DatasetCall>>,
    intermediate: Vec<AuthoredText>,
    rubrics: Vec<Rubric>,
    extra: Map<String, Value>,
}

/// Parts that are calls or their results, in both spellings.
const FUNCTIONS: [&str; 4] = ["function_call", "functionCall", "function_response", "functionResponse"];

/// Keys of measurements, of which nothing is expected.
const OF_RUNS: [&str; 5] = ["app_details", "duration", "model_duration", "tool_duration", "creation_timestamp"];

/// Reads one turn.
pub(in crate::dataset) fn read_invocation(value: Cursor<'_>) -> Option<AdkInvocation> {
    let mut fields = value.fields(KEYS)?;
    let mut turn = AdkInvocation { id: fields.text("invocation_id").unwrap_or_default(), ..AdkInvocation::default() };
    if let Some(user) = fields.required("user_content") {
        turn.user = read_content(user);
        // What a user answers to an agent's call is no text either.
        let parts = user.node.get("parts").map(JsonNode::items).unwrap_or_default();
        let is_function = |part: &&JsonNode| FUNCTIONS.iter().any(|key| part.has_value(key));
        turn.user.others.extend(parts.iter().filter(is_function).map(JsonNode::to_json));
        if turn.user.texts.is_empty() && turn.user.others.is_empty() {
            user.error("the user's message has no text");
        }
    }
    turn.reply = fields.get("final_response").and_then(|reply| {
        let content = read_content(reply);
        if !content.others.is_empty() {
            turn.extra.insert("finalResponse".to_owned(), reply.json());
            reply.warn("parts of this reply are no text; they are kept, but not compared");
        }
        content.text()
    });
    if let Some(data) = fields.get("intermediate_data") {
        read_intermediate(data, &mut turn);
    }
    turn.rubrics = read_rubrics(fields.items("rubrics"));
    for name in OF_RUNS {
        if let Some(value) = fields.get(name) {
            turn.extra.insert(name.to_owned(), value.json());
        }
    }
    turn.extra.extend(fields.rest(UnknownKeys::Refused));
    Some(turn)
}

/// Reads what happened between the message and the reply, in one of its two forms.
fn read_intermediate(value: Cursor<'_>, turn: &mut AdkInvocation) {
    let Some(mut fields) = value.fields(KEYS) else { return };
    let mut calls: Vec<DatasetCall> = fields.items("tool_uses").into_iter().filter_map(read_call).collect();
    let mut responses: Vec<DatasetCall> =
        fields.items("tool_responses").into_iter().filter_map(read_response).collect();
    for said in fields.items("intermediate_responses") {
        turn.intermediate.extend(read_message(said));
    }
    let events = fields.items("invocation_events");
    let is_listed = !calls.is_empty() || !responses.is_empty() || !turn.intermediate.is_empty();
    if is_listed && !events.is_empty() {
        let help = "keep `invocation_events`, in which calls and texts have their order, or the lists";
        value.error_with(
            "`invocation_events` says the same as `tool_uses` and the other lists: ADK takes one of the two",
            help,
        );
    }
    if !events.is_empty() {
        turn.extra.insert("invocationEvents".to_owned(), events.iter().map(|event| event.json()).collect());
    }
    for event in events {
        let Some((author, content)) = read_event(event) else { continue };
        turn.intermediate.extend(content.placed_texts().into_iter().map(|(before, text)| AuthoredText {
            author: author.clone(),
            text,
            after_calls: Some(calls.len() + before),
        }));
        calls.extend(content.calls);
        responses.extend(content.responses);
    }
    fields.rest(UnknownKeys::Refused);
    let left = pair(&mut calls, responses);
    if !left.is_empty() {
        let names: Vec<&str> = left.iter().map(|response| response.tool.as_str()).collect();
        value.warn(format!("responses of tools without a call: {}; they are kept, but not compared", names.join(", ")));
        let left = serde_json::to_value(left).unwrap_or_default();
        turn.extra.insert("toolResponses".to_owned(), left);
    }
    turn.calls = Some(calls);
}

/// Reads `["author", [{"text": …}]]`.
fn read_message(value: Cursor<'_>) -> Option<AuthoredText> {
    let pair = value.items();
    let [author, parts] = pair.as_slice() else {
        value.error("an author and a list of parts are expected here");
        return None;
    };
    let mut content = AdkCaseContent::default();
    for part in parts.items() {
        read_part(part, &mut content);
    }
    let author = if author.is_null() { "" } else { author.text()? };
    content.text().map(|text| AuthoredText { author: author.to_owned(), text, after_calls: None })
}

/// Reads one event; whatever else it says is ignored, as by ADK.
fn read_event(value: Cursor<'_>) -> Option<(String, AdkCaseContent)> {
    let mut fields = value.fields(KEYS)?;
    let author = fields.text("author").unwrap_or_default();
    let content = fields.get("content").map(read_content).unwrap_or_default();
    Some((author, content))
}

/// The events between a message and a reply: calls, messages, and events that have no place.
type Intermediate = (Vec<DatasetCall>, Vec<AuthoredText>, Map<String, Value>);

/// Reads what happened between a message and a reply.
pub(in crate::dataset) fn read_intermediate_data(value: Cursor<'_>) -> Intermediate {
    let mut turn = AdkInvocation::default();
    read_intermediate(value, &mut turn);
    (turn.calls.unwrap_or_default(), turn.intermediate, turn.extra)
}

impl AdkInvocation {
    /// The turn as a line of the user, and what is expected then.
    pub(in crate::dataset) fn into_line(self) -> UserLine {
        UserLine {
            id: self.id,
            say: self.user.texts.join("\n"),
            attachments: self.user.others,
            expected: LineExpectation {
                reply: self.reply,
                calls: self.calls,
                // Where it stands among the calls is not expected.
                intermediate: self
                    .intermediate
                    .into_iter()
                    .map(|it| AuthoredText { after_calls: None, ..it })
                    .collect(),
                rubrics: self.rubrics,
            },
            extra: self.extra,
            ..UserLine::default()
        }
    }

    /// The turn as it was recorded.
    pub(in crate::dataset) fn into_recorded(self) -> RecordedTurn {
        RecordedTurn {
            id: self.id,
            user: match self.user.texts.is_empty() && !self.user.others.is_empty() {
                true => NO_TEXT.to_owned(),
                false => self.user.texts.join("\n"),
            },
            reply: self.reply,
            reply_after_calls: None,
            calls: self.calls.unwrap_or_default(),
            intermediate: self.intermediate,
            usage: None,
            extra: self.extra,
        }
    }
}
