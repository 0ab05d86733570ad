//! Chat completions against an endpoint that can little, fails, or answers nonsense. Replies are the bytes that
//! `scripts/model-types` serialised from the types of OpenAI's own package; the requests recorded beside them are what
//! it validates, and what is sent is compared with them.

use std::time::Duration;

use eval_job::evidence::Usage;
use eval_job::http::HttpClient;
use eval_job::llm::{
    Client, Effort, Llm, LlmError, LlmErrorKind, LlmReply, LlmRequest, ModelOptions, ModelSettings, openai,
};
use eval_job::retry::RetryPolicy;
use serde_json::{Value, json};

use super::models::{Fixtures, QUICK, score, settings, talk};
use super::server::{Answer, Received, Server};

const SCORE: &str = r#"{"reason":"It asked for the time zone.","score":0.9}"#;

const FIXTURES: Fixtures = Fixtures("openai");

fn recorded(name: &str) -> String {
    FIXTURES.recorded(name)
}

fn ok(name: &str) -> Answer {
    Answer::json(200, recorded(name))
}

fn error(status: u16, name: &str) -> Answer {
    Answer::json(status, recorded(name))
}

fn assert_recorded(request: &Received, name: &str) {
    FIXTURES.assert_recorded(request, name);
}

fn json_of(request: &Received) -> Value {
    serde_json::from_slice(request.body.as_bytes()).unwrap()
}

fn client(url: &str) -> Client {
    let settings = settings(&format!("{url}/v1/"), "sk-hush", "gpt-4.1-mini", "OPENAI");
    openai::client(settings, HttpClient::new()).unwrap()
}

async fn ask(answers: Vec<Answer>, request: &LlmRequest) -> (Result<LlmReply, LlmError>, Vec<Received>) {
    let server = Server::with(answers).await;
    let reply = client(&server.url).complete(request).await;
    (reply, server.received())
}

#[tokio::test]
async fn a_plain_question_is_the_recorded_bytes() {
    let (reply, sent) = ask(vec![ok("reply-text")], &talk()).await;
    assert_eq!(reply.unwrap().text, "Hi, can you help me?");
    assert_eq!((sent[0].method.as_str(), sent[0].target.as_str()), ("POST", "/v1/chat/completions"));
    assert_eq!(sent[0].header("authorization"), Some("Bearer sk-hush"));
    assert_eq!(sent[0].header("content-type"), Some("application/json"));
    assert_recorded(&sent[0], "request-text");
}

#[tokio::test]
async fn a_schema_is_sent_natively_and_the_cost_is_read() {
    let (reply, sent) = ask(vec![ok("reply-json")], &score()).await;
    let usage = Usage {
        cached_input_tokens: Some(1024),
        reasoning_tokens: Some(64),
        ..Usage::from_counts(Some(1200), Some(90))
    };
    assert_eq!(
        reply.unwrap(),
        LlmReply { text: SCORE.to_owned(), usage, notes: Vec::new(), tokens: Vec::new(), is_cached: false }
    );
    assert_recorded(&sent[0], "request-schema");
}

#[tokio::test]
async fn an_endpoint_that_can_less_is_asked_for_less_and_that_is_remembered() {
    let answers = vec![error(400, "error-schema"), error(422, "error-json-mode"), ok("reply-fenced")];
    let server = Server::with(answers).await;
    let client = client(&server.url);
    assert_eq!(client.complete(&score()).await.unwrap().text, SCORE);
    assert_eq!(client.complete(&score()).await.unwrap().text, SCORE);
    let sent = server.received();
    assert_eq!(sent.len(), 4);
    assert_recorded(&sent[0], "request-schema");
    assert_recorded(&sent[1], "request-json-mode");
    assert_recorded(&sent[2], "request-words");
    assert_eq!(sent[3].body, sent[2].body);
}

