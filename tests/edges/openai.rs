//! Chat completions against an endpoint that can little, fails, or answers nonsense. Replies are the bytes that
//! `scripts/openai-types` serialised from the types of OpenAI's own package; the requests recorded beside them are what
//! it validates, and what is sent is compared with them.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use eval_job::clock::Clock;
use eval_job::evidence::{Message, ReplySchema, Role, Usage};
use eval_job::http::HttpClient;
use eval_job::llm::openai::{OpenAi, OpenAiSettings, check};
use eval_job::llm::{Llm, LlmError, LlmReply, LlmRequest, LlmRole};
use eval_job::retry::RetryPolicy;
use eval_job::secret::Secret;
use serde_json::json;

use super::server::{Answer, Received, Server};

/// Six tries and hardly a wait between them.
const QUICK: RetryPolicy = RetryPolicy {
    tries: 6,
    first_delay: Duration::from_millis(1),
    max_delay: Duration::from_millis(2),
    retry_after_cap: Duration::from_millis(2),
};

const SCORE: &str = r#"{"reason":"It asked for the time zone.","score":0.9}"#;

fn folder() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", "fixtures", "openai"].iter().collect()
}

fn recorded(name: &str) -> String {
    fs::read_to_string(folder().join(format!("{name}.json"))).unwrap()
}

fn ok(name: &str) -> Answer {
    Answer::json(200, recorded(name))
}

fn error(status: u16, name: &str) -> Answer {
    Answer::json(status, recorded(name))
}

/// What was sent is what the script validated. A request that is not recorded yet is, to be validated and committed.
fn assert_recorded(request: &Received, name: &str) {
    let path = folder().join(format!("{name}.json"));
    if !path.exists() {
        fs::write(&path, format!("{}\n", request.body)).unwrap();
        panic!("{} is new: run scripts/openai-types/check.py, then this test again", path.display());
    }
    assert_eq!(request.body, recorded(name).trim_end(), "{name} differs; delete the file to record it anew");
}

fn client(url: &str) -> OpenAi {
    let settings = OpenAiSettings {
        base_url: format!("{url}/v1/"),
        api_key: Secret::new("sk-hush"),
        model: "gpt-4.1-mini".to_owned(),
        time_limit: Duration::from_secs(20),
        rng_seed: 1,
        clock: Clock::system(),
        retry: QUICK,
    };
    OpenAi::new(settings, HttpClient::new()).unwrap()
}

fn talk() -> LlmRequest {
    let messages = vec![
        Message::new(Role::System, "You pose as a user."),
        Message::new(Role::User, "Hello, how can I help?"),
        Message::new(Role::Assistant, "Hi \"there\"\n"),
        Message::new(Role::Tool, "A note from a tool."),
    ];
    LlmRequest { role: LlmRole::Persona, messages, temperature: 0.5, schema: None }
}

fn score() -> LlmRequest {
    let schema = json!({
        "type": "object",
        "properties": {"reason": {"type": "string"}, "score": {"type": "number"}},
        "required": ["reason", "score"],
        "additionalProperties": false
    });
    LlmRequest {
        role: LlmRole::Judge,
        messages: vec![Message::new(Role::User, "Score the conversation.")],
        temperature: 0.0,
        schema: Some(ReplySchema { name: "verdict".to_owned(), schema }),
    }
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
        calls: 1,
        input_tokens: Some(1200),
        cached_input_tokens: Some(1024),
        output_tokens: Some(90),
        reasoning_tokens: Some(64),
    };
    assert_eq!(reply.unwrap(), LlmReply { text: SCORE.to_owned(), usage });
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
async fn a_temperature_that_a_model_refuses_is_dropped_once_for_all() {
    let server = Server::with(vec![error(400, "error-temperature"), ok("reply-text")]).await;
    let client = client(&server.url);
    for _ in 0..2 {
        client.complete(&talk()).await.unwrap();
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
    assert_eq!(reply.unwrap().usage, Usage { calls: 1, ..Usage::default() });
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
        case(Answer::json(400, missed), 6, true, "Failed to generate JSON."),
        case(error(401, "error-key"), 1, false, r#"401: "Incorrect API key provided."; check OPENAI_API_KEY"#),
        case(Answer::json(403, ""), 1, false, r#"may use the model "gpt-4.1-mini""#),
        case(error(404, "error-model"), 1, false, r#"check the name of the model, "gpt-4.1-mini""#),
        case(error(400, "error-length"), 1, false, "maximum context length is 8192 tokens"),
        case(error(429, "error-quota"), 1, false, "no credit left: check its billing"),
        case(error(429, "error-rate"), 6, true, r#"answered 429: "Rate limit reached for requests.""#),
        case(Answer::json(408, ""), 6, true, "answered 408 Request Timeout"),
        case(Answer::json(500, "sk-hush"), 6, true, r#"answered 500 Internal Server Error: "***""#),
        case(Answer::json(503, ""), 6, true, "answered 503 Service Unavailable"),
        case(Answer::Close, 6, true, "the connection broke before a reply came"),
        case(Answer::Cut { declared: 99, body: b"{".to_vec() }, 6, true, "broke in the middle of the reply"),
        case(Answer::json(200, "{\"choices\":["), 6, true, "stops in the middle of its JSON"),
        case(Answer::json(200, b"{\"\xff\":1}"), 6, true, "not valid UTF-8"),
        case(Answer::json(200, "[]"), 6, true, "JSON, but no object"),
        case(Answer::json(200, r#"{"choices":5}"#), 6, true, "not of the expected shape"),
        case(
            Answer::of_type(200, "text/html", "<html>"),
            1,
            false,
            "text/html instead of JSON: \"<html>\"; check OPENAI_BASE_URL",
        ),
        case(Answer::json(301, "").with("location", "https://x.example/"), 1, false, "to https://x.example; redirects"),
        case(in_band("429"), 6, true, r#"answered with an error: "upstream ***""#),
        case(in_band("\"server_error\""), 6, true, "answered with an error"),
        case(in_band("402"), 1, false, "answered with an error"),
        case(error(200, "error-length"), 1, false, "answered with an error: \"This model's maximum"),
        case(ok("reply-refusal"), 1, false, r#"the model refuses: "I'm sorry, I can't help with that.""#),
        case(ok("reply-length"), 1, false, "cut off at the model's token limit"),
        case(ok("reply-content-filter"), 1, false, "content filter"),
        case(ok("reply-null"), 6, true, "the reply holds no text"),
        case(Answer::json(200, r#"{"choices":[]}"#), 1, true, "the reply holds no choices"),
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
    let settings = OpenAiSettings {
        base_url: server.url.clone(),
        api_key: Secret::new(""),
        model: "m".to_owned(),
        time_limit: Duration::from_millis(50),
        rng_seed: 1,
        clock: Clock::system(),
        retry: RetryPolicy { tries: 2, ..QUICK },
    };
    let client = OpenAi::new(settings, HttpClient::new()).unwrap();
    assert_eq!(client.name(), "openai/m");
    let error = client.complete(&talk()).await.unwrap_err();
    assert!(error.transient && error.message.ends_with("no reply within 50ms"), "{error}");
    assert_eq!(server.received().len(), 2);
    assert_eq!(server.received()[0].header("authorization"), None, "an empty key is not sent");
}

#[test]
fn an_address_that_cannot_work_is_found_before_anything_is_sent() {
    assert_eq!(check(OpenAiSettings::BASE_URL), Ok(()));
    assert!(check("api.openai.com").unwrap_err().starts_with("OPENAI_BASE_URL: the address can't be read"));
}
