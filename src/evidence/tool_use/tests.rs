use serde_json::json;

use super::*;

fn use_of(id: Option<&str>, tool: &str, args: Value, result: Option<Value>) -> ToolUse {
    ToolUse { id: id.map(str::to_owned), tool: tool.to_owned(), args: args.into(), result: result.map(LazyValue::from) }
}

fn fixture(path: &str) -> Value {
    let path = format!("{}/tests/fixtures/{path}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn adks_recorded_run_pairs_by_id() {
    let run = fixture("adk/run-tool.json");
    let mut events = Vec::new();
    for raw in run.as_array().unwrap() {
        for part in raw["content"]["parts"].as_array().unwrap() {
            let mut own = raw.clone();
            own["content"]["parts"] = json!([part]);
            if let Some(call) = part.get("functionCall") {
                events.push(Event::call(call["name"].as_str().unwrap(), call["args"].clone(), own));
            } else if let Some(response) = part.get("functionResponse") {
                events.push(Event::response(response["response"].clone(), own));
            }
        }
    }
    let id = Some("adk-1b249de3-c525-4147-8fca-ceda65758dd3");
    let result = json!({"noted": "milk", "count": 1});
    assert_eq!(ToolUse::from_events(&events), [use_of(id, "note", json!({"thing": "milk"}), Some(result))]);
}

#[test]
fn the_recorded_tools_of_the_responses_api_keep_their_own_results() {
    let items = fixture("responses/reply-tools.json");
    let items = items[1]["response"]["output"].as_array().unwrap();
    let mut events = Vec::new();
    for (item, function) in items.iter().zip(["web_search", "file_search", "roll", "code_interpreter"]) {
        events.push(Event::call(function, json!({}), item.clone()));
        if let Some(output) = item.get("output").or_else(|| item.get("outputs")) {
            events.push(EventKind::FunctionResponse { output: output.clone().into() }.into());
        }
    }
    // The job's own function, as it is answered from a mock.
    let called = json!({"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": "{}"}});
    events.push(Event::call("weather", json!({}), called));
    events.push(EventKind::FunctionResponse { output: json!("sun").into() }.into());
    let uses = ToolUse::from_events(&events);
    let results: Vec<(&str, Option<&Value>)> = uses.iter().map(|it| (it.tool.as_str(), it.result.as_deref())).collect();
    let logs = json!([{"logs": "2", "type": "logs"}]);
    assert_eq!(
        results,
        [
            ("web_search", None),
            ("file_search", None),
            ("roll", Some(&json!("4"))),
            ("code_interpreter", Some(&logs)),
            ("weather", Some(&json!("sun"))),
        ]
    );
    assert_eq!(uses[4].id.as_deref(), Some("call_1"));
}

/// Two calls at once whose responses come the other way round, in the shape of each transport.
#[test]
fn responses_find_their_calls_by_id_on_every_transport() {
    let adk = |key: &str, id: &str| json!({"content": {"parts": [{key: {"id": id, "name": "f"}}]}});
    let a2a = |id: &str| json!({"kind": "data", "data": {"id": id, "name": "f"}});
    let a2a_wrapped = |id: &str| json!({"data": {"data": {"id": id, "name": "f"}}});
    let trpc_call = |id: &str| json!({"choices": [{"message": {"tool_calls": [{"id": id, "function": {}}]}}]});
    let trpc_response = |id: &str| json!({"choices": [{"message": {"tool_id": id, "tool_name": "f"}}], "id": "own"});
    let trpc_message = |id: &str| json!({"role": "assistant", "tool_calls": [{"id": id}]});
    let watsonx = |id: &str| json!({"type": "tool_call", "id": id, "name": "f"});
    let watsonx_response = |id: &str| json!({"type": "tool_response", "name": "f", "tool_call_id": id});
    type Shape<'a> = &'a dyn Fn(&str) -> Value;
    let shapes: [(Shape, Shape); 6] = [
        (&|id| adk("functionCall", id), &|id| adk("functionResponse", id)),
        (&a2a, &a2a),
        (&a2a_wrapped, &a2a_wrapped),
        (&trpc_call, &trpc_response),
        (&trpc_message, &|id| json!({"role": "tool", "tool_id": id})),
        (&watsonx, &watsonx_response),
    ];
    for (call, response) in shapes {
        let events = [
            Event::call("f", json!({"n": 1}), call("a")),
            Event::call("f", json!({"n": 2}), call("b")),
            Event::response(json!("of b"), response("b")),
            Event::response(json!("of a"), response("a")),
            Event::response(json!("of nobody"), response("c")),
        ];
        assert_eq!(
            ToolUse::from_events(&events),
            [
                use_of(Some("a"), "f", json!({"n": 1}), Some(json!("of a"))),
                use_of(Some("b"), "f", json!({"n": 2}), Some(json!("of b"))),
            ],
            "{}",
            call("a")
        );
    }
}