#[tokio::test]
async fn a_model_that_reasons_gets_an_allowance_for_it_once_it_was_cut_off_within_its_thoughts() {
    let mut thinking: Value = serde_json::from_str(&recorded("reply-length")).unwrap();
    thinking["choices"][0]["message"]["content"] = "".into();
    let thinking = Answer::json(200, thinking.to_string());
    let server = Server::with(vec![thinking, ok("reply-json"), ok("reply-json")]).await;
    let client = client(&server.url);
    let reply = client.complete(&score()).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.usage.calls), (SCORE, 2), "both are paid for");
    client.complete(&score()).await.unwrap();
    let bounds: Vec<u64> = server.received().iter().map(|sent| json_of(sent)["max_tokens"].as_u64().unwrap()).collect();
    assert_eq!(bounds, [300, 16_300, 16_300]);
}

#[tokio::test]
async fn a_reply_that_is_cut_off_within_its_text_is_not_asked_for_again_here() {
    let (reply, sent) = ask(vec![ok("reply-length")], &score()).await;
    let error = reply.unwrap_err();
    assert_eq!((error.kind, sent.len()), (LlmErrorKind::CutOff("{\"reason\":\"It as".to_owned()), 1));
}

#[tokio::test]
async fn an_endpoint_that_knows_no_lengths_of_texts_keeps_the_rest_of_the_schema() {
    let message = "Invalid schema for response_format 'verdict': In context=(), 'maxLength' is not permitted.";
    let refused = Answer::json(400, json!({"error": {"message": message}}).to_string());
    let mut request = score();
    request.schema.as_mut().unwrap().schema["properties"]["reason"]["maxLength"] = 600.into();
    let (reply, sent) = ask(vec![refused, ok("reply-json")], &request).await;
    assert_eq!(reply.unwrap().notes, [""; 0]);
    let lengths = |sent: &Received| {
        json_of(sent)["response_format"]["json_schema"]["schema"]["properties"]["reason"]["maxLength"].clone()
    };
    assert_eq!((lengths(&sent[0]), lengths(&sent[1])), (json!(600), Value::Null));
}

#[tokio::test]
async fn a_temperature_that_a_model_refuses_is_dropped_once_for_all() {
    let server = Server::with(vec![error(400, "error-temperature"), ok("reply-text")]).await;
    let client = client(&server.url);
    for _ in 0..2 {
        let notes = client.complete(&talk()).await.unwrap().notes;
        assert_eq!(notes, ["the model refuses a temperature; it was left out"]);
    }
    let sent = server.received();
    assert_eq!(sent.len(), 3);
    assert_recorded(&sent[1], "request-without-temperature");
    assert_eq!(sent[2].body, sent[1].body);
}

#[tokio::test]
async fn what_cannot_be_left_out_twice_ends() {
    let (reply, sent) = ask(vec![error(400, "error-temperature")], &talk()).await;
    assert!(!reply.unwrap_err().transient);
    assert_eq!(sent.len(), 2);
    let (reply, sent) = ask(vec![error(400, "error-schema")], &score()).await;
    assert!(!reply.unwrap_err().transient);
    assert_eq!(sent.len(), 3);
    let (reply, sent) = ask(vec![error(400, "error-schema")], &talk()).await;
    assert!(!reply.unwrap_err().transient);
    assert_eq!(sent.len(), 1, "nothing was asked for that could be left out");
}

#[tokio::test]
async fn prose_where_json_was_asked_for_is_handed_on_whole() {
    let (reply, _) = ask(vec![ok("reply-prose")], &score()).await;
    assert_eq!(reply.unwrap().text, "I would give it nine out of ten.");
}

#[tokio::test]
async fn tokens_that_are_not_reported_stay_unknown() {
    let (reply, _) = ask(vec![ok("reply-without-usage")], &talk()).await;
    assert_eq!(reply.unwrap().usage, Usage { calls: 1, unreported_calls: 1, ..Usage::default() });
}

/// One way to fail to the end, and what must come of it.
struct Case {
    answer: Answer,
    tries: usize,
    transient: bool,
    words: &'static str,
}

