//! On bytes that google-adk 2.13.0's `api_server` sent; its agent is in tests/transports/peers/adk.

use serde_json::json;

use super::*;
use crate::evidence::ToolCall;

fn read(event: Value) -> AdkEvent {
    AdkEvent::read(event).unwrap()
}

fn kinds(run: &AgentRun) -> Vec<EventKind> {
    run.events.iter().map(|event| event.kind.clone()).collect()
}

fn list(text: &str) -> Result<AgentRun, WireError> {
    parse_run(&serde_json::from_str::<Vec<Value>>(text).unwrap().into_iter().map(read).collect::<Vec<_>>())
}

fn stream(text: &str) -> Result<AgentRun, WireError> {
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    parse_run(&data.map(|data| read(serde_json::from_str(data).unwrap())).collect::<Vec<_>>())
}

fn usage(calls: u64) -> Option<Usage> {
    let call = Usage { cached_input_tokens: Some(3), ..Usage::from_counts(Some(12), Some(5)) };
    Some((1..calls).fold(call, |sum, _| sum.plus(call)))
}

#[test]
fn plain_text_is_the_reply() {
    let run = list(include_str!("../../../../tests/fixtures/adk/run-words.json")).unwrap();
    assert_eq!(run, AgentRun { text: "You said: Hello".to_owned(), events: vec![], usage: usage(1) });
    let run = stream(include_str!("../../../../tests/fixtures/adk/sse-words.txt")).unwrap();
    assert_eq!(run, AgentRun { text: "You said: Hello there".to_owned(), events: vec![], usage: usage(1) });
}

#[test]
fn texts_of_a_whole_event_are_a_line_each_and_pieces_are_joined() {
    let event = |partial: bool, parts: Value| json!({"author": "a", "partial": partial, "content": {"parts": parts}});
    let parts =
        json!([{"text": "It is 7."}, {"thought": true, "text": "Hm"}, {"text": ""}, {"text": "Anything else?"}]);
    assert_eq!(read(event(false, parts)).text(), "It is 7.\nAnything else?");
    assert_eq!(read(event(true, json!([{"text": "Hel"}, {"text": "lo"}]))).text(), "Hello");
}

#[test]
fn calls_results_and_earlier_texts_are_events() {
    for (run, thing, count) in [
        (list(include_str!("../../../../tests/fixtures/adk/run-tool.json")), "milk", 1),
        (stream(include_str!("../../../../tests/fixtures/adk/sse-tool.txt")), "tea", 2),
    ] {
        let run = run.unwrap();
        assert_eq!(run.text, format!("Noted: {thing}."));
        assert_eq!(run.usage, usage(2));
        assert_eq!(
            kinds(&run),
            [
                EventKind::Other { data: json!({"intermediate": "One moment.", "author": "helper"}) },
                EventKind::FunctionCall(ToolCall { function: "note".to_owned(), args: json!({"thing": thing}).into() }),
                EventKind::FunctionResponse { output: json!({"noted": thing, "count": count}).into() },
            ]
        );
    }
}

#[test]
fn what_the_agent_reports_as_its_failure_is_one() {
    for (run, failure) in [
        (list(include_str!("../../../../tests/fixtures/adk/run-refused.json")), "SAFETY: blocked by a filter"),
        (
            stream(include_str!("../../../../tests/fixtures/adk/sse-broken.txt")),
            "RuntimeError: the model is out of order",
        ),
    ] {
        assert_eq!(run.unwrap_err().to_string(), format!("the agent reported a failure: {failure}"));
    }
}

