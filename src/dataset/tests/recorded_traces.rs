//! Conversations in traces of OpenTelemetry and in message lists, as agents in the field write them.

use serde_json::{Value, json};

use crate::dataset::load_recorded;
use crate::evidence::ToolUse;

type Attributes<'a> = &'a [(&'a str, Value)];

/// A span of a trace: its name, when it begins and ends, the span around it, and its attributes; texts as they are.
fn span(name: &str, start: u64, end: u64, parent: &str, attributes: Attributes<'_>) -> Value {
    let attribute = |(key, value): &(&str, Value)| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        json!({"key": key, "value": {"stringValue": text}})
    };
    let attributes: Vec<Value> = attributes.iter().map(attribute).collect();
    json!({"traceId": "t", "spanId": format!("{name}-{start}"), "parentSpanId": parent, "name": name, "attributes": attributes,
        "startTimeUnixNano": start.to_string(), "endTimeUnixNano": end.to_string()})
}

fn text(role: &str, content: &str) -> Value {
    json!({"role": role, "parts": [{"type": "text", "content": content}]})
}

/// The messages of a model's call.
fn chat(input: Value, output: Value) -> Vec<(&'static str, Value)> {
    vec![("gen_ai.operation.name", json!("chat")), ("gen_ai.input.messages", input), ("gen_ai.output.messages", output)]
}

/// Each conversation with its turns: the user's message, the reply, and the tools that were called.
fn read_spans(spans: &[Value]) -> Vec<(String, Vec<String>)> {
    let document = json!({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).to_string();
    let conversations = load_recorded("f.json", &document).unwrap().conversations.into_iter();
    let turn = |turn: &crate::evidence::Turn| {
        let tools: Vec<String> = ToolUse::from_events(&turn.events).into_iter().map(|used| used.tool).collect();
        format!("{} → {} [{}]", turn.user, turn.agent.as_deref().unwrap_or("-"), tools.join(" "))
    };
    conversations.map(|it| (it.id.clone(), it.turns.iter().map(turn).collect())).collect()
}

fn one(spans: &[Value]) -> Vec<String> {
    read_spans(spans).remove(0).1
}

#[test]
fn tools_that_the_provider_runs_are_calls() {
    let output = json!([{"role": "assistant", "parts": [
        {"type": "server_tool_call", "id": "1", "name": "web", "server_tool_call": {"type": "web", "q": 1}},
        {"type": "server_tool_call_response", "id": "1", "server_tool_call_response": {"r": 2}},
        {"type": "text", "content": "x"}]}]);
    let spans = [span("chat", 1, 2, "", &chat(json!([text("user", "a")]), output))];
    assert_eq!(one(&spans), ["a → x [web]"]);
    let document = json!({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).to_string();
    let recorded = load_recorded("f.json", &document).unwrap();
    let used = ToolUse::from_events(&recorded.conversations[0].turns[0].events).remove(0);
    assert_eq!((used.args, used.result), (json!({"q": 1}).into(), Some(json!({"r": 2}).into())));
}

#[test]
fn each_conversation_of_one_trace_has_its_own_spans() {
    let named = |id: &str, input: &str, reply: &str| {
        let mut attributes = chat(json!([text("user", input)]), json!([text("assistant", reply)]));
        attributes.push(("gen_ai.conversation.id", json!(id)));
        attributes
    };
    let tool = [("gen_ai.operation.name", json!("execute_tool")), ("gen_ai.tool.name", json!("find"))];
    let spans = [
        span("chat", 1, 4, "", &named("one", "a", "x")),
        span("tool", 2, 3, "chat-1", &tool),
        span("chat", 5, 6, "", &named("two", "b", "y")),
    ];
    let expected = [("one", "a → x [find]"), ("two", "b → y []")];
    assert_eq!(read_spans(&spans), expected.map(|(id, turn)| (id.to_owned(), vec![turn.to_owned()])));
}

#[test]
fn calls_that_only_spans_of_tools_tell_are_of_the_turn_in_which_they_were_made() {
    let tool = |name: &str, id: &str| {
        [
            ("gen_ai.operation.name", json!("execute_tool")),
            ("gen_ai.tool.name", json!(name)),
            ("gen_ai.tool.call.id", json!(id)),
        ]
    };
    let first = chat(json!([text("user", "a")]), json!([text("assistant", "x")]));
    let both =
        chat(json!([text("user", "a"), text("assistant", "x"), text("user", "b")]), json!([text("assistant", "y")]));
    let (find, book) = (tool("find", "1"), tool("book", "2"));
    let spans = [
        span("chat", 1, 2, "", &first),
        span("execute_tool", 3, 4, "", &find),
        span("chat", 5, 6, "", &both),
        span("execute_tool", 7, 8, "", &book),
    ];
    assert_eq!(one(&spans), ["a → x [find]", "b → y [book]"]);

    // One that a message tells stays one, and another one beside it is not lost.
    let call =
        json!({"role": "assistant", "parts": [{"type": "tool_call", "id": "1", "name": "find", "arguments": {}}]});
    let earlier = chat(json!([text("user", "a"), call]), json!([text("assistant", "x")]));
    let spans = [
        span("chat", 1, 9, "", &earlier),
        span("execute_tool", 3, 4, "", &find),
        span("execute_tool", 5, 6, "", &book),
    ];
    assert_eq!(one(&spans), ["a → x [find book]"]);

    // Two spans without ids are two calls, of which the message tells one.
    let call = json!({"role": "assistant", "parts": [{"type": "tool_call", "name": "find", "arguments": {}}]});
    let earlier = chat(json!([text("user", "a"), call]), json!([text("assistant", "x")]));
    let spans = [
        span("chat", 1, 9, "", &earlier),
        span("execute_tool", 3, 4, "", &find[..2]),
        span("execute_tool", 5, 6, "", &find[..2]),
    ];
    assert_eq!(one(&spans), ["a → x [find find]"]);
}

#[test]
fn messages_between_agents_are_not_the_users() {
    let mut root = chat(json!([text("user", "a")]), json!([text("assistant", "final")]));
    root[0].1 = json!("invoke_agent");
    let call = json!({"role": "assistant", "parts": [{"type": "tool_call", "id": "1", "name": "t", "arguments": {}}]});
    let result = json!({"role": "tool", "parts": [{"type": "tool_call_response", "id": "1", "response": 1}]});
    let inner = json!([text("user", "inner task"), call, result]);
    for parent in ["", "invoke_agent-1"] {
        let inner = chat(inner.clone(), json!([text("assistant", "inner reply")]));
        let spans = [span("invoke_agent", 1, 9, "", &root), span("chat", 3, 4, parent, &inner)];
        assert_eq!(one(&spans), ["a → final [t]"]);
    }
}

#[test]
fn the_oldest_attributes_for_messages_are_read() {
    let (prompt, completion) = ("gen_ai.prompt", "gen_ai.completion");
    let message = |role: &str, text: &str| json!([{"role": role, "content": text}]);
    let numbered = [
        ("gen_ai.prompt.0.role", json!("user")),
        ("gen_ai.prompt.0.content", json!("a")),
        ("gen_ai.completion.0.role", json!("assistant")),
        ("gen_ai.completion.0.content", json!("x")),
        ("gen_ai.completion.0.tool_calls.0.name", json!("t")),
        ("gen_ai.completion.0.tool_calls.0.arguments", json!("{}")),
    ];
    for (attributes, expected) in [
        (&[(prompt, message("user", "a")), (completion, message("assistant", "x"))][..], "a → x []"),
        (&[(prompt, json!("a")), (completion, json!("x"))][..], "a → x []"),
        (&numbered[..], "a → x [t]"),
    ] {
        assert_eq!(one(&[span("chat", 1, 2, "", attributes)]), [expected], "{attributes:?}");
    }
}

#[test]
fn calls_of_a_model_that_carry_only_what_is_new_follow_each_other() {
    let said = |user: &str, reply: &str| chat(json!([text("user", user)]), json!([text("assistant", reply)]));
    let spans = [span("chat", 1, 2, "", &said("a", "x")), span("chat", 3, 4, "", &said("b", "y"))];
    assert_eq!(one(&spans), ["a → x []", "b → y []"]);
    // The question of a guard, with instructions of its own, is none of the user's.
    let mut guard = said("is this safe: a", "safe");
    guard.push(("gen_ai.system_instructions", json!([{"type": "text", "content": "You are a guard."}])));
    assert_eq!(one(&[span("chat", 1, 2, "", &guard), span("chat", 3, 4, "", &said("a", "x"))]), ["a → x []"]);
}

#[test]
fn a_window_over_the_last_messages_tells_no_turn_twice() {
    let in_trace = |trace: &str, start: u64, input: Value, reply: &str| {
        let mut attributes = chat(input, json!([text("assistant", reply)]));
        attributes.push(("gen_ai.conversation.id", json!("k")));
        let mut span = span("chat", start, start + 1, "", &attributes);
        span["traceId"] = trace.into();
        span
    };
    let (a, x, b, y, c) =
        (text("user", "a"), text("assistant", "x"), text("user", "b"), text("assistant", "y"), text("user", "c"));
    let spans = [
        in_trace("1", 1, json!([a]), "x"),
        in_trace("2", 3, json!([a, x, b]), "y"),
        in_trace("3", 5, json!([b, y, c]), "z"),
        in_trace("4", 7, json!([c]), "w"),
    ];
    assert_eq!(one(&spans), ["a → x []", "b → y []", "c → z []", "c → w []"], "the last is said once more");
}

#[test]
fn a_further_choice_of_a_model_is_not_its_reply() {
    let event = |name: &str, at: u64, attributes: Attributes<'_>| {
        let mut event = span(name, at, at, "", attributes);
        event["timeUnixNano"] = at.to_string().into();
        event
    };
    let mut chat = span("chat", 1, 9, "", &[("gen_ai.operation.name", json!("chat"))]);
    let choice = |index: u64, text: &str| [("index", json!(index)), ("message", json!({"content": text}))];
    chat["events"] = json!([
        event("gen_ai.user.message", 2, &[("content", json!("a"))]),
        event("gen_ai.choice", 3, &choice(0, "x")),
        event("gen_ai.choice", 4, &choice(1, "y")),
    ]);
    assert_eq!(one(&[chat]), ["a → x []"]);
}

#[test]
fn what_an_agent_refuses_or_speaks_is_its_reply() {
    for reply in [
        json!({"role": "assistant", "content": null, "refusal": "No."}),
        json!({"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}),
        json!({"role": "assistant", "content": null, "audio": {"id": "1", "transcript": "No."}}),
        json!({"role": "assistant", "content": [{"type": "output_audio", "transcript": "No."}]}),
    ] {
        let text = json!({"messages": [{"role": "user", "content": "a"}, reply]}).to_string();
        let turns = load_recorded("f.json", &text).unwrap().conversations.remove(0).turns;
        assert_eq!(turns[0].agent.as_deref(), Some("No."), "{reply}");
    }
}
