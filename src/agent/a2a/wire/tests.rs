//! Messages in the shape of what a2a-sdk 1.3.0 sends (its server in tests/transports/peers/a2a), in both versions, written by hand.
use serde_json::json;

use super::*;

fn fold(results: &[Value]) -> Progress {
    let mut progress = Progress::default();
    for result in results {
        progress.take_in(result).unwrap();
    }
    progress
}

fn outgoing<'a>(context_id: Option<&'a str>, task_id: Option<&'a str>) -> Outgoing<'a> {
    Outgoing { text: "Hi", message_id: "m", context_id, task_id }
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
            "message": {"parts": [{"text": "looking"}]}}}}),
        json!({"artifactUpdate": {"taskId": "t", "artifact": {"artifactId": "a", "parts": [{"text": "Hel"}]}}}),
        json!({"artifactUpdate": {"taskId": "t", "append": true,
            "artifact": {"artifactId": "a", "parts": [{"text": "lo"}]}}}),
        json!({"statusUpdate": {"taskId": "t", "status": {"state": "TASK_STATE_COMPLETED"}}}),
    ];
    let old = [
        json!({"kind": "task", "id": "t", "contextId": "c", "status": {"state": "submitted"}}),
        json!({"kind": "status-update", "taskId": "t", "contextId": "c", "final": false, "status": {"state": "working",
            "message": {"kind": "message", "parts": [{"kind": "text", "text": "looking"}]}}}),
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
        assert_eq!(progress.events, [Event::Other { data: json!({"status": "working", "intermediate": "looking"}) }]);
    }
}

#[test]
fn each_way_a_task_rests_has_its_reply() {
    let task = |state: &str, said: &str, result: &str| {
        let words = |text: &str| json!([{"text": text}]);
        fold(&[json!({"id": "t", "contextId": "c", "status": {"state": state, "message": {"parts": words(said)}},
            "artifacts": [{"artifactId": "a", "parts": words(result)}],
            "history": [{"role": "ROLE_AGENT", "parts": words("before")}, {"role": "ROLE_USER", "parts": words("x")}]})])
    };
    assert_eq!(task("TASK_STATE_COMPLETED", "Done.", "Result").reply().unwrap(), "Done.\n\nResult");
    assert_eq!(task("completed", "Same", "Same").reply().unwrap(), "Same");
    assert_eq!(task("completed", "", "").reply().unwrap(), "before");
    assert_eq!(task("rejected", "I won't.", "").reply().unwrap(), "I won't.");
    let asks = task("TASK_STATE_INPUT_REQUIRED", "Which?", "");
    assert_eq!((asks.reply().unwrap().as_str(), asks.waiting_task().as_deref()), ("Which?", Some("t")));
    assert_eq!(task("failed", "no disk", "").reply().unwrap_err(), "the agent's task ended as failed: no disk");
    assert_eq!(
        task("TASK_STATE_AUTH_REQUIRED", "", "").reply().unwrap_err(),
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
fn a_card_says_where_and_how() {
    let new = json!({"name": "x", "supportedInterfaces": [
        {"url": "http://h/grpc", "protocolBinding": "GRPC", "protocolVersion": "1.0"},
        {"url": "http://h/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
        {"url": "http://h/old", "protocolBinding": "JSONRPC", "protocolVersion": "0.3"}],
        "capabilities": {"streaming": true},
        "securitySchemes": {"k": {"apiKeySecurityScheme": {"location": "header", "name": "X-API-Key"}}}});
    let card =
        Card { url: "http://h/rpc".to_owned(), version: Version::V1, streaming: true, wants_api_key_header: true };
    assert_eq!(card_of(&new).unwrap(), card);
    let old = json!({"url": "http://h/a2a", "protocolVersion": "0.3.0", "capabilities": {},
        "securitySchemes": {"k": {"type": "apiKey", "in": "query", "name": "X-API-Key"}}});
    let card =
        Card { url: "http://h/a2a".to_owned(), version: Version::V0_3, streaming: false, wants_api_key_header: false };
    assert_eq!(card_of(&old).unwrap(), card);
    let other = json!({"url": "http://h/g", "preferredTransport": "GRPC", "additionalInterfaces": [
        {"transport": "HTTP+JSON", "url": "http://h/rest"}]});
    assert_eq!(card_of(&other).unwrap_err(), "the agent card offers no JSON-RPC, only GRPC, HTTP+JSON");
    assert_eq!(card_of(&json!({})).unwrap_err(), "the agent card names no address");
}

#[test]
fn an_error_is_told_with_its_code() {
    let error = json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32001, "message": "Task not found"}});
    assert_eq!(result_of(&error).unwrap_err(), (Some(-32001), "Task not found".to_owned()));
    assert_eq!(result_of(&json!({"jsonrpc": "2.0"})).unwrap_err().0, None);
    assert_eq!(result_of(&json!({"result": {"a": 1}})).unwrap(), &json!({"a": 1}));
    assert!(Progress::default().take_in(&json!({"kind": "other"})).is_err());
}
