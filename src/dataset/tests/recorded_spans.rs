//! The spans of traces, in which conversations with their calls, tokens and times are recorded.

use serde_json::{Value, json};

use super::super::load_recorded;
use super::recorded::{calls, recorded, turns};
use super::*;

fn attribute(key: &str, value: &Value) -> Value {
    match value {
        Value::String(text) => json!({"key": key, "value": {"stringValue": text}}),
        other => json!({"key": key, "value": {"stringValue": other.to_string()}}),
    }
}

fn span(trace: &str, id: &str, start: u64, attributes: &[(&str, Value)], events: Value) -> Value {
    let attributes: Vec<Value> = attributes.iter().map(|(key, value)| attribute(key, value)).collect();
    json!({"traceId": trace, "spanId": id, "name": "x", "startTimeUnixNano": start.to_string(), "attributes": attributes, "events": events})
}

fn document(spans: &[Value]) -> String {
    json!({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).to_string()
}

#[test]
fn traces_with_message_attributes_are_read() {
    let history = json!([{"role": "user", "parts": [{"type": "text", "content": "a"}]},
        {"role": "assistant", "parts": [{"type": "tool_call", "id": "1", "name": "t", "arguments": {"x": 1}}]},
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "1", "response": "ok"}]}]);
    let reply = json!([{"role": "assistant", "parts": [{"type": "text", "content": "b"}], "finish_reason": "stop"}]);
    let chat = |trace: &str, id: &str, start: u64, history: &Value, reply: &Value| {
        span(
            trace,
            id,
            start,
            &[
                ("gen_ai.operation.name", json!("chat")),
                ("gen_ai.conversation.id", json!("k")),
                ("gen_ai.input.messages", history.clone()),
                ("gen_ai.output.messages", reply.clone()),
            ],
            json!([]),
        )
    };
    let begun = json!([{"role": "user", "parts": [{"type": "text", "content": "a"}]}]);
    let first = chat("1", "1", 1, &begun, &json!([]));
    let second = chat("1", "2", 2, &history, &reply);
    let recording = recorded(&document(&[second.clone(), first]));
    assert_eq!((recording.conversations[0].id.as_str(), turns(&recording)), ("k", vec![(1, "a", Some("b"))]));
    assert_eq!(calls(&recording.conversations[0].turns[0]), [json!(["t", {"x": 1}]), json!("ok")]);
    // A later trace of the same conversation, with only its own messages, or with all of them.
    let own = json!([{"role": "user", "parts": [{"type": "text", "content": "c"}]}]);
    let third = chat("2", "3", 3, &own, &json!([{"role": "assistant", "parts": [{"type": "text", "content": "d"}]}]));
    assert_eq!(turns(&recorded(&document(&[second.clone(), third]))), [(1, "a", Some("b")), (2, "c", Some("d"))]);
    let all: Vec<Value> = [&history, &reply, &own].iter().flat_map(|list| list.as_array().unwrap().clone()).collect();
    let third =
        chat("2", "3", 3, &json!(all), &json!([{"role": "assistant", "parts": [{"type": "text", "content": "d"}]}]));
    assert_eq!(turns(&recorded(&document(&[second, third]))), [(1, "a", Some("b")), (2, "c", Some("d"))]);
}

