//! Conversations that were run.

use crate::evidence::LazyValue;
use serde_json::{Value, json};

use super::super::{Recording, load_recorded};
use super::*;
use crate::evidence::{Event, EventKind, Turn};

pub(super) fn recorded(text: &str) -> Recording {
    load_recorded("f.json", text).unwrap_or_else(|problems| panic!("{}", render_problems(&problems)))
}

/// Each call with its arguments, and each result, in order.
pub(super) fn calls(turn: &Turn) -> Vec<Value> {
    let call = |event: &Event| match &event.kind {
        EventKind::FunctionCall(call) => Some(json!([call.function, call.args])),
        EventKind::FunctionResponse { output } => Some(Value::clone(output)),
        _ => None,
    };
    turn.events.iter().filter_map(call).collect()
}

pub(super) fn turns(recording: &Recording) -> Vec<(u32, &str, Option<&str>)> {
    recording.conversations[0]
        .turns
        .iter()
        .map(|turn| (turn.number, turn.user.as_str(), turn.agent.as_deref()))
        .collect()
}

#[test]
fn results_of_both_generations_of_trpc_are_read() {
    let old = text(
        "trpc/_seed_era/local/output/math-eval-app/math-eval-app_math-basic_d545562e-f2fa-4dcf-816e-3474e85b3494.evalset_result.json",
    );
    let recording = recorded(&old);
    assert_eq!(recording.conversations.len(), 2);
    assert_eq!(turns(&recording), [(1, "calc add 2 3", Some("The result of 2 + 3 is **5**."))]);
    let turn = &recording.conversations[0].turns[0];
    assert_eq!(
        calls(turn),
        [
            json!(["calculator", {"a": 2, "b": 3, "operation": "add"}]),
            json!({"a": 2, "b": 3, "operation": "add", "result": 5})
        ]
    );
    assert_eq!(
        crate::evidence::ToolUse::from_events(&turn.events)[0].id.as_deref(),
        Some("call_00_J7WhW8PJurYtWji3J5H7ITN9")
    );
    assert!(crate::evidence::ToolUse::from_events(&turn.events)[0].result.is_some());
    let stored = serde_json::to_string(turn).unwrap();
    assert_eq!(stored.matches("\"operation\"").count(), 2, "arguments and result are stored once each: {stored}");
    assert_eq!(recording.conversations[0].expected[0].expected.reply.as_deref(), Some("calc result: 5"));
    assert_eq!(recording.conversations[0].session.user.as_deref(), Some("user"));
    let new = text(
        "trpc/trace/output/trace-eval-app/trace-eval-app_trace-basic_7080900c-60bc-4966-ab11-d27070e8292b.evalset_result.json",
    );
    assert_eq!(turns(&recorded(&new)), [(1, "calc add 123 456", Some("calc result: 579"))]);
    let trace = text("trpc/trace/data/trace-eval-app/trace-basic.evalset.json");
    assert_eq!(turns(&recorded(&trace)), [(1, "calc add 123 456", Some("calc result: 579"))]);
    let doubled = Value::String(old).to_string();
    assert_eq!(recorded(&doubled).conversations.len(), 2);
}

