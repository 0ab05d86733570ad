//! Result files of ADK and trpc-agent-go: what was said, and what was expected.

use serde_json::{Map, Value};

use super::{Recorded, numbered};
use crate::dataset::cursor::{Cursor, Fields, Spelling};
use crate::dataset::json::JsonNode;
use crate::dataset::model::{CaseSession, RecordedTurn, UserLine};
use crate::dataset::{adk, trpc};

/// Reads a result file of ADK.
pub(super) fn read_adk(value: Cursor<'_>, _: &str) -> Vec<Recorded> {
    let Some(mut fields) = value.fields(Spelling::SnakeOrCamel) else { return Vec::new() };
    let cases = fields.required("eval_case_results").map(Cursor::items).unwrap_or_default();
    cases.into_iter().filter_map(read_adk_case).collect()
}

fn read_adk_case(value: Cursor<'_>) -> Option<Recorded> {
    let mut fields = value.fields(Spelling::SnakeOrCamel)?;
    let id = fields.required("eval_id").or_else(|| fields.get("eval_case_id")).and_then(Cursor::text)?.to_owned();
    let mut conversation = Recorded { id, ..Recorded::default() };
    let (mut turns, mut expected) = (Vec::new(), Vec::new());
    for pair in fields.items("eval_metric_result_per_invocation") {
        let Some(mut pair) = pair.fields(Spelling::SnakeOrCamel) else { continue };
        let read = |value: Cursor<'_>| adk::read_invocation(value);
        turns.extend(pair.get("actual_invocation").and_then(read).map(adk::AdkInvocation::into_recorded));
        expected.extend(pair.get("expected_invocation").and_then(read).map(adk::AdkInvocation::into_line));
    }
    let names = ["session_id", "user_id"];
    finish(&mut conversation, &mut fields, names, turns, expected);
    // A session of ADK's: its events are the invocations above.
    conversation.state =
        fields.get("session_details").and_then(|session| session.node.get("state")).map(JsonNode::to_json);
    keep(&mut conversation.extra, &mut fields, &["final_eval_status", "overall_eval_metric_results", "eval_set_id"]);
    Some(conversation)
}

/// Reads a list of ADK's invocations: one conversation, named after the file.
pub(super) fn read_adk_invocations(value: Cursor<'_>, name: &str) -> Vec<Recorded> {
    let turns: Vec<RecordedTurn> =
        value.items().into_iter().filter_map(adk::read_invocation).map(adk::AdkInvocation::into_recorded).collect();
    vec![Recorded::new(name, turns)]
}

/// Reads a result file of trpc-agent-go, of either generation.
pub(super) fn read_trpc(value: Cursor<'_>, _: &str) -> Vec<Recorded> {
    let Some(mut fields) = value.fields(Spelling::AnyCase) else { return Vec::new() };
    if let Some(inner) = fields.get("evalSetResult") {
        return read_trpc(inner, "");
    }
    let cases = fields.required("evalCaseResults").map(Cursor::items).unwrap_or_default();
    cases.into_iter().filter_map(read_trpc_case).collect()
}

fn read_trpc_case(value: Cursor<'_>) -> Option<Recorded> {
    let mut fields = value.fields(Spelling::AnyCase)?;
    let id = fields.required("evalId").and_then(Cursor::text)?.to_owned();
    let run = fields.get("runId").and_then(Cursor::whole).and_then(|run| u64::try_from(run).ok());
    let mut conversation = Recorded { id, run, ..Recorded::default() };
    conversation.error = fields.text("errorMessage").filter(|error| !error.is_empty());
    let (mut turns, mut expected) = (Vec::new(), Vec::new());
    for pair in fields.items("evalMetricResultPerInvocation") {
        let Some(mut pair) = pair.fields(Spelling::AnyCase) else { continue };
        let read = |value: Cursor<'_>| trpc::read_invocation(value);
        turns.extend(pair.get("actualInvocation").and_then(read).map(trpc::TrpcInvocation::into_recorded));
        expected.extend(pair.get("expectedInvocation").and_then(read).map(trpc::TrpcInvocation::into_line));
    }
    finish(&mut conversation, &mut fields, ["sessionId", "userId"], turns, expected);
    keep(&mut conversation.extra, &mut fields, &["finalEvalStatus", "overallEvalMetricResults", "score", "evalSetId"]);
    Some(conversation)
}

fn finish(
    conversation: &mut Recorded,
    fields: &mut Fields<'_>,
    [session, user]: [&'static str; 2],
    turns: Vec<RecordedTurn>,
    expected: Vec<UserLine>,
) {
    let is_empty = turns.is_empty();
    conversation.turns = numbered(turns);
    conversation.expected = expected;
    let (id, user) = (fields.text(session), fields.text(user));
    conversation.session = CaseSession { id, user, ..CaseSession::default() };
    if is_empty && conversation.error.is_none() {
        fields.cursor.warn("no turn of this conversation was recorded");
    }
}

/// Keeps what its system came to.
fn keep(extra: &mut Map<String, Value>, fields: &mut Fields<'_>, names: &[&'static str]) {
    for name in names {
        if let Some(value) = fields.get(name) {
            extra.insert((*name).to_owned(), value.json());
        }
    }
}