#[test]
fn traces_with_message_events_and_those_of_adk_are_read() {
    let event = |name: &str, attributes: &[(&str, Value)]| json!({"name": name, "timeUnixNano": "1", "attributes": attributes.iter().map(|(key, value)| attribute(key, value)).collect::<Vec<_>>()});
    let events = json!([
        event("gen_ai.system.message", &[("content", json!("s"))]),
        event("gen_ai.user.message", &[("content", json!("a"))]),
        event("gen_ai.choice", &[("message", json!({"role": "assistant", "content": "b"}))])
    ]);
    let chat =
        span("1", "1", 1, &[("gen_ai.operation.name", json!("chat")), ("gen_ai.system", json!("openai"))], events);
    let tool = span(
        "1",
        "2",
        2,
        &[
            ("gen_ai.operation.name", json!("execute_tool")),
            ("gen_ai.tool.name", json!("t")),
            ("gcp.vertex.agent.tool_call_args", json!({"x": 1})),
            ("gcp.vertex.agent.tool_response", json!({"y": 2})),
        ],
        json!([]),
    );
    let recording = recorded(&document(&[chat, tool.clone()]));
    assert_eq!(turns(&recording), [(1, "a", Some("b"))]);
    assert_eq!(calls(&recording.conversations[0].turns[0]), [json!(["t", {"x": 1}]), json!({"y": 2})]);
    let request = json!({"contents": [{"role": "user", "parts": [{"text": "a"}]}]});
    let adk = span(
        "1",
        "1",
        1,
        &[
            ("gcp.vertex.agent.llm_request", request),
            ("gcp.vertex.agent.session_id", json!("q")),
            ("gcp.vertex.agent.llm_response", json!({"content": {"role": "model", "parts": [{"text": "b"}]}})),
        ],
        json!([]),
    );
    let recording = recorded(&document(&[adk, tool]));
    assert_eq!((recording.conversations[0].id.as_str(), turns(&recording)), ("q", vec![(1, "a", Some("b"))]));
    let log = json!({"resourceLogs": [{"scopeLogs": [{"logRecords": [
        {"traceId": "1", "spanId": "1", "timeUnixNano": "1", "eventName": "gen_ai.user.message", "body": {"kvlistValue": {"values": [{"key": "content", "value": {"stringValue": "a"}}]}}},
        {"traceId": "1", "spanId": "1", "timeUnixNano": "2", "attributes": [{"key": "event.name", "value": {"stringValue": "gen_ai.choice"}}],
         "body": {"kvlistValue": {"values": [{"key": "index", "value": {"intValue": "0"}}, {"key": "message", "value": {"kvlistValue": {"values": [{"key": "content", "value": {"stringValue": "b"}}]}}}]}}}]}]}]});
    assert_eq!(turns(&recorded(&log.to_string())), [(1, "a", Some("b"))]);
    let silent = load_recorded("f.json", &document(&[span("1", "1", 1, &[], json!([]))])).unwrap_err();
    assert!(render_problems(&silent).contains("no message of a user or an agent"));
}

#[test]
fn tokens_and_times_of_traces_are_read_where_they_are_told() {
    let message = |role: &str, text: &str| json!({"role": role, "parts": [{"type": "text", "content": text}]});
    let timed = |mut span: Value, end: u64| {
        span["endTimeUnixNano"] = json!(end.to_string());
        span
    };
    let chat = |id: &str, start: u64, history: Value, reply: &str, usage: &[(&str, Value)]| {
        let known = [
            ("gen_ai.operation.name", json!("chat")),
            ("gen_ai.input.messages", history),
            ("gen_ai.output.messages", json!([message("assistant", reply)])),
        ];
        timed(span("1", id, start, &[&known[..], usage].concat(), json!([])), start + 500_000_000)
    };
    let agent =
        timed(span("1", "a", 1_000, &[("gen_ai.operation.name", json!("invoke_agent"))], json!([])), 2_000_001_000);
    let old = [("gen_ai.usage.prompt_tokens", json!(10)), ("gen_ai.usage.completion_tokens", json!(2))];
    let new = [
        ("gen_ai.usage.input_tokens", json!(20)),
        ("gen_ai.usage.output_tokens", json!(3)),
        ("gen_ai.usage.cache_read.input_tokens", json!(5)),
    ];
    let first = chat("1", 10_000, json!([message("user", "a")]), "b", &new);
    let again = chat("2", 900_000_000, json!([message("user", "a")]), "b", &old);
    let turn = |document: &str| recorded(document).conversations[0].turns.clone();
    let one = &turn(&document(&[agent.clone(), first.clone(), again.clone()]))[0];
    let usage = one.usage.unwrap();
    assert_eq!((usage.calls, usage.total_tokens(), usage.cached_input_tokens), (2, Some(35), Some(5)));
    assert_eq!(one.latency_ms, Some(2000.0), "that of the agent");
    let without_agent = &turn(&document(&[first.clone(), again]))[0];
    assert_eq!(without_agent.latency_ms.map(f64::round), Some(1400.0), "from the first call to the end of the last");
    // A second turn in the same trace: what the agent took for both is nobody's.
    let second = chat(
        "3",
        3_000_000_000,
        json!([message("user", "a"), message("assistant", "b"), message("user", "c")]),
        "d",
        &[],
    );
    let both = turn(&document(&[agent, first, second]));
    assert_eq!(
        both.iter().map(|turn| turn.usage.and_then(|usage| usage.total_tokens())).collect::<Vec<_>>(),
        [Some(23), None]
    );
    assert_eq!(both.iter().map(|turn| turn.latency_ms).collect::<Vec<_>>(), [Some(500.0), Some(500.0)]);
    let silent = span(
        "1",
        "1",
        0,
        &[("gen_ai.operation.name", json!("chat")), ("gen_ai.input.messages", json!([message("user", "a")]))],
        json!([]),
    );
    let nothing = &turn(&document(&[silent]))[0];
    assert_eq!((nothing.usage, nothing.latency_ms), (None, None), "not recorded");
}
