//! Replies transcribed from trpc-agent-go's own sources, as `server/trpcagent` would write them: the shapes are those of
//! `runResponse` (server/trpcagent/types.go), `event.Event` (event/event.go) and `model.Response` (model/response.go), the
//! stories those of server/trpcagent/server_test.go; events of a run with a tool are those of `llmflow`'s tool loop.

use serde_json::json;

use super::*;
use crate::evidence::{EventKind, ToolCall};

fn kinds(run: &AgentRun) -> Vec<EventKind> {
    run.events.iter().map(|event| event.kind.clone()).collect()
}

fn run(reply: Value) -> Result<AgentRun, WireError> {
    parse_run(&serde_json::from_value(reply).unwrap())
}

fn event(author: &str, object: &str, message: Value, more: Value) -> Value {
    let mut event = json!({
        "id": "e1", "object": object, "created": 1_764_000_000, "model": "scripted", "timestamp": "2026-01-05T10:00:00Z",
        "choices": [{"index": 0, "message": message, "delta": {"role": ""}, "finish_reason": "stop"}],
        "done": true, "is_partial": false, "requestID": "req-1", "invocationId": "inv-1", "author": author, "version": 1,
        "response": {"id": "r1", "timestamp": "2026-01-05T10:00:00Z"},
    });
    event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    event
}

fn usage(input: u64, output: u64) -> Value {
    json!({"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output,
           "prompt_tokens_details": {"cached_tokens": 3}})
}

fn with_a_tool() -> Vec<Value> {
    // {"city":"Rome"}
    let call = json!({"type": "function", "id": "call-1", "function": {"name": "weather", "arguments": "eyJjaXR5IjoiUm9tZSJ9"}});
    vec![
        event("helper", "preprocessing.instruction", json!({"role": ""}), json!({"choices": null, "done": false})),
        event("helper", "chat.completion.chunk", json!({"role": ""}), json!({"is_partial": true, "done": false})),
        event(
            "helper",
            "chat.completion",
            json!({"role": "assistant", "content": "One moment.", "tool_calls": [call]}),
            json!({"done": false, "usage": usage(10, 4)}),
        ),
        event(
            "helper",
            "tool.response",
            json!({"role": "tool", "content": "{\"sky\":\"clear\"}", "tool_id": "call-1", "tool_name": "weather"}),
            json!({"done": false}),
        ),
        event(
            "helper",
            "chat.completion",
            json!({"role": "assistant", "content": "Clear skies."}),
            json!({"usage": usage(20, 5)}),
        ),
    ]
}

#[test]
fn calls_results_and_earlier_words_are_events() {
    let again = event(
        "app",
        "runner.completion",
        json!({"role": "assistant", "content": "Clear skies."}),
        json!({"usage": usage(30, 9)}),
    );
    let silent = event("app", "runner.completion", json!({}), json!({"choices": null}));
    for completion in [again, silent] {
        let events = [with_a_tool(), vec![completion]].concat();
        let run = run(json!({"status": "completed", "events": events, "messages": []})).unwrap();
        assert_eq!(run.text, "Clear skies.");
        assert_eq!(
            kinds(&run),
            [
                EventKind::Other { data: json!({"intermediate": "One moment.", "author": "helper"}) },
                EventKind::FunctionCall(ToolCall {
                    function: "weather".to_owned(),
                    args: json!({"city": "Rome"}).into()
                }),
                EventKind::FunctionResponse { output: json!({"sky": "clear"}).into() },
            ]
        );
        let usage = run.usage.unwrap();
        assert_eq!((usage.calls, usage.input_tokens, usage.cached_input_tokens), (2, Some(30), Some(6)));
    }
}

#[test]
fn the_completion_wins_over_the_last_final_response() {
    let message = |author: &str, object: &str, text: &str| {
        event(author, object, json!({"role": "assistant", "content": text}), json!({}))
    };
    let events = json!([message("a", "chat.completion", "draft"), message("app", "runner.completion", "final")]);
    let run = run(json!({"status": "completed", "events": events})).unwrap();
    assert_eq!(run.text, "final");
    assert_eq!(kinds(&run), [EventKind::Other { data: json!({"intermediate": "draft", "author": "a"}) }]);
    assert_eq!(run.usage, None);
}

