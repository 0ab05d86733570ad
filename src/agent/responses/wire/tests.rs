//! Exchanges transcribed from OpenAI's API reference: "Create a model response" with its examples "Text input", "Functions",
//! "File search" and "Web search", and "Streaming events". Left out are keys that nobody here reads.

use super::*;
use crate::evidence::EventKind;

/// Fixtures that `scripts/model-types` serialised from the types of the `openai` Python package, or validated by them.
macro_rules! recorded {
    ($name:literal) => {
        serde_json::from_str::<Value>(include_str!(concat!("../../../../tests/fixtures/responses/", $name, ".json")))
            .unwrap()
    };
}

fn taken(pieces: &[Value]) -> (Response, Vec<EventOutcome>) {
    let mut response = Response::default();
    let took = pieces.iter().map(|piece| response.take(piece)).collect();
    (response, took)
}

fn config(value: Value) -> ResponsesConfig {
    serde_json::from_value(value).unwrap()
}

#[test]
fn a_request_holds_what_the_job_says_and_what_it_goes_on_from() {
    let tools = json!([{"name": "get_current_weather", "description": "d", "parameters": {"type": "object"}}]);
    let all = config(json!({"instructions": "Be brief.", "temperature": 0.5, "maxTokens": 9, "reasoningEffort": "low",
                            "tools": tools}));
    let sent = request(&all, "gpt-4.1", &ResponseContext::Response("resp_1".to_owned()), &[message("Hi")]);
    assert_eq!(sent, recorded!("request-turn"));
    let call = RequestedCall { id: "call_1".to_owned(), ..RequestedCall::default() };
    let conversation = ResponseContext::Conversation("conv_1".to_owned());
    let sent = request(&config(json!({})), "m", &conversation, &[returned(&call, "{\"eur\":5}")]);
    assert_eq!(sent, recorded!("request-result"));
}

#[test]
fn streams_of_the_official_types_are_read() {
    let read = |events: Value| taken(events.as_array().unwrap()).0;
    let hi = read(recorded!("reply-words"));
    assert_eq!((hi.id.as_str(), hi.text().as_str(), hi.has_ended), ("resp_1", "Hi there!", true));
    let usage = hi.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.cached_input_tokens), (Some(37), Some(5)));
    assert_eq!((usage.output_tokens, usage.reasoning_tokens), (Some(11), Some(2)));
    assert_eq!(read(recorded!("reply-refusal")).text(), "I can't.");
    let tools = read(recorded!("reply-tools"));
    let tools = tools.into_round(true);
    assert_eq!((tools.calls.len(), tools.events.len()), (1, 6));
    let cut = read(recorded!("reply-incomplete"));
    assert_eq!((cut.text().as_str(), cut.incomplete.as_deref()), ("Once upon", Some("max_output_tokens")));
    assert_eq!(read(recorded!("reply-failed")).into_round(true).error.unwrap().status, 429);
}

#[test]
fn a_streamed_response_is_read() {
    let delta = |delta: &str| {
        json!({"type": "response.output_text.delta", "item_id": "msg_67c9fdcf37fc8190ba82116e33fb28c507b8b0ad4e5eb654",
               "output_index": 0, "content_index": 0, "delta": delta})
    };
    let message = json!({"id": "msg_67c9fdcf37fc8190ba82116e33fb28c507b8b0ad4e5eb654", "type": "message",
                         "status": "completed", "role": "assistant",
                         "content": [{"type": "output_text", "text": "Hi there!", "annotations": []}]});
    let (response, took) = taken(&[
        json!({"type": "response.created", "response": {"id": "resp_67c9", "status": "in_progress", "output": []}}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "message", "content": []}}),
        delta("Hi"),
        delta(" there!"),
        json!({"type": "response.output_text.done", "text": "Hi there!"}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": message}),
        json!({"type": "response.completed", "response": {"id": "resp_67c9", "status": "completed", "error": null,
               "incomplete_details": null, "output": [message],
               "usage": {"input_tokens": 37, "input_tokens_details": {"cached_tokens": 5}, "output_tokens": 11,
                         "output_tokens_details": {"reasoning_tokens": 2}, "total_tokens": 48}}}),
    ]);
    let nothing = EventOutcome::Nothing;
    assert_eq!(took, [nothing, nothing, EventOutcome::Text, EventOutcome::Text, nothing, nothing, EventOutcome::End]);
    assert_eq!((response.id.as_str(), response.text().as_str()), ("resp_67c9", "Hi there!"));
    let usage = response.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.cached_input_tokens), (Some(37), Some(5)));
    assert_eq!((usage.output_tokens, usage.reasoning_tokens), (Some(11), Some(2)));
    let round = response.into_round(false);
    assert!(round.calls.is_empty() && round.events.is_empty() && round.error.is_none() && round.unended.is_none());
}

