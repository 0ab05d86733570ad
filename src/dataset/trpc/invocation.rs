//! One turn, expected or recorded.

use serde_json::{Map, Value};

use super::message::{read_message, read_messages};
use super::mock::read_mocks;
use super::{KEYS, UNKNOWN};
use crate::dataset::adk;
use crate::dataset::cursor::Cursor;
use crate::dataset::model::{
    AuthoredText, ContextMessage, DatasetCall, LineExpectation, RecordedTurn, ToolMock, UserLine,
};

/// A turn as the file says it.
#[derive(Debug, Default)]
pub(in crate::dataset) struct TrpcInvocation {
    id: String,
    /// The user's message.
    pub(super) user: ContextMessage,
    reply: Option<String>,
    calls: Option<Vec<DatasetCall>>,
    intermediate: Vec<AuthoredText>,
    context: Vec<ContextMessage>,
    mocks: Vec<ToolMock>,
    expected_mocks: Vec<ToolMock>,
    extra: Map<String, Value>,
}

/// Reads one turn. Only placeholders of an expected runner may lack the user's message.
pub(in crate::dataset) fn read_invocation(value: Cursor<'_>) -> Option<TrpcInvocation> {
    let mut fields = value.fields(KEYS)?;
    let mut turn = TrpcInvocation { id: fields.text("invocationId").unwrap_or_default(), ..TrpcInvocation::default() };
    if let Some(user) = fields.required("userContent") {
        turn.user = read_message(user);
        if turn.user.content.is_empty() && turn.user.extra.is_empty() {
            user.error("the user's message has no text");
        }
    }
    if let Some(reply) = fields.get("finalResponse") {
        let message = read_message(reply);
        // An empty text is expected, too; parts that are no text are kept beside it.
        turn.reply = Some(message.content).filter(|text| !text.is_empty() || message.extra.is_empty());
        if !message.extra.is_empty() {
            reply.warn("parts of this reply are no text; they are kept, but not compared");
            turn.extra.insert("finalResponse".to_owned(), Value::Object(message.extra));
        }
    }
    turn.context = read_messages(fields.items("contextMessages"));
    if let Some(tools) = fields.get("tools") {
        turn.calls = Some(tools.items().into_iter().filter_map(read_tool).collect());
    }
    let said = fields.items("intermediateResponses");
    for (said, place) in read_messages(said.clone()).into_iter().zip(said.iter().filter(|it| !it.is_null())) {
        if !said.extra.is_empty() {
            place.warn("parts of this message are no text; they are left out");
        }
        turn.intermediate.push(AuthoredText { author: said.role, text: said.content, after_calls: None });
    }
    if let Some(data) = fields.get("intermediateData") {
        let (calls, said, left) = adk::read_intermediate_data(data);
        match &mut turn.calls {
            Some(known) => known.extend(calls),
            none => *none = Some(calls),
        }
        turn.intermediate.extend(said);
        turn.extra.extend(left);
    }
    if let Some(mock) = fields.get("toolMock").and_then(|mock| mock.fields(KEYS)) {
        let mut mock = mock;
        turn.mocks = read_mocks(mock.items("actual"));
        turn.expected_mocks = read_mocks(mock.items("expected"));
        mock.rest(UNKNOWN);
    }
    if let Some(trace) = fields.get("executionTrace") {
        check_trace(trace);
    }
    for name in ["executionTrace", "creationTimestamp"] {
        if let Some(value) = fields.get(name) {
            turn.extra.insert(name.to_owned(), value.json());
        }
    }
    turn.extra.extend(fields.rest(UNKNOWN));
    Some(turn)
}

/// Checks the parts of a trace that judges may be shown; what else is in it is kept as it is.
fn check_trace(value: Cursor<'_>) {
    let Some(mut trace) = value.fields(KEYS) else { return };
    for step in trace.items("Steps").into_iter().filter_map(|step| step.fields(KEYS)) {
        let mut step = step;
        step.text("NodeID");
        for side in ["Input", "Output"] {
            if let Some(mut said) = step.get(side).and_then(|said| said.fields(KEYS)) {
                said.text("Text");
            }
        }
        for list in ["Tools", "Skills"] {
            step.items(list).into_iter().for_each(|item| drop(item.fields(KEYS)));
        }
    }
}

/// Reads `{"id", "name", "arguments", "result"}`.
fn read_tool(value: Cursor<'_>) -> Option<DatasetCall> {
    let mut fields = value.fields(KEYS)?;
    let id = fields.text("id").filter(|id| !id.is_empty());
    let tool = fields.required("name").and_then(Cursor::filled_text).unwrap_or_default().to_owned();
    let args = fields.get("arguments").map(Cursor::lazy);
    let result = fields.get("result").map(Cursor::lazy);
    fields.rest(UNKNOWN);
    Some(DatasetCall { id, tool, args, result, ..DatasetCall::default() })
}

impl TrpcInvocation {
    /// The turn as a line of the user, and what is expected then.
    pub(in crate::dataset) fn into_line(self) -> UserLine {
        let expected = LineExpectation {
            reply: self.reply,
            calls: self.calls,
            intermediate: self.intermediate,
            rubrics: Vec::new(),
        };
        let (say, attachments) = say(self.user);
        UserLine {
            id: self.id,
            say,
            attachments,
            context: self.context,
            expected,
            mocks: self.mocks,
            expected_runner_mocks: self.expected_mocks,
            extra: self.extra,
        }
    }

    /// The user's message of the turn, with nothing expected.
    pub(super) fn line_alone(&self) -> UserLine {
        let (say, attachments) = say(self.user.clone());
        UserLine { id: self.id.clone(), say, attachments, context: self.context.clone(), ..UserLine::default() }
    }

    /// The turn as it was recorded.
    pub(in crate::dataset) fn into_recorded(self) -> RecordedTurn {
        RecordedTurn {
            id: self.id,
            user: self.user.content,
            // An empty text is a reply, too.
            reply: self.reply,
            reply_after_calls: None,
            calls: self.calls.unwrap_or_default().into_iter().map(as_recorded).collect(),
            intermediate: self.intermediate,
            usage: None,
            extra: self.extra,
        }
    }
}

/// Arguments that are left out are null, on both sides.
fn as_recorded(call: DatasetCall) -> DatasetCall {
    DatasetCall { args: Some(call.args.unwrap_or_default()), ..call }
}

/// A user's message as its text and what it has beside it.
fn say(message: ContextMessage) -> (String, Vec<Value>) {
    let attachments = if message.extra.is_empty() { Vec::new() } else { vec![Value::Object(message.extra)] };
    (message.content, attachments)
}