#[test]
fn without_ids_they_pair_in_order_and_by_the_tools_name() {
    let call = |tool: &str| Event::call(tool, json!({}), json!({"tool": tool, "args": {}}));
    let named = |tool: &str, output: &str| Event::response(json!(output), json!({"tool": tool, "output": output}));
    let plain = |output: &str| Event::from(EventKind::FunctionResponse { output: json!(output).into() });
    let paired = |events: &[Event]| -> Vec<Option<String>> {
        let result = |one: ToolUse| one.result.and_then(|result| result.as_str().map(str::to_owned));
        ToolUse::from_events(events).into_iter().map(result).collect()
    };
    let some = |texts: &[&str]| texts.iter().map(|text| Some((*text).to_owned())).collect::<Vec<_>>();
    assert_eq!(paired(&[call("f"), call("g"), plain("1"), plain("2")]), some(&["1", "2"]));
    assert_eq!(paired(&[call("f"), plain("1"), call("g"), plain("2")]), some(&["1", "2"]));
    assert_eq!(paired(&[call("f"), call("g"), named("g", "2"), named("f", "1")]), some(&["1", "2"]));
    assert_eq!(paired(&[plain("0"), call("f")]), [None]);
    let null = ToolUse::from_events(&[call("f"), EventKind::FunctionResponse { output: Value::Null.into() }.into()]);
    assert_eq!(null[0].result, Some(Value::Null.into()));
}

#[test]
fn a_tool_that_runs_long_reports_again_and_later_turns_answer_earlier_calls() {
    let raw = |key: &str| json!({"content": {"parts": [{key: {"id": "1", "name": "f"}}]}});
    let pending = Event::response(json!("pending"), raw("functionResponse"));
    let done = Event::response(json!("done"), raw("functionResponse"));
    let first = Turn {
        events: vec![Event::call("f", json!({}), raw("functionCall")), pending],
        ..Turn::answered(1, "Go", "Soon")
    };
    assert_eq!(ToolUse::from_events(&first.events)[0].result, Some(json!("pending").into()));
    let second = Turn { events: vec![done], ..Turn::answered(2, "And?", "Done") };
    let transcript = Transcript { turns: vec![first, second] };
    let call = [use_of(Some("1"), "f", json!({}), Some(json!("done")))];
    assert_eq!(transcript.tool_uses(), call);
    let by_turn = CallsByTurn::new(&transcript);
    assert_eq!((by_turn.of_turn(1), by_turn.of_turn(2), by_turn.of_turn(3)), (&call[..], &[][..], &[][..]));
    let alone = CallsByTurn::without_results(&transcript);
    assert_eq!((alone.of_turn(1), alone.of_turn(2)), (&[use_of(Some("1"), "f", json!({}), None)][..], &[][..]));
}

#[test]
fn a_call_that_nobody_answered_takes_no_later_calls_result() {
    let call = |id: Option<&str>| match id {
        Some(id) => Event::call("f", json!({}), json!({"id": id})),
        None => EventKind::FunctionCall(crate::evidence::ToolCall { function: "f".to_owned(), args: json!({}).into() })
            .into(),
    };
    let response = |id: Option<&str>| match id {
        Some(id) => Event::response(json!("done"), json!({"tool_call_id": id, "name": "f"})),
        None => Event::response(json!("done"), json!({"name": "f"})),
    };
    let results = |turns: &[Vec<Event>]| -> Vec<bool> {
        let turn = |events: &Vec<Event>| Turn { events: events.clone(), ..Turn::answered(1, "Go", "Ok") };
        let transcript = Transcript { turns: turns.iter().map(turn).collect() };
        transcript.tool_uses().iter().map(|used| used.result.is_some()).collect()
    };
    for id in [Some("call_0"), None] {
        let turns = [vec![call(id)], vec![call(id), response(id)]];
        assert_eq!(results(&turns), [false, true], "{id:?}: the turn's own call");
        let turns = [vec![call(id)], vec![response(id), call(id)]];
        assert_eq!(results(&turns), [true, false], "{id:?}: a result that comes a turn later");
        let once = [vec![call(id), call(id), response(id).of_call_before()]];
        assert_eq!(results(&once), [false, true], "{id:?}: recorded as the result of the call before it");
    }
}

#[test]
fn it_is_stored_and_read() {
    for (one, stored) in [
        (ToolUse::new("f", json!({"a": 1})), json!({"tool": "f", "args": {"a": 1}})),
        (
            use_of(Some("x"), "f", Value::Null, Some(Value::Null)),
            json!({"id": "x", "tool": "f", "args": null, "result": null}),
        ),
    ] {
        assert_eq!(serde_json::to_value(&one).unwrap(), stored);
        assert_eq!(serde_json::from_value::<ToolUse>(stored).unwrap(), one);
    }
}

#[test]
fn the_first_call_of_each_message_is_told_from_those_beside_it() {
    let call = |id: &str| Event::call("t", json!({}), json!({"id": id}));
    let events = vec![call("1"), call("2").parallel(), call("3")];
    let transcript = Transcript { turns: vec![Turn { events, ..Turn::answered(1, "Hi", "Hello") }] };
    let ids = |uses: Vec<ToolUse>| uses.into_iter().filter_map(|used| used.id).collect::<Vec<_>>();
    assert_eq!(ids(transcript.tool_uses()), ["1", "2", "3"]);
    assert_eq!(ids(transcript.first_tool_uses()), ["1", "3"]);
}
