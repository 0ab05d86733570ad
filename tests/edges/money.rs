//! What is counted as spent: each way in which a request can end, and the counts of what brought nothing.

use std::sync::Arc;

use eval_job::evidence::Usage;
use eval_job::http::HttpClient;
use eval_job::llm::{Client, Llm, ModelOptions, openai};
use eval_job::money::{Allowance, Amount, Dollars, SpendLimits, SpendTracker};

use super::models::{Fixtures, settings, talk};
use super::server::{Answer, Server};

const FIXTURES: Fixtures = Fixtures("openai");
const LONGEST: u32 = 50;
const LIMIT: u64 = 1_000_000;

fn ok() -> Answer {
    Answer::json(200, FIXTURES.recorded("reply-text"))
}

fn client(url: &str, spend_tracker: &Arc<SpendTracker>) -> Client {
    let mut settings = settings(&format!("{url}/v1/"), "sk-hush", "gpt-4.1-mini", "OPENAI");
    settings.options = ModelOptions { max_tokens: Some(LONGEST), ..settings.options };
    settings.allowance = Some(Allowance { spend_tracker: spend_tracker.clone(), price: None });
    openai::client(settings, HttpClient::new()).unwrap()
}

/// How many tokens are spent: what no longer can be set aside.
async fn spent(spend_tracker: &Arc<SpendTracker>) -> u64 {
    let fits = |tokens| Amount { dollars: Dollars::ZERO, tokens };
    let (mut low, mut high) = (0, LIMIT);
    while low < high {
        let middle = (low + high).div_ceil(2);
        match spend_tracker.set_aside(fits(middle)).await {
            Ok(reservation) => {
                reservation.release();
                low = middle;
            }
            Err(_) => high = middle - 1,
        }
    }
    LIMIT - low
}

#[tokio::test]
async fn what_is_refused_is_free_what_is_told_is_paid_and_what_may_have_arrived_is_paid_in_full() {
    let refused = || Answer::json(500, "{}");
    let cases: [(&str, Vec<Answer>, u64, u64); 5] = [
        ("a reply", vec![ok()], 28, 0),
        ("after refusals", vec![refused(), Answer::json(429, "{}"), ok()], 28, 0),
        ("without counts", vec![Answer::json(200, FIXTURES.recorded("reply-without-usage"))], 0, 1),
        ("cut off, then a reply", vec![Answer::Close, ok()], 28, 1),
        ("refused for good", vec![Answer::json(400, "{}")], 0, 0),
    ];
    for (what, answers, told, in_full) in cases {
        let spend_tracker = SpendTracker::new(SpendLimits { cost: None, tokens: Some(LIMIT) });
        let server = Server::with(answers).await;
        let _ = client(&server.url, &spend_tracker).complete(&talk()).await;
        let most = server.received()[0].body.len() as u64 + u64::from(LONGEST);
        assert_eq!(spent(&spend_tracker).await, told + in_full * most, "{what}");
    }
}

#[tokio::test]
async fn what_does_not_fit_is_not_sent_and_says_why() {
    let server = Server::with(vec![ok(), ok()]).await;
    let spend_tracker = SpendTracker::new(SpendLimits { cost: None, tokens: Some(100) });
    let error = client(&server.url, &spend_tracker).complete(&talk()).await.unwrap_err();
    assert!(error.message.starts_with("limits.tokens (100) is less than one request can take ("));
    assert!(!error.transient && server.received().is_empty());
}

#[tokio::test]
async fn an_endpoint_that_takes_no_bound_is_not_asked_on() {
    let refuse = |part: &str| {
        Answer::json(400, format!(r#"{{"error":{{"message":"Unsupported parameter: '{part}'","param":"{part}"}}}}"#))
    };
    let server = Server::with(vec![refuse("max_completion_tokens"), refuse("max_tokens"), ok()]).await;
    let spend_tracker = SpendTracker::new(SpendLimits { cost: None, tokens: Some(LIMIT) });
    let error = client(&server.url, &spend_tracker).complete(&talk()).await.unwrap_err();
    assert!(error.message.contains("refuses maxTokens") && error.message.contains("can't be kept"), "{error}");
    assert_eq!((server.received().len(), spent(&spend_tracker).await), (2, 0));
}

#[tokio::test]
async fn a_reply_without_words_is_counted_too() {
    let server = Server::with(vec![Answer::json(200, FIXTURES.recorded("reply-length"))]).await;
    let spend_tracker = SpendTracker::new(SpendLimits::default());
    let error = client(&server.url, &spend_tracker).complete(&talk()).await.unwrap_err();
    assert!(error.message.contains("cut off"), "{error}");
    let usage: Usage = *error.usage;
    assert!(usage.calls == 1 && usage.output_tokens.is_some_and(|tokens| tokens > 0), "{usage:?}");
}
