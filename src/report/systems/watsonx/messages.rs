//! The messages of a conversation, and what was wrong with each.

use serde_json::{Value, json};

use super::super::result::{CaseResult, call_id};
use crate::evidence::{AgentMessage, CallFinding, ReviewedCall, ToolUse, ValueDifference};

/// `*.messages.json`: what both sides said, the calls and their results. A call or a result is a text of JSON.
pub(super) fn messages(result: &CaseResult<'_>) -> Vec<Value> {
    let mut messages = Vec::new();
    for turn in &result.turns {
        if !turn.turn.is_greeting() {
            messages.push(message("user", turn.turn.user.clone(), "text", None));
        }
        let mut said = turn.turn.agent_messages().into_iter().peekable();
        let spoken = |said: AgentMessage<'_>| {
            let is_reply = turn.turn.agent.as_deref() == Some(said.text);
            message("assistant", said.text.to_owned(), "text", turn.turn.latency_ms.filter(|_| is_reply))
        };
        for (place, call) in turn.calls.iter().enumerate() {
            while let Some(said) = said.next_if(|said| said.after_calls <= place) {
                messages.push(spoken(said));
            }
            let id = call_id(call, turn.turn.number, place);
            let content = json!({ "type": "tool_call", "name": call.tool, "args": call.args, "id": id });
            let mut asked = message("assistant", content.to_string(), "tool_call", None);
            let function = json!({ "name": call.tool, "arguments": call.args.to_string() });
            asked["tool_calls"] = json!([{ "id": id, "function": function, "type": "function" }]);
            messages.push(asked);
            if let Some(answer) = &call.result {
                let answer = answer.as_str().map_or_else(|| answer.to_string(), str::to_owned);
                let content =
                    json!({ "type": "tool_response", "name": call.tool, "content": answer, "tool_call_id": id });
                let mut answered = message("assistant", content.to_string(), "tool_response", None);
                answered["tool_call_id"] = id.into();
                messages.push(answered);
            }
        }
        messages.extend(said.map(spoken));
    }
    messages
}

fn message(role: &str, content: String, kind: &str, latency_ms: Option<f64>) -> Value {
    let seconds = latency_ms.map(|latency| latency.round() / 1000.0);
    json!({ "role": role, "content": content, "type": kind, "response_time": seconds })
}

/// `*.messages.analyze.json`: the messages, each with what was wrong with it, and behind them what is missing.
pub(super) fn analyzed(result: &CaseResult<'_>, messages: &[Value]) -> Vec<Value> {
    let review = result.review;
    let wanted: Vec<&ToolUse> =
        review.turns.iter().filter_map(|turn| turn.calls.as_ref()).chain(&review.calls).flatten().collect();
    let mut made = review.made.iter();
    let mut is_error = false;
    let with_reason = |message: &Value| {
        let reason = match message["type"].as_str() {
            Some("tool_call") => made.next().and_then(|call| {
                is_error = call.error().is_some();
                reason(call, &wanted)
            }),
            Some("tool_response") if is_error => Some(json!({ "reason": "runtime error" })),
            _ => None,
        };
        json!({ "message": message, "reason": reason })
    };
    let mut analyzed: Vec<Value> = messages.iter().map(with_reason).collect();
    let mut missed: Vec<&str> = result.review.missed.iter().map(|missed| missed.call.tool.as_str()).collect();
    missed.sort_unstable();
    missed.dedup();
    if !missed.is_empty() {
        analyzed.push(json!({ "meta": { "missed_tool_calls": missed } }));
    }
    analyzed
}

/// Why a call meets no goal. Those beside the goals, which are no fault of a journey, have a reason there as well.
fn reason(made: &ReviewedCall, wanted: &[&ToolUse]) -> Option<Value> {
    match &made.finding {
        CallFinding::AsExpected => None,
        CallFinding::Unjudged if wanted.is_empty() => None,
        CallFinding::Unjudged | CallFinding::NotExpected => {
            let goal = wanted.iter().find(|goal| goal.tool == made.call.tool);
            let Some(goal) = goal else { return Some(json!({ "reason": "irrelevant tool call" })) };
            let differs = |(name, expected): (&String, &Value)| {
                let actual = made.call.args.get(name);
                let difference =
                    ValueDifference { path: name.clone(), expected: Some(expected.clone()), actual: actual.cloned() };
                (actual != Some(expected)).then(|| parameter(&difference))
            };
            let parameters: Vec<Value> = goal.args.as_object().into_iter().flatten().filter_map(differs).collect();
            Some(json!({ "reason": "incorrect parameters", "parameters": parameters }))
        }
        CallFinding::OutOfOrder => Some(json!({ "reason": "incorrect order" })),
        CallFinding::Differs(differences) => {
            let parameters: Vec<Value> = differences.iter().map(parameter).collect();
            Some(json!({ "reason": "incorrect parameters", "parameters": parameters }))
        }
    }
}

fn parameter(difference: &ValueDifference) -> Value {
    json!({
        "name": difference.path.strip_prefix("args.").unwrap_or(&difference.path),
        "expected": difference.expected,
        "actual": difference.actual,
        "match_type": "strict",
        "matched": false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_meets_no_goal_has_a_reason() {
        let goal = ToolUse::new("get", json!({"u": "x"}));
        let of = |tool: &str, args: Value, wanted: &[&ToolUse]| {
            let call = ToolUse::new(tool, args);
            reason(&ReviewedCall { turn: 1, call, finding: CallFinding::Unjudged }, wanted)
        };
        let wrong = of("get", json!({"u": "wrong"}), &[&goal]).unwrap();
        assert_eq!(
            (&wrong["reason"], wrong["parameters"].as_array().unwrap().len()),
            (&json!("incorrect parameters"), 1)
        );
        assert_eq!(wrong["parameters"][0]["actual"], "wrong");
        assert_eq!(of("other", json!({}), &[&goal]).unwrap(), json!({"reason": "irrelevant tool call"}));
        assert_eq!(of("other", json!({}), &[]), None, "nothing is expected");
    }
}