#[test]
fn calls_and_hosted_tools_are_kept_apart() {
    let (response, _) = taken(&[json!({"id": "resp_67ca", "object": "response", "status": "completed", "output": [
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "web_search_call", "id": "ws_67cc", "status": "completed",
         "action": {"type": "search", "query": "positive news today"}},
        {"type": "file_search_call", "id": "fs_67cc", "queries": ["attributes of brown dragon"], "results": null},
        {"type": "mcp_call", "id": "mcp_1", "name": "roll", "arguments": "{\"dice\":\"2d4\"}", "output": "4",
         "server_label": "dmcp"},
        {"type": "code_interpreter_call", "id": "ci_1", "code": "1+1", "outputs": [{"type": "logs", "logs": "2"}]},
        {"type": "mcp_list_tools", "id": "mcpl_1", "tools": []},
        {"type": "function_call", "id": "fc_67ca", "call_id": "call_unLAR8MvFNptuiZK6K6HCy5k",
         "name": "get_current_weather", "arguments": "{\"location\":\"Boston, MA\",\"unit\":\"celsius\"}"},
    ]})]);
    assert_eq!(response.usage, None, "usage that is not reported is unknown");
    let response = response.into_round(true);
    let [call] = &response.calls[..] else { panic!() };
    assert_eq!((call.id.as_str(), call.name.as_str()), ("call_unLAR8MvFNptuiZK6K6HCy5k", "get_current_weather"));
    assert_eq!(call.args(), json!({"location": "Boston, MA", "unit": "celsius"}));
    let shown: Vec<String> = response
        .events
        .iter()
        .map(|event| match &event.kind {
            EventKind::FunctionCall(call) => format!("{} {}", call.function, call.args),
            EventKind::FunctionResponse { output } => format!("→ {output}"),
            EventKind::Other { data } => data["type"].to_string(),
            _ => "?".to_owned(),
        })
        .collect();
    assert_eq!(
        shown,
        [
            r#"web_search {"type":"search","query":"positive news today"}"#,
            r#"file_search {"queries":["attributes of brown dragon"]}"#,
            r#"roll {"dice":"2d4"}"#,
            r#"→ "4""#,
            r#"code_interpreter {"code":"1+1"}"#,
            r#"→ [{"type":"logs","logs":"2"}]"#,
            r#""mcp_list_tools""#,
        ]
    );
}

#[test]
fn refusals_and_what_was_cut_off_keep_their_words() {
    let refusal = json!({"type": "message", "content": [{"type": "refusal", "refusal": "I'm sorry."}]});
    assert_eq!(taken(&[json!({"output": [refusal]})]).0.text(), "I'm sorry.");
    let (cut, _) = taken(&[
        json!({"type": "response.output_text.delta", "delta": "Once upon"}),
        json!({"type": "response.incomplete", "response": {"id": "resp_1", "status": "incomplete", "output": [],
               "incomplete_details": {"reason": "max_output_tokens"}}}),
    ]);
    assert_eq!((cut.text().as_str(), cut.incomplete.as_deref()), ("Once upon", Some("max_output_tokens")));
    assert_eq!(cut.into_round(false).events, [Event::other(json!({"incomplete": "max_output_tokens"}))]);
    let half =
        json!({"type": "function_call", "call_id": "c", "name": "price", "arguments": "{\"it", "status": "incomplete"});
    let (cut, _) = taken(&[json!({"status": "incomplete", "output": [half]})]);
    assert!(cut.incomplete.is_some() && cut.into_round(true).calls.is_empty(), "half a call is none");
}

#[test]
fn errors_stand_for_a_status() {
    let failed = json!({"code": "server_error", "message": "The model failed to generate a response."});
    for (pieces, status) in [
        (vec![json!({"type": "response.failed", "response": {"status": "failed", "error": failed}})], 500),
        (
            vec![json!({"type": "error", "code": "ERR_SOMETHING", "message": "Something went wrong", "param": null})],
            500,
        ),
        (
            // The second says more than the first.
            vec![
                json!({"type": "error", "error": {"code": "unknown-error", "message": "x"}}),
                json!({"type": "response.failed",
                       "response": {"status": "failed", "error": {"code": "rate_limit_exceeded", "message": "y"}}}),
            ],
            429,
        ),
        (vec![json!({"error": {"type": "invalid_request_error", "code": null, "message": "z"}})], 400),
        (vec![json!({"error": {"code": "previous_response_not_found", "message": "z"}})], 404),
        (vec![json!({"type": "error", "error": {"code": 503, "message": "z"}})], 503),
        (vec![json!({"type": "response.failed", "response": {"status": "failed"}})], 500),
    ] {
        let (response, _) = taken(&pieces);
        assert_eq!(response.into_round(true).error.unwrap().status, status, "{pieces:?}");
    }
    for message in [
        "Previous response with id 'resp_1' not found.",
        "Conversation with id 'conv_1' not found.",
        "previous_response_not_found",
    ] {
        assert!(says_context_is_lost(message), "{message}");
    }
    assert!(!says_context_is_lost("The model `m` was not found"));
}

#[test]
fn a_response_may_be_asked_for_in_one_piece() {
    let config: ResponsesConfig = serde_json::from_value(json!({"streaming": false})).unwrap();
    assert_eq!(request(&config, "m", &ResponseContext::New, &[])["stream"], false);
    assert_eq!(request(&ResponsesConfig::default(), "m", &ResponseContext::New, &[])["stream"], true);
}