#[test]
fn results_of_adk_are_read() {
    let turn = json!({"invocation_id": "i", "user_content": {"parts": [{"text": "a"}]}, "final_response": {"parts": [{"text": "b"}]},
        "intermediate_data": {"invocation_events": [{"author": "x", "content": {"parts": [{"function_call": {"id": "1", "name": "t", "args": {}}}]}},
            {"author": "x", "content": {"parts": [{"function_response": {"id": "1", "name": "t", "response": {"y": 1}}}]}}]}, "duration": 0.5});
    let result = json!({"eval_set_result_id": "r", "eval_set_id": "s", "eval_case_results": [{"eval_set_id": "s", "eval_id": "c",
        "final_eval_status": 1, "session_id": "q", "user_id": "u",
        "eval_metric_result_per_invocation": [{"actual_invocation": turn, "expected_invocation": turn, "eval_metric_results": []}]}]});
    for text in [result.to_string(), Value::String(result.to_string()).to_string()] {
        let recording = recorded(&text);
        assert_eq!(turns(&recording), [(1, "a", Some("b"))]);
        let conversation = &recording.conversations[0];
        assert_eq!((conversation.id.as_str(), conversation.session.id.as_deref()), ("c", Some("q")));
        assert_eq!(
            (calls(&conversation.turns[0]), conversation.turns[0].latency_ms),
            (vec![json!(["t", {}]), json!({"y": 1})], Some(500.0))
        );
        assert_eq!((conversation.extra["final_eval_status"].clone(), conversation.expected.len()), (json!(1), 1));
    }
    assert_eq!(turns(&recorded(&json!([turn]).to_string())), [(1, "a", Some("b"))]);
}

