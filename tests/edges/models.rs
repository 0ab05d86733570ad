//! The other providers of our own models, and what the tests of all of them share. Replies are the bytes that
//! `scripts/model-types` serialised from the types of the official packages; the requests recorded beside them are what it
//! validates, and what is sent is compared with them. IBM has no types to serialise: its replies are the examples of the
//! watsonx.ai API reference ("Infer text chat") and of the IAM Identity Services API ("Create an IAM access token").

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use eval_job::clock::Clock;
use eval_job::evidence::{Message, ReplySchema, Role, Usage};
use eval_job::http::HttpClient;
use eval_job::limiter::{BackoffPolicy, RateLimiter};
use eval_job::llm::watsonx::{self, Payer};
use eval_job::llm::{Client, Effort, Llm, LlmRequest, LlmRole, ModelOptions, ModelSettings, Origin, anthropic, gemini};
use eval_job::retry::RetryPolicy;
use eval_job::secret::Secret;
use serde_json::json;

use super::server::{Answer, Received, Server};

/// Five tries and hardly a wait between them.
pub const QUICK: RetryPolicy = RetryPolicy {
    tries: 5,
    first_delay: Duration::from_millis(1),
    max_delay: Duration::from_millis(2),
    retry_after_cap: Duration::from_millis(2),
};

const SCORE: &str = r#"{"reason":"It asked for the time zone.","score":0.9}"#;

