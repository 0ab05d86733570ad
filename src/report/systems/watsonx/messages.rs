//! The messages of a conversation, and what was wrong with each.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::super::result::{CaseResult, TurnResult, call_id};
use crate::evidence::{AgentMessage, CallFinding, EventKind, ReviewedCall, ToolUse, ValueDifference};

/// `*.messages.json`: what both sides said, the calls and their results. A call or a result is a text of JSON.
pub(super) fn messages(result: &CaseResult<'_>) -> Vec<Value> {
    result.turns.iter().flat_map(of_turn).collect()
}

/// The messages of a turn. The reply alone has a `response_time`.
fn of_turn(turn: &TurnResult<'_>) -> Vec<Value> {
    let mut messages = Vec::new();
    if !turn.turn.is_greeting() {
        messages.push(message("user", turn.turn.user.clone(), "text", None));
    }
    let mut said = turn.turn.agent_messages().into_iter().peekable();
    let spoken = |said: AgentMessage<'_>| {
        message("assistant", said.text.to_owned(), "text", turn.turn.latency_ms.filter(|_| said.is_reply))
    };
    let mut place = 0;
    for calls in together(turn) {
        while let Some(said) = said.next_if(|said| said.after_calls <= place) {
            messages.push(spoken(said));
        }
        let named: Vec<(String, &ToolUse)> =
            (place..).zip(calls).map(|(place, call)| (call_id(call, turn.turn.number, place), call)).collect();
        messages.extend(asked(&named));
        messages.extend(named.iter().filter_map(|(id, call)| answered(id, call)));
        place += calls.len();
    }
    messages.extend(said.map(spoken));
    messages
}

/// The calls of a turn, those of one message together.
fn together<'a>(turn: &'a TurnResult<'_>) -> Vec<&'a [ToolUse]> {
    let made = turn.turn.events.iter().filter(|event| matches!(event.kind, EventKind::FunctionCall(_)));
    let begins: Vec<usize> = made.enumerate().filter(|(_, event)| !event.is_parallel).map(|(place, _)| place).collect();
    let ends = begins.iter().skip(1).copied().chain([turn.calls.len()]);
    let begins = begins.first().map(|_| 0).into_iter().chain(begins.iter().skip(1).copied());
    begins.zip(ends).filter_map(|(begin, end)| turn.calls.get(begin..end)).collect()
}

/// The message with some calls. Its text is the first of them, which is the only one that the original counts.
fn asked(calls: &[(String, &ToolUse)]) -> Option<Value> {
    let (id, first) = calls.first()?;
    let content = json!({ "type": "tool_call", "name": first.tool, "args": first.args, "id": id });
    let mut asked = message("assistant", content.to_string(), "tool_call", None);
    let listed = |(id, call): &(String, &ToolUse)| {
        let function = json!({ "name": call.tool, "arguments": call.args.to_string() });
        json!({ "id": id, "function": function, "type": "function" })
    };
    asked["tool_calls"] = calls.iter().map(listed).collect();
    Some(asked)
}

/// The message with the result of a call.
fn answered(id: &str, call: &ToolUse) -> Option<Value> {
    let answer = call.result.as_ref()?;
    let answer = answer.as_str().map_or_else(|| answer.to_string(), str::to_owned);
    let content = json!({ "type": "tool_response", "name": call.tool, "content": answer, "tool_call_id": id });
    let mut answered = message("assistant", content.to_string(), "tool_response", None);
    answered["tool_call_id"] = id.into();
    Some(answered)
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
    let mut errors: VecDeque<bool> = VecDeque::new();
    let with_reason = |message: &Value| {
        let reason = match message["type"].as_str() {
            // Of several calls in one message, the first with a reason.
            Some("tool_call") => {
                let count = message["tool_calls"].as_array().map_or(1, Vec::len);
                let calls: Vec<&ReviewedCall> = made.by_ref().take(count).collect();
                errors = calls.iter().filter(|it| it.call.result.is_some()).map(|it| it.error().is_some()).collect();
                calls.into_iter().find_map(|call| reason(call, &wanted))
            }
            Some("tool_response") if errors.pop_front() == Some(true) => Some(json!({ "reason": "runtime error" })),
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
    use crate::evidence::{Event, Turn};

    #[test]
    fn calls_of_one_message_stay_together() {
        let call = |name: &str| Event::call(name, json!({}), json!(null));
        let events = vec![call("a"), call("b").parallel(), call("c"), call("d").parallel()];
        let turn = Turn { events, ..Turn::answered(1, "Hi", "Hello") };
        let calls: Vec<ToolUse> = ToolUse::from_events(&turn.events);
        let turn = TurnResult { turn, calls, expected: None, metrics: Vec::new() };
        let tools = |calls: &[ToolUse]| calls.iter().map(|call| call.tool.clone()).collect::<Vec<_>>().join(" ");
        assert_eq!(together(&turn).into_iter().map(tools).collect::<Vec<_>>(), ["a b", "c d"]);
        let named: Vec<(String, &ToolUse)> = turn.calls[..2].iter().map(|call| (call.tool.clone(), call)).collect();
        let asked = asked(&named).unwrap();
        assert_eq!(asked["tool_calls"].as_array().unwrap().len(), 2);
        assert!(asked["content"].as_str().unwrap().contains("\"name\":\"a\""), "{asked}");
    }

    #[test]
    fn the_reply_alone_has_a_response_time() {
        let call = Event::call("look", json!({}), json!("found"));
        let events = vec![Event::intermediate("One moment", "agent"), call];
        let turn = Turn { events, latency_ms: Some(1234.4), ..Turn::answered(1, "Where is it?", "It is here") };
        let calls: Vec<ToolUse> = ToolUse::from_events(&turn.events);
        let messages = of_turn(&TurnResult { turn, calls, expected: None, metrics: Vec::new() });
        let times: Vec<(&str, Option<f64>)> = messages
            .iter()
            .map(|message| (message["type"].as_str().unwrap(), message["response_time"].as_f64()))
            .collect();
        let expected = [("text", None), ("text", None), ("tool_call", None), ("text", Some(1.234))];
        assert_eq!(times, expected, "{messages:#?}");
    }

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