/// As `TestMessageCollectorMergesToolCallDeltaWithoutIndexOrID` and its neighbours put messages together.
#[test]
fn an_agent_that_sends_only_pieces_is_read_by_its_messages() {
    let completion = event("app", "runner.completion", json!({}), json!({"choices": null}));
    let messages = json!([
        {"role": "user", "content": "match_001"},
        {"role": "assistant", "tool_calls": [{"type": "function", "function": {"name": "lookup", "arguments": "eyJtYXRjaElkIjoibWF0Y2hfMDAxIn0="}}]},
        {"role": "tool", "content": "102 points", "tool_id": "tool-call-1", "tool_name": "lookup"},
        {"role": "assistant", "content": "alpha omega"},
    ]);
    let run = run(json!({"status": "completed", "events": [completion], "messages": messages})).unwrap();
    assert_eq!(run.text, "alpha omega");
    assert_eq!(
        kinds(&run),
        [
            EventKind::FunctionCall(ToolCall {
                function: "lookup".to_owned(),
                args: json!({"matchId": "match_001"}).into()
            }),
            EventKind::FunctionResponse { output: json!("102 points").into() },
        ]
    );
}

/// `TestServerRunReturnsFailedAgentResultAsHTTP200`, `…IncompleteRunResponseForContextError` and
/// `TestServerRunPreservesCompletedTraceWithStopAgentError`.
#[test]
fn what_the_agent_reports_as_its_failure_is_one() {
    let input = json!([{"role": "user", "content": "match_001"}]);
    for (status, message, expected) in [
        ("failed", "agent failed", "the agent reported a failure: agent failed"),
        ("incomplete", "context canceled", "the agent reported a failure: context canceled"),
        ("failed", "", "the agent reported that the run is failed"),
        ("completed", "stop requested", "the agent reported a failure: stop requested"),
        ("completed", "", "the run ended without a final response"),
    ] {
        let error = run(json!({"status": status, "errorMessage": message, "messages": input})).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    let mut events = with_a_tool();
    events.push(event("app", "runner.completion", json!({}), json!({"choices": null, "error": {"message": "stop"}})));
    let run = run(json!({"status": "completed", "events": events, "errorMessage": "stop"})).unwrap();
    assert_eq!(run.text, "Clear skies.");
    assert_eq!(kinds(&run).pop(), Some(EventKind::Other { data: json!({"error": "stop"}) }));
}

#[test]
fn a_reply_that_is_no_run_differs_from_one_that_failed() {
    for (reply, is_run) in [
        (json!({"status": "ok"}), false),
        (json!({"status": "completed"}), true),
        (json!({"status": "failed"}), true),
        (json!({"status": "cancelled", "errorMessage": "by the user"}), true),
        (json!({"status": "running", "events": []}), true),
    ] {
        let read: RunReply = serde_json::from_value(reply.clone()).unwrap();
        assert_eq!(read.is_run(), is_run, "{reply}");
    }
}

#[test]
fn nothing_is_sent_that_an_older_server_would_refuse() {
    let body = run_request("ann", "s1", "Hi", RunExtras { runtime_state: &Map::new(), wants_trace: false });
    assert_eq!(
        body,
        json!({"session": {"userId": "ann", "sessionId": "s1"}, "input": {"role": "user", "content": "Hi"}})
    );
    let state = json!({"city": "Rome"}).as_object().unwrap().clone();
    let options = |wants_trace: bool| {
        run_request("ann", "s1", "Hi", RunExtras { runtime_state: &state, wants_trace })["runOptions"].clone()
    };
    assert_eq!(options(false), json!({"runtimeState": {"city": "Rome"}}));
    assert_eq!(options(true), json!({"runtimeState": {"city": "Rome"}, "executionTraceEnabled": true}));
}

#[test]
fn the_steps_of_a_trace_are_events() {
    let trace = json!({"RootAgentName": "helper", "Status": "completed", "Steps": [
        {"StepID": "1", "NodeID": "plan", "NodeType": "llm", "Input": {"Text": "q"}, "Output": {"Text": "a"}, "Tools": null}]});
    let run = run(json!({"status": "completed", "events": with_a_tool(), "executionTrace": trace})).unwrap();
    let step = json!({"traceStep": {"node": "plan", "input": "q", "output": "a", "tools": [], "skills": []}});
    assert_eq!(kinds(&run).last(), Some(&EventKind::Other { data: step }));
}