/// The recorded bytes of a provider.
pub struct Fixtures(pub &'static str);

impl Fixtures {
    fn path(&self, name: &str) -> PathBuf {
        let file = format!("{name}.json");
        [env!("CARGO_MANIFEST_DIR"), "tests", "fixtures", self.0, &file].iter().collect()
    }

    pub fn recorded(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn answer(&self, status: u16, name: &str) -> Answer {
        Answer::json(status, self.recorded(name))
    }

    /// What was sent is what the script validated. A request that is not recorded yet is, to be validated and committed.
    pub fn assert_recorded(&self, request: &Received, name: &str) {
        let path = self.path(name);
        if !path.exists() {
            fs::write(&path, format!("{}\n", request.body)).unwrap();
            panic!("{} is new: run scripts/model-types/check.py, then this test again", path.display());
        }
        assert_eq!(request.body, self.recorded(name).trim_end(), "{name} differs; delete the file to record it anew");
    }
}

/// Settings of a model that is reached here, with this key, by the variables that begin like this.
pub fn settings(base_url: &str, key: &str, model: &str, variables: &str) -> ModelSettings {
    let policy =
        BackoffPolicy { first: 0.001, factor: 1.0, longest: 0.002, retry_after_cap: 0.002, ..BackoffPolicy::MODEL };
    ModelSettings {
        base_url: base_url.to_owned(),
        key: Some(Secret::new(key)),
        origin: Origin { key: format!("{variables}_API_KEY"), address: format!("{variables}_BASE_URL") },
        model: model.to_owned(),
        options: ModelOptions::default(),
        time_limit: Duration::from_secs(20),
        rng_seed: 1,
        clock: Clock::system(),
        retry: QUICK,
        allowance: None,
        limiter: Arc::new(RateLimiter::new(Clock::system(), policy, 1, None)),
    }
}

pub fn talk() -> LlmRequest {
    let messages = vec![
        Message::new(Role::System, "You pose as a user."),
        Message::new(Role::User, "Hello, how can I help?"),
        Message::new(Role::Assistant, "Hi \"there\"\n"),
        Message::new(Role::Tool, "A note from a tool."),
    ];
    LlmRequest { role: LlmRole::Persona, messages, temperature: 0.5, schema: None, sample: 1, conversation_seed: None }
}

pub fn score() -> LlmRequest {
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
        schema: Some(ReplySchema { name: "verdict".to_owned(), schema, max_tokens: 300, wants_alternatives: false }),
        sample: 1,
        conversation_seed: None,
    }
}

/// The persona has greeted: a conversation that begins with the model.
fn opened() -> LlmRequest {
    let messages = vec![
        Message::new(Role::System, "You pose as a user."),
        Message::new(Role::Assistant, "Hello"),
        Message::new(Role::User, "Hi!"),
    ];
    LlmRequest { role: LlmRole::Persona, messages, temperature: 0.5, schema: None, sample: 1, conversation_seed: None }
}

const OPTIONS: ModelOptions = ModelOptions { max_tokens: Some(500), effort: Some(Effort::Low), rng_seed: Some(7) };

const ANTHROPIC: Fixtures = Fixtures("anthropic");

fn claude(url: &str) -> Client {
    anthropic::client(settings(url, "sk-hush", "claude-sonnet-4-5", "ANTHROPIC"), HttpClient::new()).unwrap()
}

#[tokio::test]
async fn anthropic_is_asked_by_its_own_schema_and_its_cache_is_counted_once() {
    let server = Server::with(vec![ANTHROPIC.answer(200, "reply-json")]).await;
    let reply = claude(&server.url).complete(&score()).await.unwrap();
    assert_eq!(reply.text, SCORE);
    assert_eq!(reply.usage, Usage { cached_input_tokens: Some(1024), ..Usage::from_counts(Some(1200), Some(90)) });
    let sent = &server.received()[0];
    assert_eq!((sent.method.as_str(), sent.target.as_str()), ("POST", "/v1/messages"));
    assert_eq!(sent.header("x-api-key"), Some("sk-hush"));
    assert_eq!(sent.header("authorization"), None);
    assert_eq!(sent.header("anthropic-version"), Some("2023-06-01"));
    ANTHROPIC.assert_recorded(sent, "request-schema");
}

#[tokio::test]
async fn anthropic_conversations_begin_with_the_user_and_options_are_sent() {
    let server = Server::with(vec![ANTHROPIC.answer(200, "reply-text")]).await;
    assert_eq!(claude(&server.url).complete(&talk()).await.unwrap().text, "Hi, can you help me?");
    claude(&server.url).complete(&opened()).await.unwrap();
    let options =
        ModelSettings { options: OPTIONS, ..settings(&server.url, "sk-hush", "claude-sonnet-4-5", "ANTHROPIC") };
    let client = anthropic::client(options, HttpClient::new()).unwrap();
    let notes = client.complete(&score()).await.unwrap().notes;
    assert_eq!(notes, ["the model refuses rngSeed; it was left out"]);
    let sent = server.received();
    ANTHROPIC.assert_recorded(&sent[0], "request-text");
    ANTHROPIC.assert_recorded(&sent[1], "request-opened");
    ANTHROPIC.assert_recorded(&sent[2], "request-options");
}

#[tokio::test]
async fn anthropic_is_asked_for_json_by_a_tool_and_then_in_words() {
    let answers = vec![
        ANTHROPIC.answer(400, "error-temperature"),
        ANTHROPIC.answer(400, "error-schema"),
        ANTHROPIC.answer(200, "reply-tool"),
        ANTHROPIC.answer(400, "error-tool"),
        ANTHROPIC.answer(200, "reply-fenced"),
    ];
    let server = Server::with(answers).await;
    let client = claude(&server.url);
    for times in [2, 2] {
        let reply = client.complete(&score()).await.unwrap();
        assert_eq!((reply.text.as_str(), reply.notes.len()), (SCORE, times));
    }
    let sent = server.received();
    ANTHROPIC.assert_recorded(&sent[1], "request-without-temperature");
    ANTHROPIC.assert_recorded(&sent[2], "request-tool");
    ANTHROPIC.assert_recorded(&sent[4], "request-words");
}

const GEMINI: Fixtures = Fixtures("gemini");

fn flash(url: &str) -> Client {
    gemini::client(settings(url, "sk-hush", "gemini-2.5-flash", "GEMINI"), HttpClient::new()).unwrap()
}

#[tokio::test]
async fn gemini_is_asked_by_a_schema_and_its_thoughts_are_no_words() {
    let server = Server::with(vec![GEMINI.answer(200, "reply-json")]).await;
    let reply = flash(&server.url).complete(&score()).await.unwrap();
    assert_eq!(reply.text, SCORE);
    let usage = Usage {
        cached_input_tokens: Some(1024),
        reasoning_tokens: Some(64),
        ..Usage::from_counts(Some(1200), Some(90))
    };
    assert_eq!(reply.usage, usage);
    let sent = &server.received()[0];
    assert_eq!(sent.target, "/v1beta/models/gemini-2.5-flash:generateContent");
    assert_eq!((sent.header("x-goog-api-key"), sent.header("authorization")), (Some("sk-hush"), None));
    GEMINI.assert_recorded(sent, "request-schema");
}

#[tokio::test]
async fn gemini_is_asked_for_less_where_it_can_less() {
    let answers = vec![
        GEMINI.answer(200, "reply-text"),
        GEMINI.answer(200, "reply-text"),
        GEMINI.answer(400, "error-thinking"),
        GEMINI.answer(400, "error-schema"),
        GEMINI.answer(400, "error-json-mode"),
        GEMINI.answer(200, "reply-fenced"),
    ];
    let server = Server::with(answers).await;
    let options =
        ModelSettings { options: OPTIONS, ..settings(&server.url, "sk-hush", "models/gemini-2.5-flash", "GEMINI") };
    let client = gemini::client(options, HttpClient::new()).unwrap();
    client.complete(&talk()).await.unwrap();
    client.complete(&opened()).await.unwrap();
    let reply = client.complete(&score()).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.notes.len()), (SCORE, 2));
    let sent = server.received();
    for (sent, name) in [
        (&sent[0], "request-text"),
        (&sent[1], "request-opened"),
        (&sent[2], "request-options"),
        (&sent[4], "request-json-mode"),
        (&sent[5], "request-words"),
    ] {
        GEMINI.assert_recorded(sent, name);
    }
}

