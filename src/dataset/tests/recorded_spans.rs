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

#[test]
fn events_of_other_emitters_are_read_too() {
    let event = |name: &str, attributes: &[(&str, Value)]| json!({"name": name, "timeUnixNano": "1", "attributes": attributes.iter().map(|(key, value)| attribute(key, value)).collect::<Vec<_>>()});
    let chat =
        |events: Value| turns_of(&document(&[span("1", "1", 1, &[("gen_ai.operation.name", json!("chat"))], events)]));
    let expected = vec![(1, "a".to_owned(), Some("42".to_owned()))];
    // A message that is a text, which may look like a number, or a list of blocks.
    let asked = event("gen_ai.user.message", &[("content", json!("a"))]);
    assert_eq!(chat(json!([asked, event("gen_ai.choice", &[("message", json!("42"))])])), expected);
    let blocks = json!([{"reasoningContent": {}}, {"text": "42"}]);
    let asked = event("gen_ai.user.message", &[("content", json!([{"text": "a"}]))]);
    assert_eq!(chat(json!([asked, event("gen_ai.choice", &[("message", blocks)])])), expected);
    // One event for what goes in, another for what comes out.
    let said = |role: &str, text: &str| json!([{"role": role, "parts": [{"type": "text", "content": text}]}]);
    let details = |key: &str, messages: Value| event("gen_ai.client.inference.operation.details", &[(key, messages)]);
    let both = [
        details("gen_ai.input.messages", said("user", "a")),
        details("gen_ai.output.messages", said("assistant", "42")),
    ];
    assert_eq!(chat(json!(both)), expected);
    // Ids in the other case, and a body that is a text.
    let log = |name: &str, body: Value| json!({"traceId": "AB", "spanId": "CD", "timeUnixNano": "1", "eventName": name, "body": {"stringValue": body.to_string()}});
    let mut with_logs: Value = serde_json::from_str(&document(&[
        span("ab", "cd", 1, &[("gen_ai.operation.name", json!("chat"))], json!([])),
        span(
            "ab",
            "ce",
            2,
            &[("gen_ai.operation.name", json!("execute_tool")), ("gen_ai.tool.name", json!("t"))],
            json!([]),
        ),
    ]))
    .unwrap();
    with_logs["resourceLogs"] = json!([{"scopeLogs": [{"logRecords": [
        log("gen_ai.user.message", json!({"content": "a"})),
        log("gen_ai.choice", json!({"index": 0, "message": {"content": "42"}}))]}]}]);
    assert_eq!(turns_of(&with_logs.to_string()), expected);
    assert_eq!(calls(&recorded(&with_logs.to_string()).conversations[0].turns[0]).len(), 1);
}

fn turns_of(text: &str) -> Vec<(u32, String, Option<String>)> {
    let recording = recorded(text);
    let owned = |(number, user, agent): (u32, &str, Option<&str>)| (number, user.to_owned(), agent.map(str::to_owned));
    turns(&recording).into_iter().map(owned).collect()
}

#[test]
fn a_message_of_other_parts_alone_is_a_turn_and_told() {
    let user = json!([{"role": "user", "parts": [{"type": "uri", "modality": "image", "uri": "http://i"}]}]);
    let reply = json!([{"role": "assistant", "parts": [{"type": "reasoning", "content": "hm"}, {"type": "text", "content": "b"}]}]);
    let chat =
        [("gen_ai.operation.name", json!("chat")), ("gen_ai.input.messages", user), ("gen_ai.output.messages", reply)];
    let list = r#"[{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "u"}}]}, {"role": "assistant", "content": "b"}]"#;
    for text in [&document(&[span("1", "1", 1, &chat, json!([]))]), list] {
        let recording = recorded(text);
        assert_eq!(turns(&recording), [(1, "(a message without text)", Some("b"))]);
        assert!(recording.warnings.iter().any(|it| it.message.contains("no text, such as images")), "{text}");
    }
}

#[test]
fn a_trace_that_ends_with_an_error_is_the_agents_failure() {
    let said = json!([{"role": "user", "parts": [{"type": "text", "content": "a"}]}]);
    let reply = json!([{"role": "assistant", "parts": [{"type": "text", "content": "b"}]}]);
    let ended = |output: &Value, status: Value| {
        let attributes = [
            ("gen_ai.operation.name", json!("invoke_agent")),
            ("gen_ai.input.messages", said.clone()),
            ("gen_ai.output.messages", output.clone()),
            ("error.type", json!("timeout")),
        ];
        let mut failed = span("1", "1", 1, &attributes, json!([]));
        failed["status"] = status;
        recorded(&document(&[failed])).conversations[0].error.clone()
    };
    let error = json!({"code": 2, "message": "it took too long"});
    assert_eq!(ended(&json!([]), error.clone()).as_deref(), Some("it took too long"));
    assert_eq!(ended(&json!([]), json!({})).as_deref(), Some("timeout"));
    assert_eq!(ended(&reply, error), None);
}

/// Log records of these spans, each with its event's name, and its content as the body.
fn logs(records: &[(&str, &str, Value)]) -> String {
    let record = |(number, (span, name, content)): (usize, &(&str, &str, Value))| {
        json!({"traceId": "1", "spanId": span, "timeUnixNano": number.to_string(), "eventName": name,
            "body": {"stringValue": content.to_string()}})
    };
    let records: Vec<Value> = records.iter().enumerate().map(record).collect();
    json!({"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}).to_string()
}

#[test]
fn events_without_their_spans_are_one_history_for_each_span() {
    let said = |text: &str| json!({"content": text});
    let call = json!([{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]);
    let (user, assistant, choice) = ("gen_ai.user.message", "gen_ai.assistant.message", "gen_ai.choice");
    let log = logs(&[
        ("1", user, said("hi")),
        ("1", choice, json!({"index": 0, "message": {"role": "assistant"}, "tool_calls": call})),
        ("2", user, said("hi")),
        ("2", assistant, json!({"tool_calls": call})),
        ("2", "gen_ai.tool.message", json!({"content": "42", "id": "1"})),
        ("2", choice, json!({"index": 0, "message": {"content": "It is 42"}})),
    ]);
    assert_eq!(turns_of(&log), [(1, "hi".to_owned(), Some("It is 42".to_owned()))]);
    assert_eq!(calls(&recorded(&log).conversations[0].turns[0]), [json!(["f", {}]), json!(42)]);
    // A span for each message.
    let apart = logs(&[("1", user, said("a")), ("2", choice, json!({"index": 0, "message": {"content": "b"}}))]);
    assert_eq!(turns_of(&apart), [(1, "a".to_owned(), Some("b".to_owned()))]);
}

#[test]
fn an_event_with_all_messages_of_a_call_is_read_without_its_span() {
    let message = |role: &str, text: &str| json!([{"role": role, "parts": [{"type": "text", "content": text}]}]);
    let attributes = [
        attribute("gen_ai.input.messages", &json!(message("user", "a").to_string())),
        attribute("gen_ai.output.messages", &json!(message("assistant", "b").to_string())),
    ];
    let log = json!({"resourceLogs": [{"scopeLogs": [{"logRecords": [{"traceId": "1", "spanId": "1", "timeUnixNano": "1",
        "eventName": "gen_ai.client.inference.operation.details", "attributes": attributes}]}]}]});
    assert_eq!(turns_of(&log.to_string()), [(1, "a".to_owned(), Some("b".to_owned()))]);
}
