//! The pieces as OpenAI's API reference shows them ("Create chat completion", the streaming and the functions examples,
//! platform.openai.com/docs/api-reference/chat/create), and as other endpoints bend them.

use super::*;

fn read(pieces: &[Value]) -> Completion {
    let mut completion = Completion::default();
    for piece in pieces {
        completion.take(piece);
    }
    completion
}

fn delta(delta: Value) -> Value {
    json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

#[test]
fn the_published_stream_is_read() {
    let stream = [
        r#"{"id":"chatcmpl-123","object":"chat.completion.chunk","created":1694268190,"model":"gpt-4o-mini","system_fingerprint":"fp_44709d6fcb","choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]}"#,
        r#"{"id":"chatcmpl-123","object":"chat.completion.chunk","created":1694268190,"model":"gpt-4o-mini","system_fingerprint":"fp_44709d6fcb","choices":[{"index":0,"delta":{"content":"Hello"},"logprobs":null,"finish_reason":null}]}"#,
        r#"{"id":"chatcmpl-123","object":"chat.completion.chunk","created":1694268190,"model":"gpt-4o-mini","system_fingerprint":"fp_44709d6fcb","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]}"#,
    ];
    let mut completion = Completion::default();
    let has_text: Vec<bool> =
        stream.iter().map(|piece| completion.take(&serde_json::from_str::<Value>(piece).unwrap())).collect();
    assert_eq!(has_text, [false, true, false]);
    assert_eq!((completion.text.as_str(), completion.finish_reason.as_deref()), ("Hello", Some("stop")));
    assert_eq!((completion.usage, completion.calls), (None, vec![]));
}

#[test]
fn the_published_call_is_read_whole_and_in_pieces() {
    let whole = json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": null, "tool_calls": [{
        "id": "call_abc123", "type": "function",
        "function": {"name": "get_current_weather", "arguments": "{\n\"location\": \"Boston, MA\"\n}"}
    }]}, "logprobs": null, "finish_reason": "tool_calls"}],
    "usage": {"prompt_tokens": 82, "completion_tokens": 17, "total_tokens": 99,
              "completion_tokens_details": {"reasoning_tokens": 0}}});
    let piece = |arguments: &str| delta(json!({"tool_calls": [{"index": 0, "function": {"arguments": arguments}}]}));
    let first = json!([{"index": 0, "id": "call_abc123", "type": "function",
                        "function": {"name": "get_current_weather", "arguments": ""}}]);
    let pieces = [
        delta(json!({"role": "assistant", "content": null, "tool_calls": first})),
        piece("{\n\"location\":"),
        piece(" \"Boston, MA\"\n}"),
    ];
    for completion in [read(std::slice::from_ref(&whole)), read(&pieces)] {
        assert_eq!(completion.calls[0].name, "get_current_weather");
        assert_eq!(completion.calls[0].args(), json!({"location": "Boston, MA"}));
        assert_eq!(completion.message()["tool_calls"][0]["id"], "call_abc123");
    }
    let usage = read(&[whole]).usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens, usage.reasoning_tokens), (Some(82), Some(17), Some(0)));
    assert_eq!(usage.cached_input_tokens, None);
}

#[test]
fn parallel_calls_are_kept_apart_with_and_without_indexes() {
    let call = |index: Option<u64>, id: &str, name: &str, arguments: Value| {
        let mut call = json!({"id": id, "function": {"name": name, "arguments": arguments}});
        if let Some(index) = index {
            call["index"] = index.into();
        }
        delta(json!({"tool_calls": [call]}))
    };
    let numbered = [
        call(Some(0), "a", "f", json!("{\"x\"")),
        call(Some(1), "b", "g", json!("{}")),
        call(Some(0), "", "", json!(":1}")),
    ];
    let bare =
        [call(None, "a", "f", json!("{\"x\"")), call(None, "", "", json!(":1}")), call(None, "b", "g", json!({}))];
    for pieces in [numbered, bare] {
        let calls = read(&pieces).calls;
        let read: Vec<(&str, Value)> = calls.iter().map(|call| (call.name.as_str(), call.args())).collect();
        assert_eq!(read, [("f", json!({"x": 1})), ("g", json!({}))]);
    }
    assert_eq!(RequestedCall { arguments: "{broken".to_owned(), ..RequestedCall::default() }.args(), json!("{broken"));
}

#[test]
fn an_error_in_the_stream_is_an_error() {
    for (error, message, status) in [
        (json!({"error": {"message": "Overloaded.", "code": 503}}), "Overloaded.", Some(503)),
        (json!({"error": {"message": "Slow down.", "code": "429"}}), "Slow down.", Some(429)),
        (json!({"error": {"message": "No.", "code": "server_error"}}), "No.", None),
        (json!({"error": "No."}), "No.", None),
    ] {
        let completion = read(&[delta(json!({"content": "He"})), error]);
        let error = completion.into_round(false).error.unwrap();
        assert_eq!((error.message.as_str(), error.status), (message, status.unwrap_or(500)));
    }
}