const WATSONX: Fixtures = Fixtures("watsonx");

fn granite(url: &str) -> Client {
    let settings = settings(url, "sk-hush", "meta-llama/llama-3-3-70b-instruct", "WATSONX");
    let payer = Payer::ProjectId("3f6e0a".to_owned());
    watsonx::client(settings, payer, url, HttpClient::new()).unwrap()
}

#[tokio::test]
async fn watsonx_exchanges_its_key_once_and_again_when_the_token_is_refused() {
    let server = Server::start(|number, request| match (request.target.as_str(), number) {
        ("/identity/token", _) => WATSONX.answer(200, "token"),
        (_, 2) => WATSONX.answer(401, "error-token"),
        _ => WATSONX.answer(200, "reply-json"),
    })
    .await;
    let client = granite(&server.url);
    for _ in 0..2 {
        let reply = client.complete(&score()).await.unwrap();
        assert_eq!((reply.text.as_str(), reply.usage), (SCORE, Usage::from_counts(Some(59), Some(47))));
    }
    let sent = server.received();
    let targets: Vec<&str> = sent.iter().map(|request| request.target.split('?').next().unwrap()).collect();
    let (token, chat) = ("/identity/token", "/ml/v1/text/chat");
    assert_eq!(targets, [token, chat, chat, token, chat]);
    assert_eq!(sent[0].body, "grant_type=urn%3Aibm%3Aparams%3Aoauth%3Agrant-type%3Aapikey&apikey=sk-hush");
    assert_eq!(sent[0].header("content-type"), Some("application/x-www-form-urlencoded"));
    assert_eq!(sent[1].header("authorization"), Some("Bearer token-hush"));
    assert!(sent[1].target.starts_with("/ml/v1/text/chat?version=20"), "{}", sent[1].target);
    assert!(sent[1..].iter().all(|request| request.target.starts_with(token) || !request.body.contains("sk-hush")));
    WATSONX.assert_recorded(&sent[1], "request-schema");
}

#[tokio::test]
async fn a_key_that_ibm_does_not_know_is_told_as_such() {
    let server = Server::with(vec![WATSONX.answer(400, "error-key")]).await;
    let error = granite(&server.url).complete(&score()).await.unwrap_err();
    assert!(!error.transient && error.message.ends_with("check WATSONX_API_KEY"), "{error}");
    assert_eq!(server.received().len(), 1);
}