/// Cases of `Event.is_final_response` that the recorded agent has not.
#[test]
fn the_last_final_response_wins() {
    let message = |author: &str, text: &str| json!({"author": author, "content": {"parts": [{"text": text}]}});
    for (events, expected) in [
        (json!([message("a", "first"), message("b", "second")]), Ok("second")),
        (json!([message("a", "draft"), {"author": "a", "actions": {"artifactDelta": {"f": 1}}}]), Ok("draft")),
        (json!([message("user", "only the user")]), Err("without a final response")),
        (json!([]), Err("without a final response")),
        (json!([message("a", " ")]), Err("is empty")),
        (
            json!([{"author": "a", "content": {"parts": [{"text": "hm", "thought": true}, {"text": "Yes."}]}}]),
            Ok("Yes."),
        ),
        (
            json!([message("a", "before"), {"author": "a", "longRunningToolIds": ["t"], "content": {"parts": [
                {"functionCall": {"name": "approve", "id": "t"}}]}}]),
            Ok(""),
        ),
        (
            json!([{"author": "a", "actions": {"skipSummarization": true}, "content": {"parts": [
                {"functionResponse": {"name": "f", "response": {"result": 7}}}]}}]),
            Ok(r#"{"result":7}"#),
        ),
        (
            json!([message("a", "done"), {"author": "a", "content": {"parts": [
                {"codeExecutionResult": {"outcome": "OK"}}]}}]),
            Ok("done"),
        ),
        // trpc-agent-go: pieces only.
        (
            json!([{"author": "a", "object": "chat.completion.chunk", "partial": true, "content": {"parts": [{"text": "Hel"}]}},
                   {"author": "a", "object": "chat.completion.chunk", "partial": true, "content": {"parts": [{"text": "lo"}]}}]),
            Ok("Hello"),
        ),
        // ADK: the stream was cut off.
        (
            json!([{"author": "a", "partial": true, "content": {"parts": [{"text": "I have booked the "}]}}]),
            Err("there are only pieces of it"),
        ),
    ] {
        let run = list(&events.to_string());
        match expected {
            Ok(text) => assert_eq!(run.unwrap().text, text, "{events}"),
            Err(part) => assert!(run.as_ref().unwrap_err().to_string().contains(part), "{events}: {run:?}"),
        }
    }
    let run = list(&json!([message("a", "first"), message("b", "second")]).to_string()).unwrap();
    assert_eq!(kinds(&run), [EventKind::Other { data: json!({"intermediate": "first", "author": "a"}) }]);
    assert_eq!(run.usage, None);
}

#[test]
fn a_count_of_tokens_that_is_none_does_not_make_a_reply_unreadable() {
    for count in [json!(-1), json!(4.5), json!(1e30), json!("4"), json!(null), json!({})] {
        let event = json!([{"author": "a", "content": {"parts": [{"text": "Done."}]},
                            "usageMetadata": {"promptTokenCount": count, "candidatesTokenCount": 5}}]);
        let run = list(&event.to_string()).unwrap();
        let usage = run.usage.unwrap();
        assert_eq!((run.text.as_str(), usage.input_tokens, usage.output_tokens), ("Done.", None, Some(5)), "{count}");
    }
}

#[test]
fn an_older_server_is_recognised_by_the_body_that_it_took_for_the_state() {
    let state = json!({"city": "Rome"}).as_object().unwrap().clone();
    let recorded: Value = serde_json::from_str(include_str!("../../../../tests/fixtures/adk/session.json")).unwrap();
    assert!(!took_body_for_state(&recorded, &state));
    assert!(took_body_for_state(&json!({"id": "1", "state": {"state": {"city": "Rome"}}}), &state));
    assert_eq!(session_request(&state, false).unwrap(), json!({"state": {"city": "Rome"}}));
    assert_eq!(session_request(&state, true).unwrap(), json!({"city": "Rome"}));
    assert_eq!(session_request(&Map::new(), false), None);
}

/// As `Event.is_final_response` of ADK: the call of a long-running tool ends the run, and is one of its calls.
#[test]
fn a_run_that_ends_with_a_long_running_tool_has_its_call() {
    let call = json!({"functionCall": {"name": "approve", "id": "t", "args": {"sum": 7}}});
    let event = |parts: Value| json!([{"author": "a", "longRunningToolIds": ["t"], "content": {"parts": parts}}]);
    let expected = EventKind::FunctionCall(ToolCall { function: "approve".to_owned(), args: json!({"sum": 7}).into() });
    for (parts, text) in [(json!([call]), ""), (json!([{"text": "One moment."}, call]), "One moment.")] {
        let run = list(&event(parts.clone()).to_string()).unwrap();
        assert_eq!(run.text, text, "{parts}");
        assert_eq!(kinds(&run)[0], expected, "{parts}");
        assert!(matches!(&kinds(&run)[1], EventKind::Other { data } if data["longRunningToolIds"] == json!(["t"])));
    }
}

/// Events as `convertEventToADKFormat` of trpc-agent-go's server/debug/server.go writes them: of a run with a tool, whole
/// and in pieces.
#[test]
fn the_debug_server_of_trpc_agent_go_is_read() {
    let event = |author: &str, object: &str, partial: bool, done: bool, parts: Value| {
        let role = if object == "tool.response" { "tool" } else { "assistant" };
        json!({"invocationId": "inv-1", "author": author, "id": "r1", "timestamp": 1_755_000_000, "object": object,
               "actions": {"stateDelta": {}, "artifactDelta": {}, "requestedAuthConfigs": {}}, "partial": partial, "done": done,
               "content": {"role": role, "parts": parts}, "created": 1_755_000_000, "model": "scripted",
               "usageMetadata": {"promptTokenCount": 12, "candidatesTokenCount": 5, "totalTokenCount": 17}})
    };
    let say =
        |text: &str, partial: bool| event("helper", "chat.completion", partial, !partial, json!([{"text": text}]));
    let call =
        json!([{"text": "One moment."}, {"functionCall": {"name": "note", "args": {"thing": "tea"}, "id": "c1"}}]);
    let call = event("helper", "chat.completion", false, false, call);
    let result = json!([{"functionResponse": {"name": "note", "response": {"count": 1}, "id": "c1"}}]);
    let mut result = event("tool", "tool.response", false, false, result);
    result.as_object_mut().unwrap().remove("usageMetadata");
    let again = event("app", "runner.completion", false, true, json!([{"text": "Noted: tea."}]));
    let whole = json!([call, result, say("Noted: tea.", false)]);
    let repeated = json!([call, result, say("Noted: tea.", false), again]);
    let pieces =
        json!([say("One ", true), say("moment.", true), call, result, say("Noted", true), say(": tea.", true)]);
    for (events, calls) in [(whole, Some(2)), (repeated, Some(2)), (pieces, None)] {
        let run = list(&events.to_string()).unwrap();
        assert_eq!(run.text, "Noted: tea.", "{events}");
        assert_eq!(
            kinds(&run),
            [
                EventKind::Other { data: json!({"intermediate": "One moment.", "author": "helper"}) },
                EventKind::FunctionCall(ToolCall { function: "note".to_owned(), args: json!({"thing": "tea"}).into() }),
                EventKind::FunctionResponse { output: json!({"count": 1}).into() },
            ]
        );
        assert_eq!(run.usage.map(|usage| usage.calls), calls, "{events}");
    }
}

#[test]
fn the_raw_event_is_kept_with_the_part_that_it_is_of() {
    let run = list(include_str!("../../../../tests/fixtures/adk/run-tool.json")).unwrap();
    let shown: Vec<Value> = run.events.iter().map(Event::to_json).collect();
    assert_eq!(shown[1]["author"], "helper");
    assert_eq!(shown[1]["content"]["parts"].as_array().map(Vec::len), Some(1));
    assert_eq!(shown[1]["content"]["parts"][0]["functionCall"]["name"], "note");
    assert_eq!(shown[1]["request"]["arguments"], json!({"thing": "milk"}));
    assert_eq!(shown[2]["content"]["parts"][0]["functionResponse"]["name"], "note");
    let cut = json!([{"author": "a", "finishReason": "MAX_TOKENS", "content": {"parts": [{"text": "Hel"}]}}]);
    assert_eq!(
        kinds(&list(&cut.to_string()).unwrap()),
        [EventKind::Other { data: json!({"incomplete": "MAX_TOKENS"}) }]
    );
}

#[test]
fn json_of_another_shape_is_no_run() {
    assert!(is_foreign(&[read(json!({"answer": "hi"}))]));
    assert!(!is_foreign(&[]));
    assert!(!is_foreign(&[read(json!({"answer": "hi"})), read(json!({"author": "agent"}))]));
    assert!(!is_foreign(&[read(json!({"error": "out of order"}))]));
}