#[test]
fn nonsense_is_survived() {
    for piece in [
        json!(null),
        json!([1]),
        json!({"choices": []}),
        json!({"choices": [{"delta": 5}]}),
        json!({"choices": [{"delta": {"content": 5, "tool_calls": [7, {}]}}]}),
        json!({"usage": []}),
    ] {
        assert!(!read(&[]).take(&piece));
    }
}

#[test]
fn the_request_has_exactly_what_the_job_says() {
    let manner = ChatFeatures { usage: true, completion_tokens: false, temperature: true };
    let user = [json!({"role": "user", "content": "Hi"})];
    let least = request(&OpenAiConfig::default(), "m", &user, manner);
    assert_eq!(
        least.to_string(),
        r#"{"model":"m","messages":[{"role":"user","content":"Hi"}],"stream":true,"stream_options":{"include_usage":true}}"#
    );
    let tool = ToolConfig {
        name: "now".to_owned(),
        description: "the time".to_owned(),
        parameters: Value::Null,
        returns: json!("hidden"),
    };
    let config = OpenAiConfig {
        system: Some("Be kind.".to_owned()),
        temperature: Some(0.5),
        max_tokens: Some(9),
        tools: vec![tool],
        ..OpenAiConfig::default()
    };
    let full = request(&config, "m", &user, manner);
    assert_eq!(full["messages"][0], json!({"role": "system", "content": "Be kind."}));
    assert_eq!((&full["temperature"], &full["max_tokens"]), (&json!(0.5), &json!(9)));
    assert_eq!(full["tools"][0]["function"]["parameters"], json!({"type": "object", "properties": {}}));
    assert!(!full.to_string().contains("hidden"), "the model must not know the mocks");
    let learnt =
        request(&config, "m", &user, ChatFeatures { usage: false, completion_tokens: true, temperature: false });
    assert_eq!(learnt["max_completion_tokens"], 9);
    assert!(["max_tokens", "temperature", "stream_options"].iter().all(|key| learnt.get(key).is_none()));
}

#[test]
fn a_reply_that_was_cut_off_says_so() {
    let mut cut = Completion::default();
    assert!(cut.take(&json!({"choices": [{"message": {"content": "Once upon"}, "finish_reason": "length"}]})));
    let cut_off = Event::other(json!({"finish_reason": "length", "incomplete": "length"}));
    assert_eq!(cut.into_round(true).events, [cut_off]);
    let mut whole = Completion::default();
    whole.take(&json!({"choices": [{"message": {"content": "All."}, "finish_reason": "stop"}]}));
    assert_eq!(whole.into_round(true).events, []);
}

/// As trpc-agent-go's OpenAI server streams a run with a function of the agent's own (seen with commit 0e352fdd).
#[test]
fn text_before_calls_that_an_agent_hides_is_an_event() {
    let piece = |text: Value, reason: Value| {
        json!({"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"role": "assistant", "content": text},
               "finish_reason": reason}]})
    };
    let mut completion = Completion::default();
    for (text, reason) in [
        (Value::Null, Value::Null),
        (json!("One "), Value::Null),
        (json!("moment. "), Value::Null),
        (Value::Null, json!("tool_calls")),
        (Value::Null, json!("tool_calls")),
        (json!("Noted: "), Value::Null),
        (json!("tea."), Value::Null),
        (Value::Null, json!("stop")),
    ] {
        completion.take(&piece(text, reason));
    }
    assert_eq!(completion.text, "Noted: tea.");
    assert_eq!(completion.into_round(true).events, [Event::other(json!({"intermediate": "One moment."}))]);
}

#[test]
fn a_reply_may_be_asked_for_in_one_piece() {
    let config = OpenAiConfig { streaming: Some(false), ..OpenAiConfig::default() };
    let manner = ChatFeatures { usage: true, completion_tokens: false, temperature: true };
    let body = request(&config, "m", &[], manner);
    assert_eq!((&body["stream"], body.get("stream_options")), (&json!(false), None));
    assert_eq!(request(&OpenAiConfig::default(), "m", &[], manner)["stream"], true);
}

#[test]
fn json_of_another_shape_is_no_completion() {
    for piece in [json!({"answer": "hi"}), json!({"choices": "hi"}), json!({"choices": [{"text": "hi"}]})] {
        assert!(read(&[piece]).into_round(true).foreign.is_some());
    }
    for piece in [json!({"choices": []}), json!({"choices": [{"message": {"content": ""}}]})] {
        assert_eq!(read(&[piece]).into_round(true).foreign, None);
    }
}
