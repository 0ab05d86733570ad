//! Messages in the shape of what a2a-sdk 1.3.0 sends (its server in tests/transports/peers/a2a), in both versions, written by hand.
use serde_json::json;

use super::progress::text_of;
use super::*;
use crate::evidence::{EventKind, ToolCall};

fn fold(results: &[Value]) -> TaskProgress {
    let mut progress = TaskProgress::default();
    for result in results {
        progress.apply(result).unwrap();
    }
    progress
}

fn outgoing<'a>(context_id: Option<&'a str>, task_id: Option<&'a str>) -> UserMessage<'a> {
    UserMessage { text: "Hi", message_id: "m", context_id, task_id }
}

#[test]
fn a_message_is_sent_as_each_version_has_it() {
    assert_eq!(
        Version::V1.send(&outgoing(None, None), true),
        json!({"jsonrpc": "2.0", "id": "m", "method": "SendStreamingMessage", "params": {
            "message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "Hi"}]},
            "configuration": {"acceptedOutputModes": ["text/plain", "application/json"]}}})
    );
    assert_eq!(
        Version::V0_3.send(&outgoing(Some("c"), Some("t")), false),
        json!({"jsonrpc": "2.0", "id": "m", "method": "message/send", "params": {
            "message": {"kind": "message", "messageId": "m", "role": "user", "contextId": "c", "taskId": "t",
                        "parts": [{"kind": "text", "text": "Hi"}]},
            "configuration": {"acceptedOutputModes": ["text/plain", "application/json"], "blocking": true}}})
    );
    assert_eq!(Version::V0_3.task("t")["method"], "tasks/get");
    assert_eq!(Version::V1.task("t")["params"], json!({"id": "t"}));
}

/// The specification's own examples: 0.3.0 "9.2 Basic Execution", 1.0 "SendMessage".
#[test]
fn a_message_in_reply_is_the_reply() {
    for result in [
        json!({"message": {"messageId": "x", "contextId": "c", "role": "ROLE_AGENT", "parts": [{"text": "Hello"}]}}),
        json!({"kind": "message", "messageId": "x", "contextId": "c", "role": "agent",
               "parts": [{"kind": "text", "text": "Hello"}]}),
    ] {
        let progress = fold(&[result]);
        assert!(progress.rests());
        assert_eq!((progress.reply().unwrap().as_str(), progress.context_id.as_deref()), ("Hello", Some("c")));
        assert_eq!(progress.waiting_task(), None);
    }
}

