//! A case of fixed lines as an eval set has it.

use serde_json::{Value, json};

use crate::dataset::Kind;
use crate::dataset::model::{CaseExpectation, CaseUser, DatasetCase, UserLine};

/// The case as an eval set of this kind has it; `None` where it can't be said there.
pub fn written_case(case: &DatasetCase, kind: Kind) -> Option<Value> {
    let CaseUser::Lines(lines) = &case.user else { return None };
    if case.expected != CaseExpectation::default() {
        return None;
    }
    let (id, session, turns) = match kind {
        Kind::AdkEvalSet => ("eval_id", ["session_input", "app_name", "user_id"], lines.iter().map(adk_turn).collect()),
        Kind::TrpcEvalSet => ("evalId", ["sessionInput", "appName", "userId"], lines.iter().map(trpc_turn).collect()),
        _ => return None,
    };
    let mut written = json!({ id: case.id, "conversation": Value::Array(turns) });
    let [input, app, user] = session;
    if let (Some(own_app), Some(own_user)) = (&case.session.app, &case.session.user) {
        written[input] = json!({ app: own_app, user: own_user, "state": case.session.state });
    }
    Some(written)
}

fn adk_turn(line: &UserLine) -> Value {
    let content = |role: &str, text: &str| json!({ "role": role, "parts": [{ "text": text }] });
    let mut turn = json!({ "user_content": content("user", &line.say) });
    if let Some(reply) = &line.expected.reply {
        turn["final_response"] = content("model", reply);
    }
    if let Some(calls) = &line.expected.calls {
        let calls = calls.iter().map(|call| json!({ "name": call.tool, "args": call.args }));
        turn["intermediate_data"] = json!({ "tool_uses": calls.collect::<Vec<_>>() });
    }
    turn
}

fn trpc_turn(line: &UserLine) -> Value {
    let mut turn = json!({ "userContent": { "role": "user", "content": line.say } });
    if let Some(reply) = &line.expected.reply {
        turn["finalResponse"] = json!({ "role": "assistant", "content": reply });
    }
    if let Some(calls) = &line.expected.calls {
        turn["tools"] = calls.iter().map(|call| json!({ "name": call.tool, "arguments": call.args })).collect();
    }
    turn
}