fn cases() -> Vec<Case> {
    let case = |answer, tries, transient, words| Case { answer, tries, transient, words };
    let in_band =
        |code: &str| Answer::json(200, format!(r#"{{"error":{{"message":"upstream sk-hush","code":{code}}}}}"#));
    let missed = r#"{"error":{"message":"Failed to generate JSON.","code":"json_validate_failed"}}"#;
    vec![
        case(Answer::json(400, missed), 5, true, "Failed to generate JSON."),
        case(error(401, "error-key"), 1, false, r#"401: "Incorrect API key provided."; check OPENAI_API_KEY"#),
        case(Answer::json(403, ""), 1, false, r#"may use the model "gpt-4.1-mini""#),
        case(error(404, "error-model"), 1, false, r#"check the name of the model, "gpt-4.1-mini""#),
        case(error(400, "error-length"), 1, false, "maximum context length is 8192 tokens"),
        case(error(429, "error-quota"), 1, false, "no credit left: check its billing"),
        case(error(429, "error-rate"), 5, true, r#"answered 429: "Rate limit reached for requests.""#),
        case(Answer::json(408, ""), 5, true, "answered 408 Request Timeout"),
        case(Answer::json(500, "sk-hush"), 5, true, r#"answered 500 Internal Server Error: "***""#),
        case(Answer::json(503, ""), 5, true, "answered 503 Service Unavailable"),
        case(Answer::Close, 5, true, "the connection broke before a reply came"),
        case(Answer::Cut { declared: 99, body: b"{".to_vec() }, 5, true, "broke in the middle of the reply"),
        case(Answer::json(200, "{\"choices\":["), 5, true, "stops in the middle of its JSON"),
        case(Answer::json(200, b"{\"\xff\":1}"), 5, true, "not valid UTF-8"),
        case(Answer::json(200, "[]"), 5, true, "JSON, but no object"),
        case(Answer::json(200, r#"{"choices":5}"#), 5, true, "not of the expected shape"),
        case(
            Answer::of_type(200, "text/html", "<html>"),
            1,
            false,
            "text/html instead of JSON: \"<html>\"; check OPENAI_BASE_URL",
        ),
        case(Answer::json(301, "").with("location", "https://x.example/"), 1, false, "to https://x.example; redirects"),
        case(in_band("429"), 5, true, r#"answered with an error: "upstream ***""#),
        case(in_band("\"server_error\""), 5, true, "answered with an error"),
        case(in_band("402"), 1, false, "answered with an error"),
        case(error(200, "error-length"), 1, false, "answered with an error: \"This model's maximum"),
        case(ok("reply-refusal"), 1, false, r#"the model refuses: "I'm sorry, I can't help with that.""#),
        case(ok("reply-length"), 1, false, "cut off at its token limit"),
        case(ok("reply-content-filter"), 1, false, "content filter"),
        case(ok("reply-null"), 5, true, "the reply holds no text"),
        case(Answer::json(200, r#"{"choices":[]}"#), 2, true, "the reply holds no choices"),
    ]
}

#[tokio::test]
async fn each_failure_is_tried_and_worded_as_it_should_be() {
    for Case { answer, tries, transient, words } in cases() {
        let what = format!("{answer:.60?} {words}");
        let server = Server::with(vec![answer]).await;
        let error = client(&server.url).complete(&score()).await.unwrap_err();
        assert!(error.message.starts_with(&format!("POST {}/v1/chat/completions: ", server.url)), "{what}: {error}");
        assert!(error.message.contains(words), "{what}: {error}");
        assert!(!error.message.contains("sk-hush"), "{what}: {error}");
        assert_eq!(error.transient, transient, "{what}");
        assert_eq!(server.received().len(), tries, "{what}");
    }
}

#[tokio::test]
async fn a_rate_limit_that_passes_is_waited_out() {
    let slow = error(429, "error-rate").with("retry-after", "0");
    let (reply, sent) = ask(vec![slow.clone(), slow, Answer::json(500, ""), ok("reply-text")], &talk()).await;
    assert_eq!(reply.unwrap().text, "Hi, can you help me?");
    assert_eq!(sent.len(), 4);
    assert!(sent.iter().all(|request| request.body == sent[0].body), "every try asks the same");
}

#[tokio::test]
async fn an_endpoint_that_is_not_there_can_work_later() {
    let url = Server::refusing().await;
    let error = client(&url).complete(&talk()).await.unwrap_err();
    assert!(error.transient && error.message.contains("no connection: it was refused"), "{error}");
    assert!(error.message.ends_with("check OPENAI_BASE_URL and the network"), "{error}");
}

#[tokio::test]
async fn silence_ends_at_the_time_limit() {
    let server = Server::with(vec![Answer::Hang]).await;
    let settings = ModelSettings {
        key: None,
        time_limit: Duration::from_millis(600),
        retry: RetryPolicy { tries: 5, ..QUICK },
        ..settings(&server.url, "", "m", "OPENAI")
    };
    let client = openai::client(settings, HttpClient::new()).unwrap();
    assert_eq!(client.name(), "openai/m");
    let error = client.complete(&talk()).await.unwrap_err();
    assert!(error.transient && error.message.contains("no reply within 600ms (limits.model; "), "{error}");
    assert_eq!(server.received().len(), 2, "who hangs twice hangs");
    assert_eq!(server.received()[0].header("authorization"), None, "no key is sent");
}

#[tokio::test]
async fn what_a_job_says_of_a_model_is_sent_and_each_part_can_be_refused() {
    let refused = |param: &str| {
        Answer::json(400, format!(r#"{{"error":{{"message":"Unsupported parameter: '{param}'","param":"{param}"}}}}"#))
    };
    let server = Server::with(vec![
        ok("reply-text"),
        refused("seed"),
        refused("reasoning_effort"),
        refused("max_tokens"),
        ok("reply-text"),
    ])
    .await;
    let options = ModelOptions { max_tokens: Some(500), effort: Some(Effort::Low), rng_seed: Some(7) };
    let settings = ModelSettings { options, ..settings(&server.url, "sk-hush", "m", "OPENAI") };
    let client = openai::client(settings, HttpClient::new()).unwrap();
    assert!(client.complete(&talk()).await.unwrap().notes.is_empty());
    let notes = client.complete(&talk()).await.unwrap().notes;
    assert_eq!(notes.len(), 2, "the longest reply has another name, which is no loss: {notes:?}");
    let sent = server.received();
    assert_recorded(&sent[0], "request-options");
    assert!(sent[4].body.contains("\"max_completion_tokens\":500"), "{}", sent[4].body);
    assert!(!sent[4].body.contains("seed") && !sent[4].body.contains("effort"), "{}", sent[4].body);
}

#[tokio::test]
async fn a_redirect_to_another_host_gets_no_key() {
    let other = Server::with(vec![ok("reply-text")]).await;
    let away = Answer::json(307, "").with("location", &format!("{}/v1/chat/completions", other.url));
    let server = Server::with(vec![away]).await;
    let error = client(&server.url).complete(&talk()).await.unwrap_err();
    assert!(!error.transient && error.message.contains("redirects are not followed"), "{error}");
    assert!(other.received().is_empty());
}

#[tokio::test]
async fn a_storm_of_refusals_ends_for_all_callers_with_few_requests() {
    let server = Server::with(vec![error(429, "error-rate")]).await;
    let client = client(&server.url);
    let talk = talk();
    let calls: Vec<_> = (0..40).map(|_| client.complete(&talk)).collect();
    for reply in futures_util::future::join_all(calls).await {
        let error = reply.unwrap_err();
        assert!(error.transient, "{error}");
    }
    let sent = server.received().len();
    assert!((5..=20).contains(&sent), "{sent} requests of 40 callers with five tries each");
}