#[test]
fn a_stream_of_updates_is_one_reply() {
    let new = [
        json!({"task": {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_SUBMITTED"}}}),
        json!({"statusUpdate": {"taskId": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING",
            "message": {"parts": [{"text": "polling"}]}}}}),
        json!({"artifactUpdate": {"taskId": "t", "artifact": {"artifactId": "a", "parts": [{"text": "Hel"}]}}}),
        json!({"artifactUpdate": {"taskId": "t", "append": true,
            "artifact": {"artifactId": "a", "parts": [{"text": "lo"}]}}}),
        json!({"statusUpdate": {"taskId": "t", "status": {"state": "TASK_STATE_COMPLETED"}}}),
    ];
    let old = [
        json!({"kind": "task", "id": "t", "contextId": "c", "status": {"state": "submitted"}}),
        json!({"kind": "status-update", "taskId": "t", "contextId": "c", "final": false, "status": {"state": "working",
            "message": {"kind": "message", "parts": [{"kind": "text", "text": "polling"}]}}}),
        json!({"kind": "artifact-update", "taskId": "t", "artifact": {"artifactId": "a",
            "parts": [{"kind": "text", "text": "Hel"}]}}),
        json!({"kind": "artifact-update", "taskId": "t", "append": true, "artifact": {"artifactId": "a",
            "parts": [{"kind": "text", "text": "lo"}]}}),
        json!({"kind": "status-update", "taskId": "t", "final": true, "status": {"state": "completed"}}),
    ];
    for updates in [new, old] {
        for count in 1..updates.len() {
            assert!(!fold(&updates[..count]).rests());
        }
        let progress = fold(&updates);
        assert!(progress.rests());
        assert_eq!(progress.reply().unwrap(), "Hello");
        let kinds: Vec<EventKind> = progress.events.iter().map(|event| event.kind.clone()).collect();
        assert_eq!(kinds, [EventKind::Other { data: json!({"status": "working", "intermediate": "polling"}) }]);
    }
}

#[test]
fn each_way_a_task_rests_has_its_reply() {
    let task = |state: &str, message: &str, result: &str| {
        let parts = |text: &str| json!([{"text": text}]);
        fold(&[json!({"id": "t", "contextId": "c", "status": {"state": state, "message": {"parts": parts(message)}},
            "artifacts": [{"artifactId": "a", "parts": parts(result)}],
            "history": [{"role": "ROLE_AGENT", "parts": parts("before")}, {"role": "ROLE_USER", "parts": parts("x")}]})])
    };
    assert_eq!(task("TASK_STATE_COMPLETED", "Done.", "Result").reply().unwrap(), "Done.\n\nResult");
    assert_eq!(task("completed", "Same", "Same").reply().unwrap(), "Same");
    assert_eq!(task("completed", "", "").reply().unwrap(), "before");
    assert_eq!(task("rejected", "I won't.", "").reply().unwrap(), "I won't.");
    let asks = task("TASK_STATE_INPUT_REQUIRED", "Which?", "");
    assert_eq!((asks.reply().unwrap().as_str(), asks.waiting_task().as_deref()), ("Which?", Some("t")));
    assert_eq!(
        task("failed", "no disk", "").reply().unwrap_err().to_string(),
        "the agent's task ended as failed: no disk"
    );
    assert_eq!(
        task("TASK_STATE_AUTH_REQUIRED", "", "").reply().unwrap_err().to_string(),
        "the agent's task ended as auth-required"
    );
    assert!(!task("TASK_STATE_WORKING", "", "").rests());
}

#[test]
fn every_part_becomes_text() {
    for (part, expected) in [
        (json!({"kind": "text", "text": "a"}), "a"),
        (json!({"data": {"b": 1}, "mediaType": "application/json"}), r#"{"b":1}"#),
        (json!({"kind": "data", "data": {"b": 1}}), r#"{"b":1}"#),
        (json!({"kind": "file", "file": {"name": "plan.pdf", "bytes": "AAAA"}}), "[file plan.pdf]"),
        (json!({"kind": "file", "file": {"uri": "http://h/f"}}), "[file http://h/f]"),
        (json!({"url": "http://h/f", "filename": "f.txt"}), "[file f.txt]"),
        (json!({"raw": "AAAA"}), "[file without a name]"),
        (json!({"metadata": {}}), ""),
    ] {
        assert_eq!(text_of(&json!({"parts": [part]})), expected, "{part}");
    }
}

#[test]
fn a_card_has_address_version_and_streaming() {
    let new = json!({"name": "x", "supportedInterfaces": [
        {"url": "http://h/grpc", "protocolBinding": "GRPC", "protocolVersion": "1.0"},
        {"url": "http://h/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
        {"url": "http://h/old", "protocolBinding": "JSONRPC", "protocolVersion": "0.3"}],
        "capabilities": {"streaming": true},
        "securitySchemes": {"k": {"apiKeySecurityScheme": {"location": "header", "name": "X-API-Key"}}}});
    let card =
        Card { url: "http://h/rpc".to_owned(), version: Version::V1, streaming: true, wants_api_key_header: true };
    assert_eq!(parse_card(&new).unwrap(), card);
    let old = json!({"url": "http://h/a2a", "protocolVersion": "0.3.0", "capabilities": {},
        "securitySchemes": {"k": {"type": "apiKey", "in": "query", "name": "X-API-Key"}}});
    let card =
        Card { url: "http://h/a2a".to_owned(), version: Version::V0_3, streaming: false, wants_api_key_header: false };
    assert_eq!(parse_card(&old).unwrap(), card);
    let other = json!({"url": "http://h/g", "preferredTransport": "GRPC", "additionalInterfaces": [
        {"transport": "HTTP+JSON", "url": "http://h/rest"}]});
    assert_eq!(parse_card(&other).unwrap_err().to_string(), "the agent card offers no JSON-RPC, only GRPC, HTTP+JSON");
    assert_eq!(parse_card(&json!({})).unwrap_err().to_string(), "the agent card names no address");
}

#[test]
fn an_error_keeps_its_code() {
    let error = json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32001, "message": "Task not found"}});
    assert_eq!(
        parse_result(&error).unwrap_err(),
        RpcError::Reported { code: -32001, message: "Task not found".to_owned() }
    );
    assert!(matches!(parse_result(&json!({"jsonrpc": "2.0"})), Err(RpcError::Malformed(_))));
    assert_eq!(parse_result(&json!({"result": {"a": 1}})).unwrap(), &json!({"a": 1}));
    assert!(TaskProgress::default().apply(&json!({"kind": "other"})).is_err());
}

/// Written by hand from what trpc-agent-go's A2A server of August 2026 sent (commit 0e352fdd) for a model with thoughts and a
/// function call; and what google-adk 2.13.0 makes of the same parts (`adk_` alone).
#[test]
fn marked_parts_are_calls_results_and_thoughts_and_no_text() {
    let mark = |kind: &str| json!({"adk_type": kind, "type": kind});
    let call = json!({"kind": "data", "data": {"args": "{\"thing\":\"tea\"}", "id": "c1", "name": "note", "type": "function"},
                      "metadata": mark("function_call")});
    let result = json!({"kind": "data", "data": {"id": "c1", "name": "note", "response": "{\"count\":2}"},
                        "metadata": mark("function_response")});
    let thought = json!({"kind": "text", "text": "I think.", "metadata": {"adk_thought": true, "thought": true}});
    let say = |text: &str| json!({"kind": "text", "text": text});
    let message = |id: &str, parts: Value, object: &str| json!({"kind": "message", "messageId": id, "role": "agent", "parts": parts, "metadata": {"object_type": object}});
    let (piece, whole) = ("chat.completion.chunk", "chat.completion");
    let task = json!({"kind": "task", "id": "t", "contextId": "c", "status": {"state": "completed"},
        "artifacts": [{"artifactId": "a", "parts": [thought, say("Noted: tea.")]}],
        "history": [message("m0", Value::Null, "preprocessing.basic"), message("m1", json!([call]), whole),
                    message("m2", json!([result]), "tool.response")]});
    let update = |id: &str, parts: Value, object: &str| {
        json!({"kind": "artifact-update", "taskId": "t", "contextId": "c", "lastChunk": false,
               "metadata": {"object_type": object}, "artifact": {"artifactId": id, "parts": parts}})
    };
    let state = |state: &str| json!({"kind": "status-update", "taskId": "t", "status": {"state": state}});
    let artifacts = [
        state("submitted"),
        update("", Value::Null, "preprocessing.basic"),
        update("r2", json!([thought]), piece),
        update("r2", json!([say("One ")]), piece),
        update("r2", json!([say("moment. ")]), piece),
        update("r2", Value::Null, piece),
        update("r2", json!([call]), whole),
        update("", json!([result]), "tool.response"),
        update("r4", json!([say("Noted")]), piece),
        update("r4", json!([thought, say("Noted: tea.")]), whole),
        state("completed"),
    ];
    let messages = [
        state("submitted"),
        message("r2", json!([say("One ")]), piece),
        message("r2", json!([say("moment. ")]), piece),
        message("r2", json!([call]), whole),
        message("m2", json!([result]), "tool.response"),
        message("m3", Value::Null, "preprocessing.basic"),
        message("r4", json!([say("Noted")]), piece),
        message("r4", json!([thought, say("Noted: tea.")]), whole),
        state("completed"),
    ];
    let adk = |kind: &str, data: Value| json!({"data": data, "metadata": {"adk_type": kind}});
    let google = json!({"task": {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"}, "artifacts": [
        {"artifactId": "1", "parts": [{"text": "One moment."}, adk("function_call", json!({"id": "c1", "name": "note", "args": {"thing": "tea"}}))]},
        {"artifactId": "2", "parts": [adk("function_response", json!({"id": "c1", "name": "note", "response": {"count": 2}}))]},
        {"artifactId": "3", "parts": [{"text": "hm", "metadata": {"adk_thought": true}}, {"text": "Noted: tea."}]}]}});
    for (updates, says_before) in
        [(&[task.clone(), task][..], false), (&artifacts[..], true), (&messages[..], true), (&[google][..], true)]
    {
        let progress = fold(updates);
        assert_eq!(progress.reply().unwrap(), "Noted: tea.", "{updates:?}");
        let kinds: Vec<EventKind> = progress.events.iter().map(|event| event.kind.clone()).collect();
        let before = says_before.then(|| EventKind::Other { data: json!({"intermediate": "One moment."}) });
        let called =
            EventKind::FunctionCall(ToolCall { function: "note".to_owned(), args: json!({"thing": "tea"}).into() });
        let returned = EventKind::FunctionResponse { output: json!({"count": 2}).into() };
        assert_eq!(kinds, before.into_iter().chain([called, returned]).collect::<Vec<_>>(), "{updates:?}");
        let call = progress.events.iter().find(|event| matches!(event.kind, EventKind::FunctionCall(_))).unwrap();
        assert_eq!(call.to_json()["metadata"]["adk_type"], "function_call");
    }
    // Unmarked data is part of the reply, whatever its type.
    let data = json!({"kind": "data", "data": {"type": "function_call"}, "metadata": {"type": "table"}});
    assert_eq!(text_of(&json!({"parts": [data]})), r#"{"type":"function_call"}"#);
}

#[test]
fn text_after_the_calls_of_the_same_message_is_the_reply() {
    let call = json!({"kind": "data", "data": {"id": "c", "name": "f", "args": {}}, "metadata": {"adk_type": "function_call"}});
    let result =
        json!({"kind": "data", "data": {"id": "c", "response": 1}, "metadata": {"adk_type": "function_response"}});
    let text = |text: &str| json!({"kind": "text", "text": text});
    let thought = json!({"kind": "text", "text": "hm", "metadata": {"adk_thought": true}});
    for (parts, before) in [
        (json!([thought, call, result, text("Done.")]), None),
        (json!([text("One moment."), call, result, text("Done.")]), Some("One moment.")),
        // The call is reported after the text.
        (json!([text("Done."), call, result]), Some("Done.")),
    ] {
        let message = json!({"kind": "message", "role": "agent", "messageId": "m", "parts": parts});
        let artifact = json!({"artifactId": "a", "parts": parts});
        let task = json!({"kind": "task", "id": "t", "status": {"state": "completed"}, "artifacts": [artifact]});
        let update = json!({"kind": "artifact-update", "taskId": "t", "artifact": artifact});
        let end = json!({"kind": "status-update", "taskId": "t", "status": {"state": "completed"}});
        for updates in [vec![message], vec![task], vec![update, end]] {
            let progress = fold(&updates);
            assert_eq!(progress.reply().unwrap(), "Done.", "{updates:?}");
            let expected = before.map(|text| json!({"intermediate": text}));
            let intermediate = progress.events.iter().find_map(|event| match &event.kind {
                EventKind::Other { data } => Some(data.clone()),
                _ => None,
            });
            assert_eq!(
                (intermediate, progress.events.len()),
                (expected, 2 + usize::from(before.is_some())),
                "{updates:?}"
            );
        }
    }
}

#[test]
fn a_continued_task_does_not_report_earlier_calls() {
    let call = |id: &str| json!({"data": {"id": id, "name": id}, "metadata": {"adk_type": "function_call"}});
    let says = |role: &str, id: &str, part: Value| json!({"role": role, "messageId": id, "parts": [part]});
    let history = json!([
        says("ROLE_USER", "1", json!({"text": "a"})),
        says("ROLE_AGENT", "2", call("old")),
        says("ROLE_USER", "3", json!({"text": "b"})),
        says("ROLE_AGENT", "4", call("new"))
    ]);
    let task = json!({"task": {"id": "t", "status": {"state": "TASK_STATE_COMPLETED", "message": {"parts": [{"text": "ok"}]}},
                               "history": history}});
    let progress = fold(&[task]);
    assert_eq!(progress.events.len(), 1);
    assert!(matches!(&progress.events[0].kind, EventKind::FunctionCall(call) if call.function == "new"));
}

#[test]
fn what_comes_after_the_last_event_is_not_read() {
    let update =
        |status: Value, last: bool| json!({"kind": "status-update", "taskId": "t", "status": status, "final": last});
    let (working, done) = (json!({"state": "working"}), json!({"state": "completed"}));
    assert!(!fold(&[update(working.clone(), true)]).is_over(), "it is polled");
    assert!(!fold(&[update(done.clone(), false)]).is_over());
    assert!(fold(&[update(working.clone(), false), update(done, true)]).is_over());
    let newer = |state: &str| json!({"statusUpdate": {"taskId": "t", "status": {"state": state}}});
    assert!(!fold(&[newer("TASK_STATE_WORKING")]).is_over());
    assert!(fold(&[newer("TASK_STATE_INPUT_REQUIRED")]).is_over());
}

#[test]
fn json_of_another_shape_is_no_message() {
    for message in [json!("hi"), json!({"text": "hi"})] {
        assert!(TaskProgress::default().apply(&json!({ "message": message })).is_err());
    }
    assert_eq!(TaskProgress::default().apply(&json!({"message": {"role": "ROLE_AGENT"}})), Ok(false));
}
