//! On bytes that google-adk 2.13.0's `api_server` sent; its agent is in tests/transports/peers/adk.

use serde_json::json;

use super::*;

fn list(text: &str) -> Result<Run, String> {
    run_of(&serde_json::from_str::<Vec<AdkEvent>>(text).unwrap())
}

fn stream(text: &str) -> Result<Run, String> {
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    run_of(&data.map(|data| serde_json::from_str(data).unwrap()).collect::<Vec<AdkEvent>>())
}

fn usage(calls: u64) -> Option<Usage> {
    let call = Usage { cached_input_tokens: Some(3), ..Usage::of_call(Some(12), Some(5)) };
    Some((1..calls).fold(call, |sum, _| sum.plus(call)))
}

#[test]
fn plain_words_are_the_reply() {
    let run = list(include_str!("../../../../tests/fixtures/adk/run-words.json")).unwrap();
    assert_eq!(run, Run { text: "You said: Hello".to_owned(), events: vec![], usage: usage(1) });
    let run = stream(include_str!("../../../../tests/fixtures/adk/sse-words.txt")).unwrap();
    assert_eq!(run, Run { text: "You said: Hello there".to_owned(), events: vec![], usage: usage(1) });
}

#[test]
fn calls_results_and_earlier_words_are_events() {
    for (run, thing, count) in [
        (list(include_str!("../../../../tests/fixtures/adk/run-tool.json")), "milk", 1),
        (stream(include_str!("../../../../tests/fixtures/adk/sse-tool.txt")), "tea", 2),
    ] {
        let run = run.unwrap();
        assert_eq!(run.text, format!("Noted: {thing}."));
        assert_eq!(run.usage, usage(2));
        assert_eq!(
            run.events,
            [
                Event::Other { data: json!({"intermediate": "One moment.", "author": "helper"}) },
                Event::FunctionCall(ToolCall { function: "note".to_owned(), args: json!({"thing": thing}) }),
                Event::FunctionResponse { output: json!({"noted": thing, "count": count}) },
            ]
        );
    }
}

#[test]
fn what_the_agent_reports_as_its_failure_is_one() {
    for (run, words) in [
        (list(include_str!("../../../../tests/fixtures/adk/run-refused.json")), "SAFETY: blocked by a filter"),
        (
            stream(include_str!("../../../../tests/fixtures/adk/sse-broken.txt")),
            "RuntimeError: the model is out of order",
        ),
    ] {
        assert_eq!(run.unwrap_err(), format!("the agent reported a failure: {words}"));
    }
}

/// Cases of `Event.is_final_response` that the recorded agent has not.
#[test]
fn the_last_final_response_wins() {
    let words = |author: &str, text: &str| json!({"author": author, "content": {"parts": [{"text": text}]}});
    for (events, expected) in [
        (json!([words("a", "first"), words("b", "second")]), Ok("second")),
        (json!([words("a", "said"), {"author": "a", "actions": {"artifactDelta": {"f": 1}}}]), Ok("said")),
        (json!([words("user", "only the user")]), Err("without a final response")),
        (json!([]), Err("without a final response")),
        (json!([words("a", " ")]), Err("is empty")),
        (
            json!([{"author": "a", "content": {"parts": [{"text": "hm", "thought": true}, {"text": "Yes."}]}}]),
            Ok("Yes."),
        ),
        (
            json!([words("a", "before"), {"author": "a", "longRunningToolIds": ["t"], "content": {"parts": [
                {"functionCall": {"name": "approve", "id": "t"}}]}}]),
            Err("long-running tool"),
        ),
        (
            json!([{"author": "a", "actions": {"skipSummarization": true}, "content": {"parts": [
                {"functionResponse": {"name": "f", "response": {"result": 7}}}]}}]),
            Ok(r#"{"result":7}"#),
        ),
        (
            json!([words("a", "done"), {"author": "a", "content": {"parts": [
                {"codeExecutionResult": {"outcome": "OK"}}]}}]),
            Ok("done"),
        ),
        // trpc-agent-go: pieces only.
        (
            json!([{"author": "a", "partial": true, "content": {"parts": [{"text": "Hel"}]}},
                   {"author": "a", "partial": true, "content": {"parts": [{"text": "lo"}]}}]),
            Ok("Hello"),
        ),
    ] {
        let run = list(&events.to_string());
        match expected {
            Ok(text) => assert_eq!(run.unwrap().text, text, "{events}"),
            Err(part) => assert!(run.as_ref().unwrap_err().contains(part), "{events}: {run:?}"),
        }
    }
    let run = list(&json!([words("a", "first"), words("b", "second")]).to_string()).unwrap();
    assert_eq!(run.events, [Event::Other { data: json!({"intermediate": "first", "author": "a"}) }]);
    assert_eq!(run.usage, None);
}

#[test]
fn an_older_server_is_told_by_what_it_took_for_the_state() {
    let state = json!({"city": "Rome"}).as_object().unwrap().clone();
    let recorded: Value = serde_json::from_str(include_str!("../../../../tests/fixtures/adk/session.json")).unwrap();
    assert!(!took_body_for_state(&recorded, &state));
    assert!(took_body_for_state(&json!({"id": "1", "state": {"state": {"city": "Rome"}}}), &state));
    assert_eq!(session_request(&state, false).unwrap(), json!({"state": {"city": "Rome"}}));
    assert_eq!(session_request(&state, true).unwrap(), json!({"city": "Rome"}));
    assert_eq!(session_request(&Map::new(), false), None);
}