/// One way to fail to the end, and what must come of it.
type Case = (Answer, usize, bool, &'static str);

fn common() -> Vec<Case> {
    vec![
        (Answer::json(500, "sk-hush"), 5, true, "answered 500"),
        (Answer::json(503, ""), 5, true, "answered 503"),
        (Answer::json(403, ""), 1, false, "_API_KEY may use the model"),
        (Answer::json(200, "{\"a"), 5, true, "stops in the middle of its JSON"),
        (Answer::json(200, "[]"), 5, true, "JSON, but no object"),
        (Answer::of_type(200, "text/html", "<html>"), 1, false, "text/html instead of JSON: \"<html>\"; check "),
        (Answer::of_type(200, "text/event-stream", "data: {}\n\n"), 1, false, "text/event-stream instead of JSON"),
        (Answer::json(302, "").with("location", "https://x.example/"), 1, false, "to https://x.example; redirects"),
        (
            Answer::json(200, r#"{"error":{"message":"no sk-hush","code":429}}"#),
            5,
            true,
            "answered with an error: \"no ***\"",
        ),
        (Answer::json(200, "{}"), 2, true, "the reply holds no choices; check "),
        (Answer::Close, 5, true, "the connection broke"),
    ]
}

async fn check(cases: Vec<Case>, client: fn(&str) -> Client) {
    for (answer, tries, transient, words) in common().into_iter().chain(cases) {
        let what = format!("{answer:.60?} {words}");
        let server = Server::with(vec![answer]).await;
        let error = client(&server.url).complete(&score()).await.unwrap_err();
        assert!(error.message.contains(words), "{what}: {error}");
        assert!(!error.message.contains("hush"), "{what}: {error}");
        assert_eq!((error.transient, server.received().len()), (transient, tries), "{what}: {error}");
    }
}

#[tokio::test]
async fn each_failure_of_anthropic_is_tried_and_worded_as_it_should_be() {
    let error = |status, name: &str| ANTHROPIC.answer(status, name);
    let cases = vec![
        (error(401, "error-key"), 1, false, r#"401: "invalid x-api-key"; check ANTHROPIC_API_KEY"#),
        (error(404, "error-model"), 1, false, r#"check the name of the model, "claude-sonnet-4-5""#),
        (error(400, "error-billing"), 1, false, "no credit left: check its billing"),
        (error(429, "error-rate").with("retry-after", "0"), 5, true, "rate limit of 50 requests per minute"),
        (
            error(429, "error-rate").with("retry-after", "86400"),
            1,
            false,
            "it asks for a wait of 24 hours: try again then",
        ),
        (error(529, "error-overloaded"), 5, true, r#"answered 529: "Overloaded""#),
        (error(200, "error-rate"), 5, true, "answered with an error"),
        (error(200, "reply-refusal"), 1, false, "the model refuses to answer"),
        (error(200, "reply-length"), 1, false, "cut off at its token limit; try a larger maxTokens"),
        (error(200, "reply-empty"), 5, true, "the reply holds no text"),
    ];
    check(cases, claude).await;
}

#[tokio::test]
async fn each_failure_of_gemini_is_tried_and_worded_as_it_should_be() {
    let error = |status, name: &str| GEMINI.answer(status, name);
    let cases = vec![
        (error(400, "error-key"), 1, false, r#"400: "API key not valid."; check GEMINI_API_KEY"#),
        (error(404, "error-model"), 1, false, r#"check the name of the model, "gemini-2.5-flash""#),
        (error(429, "error-rate"), 5, true, "You exceeded your current quota."),
        (error(429, "error-day"), 1, false, "counted by the day: try again tomorrow"),
        (error(200, "reply-safety"), 1, false, r#"content filter took the reply away ("SAFETY")"#),
        (error(200, "reply-blocked"), 1, false, r#"content filter took the reply away ("PROHIBITED_CONTENT")"#),
        (error(200, "reply-length"), 1, false, "cut off at its token limit"),
        (error(200, "reply-empty"), 5, true, "the reply holds no text"),
    ];
    check(cases, flash).await;
}
