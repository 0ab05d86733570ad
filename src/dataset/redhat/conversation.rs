//! Conversations: what the user says, or what was said.

use serde_json::Value;

use super::metrics::{MetricSet, metrics};
use crate::dataset::Kind;
use crate::dataset::cursor::{Cursor, Spelling, UnknownKeys};
use crate::dataset::model::{CaseSession, CaseUser, ContextFile, Dataset, DatasetCase, RecordedTurn, UserLine};

/// Reads a conversation: one case, named after the file. Of a predefined one only the user's messages are sent; one that has
/// the agent's too was recorded.
pub(in crate::dataset) fn read_conversation(value: Cursor<'_>, name: &str, known_users: Option<&[String]>) -> Dataset {
    let mut dataset = Dataset::new(Kind::RedhatConversation, name);
    let mut case = DatasetCase { id: name.to_owned(), line: value.line(), ..DatasetCase::default() };
    let Some(mut fields) = value.fields(Spelling::Exact) else { return dataset };
    if let Some(mut metadata) = fields.required("metadata").and_then(|metadata| metadata.fields(Spelling::Exact)) {
        let user = metadata.required("authoritative_user_id");
        let id = user.and_then(Cursor::filled_text);
        if let (Some(user), Some(id), Some(known)) = (user, id, known_users)
            && !known.iter().any(|known| known == id)
        {
            user.warn(
                "this user is not among the `authoritative_user_ids`: the tools of the agent may know nothing of it",
            );
        }
        case.session = CaseSession { user: id.map(str::to_owned), ..CaseSession::default() };
        case.description = metadata.text("description").filter(|text| !text.is_empty());
        case.extra = metadata.rest(UnknownKeys::Kept);
    }
    let mut turns: Vec<RecordedTurn> = Vec::new();
    if let Some(conversation) = fields.required("conversation") {
        for item in conversation.items() {
            read_turn(item, &mut turns);
        }
        if turns.iter().all(|turn| turn.user.is_empty()) {
            conversation.error("the user says nothing in this conversation");
        }
    }
    let line = |turn: &RecordedTurn| UserLine { say: turn.user.clone(), ..UserLine::default() };
    case.user = CaseUser::Lines(turns.iter().filter(|turn| !turn.user.is_empty()).map(line).collect());
    if turns.iter().any(|turn| turn.reply.is_some()) {
        case.recorded = Some(joined(turns));
    }
    dataset.extra = fields.rest(UnknownKeys::Kept);
    dataset.cases = vec![case];
    dataset.metrics = metrics(MetricSet::default());
    dataset
}

/// Turns of which the user spoke before the agent could are one, as DeepEval's judges see them.
fn joined(turns: Vec<RecordedTurn>) -> Vec<RecordedTurn> {
    let mut joined: Vec<RecordedTurn> = Vec::new();
    for turn in turns {
        match joined.last_mut().filter(|last| last.reply.is_none() && !last.user.is_empty()) {
            Some(last) => {
                let user = format!("{}\n{}", last.user, turn.user);
                *last = RecordedTurn { user, ..turn };
            }
            None => joined.push(turn),
        }
    }
    joined
}

/// Reads one message. The agent's first one is its greeting; of several in a row the last one is the reply.
fn read_turn(value: Cursor<'_>, turns: &mut Vec<RecordedTurn>) {
    let Some(mut fields) = value.fields(Spelling::Exact) else { return };
    let role = fields.required("role");
    let content = fields.required("content").and_then(Cursor::text).unwrap_or_default().to_owned();
    let is_agent = match role.and_then(Cursor::text) {
        Some("assistant") => true,
        Some("user") | None => false,
        Some(_) => {
            role.into_iter()
                .for_each(|role| role.warn("a role is `user` or `assistant`; this one is taken for the user"));
            false
        }
    };
    if content.trim().is_empty() {
        value.warn("this message is empty; it is left out");
    } else if !is_agent {
        turns.push(RecordedTurn { user: content, ..RecordedTurn::default() });
    } else {
        if turns.is_empty() {
            turns.push(RecordedTurn::default());
        }
        if let Some(turn) = turns.last_mut() {
            turn.say("assistant", Some(content));
        }
    }
    fields.rest(UnknownKeys::Kept);
}

/// The ids in a file of them: one a line, or a JSON list.
pub(in crate::dataset) fn user_ids(text: &str) -> Vec<String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let id = |value: &Value| match value {
        Value::String(id) => id.trim().to_owned(),
        other => other.to_string(),
    };
    if let Ok(ids) = serde_json::from_str::<Vec<Value>>(text) {
        return ids.iter().map(id).filter(|id| !id.is_empty()).collect();
    }
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// The texts of a context file: of JSON each item of a list, or what stands at `context`; of anything else all of it. An empty one
/// is none.
pub(in crate::dataset) fn read_context(name: &str, text: &str) -> Vec<ContextFile> {
    let mut files = texts_of(name, text);
    files.retain(|file| !file.text.trim().is_empty());
    files
}

fn texts_of(name: &str, text: &str) -> Vec<ContextFile> {
    let file = |text: String| ContextFile { name: name.to_owned(), text };
    if !name.ends_with(".json") {
        return vec![file(text.to_owned())];
    }
    let written = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    };
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Array(items)) => items.iter().map(|item| file(written(item))).collect(),
        Ok(Value::Object(map)) if map.contains_key("context") => match &map["context"] {
            Value::Array(items) => items.iter().map(|item| file(written(item))).collect(),
            other => vec![file(written(other))],
        },
        Ok(other) => vec![file(written(&other))],
        Err(_) => vec![file(text.to_owned())],
    }
}
