//! The older formats: a list of turns, which is one case, and a list of such lists with names.

use super::KEYS;
use super::eval_set::read_session;
use crate::dataset::Kind;
use crate::dataset::cursor::{Cursor, Spelling, UnknownKeys};
use crate::dataset::model::{
    AuthoredText, CaseSession, CaseUser, Dataset, DatasetCall, DatasetCase, LineExpectation, ToolMock, UserLine,
};

/// Reads a list of turns: one case, named after the file.
pub(in crate::dataset) fn read_test_list(value: Cursor<'_>, name: &str) -> Dataset {
    let user = CaseUser::Lines(value.items().into_iter().filter_map(read_turn).collect());
    let case = DatasetCase { id: name.to_owned(), user, line: value.line(), ..DatasetCase::default() };
    Dataset { cases: vec![case], ..Dataset::new(Kind::AdkTestList, name) }
}

/// Reads a list of named lists of turns.
pub(in crate::dataset) fn read_old_eval_set(value: Cursor<'_>, name: &str) -> Dataset {
    let cases = value.items().into_iter().filter_map(read_case).collect();
    Dataset { cases, ..Dataset::new(Kind::AdkOldEvalSet, name) }
}

fn read_case(value: Cursor<'_>) -> Option<DatasetCase> {
    let mut fields = value.fields(Spelling::Exact)?;
    let id = fields.required("name").and_then(Cursor::filled_text).unwrap_or_default().to_owned();
    let mut lines = Vec::new();
    if let Some(data) = fields.required("data") {
        let turns = data.items();
        if turns.is_empty() {
            data.error("this case has no turns");
        }
        lines = turns.into_iter().filter_map(read_turn).collect();
    }
    let session = fields.get("initial_session").filter(|session| !session.node.entries().is_empty());
    let session: CaseSession = session.map(|session| read_session(session, false)).unwrap_or_default();
    let extra = fields.rest(UnknownKeys::Kept);
    let user = CaseUser::Lines(lines);
    Some(DatasetCase { id, user, session, extra, line: value.line(), ..DatasetCase::default() })
}

fn read_turn(value: Cursor<'_>) -> Option<UserLine> {
    let mut fields = value.fields(Spelling::Exact)?;
    let say = fields.required("query").and_then(Cursor::text).unwrap_or_default().to_owned();
    let reply = fields.text("reference").filter(|reply| !reply.is_empty());
    let mut mocks = Vec::new();
    let calls = fields.get("expected_tool_use").map(|calls| {
        calls.items().into_iter().filter_map(|call| read_tool_use(call, &mut mocks)).collect::<Vec<DatasetCall>>()
    });
    let said = fields.items("expected_intermediate_agent_responses").into_iter();
    let intermediate = said.filter_map(read_message).collect();
    let extra = fields.rest(UnknownKeys::Kept);
    let expected = LineExpectation { reply, calls, intermediate, rubrics: Vec::new() };
    Some(UserLine { say, expected, mocks, extra, ..UserLine::default() })
}

/// Reads an expected call. Its mocked output was for tests of ADK's own; no call is compared with it.
fn read_tool_use(value: Cursor<'_>, mocks: &mut Vec<ToolMock>) -> Option<DatasetCall> {
    let mut fields = value.fields(Spelling::Exact)?;
    let tool = fields.required("tool_name").and_then(Cursor::filled_text).unwrap_or_default().to_owned();
    let args = serde_json::Value::Object(fields.map("tool_input"));
    if let Some(result) = fields.get("mock_tool_output") {
        let arguments = Some(serde_json::json!({"expected": args}));
        mocks.push(ToolMock { tool: tool.clone(), arguments, result: Some(result.json()), prompt: None });
    }
    fields.rest(UnknownKeys::Kept);
    Some(DatasetCall { tool, args: Some(args.into()), ..DatasetCall::default() })
}

fn read_message(value: Cursor<'_>) -> Option<AuthoredText> {
    let mut fields = value.fields(KEYS)?;
    let author = fields.text("author").unwrap_or_default();
    let text = fields.text("text").unwrap_or_default();
    fields.rest(UnknownKeys::Kept);
    Some(AuthoredText { author, text, after_calls: None })
}