#[test]
fn what_an_agent_of_adk_had_before_it_and_its_last_state_are_kept() {
    let turn = json!({"invocation_id": "i", "user_content": {"parts": [{"inline_data": {"mime_type": "image/png", "data": "aGk="}}]},
        "final_response": {"parts": [{"text": "b"}]},
        "app_details": {"agent_details": {"root": {"name": "root", "instructions": "Open 9 to 5.", "tool_declarations": [{"name": "t"}]},
            "other": {"instructions": " ", "tool_declarations": []}}},
        "intermediate_data": {"invocation_events": [{"author": "root", "grounding_metadata": {"chunk": 1}}]}});
    let result = json!({"eval_set_result_id": "r", "eval_case_results": [{"eval_id": "c", "session_details": {"state": {"k": 1}},
        "eval_metric_result_per_invocation": [{"actual_invocation": turn}, {"actual_invocation": turn}]}]});
    let conversation = recorded(&result.to_string()).conversations.remove(0);
    assert_eq!(conversation.turns[0].user, "(a message without text)", "it is no greeting");
    let found: Vec<_> = conversation.turns[0].context.iter().map(|it| (it.name.as_str(), it.text.as_str())).collect();
    let expected = [
        ("instructions of root", "Open 9 to 5."),
        ("tools of root", r#"[{"name":"t"}]"#),
        ("grounding metadata", r#"{"chunk":1}"#),
    ];
    assert_eq!(found, expected);
    let condition = crate::evidence::Condition::WithFacts;
    let (case, model) = ("c".to_owned(), "m".to_owned());
    let trial = crate::evidence::TrialId { number: 1, case, model, condition, repeat: 1 };
    let evidence = conversation.into_evidence(&trial);
    let Some(crate::evidence::Observed::Seen(state)) = evidence.object_context else { panic!("it has no state") };
    assert_eq!(state.state(), json!({"k": 1}));
}

#[test]
fn messages_of_watsonx_are_read_and_paired() {
    let one = text("watsonx/analysis/messages/data1.messages.json");
    let recording = load_recorded("x/data1.run2.messages.json", &one).unwrap();
    let conversation = &recording.conversations[0];
    assert_eq!((conversation.id.as_str(), conversation.turns.len()), ("data1", 3));
    let last = &conversation.turns[2];
    assert_eq!(last.agent.as_deref(), Some("You do not have any payslips."));
    let uses = crate::evidence::ToolUse::from_events(&last.events);
    let tools: Vec<(&str, bool)> = uses.iter().map(|used| (used.tool.as_str(), used.result.is_some())).collect();
    assert_eq!(
        tools,
        [("transfer_to_workday_compensation_agent", false), ("get_user_workday_ids", true), ("get_payslips", true)]
    );
    assert_eq!(uses[2].result, Some(json!("PayslipsResponse(payslips=[])").into()), "its response stands before it");
    let analyzed = recorded(&text("watsonx/analysis/messages/data3.messages.analyze.json"));
    assert!(analyzed.conversations[0].turns.len() > 1);
    let broken = r#"[{"role": "assistant", "type": "tool_call", "content": "{oops"}]"#;
    let problems = load_recorded("f.json", broken).unwrap_err();
    assert!(render_problems(&problems).contains("[0].content: the text of a tool's message must be JSON"));
}

#[test]
fn only_the_agent_speaks_for_itself_in_messages_of_watsonx() {
    let talk = json!([{"role": "user", "content": "Hi", "type": "text"},
        {"role": "assistant", "type": "text", "content": "I look.", "tool_calls": [{"id": "1", "name": "t", "args": {"a": 1}}]},
        {"role": "tool", "type": "tool_response", "content": "{\"tool_call_id\": \"1\", \"name\": \"t\", \"content\": 5}"},
        {"role": "tool", "type": null, "content": "{\"days\": 5}"},
        {"role": "assistant", "type": null, "content": null, "tool_calls": [{"id": "2", "function": {"name": "u", "arguments": "{}"}}]},
        {"role": "system", "type": "text", "content": "5 days"}]);
    let recording = recorded(&talk.to_string());
    let turn = &recording.conversations[0].turns[0];
    assert_eq!(turn.agent.as_deref(), Some("I look."), "neither the tool nor the system is the agent");
    assert_eq!(calls(turn), [json!(["t", {"a": 1}]), json!(5), json!(["u", {}])]);
    let messages: Vec<&str> = recording.warnings.iter().map(|warning| warning.message.as_str()).collect();
    assert!(messages.iter().any(|it| it.contains("a message of `system`")), "{messages:?}");
}

#[test]
fn messages_and_calls_of_a_turn_keep_their_order() {
    let call = |id: &str| {
        json!({"role": "assistant", "type": "tool_call",
        "content": json!({"type": "tool_call", "name": "t", "args": {}, "id": id}).to_string()})
    };
    let said = |text: &str| json!({"role": "assistant", "type": "text", "content": text});
    let user = json!({"role": "user", "content": "Hi", "type": "text"});
    let order = |talk: &[serde_json::Value]| -> Vec<(String, usize)> {
        let recording = recorded(&json!(talk).to_string());
        let messages = recording.conversations[0].turns[0].agent_messages();
        messages.iter().map(|it| (it.text.to_owned(), it.after_calls)).collect()
    };
    let text = |text: &str, calls: usize| (text.to_owned(), calls);
    let talk = [user.clone(), said("a"), call("1"), call("2"), said("b"), call("3"), said("c")];
    assert_eq!(order(&talk), [text("a", 0), text("b", 2), text("c", 3)]);
    // The last message is the reply, although a call comes after it.
    assert_eq!(order(&[user.clone(), call("1"), said("a"), call("2")]), [text("a", 1)]);
    let chat = [
        user.clone(),
        json!({"role": "assistant", "content": "a", "tool_calls": [{"id": "1", "type": "function",
        "function": {"name": "t", "arguments": "{}"}}]}),
        json!({"role": "assistant", "content": "b"}),
    ];
    assert_eq!(order(&chat), [text("a", 0), text("b", 1)]);
    let events = json!([{"author": "a", "content": {"parts": [{"text": "a"}]}},
        {"author": "a", "content": {"parts": [{"functionCall": {"name": "t", "args": {}}}]}}]);
    let invocation = json!({"user_content": {"parts": [{"text": "Hi"}]}, "final_response": {"parts": [{"text": "b"}]},
        "intermediate_data": {"invocation_events": events}});
    assert_eq!(order(&[invocation]), [text("a", 0), text("b", 1)]);
}

#[test]
fn a_blank_text_of_arguments_is_none_and_what_is_said_before_the_reply_is_kept() {
    let chat = json!([{"role": "user", "content": "a"},
        {"role": "assistant", "content": "One moment.", "tool_calls": [{"id": "1", "type": "function", "function": {"name": "t", "arguments": " "}}]},
        {"role": "tool", "tool_call_id": "1", "content": "[2]"}, {"role": "assistant", "content": "b"}]);
    let recording = recorded(&chat.to_string());
    let turn = &recording.conversations[0].turns[0];
    assert_eq!((calls(turn), turn.agent.as_deref()), (vec![json!(["t", {}]), json!([2])], Some("b")));
    // As every transport writes it: judges that are to see it look for this key.
    let said = EventKind::Other { data: json!({"intermediate": "One moment.", "author": "assistant"}) };
    assert!(turn.events.iter().any(|event| event.kind == said), "{:?}", turn.events);
}

#[test]
fn message_lists_are_read() {
    let chat = json!([{"role": "system", "content": "s"}, {"role": "user", "content": [{"type": "text", "text": "a"}]},
        {"role": "assistant", "content": null, "tool_calls": [{"id": "1", "type": "function", "function": {"name": "t", "arguments": "{\"x\":1}"}}]},
        {"role": "tool", "tool_call_id": "1", "content": "[2]"}, {"role": "assistant", "content": "b"},
        {"role": "user", "content": "c"}]);
    let expected = [(1, "a", Some("b")), (2, "c", None)];
    let recording = recorded(&chat.to_string());
    assert_eq!(turns(&recording), expected);
    assert_eq!(calls(&recording.conversations[0].turns[0]), [json!(["t", {"x": 1}]), json!([2])]);
    assert!(recording.warnings[0].message.contains("no reply of the agent is recorded in turn 2"));
    let lines = format!("{}\n{}\n", json!({"id": "one", "messages": chat}), json!({"messages": chat}));
    let ids: Vec<String> = recorded(&lines).conversations.iter().map(|conversation| conversation.id.clone()).collect();
    assert_eq!(ids, ["one", "f-2"]);
    let responses = json!([{"role": "user", "content": "a"}, {"type": "function_call", "call_id": "1", "name": "t", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "1", "output": "3"}, {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "b"}]}]);
    let recording = recorded(&responses.to_string());
    assert_eq!(
        (turns(&recording), calls(&recording.conversations[0].turns[0])),
        (vec![(1, "a", Some("b"))], vec![json!(["t", {}]), json!(3)])
    );
    let hosted = json!([{"role": "user", "content": "a"}, {"type": "mcp_list_tools", "tools": []},
        {"type": "web_search_call", "id": "w", "status": "completed", "action": {"query": "q"}},
        {"type": "mcp_call", "id": "m", "name": "ask", "arguments": "{\"x\": 1}", "output": "{\"y\": 2}"},
        {"type": "custom_tool_call", "call_id": "c", "name": "sql", "input": "SELECT 1"},
        {"type": "custom_tool_call_output", "call_id": "c", "output": "1"}, {"type": "item_reference", "id": "r"},
        {"role": "assistant", "content": "b"}]);
    let recording = recorded(&hosted.to_string());
    let used = calls(&recording.conversations[0].turns[0]);
    for call in [
        json!(["web_search", {"query": "q"}]),
        json!(["ask", {"x": 1}]),
        json!({"y": 2}),
        json!(["sql", "SELECT 1"]),
        json!(1),
    ] {
        assert!(used.contains(&call), "{call}: {used:?}");
    }
    let greeting = json!([{"role": "assistant", "content": "hello"}, {"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]);
    assert_eq!(turns(&recorded(&greeting.to_string())), [(0, "", Some("hello")), (1, "a", Some("b"))]);
}

#[test]
fn a_file_without_anything_recorded_says_so() {
    for text in [
        r#"[{"query": "a"}]"#,
        r#"{"criteria": {}}"#,
        "a@b.c\n",
        r#"[{"metricName": "a"}]"#,
        r#"{"metadata": {"authoritative_user_id": "a"}, "conversation": [{"role": "user", "content": "a"}]}"#,
    ] {
        let problems = render_problems(&load_recorded("f.json", text).unwrap_err());
        assert!(problems.contains("nothing that an agent said is recorded in it"), "{text}: {problems}");
    }
}

#[test]
fn a_large_file_on_one_line_is_read_in_time_that_grows_with_it() {
    let turn = r#"{"user_content": {"parts": [{"text": "a"}]}, "final_response": {"parts": [{"text": "b"}]}}"#;
    let cases: Vec<String> = (0..20_000).map(|_| format!(r#"{{"eval_id": "c", "conversation": [{turn}]}}"#)).collect();
    let dataset =
        loaded(&format!(r#"{{"eval_set_id": "s", "eval_cases": [{}]}}"#, cases.join(",")), &Beside::default());
    assert_eq!((dataset.cases.len(), dataset.cases[19_999].id.as_str()), (20_000, "c (20000)"));
}

#[test]
fn a_message_of_nobody_known_is_told() {
    let failed = |text: &str| render_problems(&load_recorded("f.json", text).unwrap_err());
    let list = |role: &str| format!(r#"[{{"role": "user", "content": "a"}}, {{"role": "{role}", "content": "b"}}]"#);
    assert!(failed(&list("zz")).contains("[1].role: `zz` is no role"), "{}", failed(&list("zz")));
    assert_eq!(turns(&recorded(&list("bot"))), [(1, "a", Some("b"))]);
    let human = r#"[{"role": "human", "content": "a"}, {"role": "ai", "content": "b"}]"#;
    assert_eq!(turns(&recorded(human)), [(1, "a", Some("b"))]);
    let orchestrate = |last: &str| {
        format!(
            r#"[{{"role": "user", "content": "a", "type": "text"}}, {{"role": "assistant", "content": "b", "type": "text"}}, {last}]"#
        )
    };
    let odd = recorded(&orchestrate(r#"{"role": "assistant", "type": "text"}"#));
    assert_eq!(turns(&odd), [(1, "a", Some("b"))], "a message that says nothing replaces no reply");
    assert!(odd.warnings[0].message.contains("neither text nor calls"), "{:?}", odd.warnings);
    let other = recorded(&orchestrate(r#"{"role": "zz", "content": "c", "type": "text"}"#));
    assert!(other.warnings[0].message.contains("`zz`: it is taken for the agent's"), "{:?}", other.warnings);
    assert!(failed(&orchestrate(r#"{"content": "c", "type": "text"}"#)).contains("[2]: `role` is missing"));
}

#[test]
fn what_is_odd_in_recorded_cases_is_told() {
    let flow = r#"{"metadata": {"authoritative_user_id": "a"}, "conversation": [{"role": "user", "content": "a"},
        {"role": "assistant", "content": " "}, {"role": "assistant", "content": "b"}]}"#;
    let recording = recorded(flow);
    assert!(recording.warnings[0].message.contains("this message is empty"), "{:?}", recording.warnings);
    let trace = |steps: &str| {
        format!(
            r#"{{"evalSetId": "s", "evalCases": [{{"evalId": "c", "evalMode": "trace", "actualConversation": [{{"userContent": {{"role": "user",
                "content": "a"}}, "finalResponse": {{"role": "assistant", "content": "b"}}, "executionTrace": {steps}}}]}}]}}"#
        )
    };
    assert_eq!(recorded(&trace(r#"{"Steps": [{"NodeID": "n", "Input": null, "Tools": null}]}"#)).warnings, []);
    for (steps, place) in [
        ("5", "executionTrace: an object"),
        (r#"{"Steps": 1}"#, "Steps: a list"),
        (r#"{"Steps": [{"NodeID": 1}]}"#, "NodeID: text"),
        (r#"{"Steps": [{"Output": "b"}]}"#, "Output: an object"),
    ] {
        let failed = render_problems(&load_recorded("f.json", &trace(steps)).unwrap_err());
        assert!(failed.contains(place), "{failed}");
    }
}

#[test]
fn a_call_without_a_result_takes_none_from_a_later_one() {
    let results = |text: &str| -> Vec<Vec<Option<Value>>> {
        let turns = recorded(text).conversations.remove(0).turns;
        let by_turn = crate::evidence::Transcript { turns }.tool_uses_by_turn();
        by_turn
            .into_iter()
            .map(|uses| uses.into_iter().map(|used| used.result.map(LazyValue::into_value)).collect())
            .collect()
    };
    let turn = |tools: Value| json!({"userContent": {"role": "user", "content": "go"}, "finalResponse": {"role": "assistant", "content": "ok"}, "tools": tools});
    let set = |turns: Value| {
        json!({"evalSetId": "s", "evalCases": [{"evalId": "c", "evalMode": "trace", "conversation": turns}]})
            .to_string()
    };
    let (open, done) =
        (json!({"name": "f", "arguments": {"n": 1}}), json!({"name": "f", "arguments": {"n": 2}, "result": "done"}));
    assert_eq!(results(&set(json!([turn(json!([open, done]))]))), [[None, Some(json!("done"))]]);
    let with_id = |mut call: Value| {
        call["id"] = json!("tool_1");
        call
    };
    let again = set(json!([turn(json!([with_id(open.clone())])), turn(json!([with_id(done.clone())]))]));
    assert_eq!(results(&again), [[None], [Some(json!("done"))]]);
    // An id, or none at all, anew in each turn.
    for id in [json!({"tool_call_id": "call_0"}), json!({})] {
        let asked = json!({"role": "user", "content": "go"});
        let mut call = json!({"role": "assistant", "tool_calls": [{"id": "call_0", "function": {"name": "f", "arguments": "{}"}}]});
        let mut result = json!({"role": "tool", "content": "done"});
        match id.get("tool_call_id") {
            Some(id) => result["tool_call_id"] = id.clone(),
            None => drop(call["tool_calls"][0].as_object_mut().unwrap().remove("id")),
        }
        let said = json!({"role": "assistant", "content": "ok"});
        let log = json!([asked, call, said, asked, call, result, said]).to_string();
        assert_eq!(results(&log), [[None], [Some(json!("done"))]], "{id}");
    }
    let used = |n: u8| json!({"id": "x", "name": "f", "args": {"n": n}});
    let answered = |text: &str| json!({"id": "x", "name": "f", "response": {"said": text}});
    let adk = json!([{"user_content": {"parts": [{"text": "go"}]}, "final_response": {"parts": [{"text": "ok"}]},
        "intermediate_data": {"tool_uses": [used(1), used(2)], "tool_responses": [answered("1"), answered("2")]}}]);
    assert_eq!(results(&adk.to_string()), [[Some(json!({"said": "1"})), Some(json!({"said": "2"}))]]);
}

#[test]
fn results_of_calls_with_one_id_go_to_them_in_their_order() {
    let call = |args: &str| json!({"id": "", "type": "function", "function": {"name": "f", "arguments": args}});
    let result = |text: &str| json!({"role": "tool", "tool_call_id": "", "content": text});
    let list = json!([
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": null, "tool_calls": [call("{\"n\": 1}"), call("{\"n\": 2}")]},
        result("\"one\""), result("\"two\""),
        {"role": "assistant", "content": "ok"},
    ]);
    let turns = recorded(&list.to_string()).conversations.remove(0).turns;
    let uses = crate::evidence::Transcript { turns }.tool_uses_by_turn().concat();
    let results: Vec<Option<Value>> = uses.into_iter().map(|used| used.result.map(LazyValue::into_value)).collect();
    assert_eq!(results, [Some(json!("one")), Some(json!("two"))]);
}

#[test]
fn an_empty_text_that_is_recorded_is_a_reply() {
    let turn = json!({"userContent": {"role": "user", "content": "go"}, "finalResponse": {"role": "assistant", "content": ""}});
    let set = json!({"evalSetId": "s", "evalCases": [{"evalId": "c", "evalMode": "trace", "conversation": [turn]}]});
    assert_eq!(turns(&recorded(&set.to_string())), [(1, "go", Some(""))]);
}
